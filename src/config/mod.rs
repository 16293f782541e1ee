//! The configuration `.fleetwright.yaml`: the `lint` section (shared with fleet.yaml), copies of sources, Flux
//! versions, and external objects of clusters.

mod bearings;
mod decode;
mod external;
pub mod glob;
mod formats;
mod policy;
mod exception;
mod exception_comment;
mod level;
mod identity;
mod named_clusters;
mod production;
mod rules;
mod tenancy;
mod lint;
mod document;

pub use bearings::Bearings;
pub use document::{
    ApiVersion, ClusterConfig, Config, ConfigKind, DeclaredCopy, DeclaredFolder, DeclaredRoot, INVALID_CONFIG, PATH,
    RootConfig, Settings, SourceCopy, Version, load, read, schema,
};
pub use exception::{EXPIRED_EXCEPTION, Exception, INVALID_EXCEPTION, UNUSED_EXCEPTION};
pub use exception_comment::exceptions_of;
pub use external::{Declared, External, ExternalKind, Text};
pub use formats::WORDS;
pub use identity::{ClusterGroup, DuplicateClusterIdentity};
pub use level::{Level, RuleOptions};
pub use lint::{Lint, Skip, check};
pub use named_clusters::NamedCluster;
pub use policy::{DeclaredPolicies, PolicyConfig};
pub use production::{Production, is_of_other_environment};
pub use rules::Rules;
pub use tenancy::{DeclaredTenant, Lockdown, LockdownMode, Tenancy, TenancyMode};
