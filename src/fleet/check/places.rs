//! Folders and namespaces that collide.

use crate::base::finding::Finding;
use crate::fleet::input::files::Input;
use crate::fleet::merge::levels::{Merged, namespace_of};
use crate::fleet::resolve::dependencies::name;
use crate::kube::groups;
use crate::text::{Index, Span, join};
use crate::yaml::Node;

/// The rule of two things in one place.
const COLLISION: &str = "collision";

pub(super) fn check(input: &Input, merged: &Merged, findings: &mut Vec<Finding>) {
    clusters(input, merged, findings);
    namespaces(input, merged, findings);
}

/// Where to point for a cluster's path: where the cluster says it, or its name where it inherits it.
fn place<'a>(written: &'a Node, path: &'a Node) -> &'a Span {
    written.get("path").or_else(|| written.get("name")).unwrap_or(path).span()
}

fn clusters(input: &Input, merged: &Merged, findings: &mut Vec<Finding>) {
    let mut folders: std::collections::BTreeMap<String, (&str, &Span)> = std::collections::BTreeMap::new();
    for (written, cluster) in input.clusters.iter().zip(&merged.clusters) {
        let (Some(name), Some(path)) = (name(cluster), cluster.get("path")) else { continue };
        let Some(text) = path.text().filter(|text| !text.contains("{{")) else { continue };
        let Some(folder) = join("", text) else { continue };
        let at = place(written, path);
        if let Some((other, first)) = folders.get(&folder) {
            if *other == name {
                continue;
            }
            let message = format!("clusters `{other}` and `{name}` sync one folder, `{text}`");
            let help = "each would apply what is meant for the other; a path can say `{{ cluster.name }}`";
            findings.push(
                Finding::error(COLLISION, at.clone(), message).related((*first).clone(), "the other one").help(help),
            );
            continue;
        }
        folders.insert(folder, (name, at));
    }
    // In sorted order a folder's subfolders come after it, though others (`a-b` between `a` and `a/b`) may stand between.
    for (folder, (name, at)) in &folders {
        let above = folder.match_indices('/').find_map(|(end, _)| folders.get_key_value(folder.get(..end)?));
        if let Some((outer, (other, outer_at))) = above {
            let message = format!("cluster `{other}` syncs `{outer}`, in which the folder of `{name}` lies");
            let finding =
                Finding::error(COLLISION, (*at).clone(), message).related((*outer_at).clone(), "the outer one");
            findings.push(finding.help("it would apply what is meant for the other"));
        }
    }
}

fn namespaces(input: &Input, merged: &Merged, findings: &mut Vec<Finding>) {
    let flux = merged.flux.get("namespace").and_then(Node::text).unwrap_or(groups::FLUX_NAMESPACE);
    let mut owners: Index<&str, (&str, &Span)> = Index::default();
    for tenant in &input.tenants {
        if tenant.get("role").and_then(Node::text) != Some("tenant") {
            continue;
        }
        let Some(owner) = name(tenant) else { continue };
        let items = |key: &str| tenant.get(key).map(Node::items).unwrap_or_default().iter();
        let listed = items("namespaces").filter_map(|namespace| namespace.get("name"));
        let implied = items("components").filter_map(namespace_of);
        for node in listed.chain(implied) {
            let Some(namespace) = node.text() else { continue };
            if namespace == flux {
                let message = format!("tenant `{owner}` claims `{namespace}`, the namespace of Flux");
                let help = "whoever may change Flux's objects is no longer confined; choose another namespace";
                findings.push(Finding::error(COLLISION, node.span().clone(), message).help(help));
                continue;
            }
            match owners.get(namespace).copied() {
                Some((other, first)) if other != owner => {
                    let message = format!("tenants `{other}` and `{owner}` both claim namespace `{namespace}`");
                    let finding = Finding::error(COLLISION, node.span().clone(), message);
                    let help = "a namespace belongs to one tenant; a component can say another one with `namespace`";
                    findings.push(finding.related(first.clone(), format!("`{other}` claims it here")).help(help));
                }
                Some(_) => {}
                None => {
                    owners.insert(namespace, (owner, node.span()));
                }
            }
        }
    }
}
