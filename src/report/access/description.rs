//! The rights of accounts, and descriptions that the text and JSON output share.

use crate::rbac::{Access, ChainEnd, Escape, Method};
use crate::yaml::Name;

use arcstr::ArcStr;

/// The accounts of a tenant or a namespace, on clusters where they have equal rights.
#[derive(Debug, Clone)]
pub struct AccessReport<'a> {
    /// The clusters; an empty name is a repository without a root.
    pub clusters: Vec<ArcStr>,
    /// The tenant, if the namespaces belong to one.
    pub tenant: Option<Name>,
    /// The selected namespaces.
    pub namespaces: Vec<Name>,
    /// The accounts, sorted by name.
    pub accounts: Vec<Access<'a>>,
    /// Chains by which the tenant gains rights outside its namespaces.
    pub escapes: Vec<Escape<'a>>,
    /// Unknown objects that may grant these accounts more rights.
    pub unseen: Vec<String>,
}

/// Describes the means of acting as another account.
pub fn describe_means(means: Method) -> String {
    match means {
        Method::ServiceAccountName(kind) => format!("a {kind} that references it, which Flux then impersonates"),
        Method::Controller(kind) => {
            format!("a {kind} without a service account, whose objects Flux applies with its own rights")
        }
        Method::Workload(kind) => format!("a {kind} that runs as it"),
        Method::Impersonate => "impersonation".to_owned(),
        Method::Token => "a token that it may request".to_owned(),
        Method::TokenSecret => "a Secret that Kubernetes fills with its token".to_owned(),
        Method::Bind => "a binding to a role with more rights than its own, which the verb `bind` permits".to_owned(),
        Method::Escalate => "a role with more rights than its own, which the verb `escalate` permits".to_owned(),
        Method::Command(resource) => format!("a command in its pods, through `{resource}`"),
        Method::ReadSecrets => "the verbs that read Secrets".to_owned(),
        Method::Content(kind) => format!("a change of a {kind}, whose content Flux applies as it"),
        Method::Certificate => "a client certificate that it may request and approve".to_owned(),
    }
}

/// Describes the rights at the end of a chain.
pub(super) fn describe_reach(reach: &ChainEnd<'_>) -> String {
    match reach {
        ChainEnd::Everything => "everything on the cluster".to_owned(),
        ChainEnd::Namespace(namespace) => format!("everything in namespace `{namespace}`"),
        ChainEnd::Secrets(namespace) if namespace.is_empty() => "the Secrets of every namespace".to_owned(),
        ChainEnd::Secrets(namespace) => format!("the Secrets of namespace `{namespace}`"),
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
