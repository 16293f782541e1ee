//! The variables of an applier.

use std::collections::BTreeMap;

use arcstr::ArcStr;

use crate::base::finding::ObjectRef;
use crate::text::Span;
use crate::yaml::Name;

/// The variables of one applier, merged in the order of Flux.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Variables {
    /// The variables by name.
    pub values: BTreeMap<Name, Variable>,
    /// Whether a source with unknown content may define any name, so that no name is certainly undefined.
    pub open: bool,
    /// The references of `substituteFrom`, in order.
    pub sources: Vec<VariableSource>,
}

/// A ConfigMap or Secret with variables.
#[derive(Debug, Clone, PartialEq)]
pub struct VariableSource {
    /// `ConfigMap` or `Secret`.
    pub kind: Name,
    /// The name of the object.
    pub name: Name,
    /// The position of the object; `None` if no known manifest of the cluster defines the object.
    pub place: Option<Span>,
}

/// The value of a variable, and the position of that value.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// The value that Flux substitutes; `None` if it is unknown, such as a value of a Secret.
    pub value: Option<ArcStr>,
    /// The position of the value: in `postBuild.substitute`, or in the ConfigMap.
    pub place: Span,
    /// The object that defines the variable; `None` for the Kustomization itself.
    pub from: Option<ObjectRef>,
}
