//! The format of fleet.yaml: parses nodes into a fleet, or findings.

mod kube_formats;
mod formats;
mod rule_ids;
mod scalar;
pub mod model;
mod input;
mod merge;
pub mod resolve;
mod check;
mod load;
mod explain;
mod input_guard;

pub use explain::{Explained, Provenance, explain};
pub use input::layout::Layout;
pub use input::schema::{cluster_schema, layout_schema, schema, tenant_schema};
pub use input::value_schema::{value_schemas, with_values};
pub use load::{Loaded, load};
pub use merge::extend::layout_in;
pub use model::{DEFAULT_LAYOUT, EXAMPLE, MANIFEST};
pub use resolve::fleet::Fleet;
pub use rule_ids::INVALID_FLEET;
pub use scalar::{
    ComponentPath, ComponentTarget, DependsOn, DnsLabel, Duration, LabelKey, LabelValue, Patch, Quantity,
    QuotaResource, Raw, RepoPath, ResourceName, Text, VariableName, VersionRange,
};
