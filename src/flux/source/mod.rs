//! What sources hand out: the files that Flux builds from are those of an artifact, not those of a checkout.

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
pub(super) mod resolve;
#[cfg(test)]
mod tests;

pub use artifact::{Artifact, Resolution};
pub use reference::{Lookup, SourceRef};
pub use resolve::DANGLING_SOURCE;
pub use sources::{Copy, Sources, bases};
