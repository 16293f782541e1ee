//! Names that stand twice.

use crate::base::finding::Finding;
use crate::fleet::input::files::Input;
use crate::fleet::merge::levels::Merged;
use crate::fleet::resolve::dependencies::name;
use crate::text::{Index, Span};
use crate::yaml::Node;

/// The rule of names that stand twice.
pub(super) const DUPLICATE_NAME: &str = "duplicate-name";

pub(super) fn check(input: &Input, merged: &Merged, findings: &mut Vec<Finding>) {
    twice("clusters", &input.clusters, findings);
    twice("tenants", &input.tenants, findings);
    for (tenant, merged) in input.tenants.iter().zip(&merged.tenants) {
        let of = |key: &str| tenant.get(key).map(Node::items).unwrap_or_default();
        let within = name(tenant).map_or_else(String::new, |name| format!(" of tenant `{name}`"));
        twice(&format!("components{within}"), of("components"), findings);
        twice(&format!("namespaces{within}"), of("namespaces"), findings);
        twice(&format!("alerts{within}"), of("alerts"), findings);
        twice(&format!("receivers{within}"), of("receivers"), findings);
        twice(&format!("sources{within}"), &merged.sources, findings);
        for component in of("components") {
            let stages = component.get("stages").map(Node::items).unwrap_or_default();
            let within = name(component).map_or_else(String::new, |name| format!(" of component `{name}`"));
            twice(&format!("stages{within}"), stages, findings);
        }
    }
}

fn twice(what: &str, nodes: &[Node], findings: &mut Vec<Finding>) {
    let mut first: Index<&str, &Span> = Index::default();
    for node in nodes {
        let Some(name) = name(node) else { continue };
        let span = node.get("name").unwrap_or(node).span();
        match first.get(name).copied() {
            Some(before) => {
                let finding = Finding::error(DUPLICATE_NAME, span.clone(), format!("two {what} are named `{name}`"));
                findings.push(finding.related(before.clone(), "first here").help("give one of them another name"));
            }
            None => {
                first.insert(name, span);
            }
        }
    }
}
