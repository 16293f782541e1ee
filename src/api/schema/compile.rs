//! Compilation of the CEL rules of a schema, once for all objects.
//!
//! Source: `pkg/apiserver/schema/cel` of `k8s.io/apiextensions-apiserver`, and `pkg/cel/common` of `k8s.io/apiserver`.

use std::sync::Arc;

use arcstr::ArcStr;

use super::compiled::{CompiledRule, CompiledRules};
use super::model::{Additional, Layout, Link, Rule, Schema, Type};
use crate::cel;

impl Schema {
    /// The compiled rules; `None` if the schema has no rules. `is_resource` states whether the value is a whole object.
    pub fn compiled_rules(&self, is_resource: bool) -> Option<&CompiledRules> {
        let constraints = self.constraints.as_ref().filter(|constraints| !constraints.rules.is_empty())?;
        let compile = || {
            let own = || Declared::Own { properties: self.properties.clone(), is_resource };
            let self_type = type_of(self, own);
            let rules = constraints.rules.iter().map(|rule| compile(rule, &self_type)).collect();
            Arc::new(CompiledRules { self_type, rules })
        };
        Some(constraints.compiled.get_or_init(compile))
    }
}

/// Compiles a rule.
fn compile(rule: &Rule, self_type: &cel::Type) -> CompiledRule {
    if rule.rule.contains("oldSelf") && !rule.optional_old_self {
        return CompiledRule::Transition;
    }
    let mut environment = cel::Environment::new(None).with("self", self_type.clone());
    if rule.optional_old_self {
        environment = environment.with("oldSelf", cel::Type::optional(self_type.clone()));
    }
    match environment.compile(&rule.rule) {
        Ok(program) => {
            let message = rule.message_expression.as_ref().and_then(|text| environment.compile(text).ok());
            CompiledRule::Rule { program: Box::new(program), message: message.map(Box::new) }
        }
        Err(errors) => CompiledRule::Faulty(errors.into_iter().next().map(|error| error.message).unwrap_or_default()),
    }
}

/// The fields of an object in expressions.
#[derive(Debug)]
enum Declared {
    /// The fields of the schema with the rules.
    Own { properties: Box<[(Box<str>, Link)]>, is_resource: bool },
    /// The fields of a schema below it.
    Below(Link),
    /// The fields of `metadata` that expressions may read.
    Metadata,
}

impl cel::Fields for Declared {
    fn name(&self) -> &'static str {
        "object"
    }

    fn field(&self, name: &str) -> Option<cel::Type> {
        let is_resource = match self {
            Self::Own { is_resource, .. } => *is_resource,
            Self::Below(link) => link.embedded,
            Self::Metadata => return matches!(name, "name" | "generateName").then_some(cel::Type::String),
        };
        match name {
            "apiVersion" | "kind" if is_resource => return Some(cel::Type::String),
            "metadata" if is_resource => return Some(cel::Type::Object(Arc::new(Self::Metadata))),
            _ => {}
        }
        let properties = match self {
            Self::Own { properties, .. } => properties,
            Self::Below(link) => &link.properties,
            Self::Metadata => return None,
        };
        let index = properties.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        properties.get(index).map(|(_, link)| type_of_link(link))
    }
}

fn type_of_link(link: &Link) -> cel::Type {
    type_of(link, || Declared::Below(link.clone()))
}

/// The type of a value in expressions.
fn type_of(schema: &Schema, declared: impl FnOnce() -> Declared) -> cel::Type {
    match schema.value_type {
        None | Some(Type::IntOrString) => cel::Type::Dyn,
        Some(Type::Boolean) => cel::Type::Bool,
        Some(Type::Integer) => cel::Type::Int,
        Some(Type::Number) => cel::Type::Double,
        Some(Type::String) => {
            let format = schema.constraints.as_ref().and_then(|constraints| constraints.format.as_deref());
            match format {
                Some("byte") => cel::Type::Bytes,
                Some("duration") => cel::Type::Duration,
                Some("date" | "date-time" | "datetime") => cel::Type::Timestamp,
                _ => cel::Type::String,
            }
        }
        Some(Type::Array) => {
            let item = schema.items.as_ref().map_or(cel::Type::Dyn, type_of_link);
            let merge = match &schema.layout {
                Layout::Set => cel::Merge::Set,
                Layout::Map(keys) => cel::Merge::Map(keys.iter().map(|key| ArcStr::from(&**key)).collect()),
                Layout::Default | Layout::Atomic | Layout::Granular => cel::Merge::Whole,
            };
            cel::Type::List(Arc::new(item), merge)
        }
        Some(Type::Object) => match &schema.additional {
            Additional::Each(link) => cel::Type::map(cel::Type::String, type_of_link(link)),
            Additional::Any => cel::Type::map(cel::Type::String, cel::Type::Dyn),
            Additional::None if schema.preserves_unknown && schema.properties.is_empty() && !schema.embedded => {
                cel::Type::Dyn
            }
            Additional::None => cel::Type::Object(Arc::new(declared())),
        },
    }
}
