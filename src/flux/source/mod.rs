//! What sources hand out: the files that Flux builds from are those of an artifact, not those of a checkout.

mod artifact;
mod origin;
mod resolve;
mod sources;

pub use artifact::{Artifact, Resolution};
pub use sources::{Copy, Lookup, SourceRef, Sources};
