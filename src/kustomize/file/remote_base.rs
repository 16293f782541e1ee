//! The references of kustomizations to remote resources.

use super::definition::Definition;
use super::files::copy_of;
use super::remote::Remote;
use crate::text::Span;
use crate::yaml::{Name, Node};

/// A reference of a kustomization to a remote resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteBase {
    /// The position of the reference.
    pub place: Span,
    /// The URL as written.
    pub url: Box<str>,
}

impl RemoteBase {
    /// Returns whether kustomize loads the URL as a file first. If this fails, kustomize clones the repository.
    pub fn is_file(&self) -> bool {
        let path = self.url.split(['?', '#']).next().unwrap_or(&self.url);
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        let is_http = self.url.starts_with("https://") || self.url.starts_with("http://");
        is_http && !self.url.contains("ref=") && matches!(extension, "yaml" | "yml" | "json")
    }
}

/// A base at a URL without a copy. The objects of the base are missing from the build.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnreadBase {
    /// The URL as written.
    pub url: Name,
    /// The namespace that kustomizations set for the objects; `None` if they keep their own namespaces.
    pub namespace: Option<Name>,
}

/// Collects the remote references of a kustomization. References inside copies of other repositories are excluded.
pub(crate) fn collect(definition: &Definition, found: &mut Vec<RemoteBase>) {
    if copy_of(&definition.folder).is_some() {
        return;
    }
    let mut add = |node: &Node| {
        let text = node.text().filter(|text| !text.contains('\n') && Remote::parse(text).is_some());
        found.extend(text.map(|text| RemoteBase { place: node.span().clone(), url: text.into() }));
    };
    let lists =
        ["resources", "bases", "components", "crds", "configurations", "generators", "transformers", "validators"];
    for field in lists.into_iter().chain(["patchesStrategicMerge"]) {
        definition.items(field).iter().for_each(&mut add);
    }
    for field in ["patches", "patchesJson6902", "replacements"] {
        definition.items(field).iter().filter_map(|item| item.get("path")).for_each(&mut add);
    }
    definition.entry("openapi").and_then(|entry| entry.node.get("path")).into_iter().for_each(&mut add);
}

/// Removes duplicates, because a base may be included several times.
pub(crate) fn deduplicate(found: &mut Vec<RemoteBase>) {
    found.sort_by(|a, b| a.place.order().cmp(&b.place.order()));
    found.dedup();
}
