//! The language of fleet.yaml: nodes → a fleet, or findings.

mod merge;
pub mod model;
mod input;
pub mod resolve;
mod check;
mod load;

pub use input::layout::{Layout, MANIFEST};
pub use input::scalar::{ComponentPath, DependsOn, DnsLabel, Duration, Patch, Raw, RepoPath, Text, VariableName};
pub use input::schema::{cluster_schema, schema, tenant_schema};
pub use load::{INVALID_FLEET, Loaded, load};
pub use resolve::explain::{Explained, Provenance, explain};
pub use resolve::fleet::Fleet;
