//! Variables that would be no text any more where Flux puts them.

use crate::base::finding::Finding;
use crate::fleet::input::layout::Layout;
use crate::fleet::merge::levels::{Merged, MergedTenant};
use crate::fleet::resolve::dependencies::name;
use crate::fleet::resolve::variable::{is_text_unquoted, whole_reference};
use crate::text::{Index, Span};
use crate::yaml::{Node, Value};

/// The rule of variables that change their type when they are substituted.
const UNSAFE_VARIABLE: &str = "unsafe-variable";
/// The rule of components that wait for variables that nobody brings.
const MISSING_VARIABLES: &str = "missing-variables";

pub(super) fn check(merged: &Merged, layout: Option<&Layout>, findings: &mut Vec<Finding>) {
    let built_in = layout.map(|layout| layout.manifest.span().file());
    let is_users = |span: &Span| Some(span.file()) != built_in;
    let mut reported: Index<(String, u32), ()> = Index::default();
    let mut known: Index<&str, Option<bool>> = Index::default();
    line_breaks(merged, &is_users, findings);
    for tenant in &merged.tenants {
        let substitutes = tenant.node.at_keys(&["sync", "substitute"]);
        if substitutes.and_then(Node::text) != Some("true") {
            nobody_copies(tenant, substitutes, &is_users, findings);
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
                let message =
                    format!("`{text}` would not stay text: Flux puts `{variable}` into `{field}` without quotes");
                let help = format!(
                    "the API server would refuse the object; choose a value that YAML reads as text, or let `{field}` say \
                     more than the variable, for example `v-${{{variable}}}`"
                );
                let finding = Finding::error(UNSAFE_VARIABLE, place.clone(), message).help(help);
                findings.push(finding.related(used.clone(), format!("`{variable}` is used here")));
            }
        }
    }
}

/// Values of several lines, which Flux reads as one.
fn line_breaks(merged: &Merged, is_users: &impl Fn(&Span) -> bool, findings: &mut Vec<Finding>) {
    let mut reported: Index<(String, u32), ()> = Index::default();
    for variables in merged.clusters.iter().filter_map(|cluster| cluster.get("runtimeInfo")) {
        for entry in variables.entries() {
            let is_long = entry.node.text().is_some_and(|text| text.trim_end_matches('\n').contains('\n'));
            let (path, start, _) = entry.node.span().order();
            if !is_long || !is_users(entry.node.span()) || reported.insert((path.to_owned(), start), ()).is_some() {
                continue;
            }
            let message = format!("`{}` has several lines, and Flux takes the line breaks out", entry.key);
            let help = "say it in one line, or keep it in a ConfigMap of its own: `objects` of the cluster";
            findings.push(Finding::warning(UNSAFE_VARIABLE, entry.node.span().clone(), message).help(help));
        }
    }
}

/// Where to point for a variable: where it was said, or the setting that the layout made it of.
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

/// The fields of a tenant that must be text and are nothing but a variable: variable, field, place.
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

/// A copy of runtime-info is filled by the tenant's own Kustomization.
fn nobody_copies(
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
    let of = name(&tenant.node).unwrap_or_default();
    let message = format!("nothing would fill the copies of runtime-info of `{of}`: its `sync` does not substitute");
    let help = "say `sync: {substitute: true}`, or `copyRuntimeInfo: false` where something else copies it, \
                or `defaults: {substitute: false}`";
    let mut finding = Finding::error(MISSING_VARIABLES, at.span().clone(), message).help(help);
    if let Some(waits) = part.get("name") {
        finding = finding.related(waits.span().clone(), "this one waits for it");
    }
    findings.push(finding);
}
