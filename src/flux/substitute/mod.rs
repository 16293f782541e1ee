//! What Flux makes of an object's `${…}`.
//!
//! Flux prints the object, expands the text and reads it again. So quotes that stood in a file are gone, a value may
//! change its type, and a value that looks like YAML becomes structure. Nearly always the text of each scalar can be
//! expanded by itself, to the same result; `scalars` does that where it is certain, and `whole` does what Flux does.

mod canonical;
mod fault;
mod origin;
mod scalars;
mod whole;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::cluster::Variables;
use super::envsubst::{Lookup, Template};
use crate::finding::Finding;
use crate::kube::Object;
use crate::yaml::{Name, Node, go};

/// Puts the values of variables into an object, or says why Flux fails to.
///
/// The caller has decided that Flux substitutes in it at all. A value that nobody knows leaves `${NAME}` in a scalar,
/// which is then of [`Style::Unknown`](crate::yaml::Style::Unknown). What changed knows the variable and the place that
/// the variable was written in.
pub fn substitute(object: &Object, variables: &Variables, strict: bool) -> Result<Object, Vec<Finding>> {
    let values = Values { variables, strict };
    if let Some(node) = scalars::substitute(&object.node, &values) {
        return Ok(Object { node: node.unwrap_or_else(|| object.node.clone()) });
    }
    whole::substitute(object, &values).map(|node| Object { node })
}

/// The names of the variables that the substitution in an object depends on, sorted; none when it changes nothing.
///
/// An object that no variable changes, but reading it again does, has the name that is empty.
pub fn reads(object: &Object) -> Arc<[Name]> {
    let mut names = BTreeSet::new();
    if !scalars::reads(&object.node, &mut names) {
        names.insert(Name::from(""));
        let text = go::print(&object.node);
        // What cannot be parsed fails whatever the variables are.
        if let Ok(template) = Template::parse(&text) {
            names.extend(template.names().into_iter().map(Name::from));
        }
    }
    names.into_iter().collect()
}

/// The variables, as a text looks them up.
struct Values<'v> {
    variables: &'v Variables,
    strict: bool,
}

impl<'v> Values<'v> {
    fn lookup(&self, name: &str) -> Lookup<'v> {
        match self.variables.values.get(name) {
            Some(variable) => variable.value.as_deref().map_or(Lookup::Unknown, Lookup::Known),
            None if self.variables.open => Lookup::Unknown,
            None if self.strict => Lookup::NotSet,
            None => Lookup::Known(""),
        }
    }

    /// The shared name of a variable.
    fn name(&self, name: &str) -> Name {
        let known = self.variables.values.get_key_value(name).map(|(name, _)| name.clone());
        known.unwrap_or_else(|| name.into())
    }
}

/// The text of a scalar that kustomize prints as a string; `None` for other nodes.
fn string(node: &Node) -> Option<std::borrow::Cow<'_, str>> {
    let crate::yaml::Value::Scalar(text, style) = &node.value else { return None };
    Some(go::settled(text, *style))
}
