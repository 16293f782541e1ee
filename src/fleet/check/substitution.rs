//! Variables whose values are not strings after substitution.

use crate::base::finding::Finding;
use crate::fleet::input::layout::Layout;
use crate::fleet::merge::levels::{Merged, MergedTenant};
use crate::fleet::resolve::dependencies::name;
use crate::fleet::resolve::variable::{is_text_unquoted, whole_reference};
use crate::text::{Index, Span};
use crate::yaml::{Node, Value};

/// The rule id for variables whose type changes when Flux substitutes them.
const UNSAFE_VARIABLE: &str = "unsafe-variable";
/// The rule id for runtime-info copies that Flux does not fill.
const MISSING_VARIABLES: &str = "missing-variables";

pub(super) fn check(merged: &Merged, layout: Option<&Layout>, findings: &mut Vec<Finding>) {
    let is_users = |span: &Span| !layout.is_some_and(|layout| layout.sets(span));
    let mut reported: Index<(String, u32), ()> = Index::default();
    let mut known: Index<&str, Option<bool>> = Index::default();
    line_breaks(merged, &is_users, findings);
    for tenant in &merged.tenants {
        let substitutes = tenant.node.at_keys(&["sync", "substitute"]);
        if substitutes.and_then(Node::text) != Some("true") {
            unfilled_copies(tenant, substitutes, &is_users, findings);
            continue;
        }
        let own = tenant.node.at_keys(&["sync", "variables"]);
        for (variable, field, used) in uses(tenant) {
            let said_by_tenant = own.and_then(|own| own.get(variable));
            for cluster in merged.clusters.iter().filter(|cluster| runs(cluster, tenant)) {
                let Some(value) = said_by_tenant.or_else(|| cluster.at_keys(&["runtimeInfo", variable])) else {
                    continue;
                };
                let Some(text) = value.text().filter(|text| !text.contains("{{")) else { continue };
                if *known.entry(text).get_or_insert_with(|| is_text_unquoted(text)) {
                    continue;
                }
                let place = place(cluster, value, text, &is_users);
                let (path, start, _) = place.order();
                if reported.insert((path.to_owned(), start), ()).is_some() {
                    continue;
                }
                let message = format!(
                    "`{text}` would not remain a string: Flux substitutes `{variable}` in `{field}` without quotes"
                );
                let help = format!(
                    "choose a value that YAML reads as a string, or add text to `{field}`, for example `v-${{{variable}}}`; the \
                     API server rejects other types"
                );
                let finding = Finding::error(UNSAFE_VARIABLE, place.clone(), message).help(help);
                findings.push(finding.related(used.clone(), format!("`{variable}` is used here")));
            }
        }
    }
}

/// Reports multi-line values, since Flux removes their line breaks.
fn line_breaks(merged: &Merged, is_users: &impl Fn(&Span) -> bool, findings: &mut Vec<Finding>) {
    let mut reported: Index<(String, u32), ()> = Index::default();
    for variables in merged.clusters.iter().filter_map(|cluster| cluster.get("runtimeInfo")) {
        for entry in variables.entries() {
            let is_long = entry.node.text().is_some_and(|text| text.trim_end_matches('\n').contains('\n'));
            let (path, start, _) = entry.node.span().order();
            if !is_long || !is_users(entry.node.span()) || reported.insert((path.to_owned(), start), ()).is_some() {
                continue;
            }
            let message = format!("`{}` has several lines, and Flux removes the line breaks", entry.key);
            let help = "write it in one line, or define a separate ConfigMap in `objects` of the cluster";
            findings.push(Finding::warning(UNSAFE_VARIABLE, entry.node.span().clone(), message).help(help));
        }
    }
}

/// Returns the place to report for a variable: its value, or the setting from which the layout derives it.
fn place<'a>(cluster: &'a Node, value: &'a Node, text: &str, is_users: &impl Fn(&Span) -> bool) -> &'a Span {
    if is_users(value.span()) {
        return value.span();
    }
    let mut settings = cluster.entries().iter().map(|entry| &entry.node);
    let said = settings.find(|node| node.text() == Some(text) && is_users(node.span()));
    said.or_else(|| cluster.get("name")).unwrap_or(value).span()
}

fn runs(cluster: &Node, tenant: &MergedTenant) -> bool {
    let own = name(&tenant.node);
    cluster.get("tenants").is_none_or(|chosen| chosen.items().iter().any(|item| item.text() == own))
}

/// Returns the string fields of a tenant that consist of one variable: variable, field, place.
fn uses(tenant: &MergedTenant) -> Vec<(&str, &str, &Span)> {
    let mut found = Vec::new();
    for source in &tenant.sources {
        collect("source", source, &mut found);
    }
    for field in ["imageAutomation", "labels", "annotations"] {
        if let Some(node) = tenant.node.get(field) {
            collect(field, node, &mut found);
        }
    }
    found
}

fn collect<'a>(field: &'a str, node: &'a Node, found: &mut Vec<(&'a str, &'a str, &'a Span)>) {
    match &node.value {
        Value::Scalar(text, _) => found.extend(whole_reference(text).map(|variable| (variable, field, node.span()))),
        Value::Seq(items) => items.iter().for_each(|item| collect(field, item, found)),
        Value::Map(entries) => entries.iter().for_each(|entry| collect(&entry.key, &entry.node, found)),
    }
}

/// Reports a tenant with copies of runtime-info that its own Kustomization does not fill.
fn unfilled_copies(
    tenant: &MergedTenant,
    substitutes: Option<&Node>,
    is_users: &impl Fn(&Span) -> bool,
    findings: &mut Vec<Finding>,
) {
    let is_on = |node: &Node, key: &str| node.get(key).and_then(Node::text) == Some("true");
    if tenant.node.get("role").and_then(Node::text) != Some("tenant") || !is_on(&tenant.node, "copyRuntimeInfo") {
        return;
    }
    let parts = tenant.components.iter().flat_map(|component| {
        let whole = component.stages.is_empty().then_some(&component.node);
        component.stages.iter().chain(whole)
    });
    let Some(part) = parts.into_iter().find(|part| is_on(part, "substitute")) else { return };
    let said = substitutes.filter(|node| is_users(node.span()));
    let Some(at) = said.or_else(|| tenant.node.get("name")) else { return };
    let tenant_name = name(&tenant.node).unwrap_or_default();
    let message = format!(
        "the copies of runtime-info of `{tenant_name}` would not be filled: its `sync` does not substitute variables"
    );
    let help = "set `sync: {substitute: true}`, `copyRuntimeInfo: false` if another tool creates the copies, \
                or `defaults: {substitute: false}`";
    let mut finding = Finding::error(MISSING_VARIABLES, at.span().clone(), message).help(help);
    if let Some(waits) = part.get("name") {
        finding = finding.related(waits.span().clone(), "the copy is used here");
    }
    findings.push(finding);
}
