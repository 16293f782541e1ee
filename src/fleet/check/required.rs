//! Required settings that a layout can set. They are checked after merging.

use crate::base::finding::Finding;
use crate::fleet::input::files::Input;
use crate::fleet::merge::levels::Merged;
use crate::fleet::rule_ids::INVALID_FLEET;
use crate::yaml::{Entry, Node};

pub(super) fn check(input: &Input, merged: &Merged, findings: &mut Vec<Finding>) {
    for (written, cluster) in input.clusters.iter().zip(&merged.clusters) {
        require(written, cluster, "the cluster", "environment", "production", findings);
    }
    for (written, tenant) in input.tenants.iter().zip(&merged.tenants) {
        require(written, &tenant.node, "the tenant", "role", "tenant", findings);
        let further = written.get("sources").map(Node::items).unwrap_or_default();
        let sources = written.get("source").filter(|source| !source.is_null()).into_iter().chain(further);
        for (written, source) in sources.zip(&tenant.sources) {
            if written.get("repository").is_some_and(|name| !name.is_null()) {
                continue;
            }
            require(written, source, "`source`", "url", "https://github.com/acme/apps.git", findings);
        }
    }
}

/// Reports a missing field; `kind` names a mapping without a `name`.
fn require(written: &Node, merged: &Node, kind: &str, field: &str, example: &str, findings: &mut Vec<Finding>) {
    if !written.is_map() || merged.get(field).is_some_and(|node| !node.is_null()) {
        return;
    }
    let named = written.get("name").filter(|name| !name.is_null());
    let at = named.map(|name| name.span().clone()).or_else(|| written.entries().first().map(Entry::key_span));
    let owner = match named.and_then(Node::text) {
        Some(name) => format!("`{name}`"),
        None => kind.to_owned(),
    };
    let at = at.unwrap_or_else(|| written.span().clone());
    let help = format!("add it, for example `{field}: {example}`");
    findings.push(Finding::error(INVALID_FLEET, at, format!("{owner} has no `{field}`")).help(help));
}
