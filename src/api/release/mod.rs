//! The releases of Flux and Kubernetes: the APIs that they serve, deprecate and remove, and the settings that they
//! change.

mod table;
mod lifecycle;
mod setting;

pub use lifecycle::{Api, Status, api, replacement_for};
pub use setting::{Change, Setting, flags, gates};
pub use table::{FluxRelease, flux_release_of, flux_releases, kubernetes_range};
