//! The artifacts that source-watcher makes.

use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::refs::wanted::said;
use crate::lint::view::View;
use crate::yaml::Node;

/// Whether a controller may make an ExternalArtifact. Some are made by others than Flux's: on a cluster without any of
/// Flux's generators, one of those may.
pub(crate) fn may_be_made(view: &View<'_>, namespace: &str, name: &str) -> bool {
    let mut generators = view.of_kind(groups::SOURCE_EXTENSIONS, "ArtifactGenerator").peekable();
    generators.peek().is_none() || generators.any(|generator| makes(&generator, namespace, name))
}

/// Whether a generator may make an artifact of a name, of which parts may stand for anything.
fn makes(generator: &Applied<'_>, namespace: &str, wanted: &str) -> bool {
    let artifacts = generator.object.node.at_keys(&["spec", "artifacts"]).map(Node::items).unwrap_or_default();
    let fits = |name: &str| match (name.split_once('{'), name.rsplit_once('}')) {
        (Some((start, _)), Some((_, end))) => wanted.starts_with(start) && wanted.ends_with(end),
        _ => name == wanted || name.contains('$'),
    };
    let mut names = artifacts.iter().filter_map(|artifact| said(artifact, "name"));
    generator.object.namespace() == Some(namespace) && names.any(fits)
}
