//! The installation of Flux: roots, FluxInstances, versions and lockdown.

pub(super) mod installation;
pub(super) mod instance_chart;
pub(super) mod kustomizations;
pub(super) mod includers;
pub(super) mod sync;
pub(super) mod deployments;
pub(super) mod command_line;
pub(super) mod lockdown;
pub(super) mod manifests;
pub(super) mod rights_patches;
pub(super) mod version;
mod terraform;
pub(super) mod roots;
