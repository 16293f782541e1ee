//! Sources and their artifacts. Flux builds from the files of an artifact, not from a checkout.

mod artifact;
mod include;
mod origin;
mod sparse;
mod wildcard;
mod ignore;
#[cfg(test)]
mod oracle;
mod pack;
mod generator;
mod resolve;
mod sources;
#[cfg(test)]
mod tests;

pub use artifact::{Artifact, Resolution};
pub use resolve::DANGLING_SOURCE;
pub use sources::{Copy, Lookup, SourceRef, Sources, bases};
