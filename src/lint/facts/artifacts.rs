//! The artifacts that source-watcher generates.

use crate::flux::Applied;
use crate::kube::Object;
use crate::lint::fields::text_of;
use crate::yaml::Node;

/// Returns whether an `ArtifactGenerator` of a cluster, or an unknown controller, may generate an `ExternalArtifact`.
///
/// Programs other than Flux can also create an `ExternalArtifact`. If the cluster has no generator, the function
/// assumes such a program.
pub(crate) fn may_be_generated<'a>(generators: impl Iterator<Item = Applied<'a>>, namespace: &str, name: &str) -> bool {
    let mut generators = generators.peekable();
    generators.peek().is_none() || generators.any(|generator| generates(generator.object, namespace, name))
}

/// Returns whether a generator creates an artifact with a name.
///
/// A variable in an artifact name of the generator matches any text.
pub fn generates(generator: &Object, namespace: &str, wanted: &str) -> bool {
    let artifacts = generator.node.at_keys(&["spec", "artifacts"]).map(Node::items).unwrap_or_default();
    let matches = |name: &str| match (name.split_once('{'), name.rsplit_once('}')) {
        (Some((start, _)), Some((_, end))) => wanted.starts_with(start) && wanted.ends_with(end),
        _ => name == wanted || name.contains('$'),
    };
    let mut names = artifacts.iter().filter_map(|artifact| text_of(artifact, "name"));
    generator.namespace() == Some(namespace) && names.any(matches)
}
