//! The changes that Flux makes to an object before it applies it.
//!
//! Flux converts objects of Kubernetes' own kinds to Go's types and back. Sources: the packages `ssa/normalize` of
//! `fluxcd/pkg`, and `runtime` of `k8s.io/apimachinery`.

use crate::api::validate::{Fault, Mismatch};
use crate::kube::{Object, groups};

/// The groups of Kubernetes whose kinds are not in the scheme of client-go.
const WITHOUT_TYPES: [&str; 2] = ["apiextensions.k8s.io", "apiregistration.k8s.io"];

/// Returns whether Flux removes the unknown fields of an object of a built-in kind of Kubernetes.
///
/// A value of another type prevents the conversion; Flux then applies all fields as they are.
pub(in crate::lint) fn drops_unknown_fields(object: &Object, mismatches: &[Mismatch]) -> bool {
    let is_role = object.group() == groups::RBAC && matches!(object.kind(), "Role" | "ClusterRole");
    let prevents = |mismatch: &Mismatch| matches!(mismatch.fault, Fault::Type | Fault::Notation);
    !is_role && !WITHOUT_TYPES.contains(&object.group()) && !mismatches.iter().any(prevents)
}

/// Returns whether Flux removes a field. It keeps the status of CustomResourceDefinitions only.
pub(in crate::lint) fn removes(object: &Object, path: &str) -> bool {
    let is_status = path.strip_prefix("status").is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    is_status && object.kind() != "CustomResourceDefinition"
}
