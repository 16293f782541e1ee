//! The input of a substitution, and the part of it that decides its result.

use std::sync::Arc;

use crate::base::finding::Finding;
use crate::flux::model::variables::Variables;
use crate::yaml::Name;

/// How variables are substituted.
pub(crate) struct Substitution<'a> {
    /// The variables.
    pub(crate) variables: &'a Variables,
    /// What is wrong with them.
    pub(crate) findings: &'a [Finding],
    /// Whether an undefined variable fails the build.
    pub(crate) strict: bool,
    /// How much more memory they may take than what they stand in, in bytes.
    pub(crate) limit: usize,
}

/// The values of the variables that are read.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct ReadValues {
    strict: bool,
    open: bool,
    known: Vec<Known>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Known {
    Value(Arc<str>),
    Unknown,
    Missing,
}

impl ReadValues {
    /// The values of some names.
    pub(crate) fn of(names: &[Name], substitution: &Substitution<'_>) -> Self {
        let value = |name: &Name| match substitution.variables.values.get(name).map(|variable| &variable.value) {
            Some(Some(value)) => Known::Value(value.clone()),
            Some(None) => Known::Unknown,
            None => Known::Missing,
        };
        let known = names.iter().map(value).collect();
        Self { strict: substitution.strict, open: substitution.variables.open, known }
    }
}
