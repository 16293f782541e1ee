//! The parameters of a binding, among the objects of a cluster.

use super::binding::{ParamRef, SelectedParams};
use crate::kube::Object;
use crate::policy::cluster::Objects;
use crate::policy::request::Request;
use crate::yaml::Name;

/// The parameters for one request.
#[derive(Debug)]
pub(super) enum Params<'a> {
    /// The policy has no parameters.
    None,
    /// The validations run once for each of these objects.
    Found(Vec<&'a Object>),
    /// No object exists, and the binding denies requests without parameters.
    Denied,
    /// No object exists, and the policy does not apply.
    Skipped,
    /// The cluster may have objects that the repository does not contain.
    Unknown,
}

/// Returns the parameters of a binding for a request.
pub(super) fn parameters<'a>(
    kind: Option<&(Name, Name)>,
    reference: Option<&ParamRef>,
    request: &Request<'_>,
    objects: &dyn Objects<'a>,
) -> Params<'a> {
    let (Some((group, kind)), Some(reference)) = (kind, reference) else { return Params::None };
    // Without a namespace, parameters are in the namespace of the request, or cluster-scoped.
    let namespace = reference.namespace.as_deref().or(request.namespace).unwrap_or_default();
    let found: Vec<&Object> = match &reference.selected {
        SelectedParams::Named(name) => objects.find(group, kind, namespace, name).into_iter().collect(),
        SelectedParams::Labeled(selector) => objects
            .of_kind(group, kind)
            .into_iter()
            .filter(|object| object.namespace().unwrap_or_default() == namespace || namespace.is_empty())
            .filter(|object| selector.selects(|key| object.label(key)))
            .collect(),
    };
    let name = match &reference.selected {
        SelectedParams::Named(name) => Some(&**name),
        SelectedParams::Labeled(_) => None,
    };
    match found.is_empty() {
        false => Params::Found(found),
        true if objects.may_have(group, kind, namespace, name) => Params::Unknown,
        true if reference.denies_if_missing => Params::Denied,
        true => Params::Skipped,
    }
}
