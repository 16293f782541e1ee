//! What sources hand out: the files that Flux builds from are those of an artifact, not those of a checkout.

mod artifact;
mod ignore;
#[cfg(test)]
mod oracle;
mod origin;
mod resolve;
mod sources;
mod sparse;
mod wildcard;

pub use artifact::{Artifact, Resolution};
pub use sources::{Copy, Lookup, SourceRef, Sources};
