//! The language of fleet.yaml: nodes → a fleet, or findings.

mod apart;
mod check;
mod explain;
mod expression;
mod graph;
mod input;
mod layout;
mod load;
mod merge;
pub mod model;
mod resolve;
pub mod resolved;
mod scalar;
mod schema;
mod variable;
mod words;

pub use explain::{Explained, Provenance, explain};
pub use layout::{Layout, MANIFEST};
pub use load::{INVALID_FLEET, Loaded, load};
pub use resolved::Fleet;
pub use scalar::{ComponentPath, DependsOn, DnsLabel, Duration, Patch, Raw, RepoPath, Text, VariableName};
pub use schema::{cluster_schema, schema, tenant_schema};
