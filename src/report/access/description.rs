//! The access of accounts, and the words for it that text and JSON share.

use crate::rbac::{Access, ChainEnd, EscapeChain, Method};
use crate::yaml::Name;
use std::sync::Arc;

/// The accounts of a tenant or a namespace on clusters where they may do the same.
#[derive(Debug, Clone)]
pub struct AccessOf<'a> {
    /// The clusters; one without a name is a repository without a root.
    pub clusters: Vec<Arc<str>>,
    /// The tenant, if it is one's.
    pub tenant: Option<Name>,
    /// The namespaces that are meant.
    pub namespaces: Vec<Name>,
    /// The accounts, in the order of their names.
    pub accounts: Vec<Access<'a>>,
    /// Chains by which the tenant comes to rights outside its namespaces.
    pub escapes: Vec<EscapeChain<'a>>,
    /// What is not seen and may give these accounts more.
    pub unseen: Vec<String>,
}

/// By what somebody acts as somebody else, in words.
pub fn means(means: Method) -> String {
    match means {
        Method::ServiceAccountName(kind) => format!("a {kind} that names it, as which Flux then applies"),
        Method::Controller(kind) => format!("a {kind} that names no account, for which Flux applies as itself"),
        Method::Workload(kind) => format!("a {kind} that runs as it"),
        Method::Impersonate => "impersonation".to_owned(),
        Method::Token => "a token that it may ask for".to_owned(),
        Method::TokenSecret => "a Secret in which Kubernetes puts its token".to_owned(),
        Method::Bind => "a binding to a role that gives more than it has, which `bind` allows".to_owned(),
        Method::Escalate => "a role with more than it has, which `escalate` allows".to_owned(),
    }
}

/// What a chain leads to, in words.
pub(super) fn reach(reach: &ChainEnd<'_>) -> String {
    match reach {
        ChainEnd::Everything => "everything on the cluster".to_owned(),
        ChainEnd::Namespace(namespace) => format!("everything in namespace `{namespace}`"),
        ChainEnd::Bindings(bindings) => {
            let one = |binding: &&crate::rbac::Binding| {
                let role = binding.role_name();
                match &*binding.namespace {
                    "" => format!("{role} in the whole cluster"),
                    namespace => format!("{role} in namespace `{namespace}`"),
                }
            };
            let all: Vec<String> = bindings.iter().map(one).collect();
            all.join(", ")
        }
    }
}
