//! The names and globs of `clusters` and `environments` of tenants and components.

use super::references::{DANGLING_REFERENCE, dangling};
use crate::base::finding::Finding;
use crate::fleet::input::files::Input;
use crate::fleet::input::layout::Layout;
use crate::fleet::merge::levels::Merged;
use crate::fleet::merge::placement::glob;
use crate::fleet::resolve::dependencies::name;
use crate::fleet::rule_ids::INVALID_FLEET;
use crate::text::Index;
use crate::yaml::Node;

pub(super) fn check(input: &Input, merged: &Merged, layout: Option<&Layout>, findings: &mut Vec<Finding>) {
    let clusters: Vec<&str> = merged.clusters.iter().filter_map(name).collect();
    let environments = input.root.get("environments").map(Node::entries).unwrap_or_default();
    let environments: Vec<&str> = environments.iter().map(|entry| &*entry.key).collect();
    let mut found = Vec::new();
    for tenant in &merged.tenants {
        let components = tenant.components.iter().map(|component| &component.node);
        for placed in std::iter::once(&tenant.node).chain(components) {
            names(placed, "clusters", "cluster", &clusters, &mut found);
            names(placed, "environments", "environment", &environments, &mut found);
        }
    }
    // A layout can name clusters and environments that only some fleets have.
    let in_layout = |finding: &Finding| layout.is_some_and(|layout| layout.sets(&finding.at.span));
    found.retain(|finding| finding.rule != DANGLING_REFERENCE || !in_layout(finding));
    let mut seen: Index<(String, u32, String), ()> = Index::default();
    found.retain(|finding| {
        let (path, start, _) = finding.at.span.order();
        seen.insert((path.to_owned(), start, finding.message.clone()), ()).is_none()
    });
    findings.append(&mut found);
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
