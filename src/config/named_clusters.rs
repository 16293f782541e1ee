//! The clusters that a configuration names: one that is called otherwise is overlooked without a word.

use crate::text::Span;
use crate::yaml::Node;

/// A place that names clusters.
#[derive(Debug, Clone)]
pub struct NamedCluster {
    /// A name, or a glob of names.
    pub glob: String,
    /// Where it is said.
    pub at: Span,
}

/// Those of a `lint` section.
pub(super) fn of_lint(section: &Node) -> Vec<NamedCluster> {
    let groups = section.at_keys(&["rules", "duplicate-cluster-identity", "groups"]).map(Node::items);
    let alike = groups.unwrap_or_default().iter().flat_map(|group| items(group, "clusters"));
    items(section, "production").iter().chain(alike).filter_map(named).collect()
}

/// Those of the rest of a configuration.
pub(super) fn of_config(root: &Node) -> Vec<NamedCluster> {
    let keys = root.get("clusters").map(Node::entries).unwrap_or_default().iter();
    let keys = keys.map(|entry| NamedCluster { glob: entry.key.to_string(), at: entry.key_span() });
    let external = items(root, "external").iter().flat_map(|object| items(object, "clusters"));
    keys.chain(external.filter_map(named)).collect()
}

fn items<'a>(node: &'a Node, field: &str) -> &'a [Node] {
    node.get(field).map(Node::items).unwrap_or_default()
}

fn named(node: &Node) -> Option<NamedCluster> {
    Some(NamedCluster { glob: node.text()?.to_owned(), at: node.span().clone() })
}
