//! The references of kustomizations to remote resources.

use std::collections::BTreeSet;

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

    /// The revision of the URL, if its content can change: the name of a branch, or an empty text for the default branch.
    pub fn moving_revision(&self) -> Option<&str> {
        let revision = if self.is_file() { self.revision_of_file()? } else { self.revision_of_repository() };
        (!is_fixed(revision)).then_some(revision)
    }

    /// The revision of a repository to clone.
    fn revision_of_repository(&self) -> &str {
        let query = self.url.split_once('?').map_or("", |(_, query)| query);
        let mut values = query.split('&').filter_map(|field| field.split_once('='));
        values.find(|(key, _)| matches!(*key, "ref" | "version")).map_or("", |(_, value)| value)
    }

    /// The revision in the address of a file, if the host is known to serve files of repositories.
    fn revision_of_file(&self) -> Option<&str> {
        let path = self.url.split(['?', '#']).next().unwrap_or(&self.url);
        let path = path.strip_prefix("https://").or(path.strip_prefix("http://"))?;
        let segments: Vec<&str> = path.split('/').collect();
        let after = |start: usize| match segments.get(start..)? {
            ["refs", "heads" | "tags", revision, ..] | [revision, ..] => Some(*revision),
            [] => None,
        };
        match segments.as_slice() {
            ["raw.githubusercontent.com", ..] => after(3),
            ["github.com", _, _, "raw" | "blob", ..] => after(4),
            ["github.com", _, _, "releases", "latest", ..] => Some("latest"),
            ["cdn.jsdelivr.net", "gh", _, repository, ..] => {
                Some(repository.split_once('@').map_or("", |(_, revision)| revision))
            }
            _ => {
                let raw = segments.windows(2).position(|pair| pair == ["-", "raw"])?;
                after(raw + 2)
            }
        }
    }
}

/// Returns whether a revision is a commit or the name of a tag. A variable may contain a fixed revision.
///
/// `v2` and `release-1.2` are usually branches, or tags that move.
fn is_fixed(revision: &str) -> bool {
    let is_commit = revision.len() >= 7 && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digits = revision.bytes().filter(u8::is_ascii_digit).count();
    let dots = revision.as_bytes().windows(3).filter(
        |part| matches!(part, [before, b'.', after] if before.is_ascii_digit() && after.is_ascii_alphanumeric()),
    );
    let least = if revision.starts_with("release") { 2 } else { 1 };
    is_commit || digits >= 6 || dots.count() >= least || revision.contains(['$', '{'])
}

/// A base at a URL without a copy. The objects of the base are missing from the build.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnreadBase {
    /// The URL as written.
    pub url: Name,
    /// The namespace that kustomizations set for the objects; `None` if they keep their own namespaces.
    pub namespace: Option<Name>,
    /// The names that patches give to Namespaces.
    pub renamed: BTreeSet<Name>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;

    #[test]
    fn a_branch_is_not_a_fixed_revision() {
        let place = File::new("a.yaml", "a").span(0..1);
        let revision = |url: &str| {
            let base = RemoteBase { place: place.clone(), url: url.into() };
            base.moving_revision().map(str::to_owned)
        };
        for (url, moving) in [
            ("github.com/a/b/config", Some("")),
            ("https://github.com/a/b//config?ref=v2", Some("v2")),
            ("https://github.com/a/b//config?ref=release-1.30", Some("release-1.30")),
            ("https://github.com/a/b//config?ref=v2.1", None),
            ("https://github.com/a/b//config?ref=release-1.30.2", None),
            ("https://github.com/a/b//config?timeout=5&ref=0a1b2c3d4e", None),
            ("https://github.com/a/b//config?ref=${VERSION}", None),
            ("https://raw.githubusercontent.com/a/b/trunk/c.yaml", Some("trunk")),
            ("https://raw.githubusercontent.com/a/b/refs/heads/main/c.yaml", Some("main")),
            ("https://raw.githubusercontent.com/a/b/refs/tags/v1.0.0/c.yaml", None),
            ("https://github.com/a/b/releases/latest/download/c.yaml", Some("latest")),
            ("https://github.com/a/b/releases/download/v1.0.0/c.yaml", None),
            ("https://gitlab.example.com/a/b/-/raw/main/c.yaml", Some("main")),
            ("https://cdn.jsdelivr.net/gh/a/b@v1.2.3/c.yaml", None),
            ("https://example.com/c.yaml", None),
        ] {
            assert_eq!(revision(url).as_deref(), moving, "{url}");
        }
    }
}
