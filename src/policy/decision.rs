//! The answer of policies to a request.

use crate::base::finding::{ObjectRef, Severity};
use crate::text::Span;

/// A validation that a request violates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// An error if the API server denies the request; otherwise a warning or a note in the audit log.
    pub severity: Severity,
    /// The message of the validation.
    pub message: String,
    /// The position of the last field that the expression read in the object; `None` for the object.
    pub at: Option<Span>,
    /// The policy.
    pub policy: ObjectRef,
    /// The position of the expression in the policy.
    pub expression: Span,
}

/// The answer of policies to a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decision {
    /// The violated validations.
    pub violations: Vec<Violation>,
    /// What the repository does not contain, for each validation that needs it.
    pub unknown: Vec<Unknown>,
    /// The severity of the violation that reports an expression above the limits of this tool.
    pub over_limit: Option<Severity>,
}

impl Decision {
    /// Adds the answer of further policies.
    pub fn merge(&mut self, other: Self) {
        self.violations.extend(other.violations);
        self.unknown.extend(other.unknown);
        self.over_limit = self.over_limit.max(other.over_limit);
    }
}

/// A fact that only a cluster knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unknown {
    /// The parameters of a policy.
    Parameters,
    /// The labels of a namespace.
    Namespace,
    /// A value, such as the value of a Secret or the answer of the authorizer.
    Value,
    /// A missing field that the API server may set to a default.
    Default,
    /// An expression that exceeds the limits of this tool.
    Cost,
}

impl Unknown {
    /// Describes the fact.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Parameters => "parameters of admission policies that are not in the repository",
            Self::Namespace => "labels of namespaces that admission policies read and that are not in the repository",
            Self::Value => "values that admission policies read and that only the cluster knows",
            Self::Default => "fields that admission policies read, and that the API server may set to a default",
            Self::Cost => "expressions of admission policies that take too long",
        }
    }
}
