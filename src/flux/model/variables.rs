//! The variables of an applier.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::finding::ObjectRef;
use crate::text::Span;
use crate::yaml::Name;

/// The variables of one applier, merged as Flux merges them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Variables {
    /// By name.
    pub values: BTreeMap<Name, Variable>,
    /// Whether something that may define any name is not known: then no name is undefined.
    pub open: bool,
    /// What `substituteFrom` names, in its order.
    pub sources: Vec<VariableSource>,
}

/// An object that variables are taken from.
#[derive(Debug, Clone, PartialEq)]
pub struct VariableSource {
    /// `ConfigMap` or `Secret`.
    pub kind: Name,
    /// Its name.
    pub name: Name,
    /// Where it is written; `None` when the cluster does not receive it, as far as that is known.
    pub place: Option<Span>,
}

/// A variable's value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// The value as Flux substitutes it; `None` when nobody can know it, as a Secret's.
    pub value: Option<Arc<str>>,
    /// Where it is written: in `postBuild.substitute`, or in the ConfigMap.
    pub place: Span,
    /// The object that it comes from, when that is not the Kustomization itself.
    pub from: Option<ObjectRef>,
}
