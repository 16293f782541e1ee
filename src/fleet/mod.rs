//! The language of fleet.yaml: nodes → a fleet, or findings.

mod layout;
mod load;
pub mod model;
pub mod resolved;
mod scalar;
mod schema;
mod words;

pub use layout::{Layout, MANIFEST};
pub use load::{Loaded, load};
pub use resolved::Fleet;
pub use scalar::{ComponentPath, DependsOn, DnsLabel, Duration, Patch, Raw, RepoPath, Text, VariableName};
pub use schema::{cluster_schema, schema, tenant_schema};
