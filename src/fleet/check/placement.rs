//! The names and globs of `clusters` and `environments` of tenants and components.

use super::references::{DANGLING_REFERENCE, dangling};
use crate::base::finding::Finding;
use crate::fleet::input::files::Input;
use crate::fleet::merge::levels::Merged;
use crate::fleet::merge::placement::glob;
use crate::fleet::resolve::dependencies::name;
use crate::fleet::rule_ids::INVALID_FLEET;
use crate::yaml::Node;

pub(super) fn check(input: &Input, merged: &Merged, findings: &mut Vec<Finding>) {
    let clusters: Vec<&str> = merged.clusters.iter().filter_map(name).collect();
    let environments = input.root.get("environments").map(Node::entries).unwrap_or_default();
    let environments: Vec<&str> = environments.iter().map(|entry| &*entry.key).collect();
    for tenant in &input.tenants {
        let components = tenant.get("components").map(Node::items).unwrap_or_default();
        for placed in std::iter::once(tenant).chain(components) {
            names(placed, "clusters", "cluster", &clusters, findings);
            names(placed, "environments", "environment", &environments, findings);
        }
    }
}

fn names(placed: &Node, field: &str, kind: &str, known: &[&str], findings: &mut Vec<Finding>) {
    for item in placed.get(field).map(Node::items).unwrap_or_default() {
        let Some(text) = item.text() else { continue };
        let matcher = match glob(text) {
            Ok(matcher) => matcher,
            Err(error) => {
                let message = format!("`{text}` is not a valid glob: {}", error.kind());
                findings.push(Finding::error(INVALID_FLEET, item.span().clone(), message));
                continue;
            }
        };
        if known.iter().any(|name| matcher.is_match(name)) {
            continue;
        }
        if text.contains(['*', '?', '[', '{']) {
            let message = format!("`{text}` matches no {kind}");
            let help = format!("remove it, or correct it; it is compared with the names of all {field}");
            findings.push(Finding::warning(DANGLING_REFERENCE, item.span().clone(), message).help(help));
        } else {
            findings.push(dangling(item.span(), format!("unknown {kind} `{text}`"), text, known));
        }
    }
}
