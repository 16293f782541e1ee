//! Roots: the objects with which a user bootstraps a cluster, and from which Flux reaches all other objects.
//!
//! The configuration declares a root, or the linter finds the root in the repository. The linter recognizes:
//!
//! - a FluxInstance, and the release of a chart that creates a FluxInstance
//! - the `gotk-sync.yaml` of `flux bootstrap`
//! - a Kustomization that applies its own directory
//! - a directory of Kustomizations that no object applies
//! - a directory of HelmReleases directly below `clusters` that no object applies
//! - a directory that Terraform passes to Flux, if there is no other root
//!
//! A cluster may have several roots, such as those of a second Flux in another namespace.

mod names;
mod repository;
mod candidate;
mod coverage;
pub(crate) mod evidence;
mod namespaces;
pub(crate) mod overlaps;
pub(crate) mod root;
mod synthetic_sync;
mod self_applied;
mod cluster_folders;
mod declared;
mod applied_by_hand;
mod written;
mod variable_path;
mod of_charts;
mod former;
mod parts;
pub(crate) mod find;
