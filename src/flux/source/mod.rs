//! What sources hand out: the files that Flux builds from are those of an artifact, not those of a checkout.

mod artifact;
mod generator;
mod ignore;
mod include;
#[cfg(test)]
mod oracle;
mod origin;
mod pack;
mod resolve;
mod sources;
mod sparse;
#[cfg(test)]
mod tests;
mod wildcard;

pub use artifact::{Artifact, Resolution};
pub use resolve::DANGLING_SOURCE;
pub use sources::{Copy, Lookup, SourceRef, Sources, bases};
