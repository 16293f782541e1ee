//! The context in which a rule checks a single object.

use crate::config::Lint;
use crate::flux::Tenancy;

/// The properties of an object's cluster and of the configuration that a rule may read.
///
/// An object that several clusters receive is checked once for all clusters with equal contexts.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The tenants of the cluster and their isolation settings.
    pub tenancy: &'a Tenancy,
    /// The `lint` section of the configuration.
    pub lint: &'a Lint,
    /// Whether the cluster is a production cluster.
    pub is_production: bool,
    /// Whether no cluster receives the object.
    pub is_unreached: bool,
}
