//! Undefined variables of an object, and their owners.

use arcstr::ArcStr;

use super::owner::{Ownership, Passage};
use super::values::string;
use crate::base::finding::ObjectRef;
use crate::base::similar_names::did_you_mean;
use crate::flux::model::variables::Variables;
use crate::flux::variables::envsubst::template::{Template, Use};
use crate::flux::variables::variable_name::is_name;
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::{ChangedBy, Name, Node, Origin, Value};

/// The maximum number of undefined variables of one object.
const MAX_UNDEFINED: usize = 100;

/// An undefined variable that an object reads, or the variables of one text that belong to another program.
#[derive(Debug, Clone)]
pub(crate) struct UndefinedVariable {
    /// The owner.
    pub(crate) owner: VariableOwner,
    /// The variables with their places; more than one variable only for a text of another program.
    pub(crate) uses: Vec<(Name, Span)>,
    /// The object that reads the variables.
    pub(crate) object: ObjectRef,
    /// The place of the generator that creates the object.
    pub(crate) generator: Option<Span>,
    /// Whether Flux fails in strict mode: the variable is certainly undefined, and has no default.
    pub(crate) fails: bool,
    /// Whether the text only describes a field, in the schema of a CustomResourceDefinition.
    pub(crate) is_description: bool,
}

/// The owner of a `${…}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VariableOwner {
    /// Flux.
    Flux,
    /// Another program. The value is a noun for the text that the program reads.
    Other(&'static str),
}

/// Returns whether an object has a text that may assign a variable before reading it. A single line cannot do this.
pub(crate) fn may_assign(node: &Node) -> bool {
    let is_long = |text: &str| text.contains('\n') && text.contains('$');
    match &node.value {
        Value::Map(entries) => entries.iter().any(|entry| is_long(&entry.key) || may_assign(&entry.node)),
        Value::Seq(items) => items.iter().any(may_assign),
        Value::Scalar(text, _) => text.contains('$') && string(node).is_some_and(|text| text.contains('\n')),
    }
}

/// The variables with these names that an object reads and that are undefined or belong to another program.
///
/// `may_assign` is the result of [`may_assign`] for the object, which clusters share.
pub(crate) fn undefined_variables(
    object: &Object,
    names: &[Name],
    variables: &Variables,
    may_assign: bool,
) -> Vec<UndefinedVariable> {
    // The empty name represents changes without a variable.
    if names.iter().all(ArcStr::is_empty) {
        return Vec::new();
    }
    let misses = names.iter().any(|name| !name.is_empty() && !variables.values.contains_key(name));
    if !misses && !may_assign {
        return Vec::new();
    }
    let mut search = Search { object, variables, misses, path: Vec::new(), found: Vec::new() };
    search.node(&object.node);
    search.found.truncate(MAX_UNDEFINED);
    search.found
}

struct Search<'a> {
    object: &'a Object,
    variables: &'a Variables,
    /// Whether the object reads an undefined variable.
    misses: bool,
    /// The keys that lead to the current node.
    path: Vec<&'a str>,
    found: Vec<UndefinedVariable>,
}

impl<'a> Search<'a> {
    fn node(&mut self, node: &'a Node) {
        match &node.value {
            Value::Map(entries) => {
                for entry in entries.iter() {
                    if entry.key.contains('$') {
                        self.text(&entry.key, &|_| entry.key_span());
                    }
                    self.path.push(&entry.key);
                    self.node(&entry.node);
                    self.path.pop();
                }
            }
            Value::Seq(items) => items.iter().for_each(|item| self.node(item)),
            Value::Scalar(text, _) if text.contains('$') => {
                if let Some(text) = string(node) {
                    self.text(&text, &|expression| place(node, expression));
                }
            }
            Value::Scalar(..) => {}
        }
    }

    fn text(&mut self, text: &str, place: &dyn Fn(&str) -> Span) {
        let may_set = text.contains('\n');
        if !self.misses && !may_set {
            return;
        }
        // The substitution reports syntax errors.
        let Ok(template) = Template::parse(text) else { return };
        let mut uses = template.uses();
        let is_known = |name: &str| self.variables.values.contains_key(name);
        if !may_set {
            uses.retain(|one| !is_known(one.name));
        }
        if uses.is_empty() {
            return;
        }
        let passage = Passage::new(self.object, &self.path, text);
        let span = |one: &Use<'_>| place(text.get(one.range.clone()).unwrap_or_default());
        let mut seen: Vec<&str> = Vec::new();
        let (mut own, mut own_fails) = (Vec::new(), false);
        let mut missed: Vec<(&str, Span)> = Vec::new();
        for one in &uses {
            if seen.contains(&one.name) {
                continue;
            }
            if is_known(one.name) {
                if passage.shadows(one.name) {
                    own.push((Name::from(one.name), span(one)));
                }
                seen.push(one.name);
                continue;
            }
            let fails = uses.iter().any(|other| other.name == one.name && !other.has_default);
            let certain = !self.variables.open || !is_name(one.name);
            match passage.ownership(one.name) {
                Ownership::Sure => {
                    own.push((Name::from(one.name), span(one)));
                    own_fails |= fails && certain;
                }
                Ownership::Likely if fails && certain && self.looks_foreign(one.name) => {
                    own.push((Name::from(one.name), span(one)));
                    own_fails = true;
                }
                _ if fails && certain => {
                    let first = uses.iter().find(|other| other.name == one.name && !other.has_default).unwrap_or(one);
                    missed.push((one.name, span(first)));
                }
                _ => {}
            }
            seen.push(one.name);
        }
        for (name, span) in missed {
            // A program that has variables of its own usually owns the others too.
            if own_fails && may_set && self.looks_foreign(name) && !passage.is_passed_on(name) {
                own.push((Name::from(name), span));
            } else {
                self.push(VariableOwner::Flux, vec![(Name::from(name), span)], true);
            }
        }
        if !own.is_empty() {
            self.push(VariableOwner::Other(passage.noun()), own, own_fails);
        }
    }

    fn push(&mut self, owner: VariableOwner, uses: Vec<(Name, Span)>, fails: bool) {
        let (object, generator) = (self.object.reference(), generator(self.object));
        let is_description =
            self.object.kind() == "CustomResourceDefinition" && self.path.last() == Some(&"description");
        self.found.push(UndefinedVariable { owner, uses, object, generator, fails, is_description });
    }

    /// Returns whether a name is unlike the names of the defined variables. A similar name is probably a typo. A
    /// lower-case name may belong to Flux if a defined name has lower-case letters.
    fn looks_foreign(&self, name: &str) -> bool {
        let known = || self.variables.values.keys().map(|name| &**name);
        let has_small = |name: &str| name.bytes().any(|byte| byte.is_ascii_lowercase());
        let is_near = name.len() > 3 && did_you_mean(name, known()).is_some();
        !(is_near || (has_small(name) && known().any(has_small)))
    }
}

/// The place of the generator of a ConfigMap or Secret.
fn generator(object: &Object) -> Option<Span> {
    let mut origin = object.node.get("kind").map(|kind| &kind.origin);
    while let Some(Origin::Via(step)) = origin {
        if let ChangedBy::Generator(span) = &step.by {
            return matches!(object.kind(), "ConfigMap" | "Secret").then(|| span.clone());
        }
        origin = step.previous.as_ref();
    }
    None
}

/// The place of a `${…}` in a scalar: the place in the last file that determines the value and contains the text, or
/// else the place of the scalar.
fn place(node: &Node, expression: &str) -> Span {
    let spans = [node.span(), node.origin.written()];
    let found = spans.into_iter().find_map(|span| {
        let text = span.text();
        // `$${x}` is an escape and does not read a variable.
        let mut starts = text.match_indices(expression).map(|(start, _)| start);
        let start = starts.find(|start| !text.get(..*start).is_some_and(|before| before.ends_with('$')))?;
        let start = span.range().start + start;
        Some(span.file().span(start..start + expression.len()))
    });
    found.filter(|_| !expression.is_empty()).unwrap_or_else(|| node.span().clone())
}
