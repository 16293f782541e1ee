//! The cluster names in a configuration. The linter reports names that match no cluster.

use crate::text::Span;
use crate::yaml::Node;

/// A cluster name in the configuration.
#[derive(Debug, Clone)]
pub struct NamedCluster {
    /// A name, or a glob of names.
    pub glob: String,
    /// The place of the name.
    pub at: Span,
}

/// Returns the cluster names in a `lint` section.
pub(super) fn of_lint(section: &Node) -> Vec<NamedCluster> {
    let groups = section.at_keys(&["rules", "duplicate-cluster-identity", "groups"]).map(Node::items);
    let alike = groups.unwrap_or_default().iter().flat_map(|group| items(group, "clusters"));
    items(section, "production").iter().chain(alike).filter_map(named).collect()
}

/// Returns the cluster names in the other sections of a configuration.
pub(super) fn of_config(root: &Node) -> Vec<NamedCluster> {
    let keys = root.get("clusters").map(Node::entries).unwrap_or_default().iter();
    let keys = keys.map(|entry| NamedCluster { glob: entry.key.to_string(), at: entry.key_span() });
    let external = items(root, "external").iter().flat_map(|object| items(object, "clusters"));
    let policies = items(root, "policies").iter().flat_map(|policy| items(policy, "clusters"));
    keys.chain(external.chain(policies).filter_map(named)).collect()
}

fn items<'a>(node: &'a Node, field: &str) -> &'a [Node] {
    node.get(field).map(Node::items).unwrap_or_default()
}

fn named(node: &Node) -> Option<NamedCluster> {
    Some(NamedCluster { glob: node.text()?.to_owned(), at: node.span().clone() })
}
