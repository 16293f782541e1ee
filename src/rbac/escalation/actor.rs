//! The identity that an account can assume.

use std::fmt;

use crate::rbac::model::subject::{Account, Subject};
use crate::yaml::Name;

/// The identity that an account can assume.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Actor {
    /// A single service account.
    Account(Account),
    /// Every service account of a namespace.
    AccountsOf(Name),
    /// Every service account of every namespace.
    AllAccounts,
    /// Every service account with this name, in any namespace.
    AccountsNamed(Name),
    /// A single user or group that is not a service account.
    Subject(Subject),
    /// Every user and group.
    AnyUser,
    /// Every group.
    AnyGroup,
    /// The account itself, with all rights in this namespace, or in the whole cluster if the namespace is empty.
    Raised(Name),
    /// The account itself, as a reader of the Secrets of this namespace, or of every namespace if it is empty.
    SecretReader(Name),
}

impl Actor {
    /// Returns whether the actor is a group, which can only be assumed together with a user or an account.
    pub(super) fn is_group(&self) -> bool {
        matches!(self, Self::AnyGroup | Self::Subject(Subject::Group(_)))
    }

    /// Every service account of a namespace, or of the whole cluster if the namespace is empty.
    pub(super) fn every_account_of(scope: &Name) -> Self {
        if scope.is_empty() { Self::AllAccounts } else { Self::AccountsOf(scope.clone()) }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(account) => write!(f, "ServiceAccount `{account}`"),
            Self::AccountsOf(namespace) => write!(f, "any account of namespace `{namespace}`"),
            Self::AllAccounts => f.write_str("any account of the cluster"),
            Self::AccountsNamed(name) => write!(f, "any account named `{name}`"),
            Self::Subject(subject) => subject.fmt(f),
            Self::AnyUser => f.write_str("any user"),
            Self::AnyGroup => f.write_str("a member of any group"),
            Self::SecretReader(namespace) if namespace.is_empty() => f.write_str("itself, as a reader of every Secret"),
            Self::SecretReader(namespace) => write!(f, "itself, as a reader of the Secrets of namespace `{namespace}`"),
            Self::Raised(namespace) if namespace.is_empty() => f.write_str("itself, with all rights"),
            Self::Raised(namespace) => write!(f, "itself, with all rights in namespace `{namespace}`"),
        }
    }
}
