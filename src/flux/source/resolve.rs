//! From a reference to what the source hands out.

use std::sync::Arc;

use super::artifact::Resolution;
use super::origin::Origin;
use super::sources::{Lookup, SourceRef, Sources};

/// Resolves one reference; sources may be made of others.
pub(super) struct Resolver<'a> {
    sources: &'a Sources,
    lookup: &'a dyn Lookup,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(sources: &'a Sources, lookup: &'a dyn Lookup) -> Self {
        Self { sources, lookup }
    }

    pub(super) fn resolve(&mut self, reference: &SourceRef) -> Resolution {
        if &*reference.kind == "ExternalArtifact" {
            return Resolution::Unknown("artifacts of ArtifactGenerators are not made yet".into());
        }
        let Some(source) = self.lookup.source(reference) else { return Resolution::Missing };
        let Some(origin) = Origin::of(&source) else {
            return Resolution::Unknown("its address is not known".into());
        };
        let Some((id, files)) = self.sources.copy_of(&origin) else {
            return Resolution::NoCopy(origin.shown().into());
        };
        Resolution::Artifact(self.sources.make(Arc::from(id), || files))
    }
}
