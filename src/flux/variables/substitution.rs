//! The input of a substitution, and its memo key.

use arcstr::ArcStr;

use crate::base::finding::Finding;
use crate::flux::model::variables::Variables;
use crate::yaml::Name;

/// The input of a substitution.
pub(crate) struct Substitution<'a> {
    /// The variables.
    pub(crate) variables: &'a Variables,
    /// The findings about the variables.
    pub(crate) findings: &'a [Finding],
    /// Whether an undefined variable fails the build.
    pub(crate) strict: bool,
    /// The limit of the additional memory, in bytes.
    pub(crate) limit: usize,
}

/// The part of a substitution's input on which an object depends: the values of the variables that the object reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ReadValues {
    strict: bool,
    open: bool,
    known: Box<[ReadValue]>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ReadValue {
    Value(ArcStr),
    Unknown,
    Missing,
}

impl ReadValues {
    /// Reads the values of some names.
    pub(crate) fn new(names: &[Name], variables: &Variables, strict: bool) -> Self {
        let value = |name: &Name| match variables.values.get(name).map(|variable| &variable.value) {
            Some(Some(value)) => ReadValue::Value(value.clone()),
            Some(None) => ReadValue::Unknown,
            None => ReadValue::Missing,
        };
        let known = names.iter().map(value).collect();
        Self { strict, open: variables.open, known }
    }
}
