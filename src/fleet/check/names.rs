//! Duplicate names.

use crate::base::finding::Finding;
use crate::fleet::input::files::Input;
use crate::fleet::merge::levels::Merged;
use crate::fleet::resolve::dependencies::name;
use crate::text::{Index, Span};
use crate::yaml::Node;

/// The rule id for duplicate names.
pub(super) const DUPLICATE_NAME: &str = "duplicate-name";

pub(super) fn check(input: &Input, merged: &Merged, findings: &mut Vec<Finding>) {
    duplicates("clusters", &input.clusters, findings);
    duplicates("tenants", &input.tenants, findings);
    for (tenant, merged) in input.tenants.iter().zip(&merged.tenants) {
        let of = |key: &str| tenant.get(key).map(Node::items).unwrap_or_default();
        let within = name(tenant).map_or_else(String::new, |name| format!(" of tenant `{name}`"));
        duplicates(&format!("components{within}"), of("components"), findings);
        duplicates(&format!("namespaces{within}"), of("namespaces"), findings);
        duplicates(&format!("alerts{within}"), of("alerts"), findings);
        duplicates(&format!("receivers{within}"), of("receivers"), findings);
        duplicates(&format!("sources{within}"), &merged.sources, findings);
        for component in of("components") {
            let stages = component.get("stages").map(Node::items).unwrap_or_default();
            let within = name(component).map_or_else(String::new, |name| format!(" of component `{name}`"));
            duplicates(&format!("stages{within}"), stages, findings);
        }
    }
}

fn duplicates(kind: &str, nodes: &[Node], findings: &mut Vec<Finding>) {
    let mut first: Index<&str, &Span> = Index::default();
    for node in nodes {
        let Some(name) = name(node) else { continue };
        let span = node.get("name").unwrap_or(node).span();
        match first.get(name).copied() {
            Some(before) => {
                let finding =
                    Finding::error(DUPLICATE_NAME, span.clone(), format!("two {kind} have the name `{name}`"));
                findings.push(finding.related(before.clone(), "first defined here").help("rename one of them"));
            }
            None => {
                first.insert(name, span);
            }
        }
    }
}
