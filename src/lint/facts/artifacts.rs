//! The artifacts that source-watcher generates.

use std::collections::BTreeSet;

use crate::flux::Applied;
use crate::kube::Object;
use crate::lint::fields::text_of;
use crate::yaml::Node;

/// The artifacts that the `ArtifactGenerator` objects of a cluster generate.
#[derive(Debug, Default)]
pub(crate) struct GeneratedArtifacts<'a> {
    /// Whether the cluster has a generator.
    pub(crate) has_generators: bool,
    /// The namespaces and names without variables.
    names: BTreeSet<(&'a str, &'a str)>,
    /// The namespaces and names with variables.
    patterns: Vec<(&'a str, &'a str)>,
}

impl<'a> GeneratedArtifacts<'a> {
    pub(crate) fn of(generators: impl Iterator<Item = Applied<'a>>) -> Self {
        let mut all = Self::default();
        for generator in generators {
            all.has_generators = true;
            let Some(namespace) = generator.object.namespace() else { continue };
            for name in names_of(generator.object) {
                if name.contains(['{', '$']) {
                    all.patterns.push((namespace, name));
                } else {
                    all.names.insert((namespace, name));
                }
            }
        }
        all
    }

    /// Returns whether a generator, or an unknown controller, may generate an `ExternalArtifact`.
    ///
    /// Programs other than Flux can also create an `ExternalArtifact`. If the cluster has no generator, the function
    /// assumes such a program.
    pub(crate) fn may_contain(&self, namespace: &str, name: &str) -> bool {
        let fits = |(own, pattern): &(&str, &str)| *own == namespace && matches(pattern, name);
        !self.has_generators || self.names.contains(&(namespace, name)) || self.patterns.iter().any(fits)
    }
}

/// Returns whether a generator creates an artifact with a name.
///
/// A variable in an artifact name of the generator matches any text.
pub fn generates(generator: &Object, namespace: &str, wanted: &str) -> bool {
    generator.namespace() == Some(namespace) && names_of(generator).any(|name| matches(name, wanted))
}

fn names_of(generator: &Object) -> impl Iterator<Item = &str> {
    let artifacts = generator.node.at_keys(&["spec", "artifacts"]).map(Node::items).unwrap_or_default();
    artifacts.iter().filter_map(|artifact| text_of(artifact, "name"))
}

fn matches(name: &str, wanted: &str) -> bool {
    match (name.split_once('{'), name.rsplit_once('}')) {
        (Some((start, _)), Some((_, end))) => wanted.starts_with(start) && wanted.ends_with(end),
        _ => name == wanted || name.contains('$'),
    }
}
