//! The changes that a move of clusters to other releases of Flux and Kubernetes causes.

mod settings;
mod rename;
mod replacement;
mod changes;

pub use changes::{Upgrade, upgrade};
