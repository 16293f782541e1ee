//! Notations of values: texts that the functions of the library read.

mod amount;
mod duration;
mod timestamp;
mod network;
mod semver;
mod url;

pub(super) use amount::Amount;
pub use duration::Duration;
pub(super) use network::{Cidr, parse_ip};
pub(super) use semver::Semver;
pub(super) use timestamp::Timestamp;
pub use url::Url;
