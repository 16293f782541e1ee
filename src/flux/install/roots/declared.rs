//! Roots that the configuration declares, for platforms that configure Flux elsewhere.

use super::candidate::{CandidateKind, RootCandidate};
use super::coverage::Coverage;
use super::synthetic_sync::sync_of;
use crate::config::DeclaredRoot;
use crate::flux::object::kustomization_path::{below, clamp};
use crate::flux::source::reference::SourceRef;
use crate::text::Tree;
use crate::yaml::Name;

/// Adds the declared roots. If the declared directory applies the bootstrap that syncs it, the declaration only sets the
/// name of that root. The file of another bootstrap may be a copy that no cluster uses, so it does not replace the
/// declared root.
pub(super) fn declare(
    tree: &Tree,
    coverage: &Coverage<'_>,
    declared: &[DeclaredRoot],
    candidates: &mut Vec<RootCandidate>,
) {
    for DeclaredRoot { cluster, root, path, repository } in declared {
        let folder = below(repository, &clamp(&root.path));
        let name: Name = cluster.as_str().into();
        let is_applied = |known: &RootCandidate| coverage.leads(&folder, known.file.path());
        let is_known = |known: &RootCandidate| known.synced(tree).as_ref() == Some(&folder) && is_applied(known);
        if let Some(known) = candidates.iter_mut().find(|known| is_known(known)) {
            known.name = Some(name);
            continue;
        }
        let (kind, source) = root.source.split_once('/').unwrap_or(("GitRepository", &root.source));
        let source = SourceRef { kind: kind.into(), namespace: root.namespace.as_str().into(), name: source.into() };
        let place = path.span();
        let objects = sync_of(&source, &source.name, path, place);
        let found = RootCandidate::new(CandidateKind::Declared, place.file(), objects, &root.path);
        candidates.push(RootCandidate { home: folder, prefix: Some(repository.clone()), name: Some(name), ..found });
    }
}
