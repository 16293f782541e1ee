//! Sources and their artifacts. Flux builds from the files of an artifact, not from a checkout.

pub(super) mod artifact;
mod digest;
mod include;
mod origin;
pub(super) mod reference;
mod sparse;
mod wildcard;
mod ignore;
mod generator;
#[cfg(test)]
mod oracle;
mod pack;
pub(super) mod sources;
pub(super) mod resolve_artifact;
#[cfg(test)]
mod tests;

pub use self::ignore::Exclusions;
pub(in crate::flux) use self::pack::submodules;
pub use artifact::{Artifact, Resolution};
pub use reference::{Lookup, SourceRef};
pub use resolve_artifact::DANGLING_SOURCE;
pub use sources::{Copy, Sources, bases};
