//! Notations of values: texts that the functions of the library read.

mod duration;
mod timestamp;
mod network;
mod semver;
mod url;

pub(super) use duration::Duration;
pub(super) use network::{Cidr, parse_ip};
pub(super) use semver::Semver;
pub(super) use timestamp::{Date, Timestamp};
pub(super) use url::Url;
