//! Collisions of cluster directories and namespaces.

use crate::base::finding::Finding;
use crate::fleet::input::files::Input;
use crate::fleet::merge::levels::{Merged, namespace_of, namespace_place};
use crate::fleet::merge::repositories::Repositories;
use crate::fleet::resolve::dependencies::name;
use crate::kube::groups;
use crate::text::{Index, Span};
use crate::yaml::Node;

/// The rule id for cluster directories and namespaces that collide.
const COLLISION: &str = "collision";
/// The namespaces that Kubernetes creates.
const RESERVED: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

pub(super) fn check(input: &Input, merged: &Merged, findings: &mut Vec<Finding>) {
    clusters(input, merged, findings);
    namespaces(input, merged, findings);
}

/// Returns the place to report for a cluster's path: its `path`, or its `name` if the path is inherited.
fn place<'a>(written: &'a Node, path: &'a Node) -> &'a Span {
    written.get("path").or_else(|| written.get("name")).unwrap_or(path).span()
}

fn clusters(input: &Input, merged: &Merged, findings: &mut Vec<Finding>) {
    let mut folders: std::collections::BTreeMap<String, (&str, &Span)> = std::collections::BTreeMap::new();
    for (written, cluster) in input.clusters.iter().zip(&merged.clusters) {
        let (Some(name), Some(path)) = (name(cluster), cluster.get("path")) else { continue };
        let Some(text) = path.text().filter(|text| !text.contains("{{")) else { continue };
        let Some(folder) = Repositories::folder(merged.repositories.of_cluster(cluster), text) else { continue };
        let at = place(written, path);
        if let Some((other, first)) = folders.get(&folder) {
            if *other == name {
                continue;
            }
            let message = format!("clusters `{other}` and `{name}` sync the same directory, `{text}`");
            let help = "set different paths, for example with `{{ cluster.name }}`; otherwise each cluster applies the objects of the other";
            findings.push(
                Finding::error(COLLISION, at.clone(), message)
                    .related((*first).clone(), "the other cluster")
                    .help(help),
            );
            continue;
        }
        folders.insert(folder, (name, at));
    }
    // Sorting does not make subdirectories adjacent: `a-b` is between `a` and `a/b`.
    for (folder, (name, at)) in &folders {
        let above = folder.match_indices('/').find_map(|(end, _)| folders.get_key_value(folder.get(..end)?));
        if let Some((outer, (other, outer_at))) = above {
            let message = format!("cluster `{other}` syncs `{outer}`, which contains the directory of `{name}`");
            let finding =
                Finding::error(COLLISION, (*at).clone(), message).related((*outer_at).clone(), "the outer directory");
            let help = format!("move one of the directories; otherwise `{other}` applies the objects of `{name}`");
            findings.push(finding.help(help));
        }
    }
}

fn namespaces(input: &Input, merged: &Merged, findings: &mut Vec<Finding>) {
    let flux = merged.flux.get("namespace").and_then(Node::text).unwrap_or(groups::FLUX_NAMESPACE);
    let mut owners: Index<&str, (&str, &Span)> = Index::default();
    for (tenant, merged) in input.tenants.iter().zip(&merged.tenants) {
        if merged.node.get("role").and_then(Node::text) != Some("tenant") {
            continue;
        }
        let Some(owner) = name(tenant) else { continue };
        let items = tenant.get("namespaces").map(Node::items).unwrap_or_default().iter();
        let listed = items.filter_map(|namespace| namespace.get("name")).map(|name| (name, name.span()));
        let implied = merged.components.iter().filter_map(|component| {
            Some((namespace_of(&component.node)?, namespace_place(&component.node)?.written()))
        });
        for (node, at) in listed.chain(implied) {
            let Some(namespace) = node.text() else { continue };
            if namespace == flux {
                let message = format!("tenant `{owner}` uses `{namespace}`, the namespace of Flux");
                let help = "choose another namespace; an account that can change the objects of Flux is not confined";
                findings.push(Finding::error(COLLISION, at.clone(), message).help(help));
                continue;
            }
            if RESERVED.contains(&namespace) {
                let message = format!("tenant `{owner}` uses `{namespace}`, a namespace of Kubernetes");
                let help = "choose another namespace; the cluster's own workloads or objects of all users are there";
                findings.push(Finding::error(COLLISION, at.clone(), message).help(help));
                continue;
            }
            match owners.get(namespace).copied() {
                Some((other, first)) if other != owner => {
                    let message = format!("tenants `{other}` and `{owner}` both use namespace `{namespace}`");
                    let finding = Finding::error(COLLISION, at.clone(), message);
                    let help = "use the namespace in one tenant only; set another one in the component's `namespace`";
                    findings.push(finding.related(first.clone(), format!("used by `{other}` here")).help(help));
                }
                Some(_) => {}
                None => {
                    owners.insert(namespace, (owner, at));
                }
            }
        }
    }
}
