//! The releases of Flux and Kubernetes: the APIs that they serve, deprecate and remove, and the settings that they
//! change.

mod version_text;
mod versioned_api;
mod setting;
mod table;
mod lifecycle;

pub use lifecycle::{Status, api, may_name_ending_api, replacement_for};
pub use setting::{Change, Setting};
pub use table::{FluxRelease, flags, flux_release_of, flux_releases, gates, kubernetes_range};
pub use versioned_api::Api;
