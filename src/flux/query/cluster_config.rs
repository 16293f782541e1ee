//! The configuration of a cluster, from which eksctl creates the cluster and some of its objects.

use crate::text::File;
use crate::yaml::{Node, parse};

/// The API group of eksctl.
const GROUP: &str = "eksctl.io/";

/// Returns whether a file is a configuration of a cluster.
pub(super) fn is_cluster_config(text: &str) -> bool {
    let is_version = |line: &str| line.strip_prefix("apiVersion:").is_some_and(is_of_eksctl);
    text.contains(GROUP) && text.lines().any(is_version)
}

/// The objects that eksctl creates, by kind and name: the service accounts with a role of AWS, and their namespaces.
///
/// <https://github.com/eksctl-io/eksctl/blob/main/pkg/actions/irsa/create.go>
pub(super) fn created_with_cluster(file: &File) -> impl Iterator<Item = (&'static str, String)> {
    let documents = parse(file).documents.into_iter().map(|document| document.node);
    documents.filter(is_config).flat_map(|config| {
        let accounts = config.at_keys(&["iam", "serviceAccounts"]).map(Node::items).unwrap_or_default();
        // With `roleOnly`, eksctl creates only the role.
        let accounts = accounts.iter().filter(|account| text_at(account, &["roleOnly"]) != Some("true"));
        let fields = [("ServiceAccount", "name"), ("Namespace", "namespace")];
        let objects =
            accounts.flat_map(|account| fields.map(|(kind, field)| (kind, text_at(account, &["metadata", field]))));
        objects.filter_map(|(kind, name)| Some((kind, name?.to_owned()))).collect::<Vec<_>>()
    })
}

fn is_config(document: &Node) -> bool {
    text_at(document, &["apiVersion"]).is_some_and(is_of_eksctl)
        && text_at(document, &["kind"]) == Some("ClusterConfig")
}

fn is_of_eksctl(version: &str) -> bool {
    version.trim().trim_start_matches(['"', '\'']).starts_with(GROUP)
}

fn text_at<'a>(node: &'a Node, keys: &[&str]) -> Option<&'a str> {
    node.at_keys(keys)?.text()
}
