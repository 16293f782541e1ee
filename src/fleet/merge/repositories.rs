//! The repositories of a fleet, and the settings that sources inherit from them.

use crate::fleet::input::files::Input;
use crate::text::{Span, join, normalize};
use crate::yaml::{Entry, Node, Style, Value};

/// The name of the fleet's own repository, which `repository` describes.
pub(crate) const OWN_REPOSITORY: &str = "fleet";

/// The repositories as mappings with a `name` and a `path`: the fleet's own repository, then `repositories`.
#[derive(Debug, Clone)]
pub(crate) struct Repositories(Vec<Node>);

impl Repositories {
    pub(crate) fn of(input: &Input) -> Self {
        let own = input.root.entry("repository").map(|entry| named(OWN_REPOSITORY, &entry.key_span(), &entry.node));
        let named = input.root.get("repositories").map(Node::entries).unwrap_or_default().iter();
        let named = named.map(|entry| self::named(&entry.key, &entry.key_span(), &entry.node));
        Self(own.into_iter().chain(named).filter(Node::is_map).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Node> {
        self.0.iter()
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Node> {
        self.iter().find(|repository| repository.get("name").and_then(Node::text) == Some(name))
    }

    /// Returns the repository that a cluster syncs.
    pub(crate) fn of_cluster(&self, cluster: &Node) -> Option<&Node> {
        self.find(cluster.get("repository").and_then(Node::text).unwrap_or(OWN_REPOSITORY))
    }

    /// Returns the directory of the rendered files that a path of a repository refers to.
    pub(crate) fn folder(repository: Option<&Node>, path: &str) -> Option<String> {
        let root = repository.and_then(|repository| repository.get("path")?.text()).unwrap_or_default();
        join(&normalize(root)?, &normalize(path)?)
    }

    /// Returns a node with its repository as a mapping, for expressions.
    pub(crate) fn in_context(node: &Node, repository: Option<&Node>) -> Node {
        let Some(repository) = repository else { return node.clone() };
        node.with(Entry::new("repository", node.span(), repository.clone()))
    }

    /// Returns the list of all repositories, for expressions.
    pub(crate) fn list(&self, at: &Span) -> Node {
        Node::at(Value::Seq(self.0.iter().cloned().collect()), at.clone())
    }

    /// Returns the settings that a source inherits from its `repository`.
    pub(crate) fn source_level(&self, source: &Node) -> Option<Node> {
        let repository = self.find(source.get("repository")?.text()?)?;
        let mut level = Node { value: Value::Map([].into()), origin: repository.origin.clone() };
        for key in ["url", "secret", "provider", "interval"] {
            if let Some(entry) = repository.entry(key).filter(|entry| !entry.node.is_null()) {
                level = level.with(entry.clone());
            }
        }
        let is_oci = repository.get("url").and_then(Node::text).is_some_and(|url| url.starts_with("oci://"));
        let branch = repository.get("branch").filter(|branch| !branch.is_null()).cloned();
        let branch = branch.unwrap_or_else(|| text(crate::fleet::model::DEFAULT_BRANCH, repository.span()));
        let at = branch.span().clone();
        let entry = Entry::new(if is_oci { "tag" } else { "branch" }, &at, branch);
        let reference = Node::at(Value::Map([entry].into()), at.clone());
        Some(level.with(Entry::new("ref", &at, reference)))
    }
}

/// Returns a repository with its name. A repository without a `path` is the root of the rendered files if it is the
/// fleet's own, and not rendered otherwise.
fn named(name: &str, at: &Span, repository: &Node) -> Node {
    if !repository.is_map() {
        return repository.clone();
    }
    let node = repository.with(Entry::new("name", at, text(name, at)));
    match repository.get("path").filter(|path| !path.is_null()) {
        None if name == OWN_REPOSITORY => node.with(Entry::new("path", at, text(".", at))),
        _ => node,
    }
}

fn text(text: &str, at: &Span) -> Node {
    Node::scalar(text, Style::Double, at.clone())
}
