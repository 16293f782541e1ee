//! The kinds of Flux, and of files that Flux never applies.

use crate::flux::is_flux;
use crate::kube::{Object, groups};

/// The API groups of the files of tools. These files have the form of objects, but Flux never applies them.
pub(super) const OF_TOOLS: &[&str] = &[
    "backstage.io",
    "chainsaw.kyverno.io",
    "cli.kyverno.io",
    "config.kubernetes.io",
    "eksctl.io",
    "k3d.io",
    "kind.x-k8s.io",
    "kpt.dev",
    "kubeadm.k8s.io",
    "kubelet.config.k8s.io",
    "kubeproxy.config.k8s.io",
    "kustomize.config.k8s.io",
    "kuttl.dev",
    "skaffold",
];

/// Returns whether Flux or its operator reconciles an object.
pub(super) fn is_fluxs(object: &Object) -> bool {
    is_flux(object) || object.is(groups::FLUX_OPERATOR, "ResourceSetInputProvider")
}
