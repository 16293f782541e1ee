//! Subjects of bindings: users and groups. A service account is a user with a special name, in special groups.

use std::fmt;

use crate::yaml::Name;

/// The prefix of the user name of a service account.
const ACCOUNT_PREFIX: &str = "system:serviceaccount:";
/// The group of all service accounts. With `:` and a namespace, the group of all service accounts of the namespace.
pub(super) const ALL_ACCOUNTS: &str = "system:serviceaccounts";
/// The group of all authenticated users.
pub(super) const ALL_AUTHENTICATED: &str = "system:authenticated";

/// A service account.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Account {
    /// The namespace.
    pub namespace: Name,
    /// The name.
    pub name: Name,
}

/// A subject of a binding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A user. A service account is the user `system:serviceaccount:NAMESPACE:NAME`.
    User(Name),
    /// A group.
    Group(Name),
}

impl Account {
    /// An account with a namespace and name.
    pub fn new(namespace: impl Into<Name>, name: impl Into<Name>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }

    /// The user of the account.
    pub fn user(&self) -> Subject {
        Subject::User(format!("{ACCOUNT_PREFIX}{}:{}", self.namespace, self.name).into())
    }

    /// The subjects that include the account: the user and the groups of the account.
    pub(crate) fn subjects(&self) -> [Subject; 4] {
        let group = |name: String| Subject::Group(name.into());
        [
            self.user(),
            group(format!("{ALL_ACCOUNTS}:{}", self.namespace)),
            group(ALL_ACCOUNTS.to_owned()),
            group(ALL_AUTHENTICATED.to_owned()),
        ]
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

impl Subject {
    /// The service account of a user; `None` for other subjects.
    pub fn account(&self) -> Option<Account> {
        let Self::User(name) = self else { return None };
        let (namespace, name) = name.strip_prefix(ACCOUNT_PREFIX)?.split_once(':')?;
        Some(Account::new(namespace, name))
    }

    /// The namespace whose accounts the group contains; `None` for other subjects.
    pub fn accounts_of(&self) -> Option<&str> {
        let Self::Group(name) = self else { return None };
        name.strip_prefix(ALL_ACCOUNTS)?.strip_prefix(':')
    }

    /// Returns whether the subject is the group to which the API server allows every request.
    pub(crate) fn is_master(&self) -> bool {
        matches!(self, Self::Group(name) if &**name == "system:masters")
    }

    /// Returns whether the subject is the user or the group of unauthenticated requests.
    pub(crate) fn is_anonymous(&self) -> bool {
        match self {
            Self::User(name) => &**name == "system:anonymous",
            Self::Group(name) => &**name == "system:unauthenticated",
        }
    }

    /// Returns whether the subject is a group that contains all accounts.
    pub fn is_everybody(&self) -> bool {
        matches!(self, Self::Group(name) if [ALL_ACCOUNTS, ALL_AUTHENTICATED].contains(&&**name))
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.account()) {
            (_, Some(account)) => write!(f, "ServiceAccount `{account}`"),
            (Self::User(name), None) => write!(f, "User `{name}`"),
            (Self::Group(name), None) => write!(f, "Group `{name}`"),
        }
    }
}
