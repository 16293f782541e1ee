//! The sources of the clusters that are the repository itself.

use crate::flux::build::applier_spec::instance_digest;
use crate::flux::build::digest::Digest;
use crate::flux::install::roots::root::Root;
use crate::flux::install::sync::{SyncPatches, objects_of};
use crate::flux::settings::Settings;
use crate::flux::source::sources::Sources;
use crate::kube::groups;
use crate::kustomize::{Builder, Files};
use crate::text::Index;

/// The sources of the clusters, including the sources of roots, which are the repository itself.
pub(super) fn sources(files: &Files, builder: &Builder, settings: &Settings, roots: &[Root]) -> Sources {
    let mut sources = Sources::new(files.clone(), settings.copies.clone()).within(builder.totals());
    // The FluxInstances of most clusters differ only in the path, and so all of them have valid patches if one has.
    let mut valid: Index<Digest, ()> = Index::default();
    // If several roots have the same URL, the first root determines the directory of the source. Roots with an existing
    // path are the most reliable, so they come first.
    let (sure, guessed): (Vec<&Root>, Vec<&Root>) = roots.iter().partition(|root| root.path_exists);
    for root in sure.into_iter().chain(guessed) {
        let Some(prefix) = root.prefix.as_ref().filter(|_| !root.syncs_other) else { continue };
        for object in &root.objects {
            if object.is(groups::FLUX_OPERATOR, "FluxInstance") {
                let digest = instance_digest(object);
                let read = if valid.contains(&digest) { SyncPatches::Related } else { SyncPatches::All };
                let (made, findings) = objects_of(object, builder, read);
                if findings.is_empty() {
                    valid.insert(digest, ());
                }
                for source in &made {
                    sources.add_own(source, prefix);
                }
            }
        }
        if let Some(source) = root.source() {
            sources.add_own(source, prefix);
        }
        for (source, prefix) in &root.further_sources {
            sources.add_own(source, prefix);
        }
    }
    sources
}
