//! The settings of components on clusters and in environments.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::references::{DANGLING_REFERENCE, dangling};
use super::roles::USELESS_SETTING;
use super::sources::revision_fits;
use crate::base::finding::Finding;
use crate::fleet::input::files::Input;
use crate::fleet::merge::crossing::{Crossings, Part, Parts};
use crate::fleet::merge::levels::{Merged, MergedTenant};
use crate::fleet::resolve::dependencies::name;
use crate::fleet::rule_ids::INVALID_FLEET;
use crate::text::Index;
use crate::yaml::{Entry, Node};

/// The rule id for sources with several revisions on one cluster.
const SHARED_SOURCE: &str = "shared-source";

pub(super) fn check(input: &Input, merged: &Merged, crossings: &[Arc<Crossings>], findings: &mut Vec<Finding>) {
    let parts = Parts::of(&merged.tenants);
    let root = &input.root;
    let environments = root.get("environments").map(Node::entries).unwrap_or_default();
    let shared = root.at_keys(&["defaults", "cluster"]).into_iter().chain(environments.iter().map(|entry| &entry.node));
    for level in shared.chain(&input.clusters) {
        for entry in entries(level) {
            target(entry, &parts, merged, findings);
        }
    }
    for (written, cluster) in input.clusters.iter().zip(&merged.clusters) {
        for entry in entries(written) {
            let Some(part) = parts.find(&entry.key) else { continue };
            if let (false, Some(cluster)) = (runs(cluster, part, &merged.tenants), name(cluster)) {
                let message = format!("`{}` does not run on cluster `{cluster}`", entry.key);
                let help = "remove the settings, or let the component run on the cluster";
                findings.push(Finding::warning(USELESS_SETTING, entry.key_span(), message).help(help));
            }
        }
    }
    let mut reported: Index<(String, u32), ()> = Index::default();
    for (cluster, crossings) in merged.clusters.iter().zip(crossings) {
        if !crossings.sources.is_empty() {
            sources(cluster, crossings, merged, &mut reported, findings);
        }
    }
}

fn entries(level: &Node) -> impl Iterator<Item = &Entry> {
    level.get("components").map(Node::entries).unwrap_or_default().iter().filter(|entry| !entry.node.is_null())
}

/// Returns whether a component runs on a cluster.
fn runs(cluster: &Node, part: Part, tenants: &[MergedTenant]) -> bool {
    let Some((tenant, component, _)) = part.of(tenants) else { return false };
    let (Some(tenant), Some(component)) = (name(&tenant.node), name(&component.node)) else { return false };
    let contains = |list: &Node, text: &str| list.items().iter().any(|item| item.text() == Some(text));
    let path = format!("{tenant}/{component}");
    cluster.get("tenants").is_none_or(|list| contains(list, tenant))
        && !cluster.get("withoutComponents").is_some_and(|list| contains(list, &path))
}

/// Checks the key of an entry, and the fields that the component or stage does not support.
fn target(entry: &Entry, parts: &Parts<'_>, merged: &Merged, findings: &mut Vec<Finding>) {
    let key = &*entry.key;
    let Some(part) = parts.find(key) else {
        findings.extend(unknown(entry, merged));
        return;
    };
    let Some((tenant, component, _)) = part.of(&merged.tenants) else { return };
    let field = |field: &str| entry.node.entry(field).filter(|entry| !entry.node.is_null());
    if let (Some(source), Some(_)) = (field("source"), part.stage) {
        let message = format!("`source` is not supported in stage `{key}`: all stages of a component have one source");
        let component = key.rsplit_once('/').map_or(key, |(component, _)| component);
        let help = format!("set it in `{component}`");
        findings.push(Finding::error(INVALID_FLEET, source.key_span(), message).help(help));
    }
    if let (Some(path), None, Some(first)) = (field("path"), part.stage, component.stages.first().and_then(name)) {
        let message = format!("`path` is not supported in `{key}`: each stage of the component has its own path");
        let help = format!("set it in a stage, for example `{key}/{first}`");
        findings.push(Finding::error(INVALID_FLEET, path.key_span(), message).help(help));
    }
    let source = field("source").filter(|source| source.node.is_map()).zip(source_of(tenant, &component.node));
    if let Some((level, source)) = source {
        revision_fits(&level.node, source, findings);
    }
}

/// Returns the source of a component.
fn source_of<'a>(tenant: &'a MergedTenant, component: &Node) -> Option<&'a Node> {
    match component.get("source").and_then(Node::text) {
        Some(chosen) => tenant.sources.iter().find(|source| name(source) == Some(chosen)),
        None => tenant.sources.first(),
    }
}

/// Reports a key that references no component or stage. The schema reports an invalid key.
fn unknown(entry: &Entry, merged: &Merged) -> Option<Finding> {
    let mut names = entry.key.splitn(3, '/');
    let (tenant, component, stage) = (names.next()?, names.next()?, names.next());
    let tenants: Vec<&str> = merged.tenants.iter().filter_map(|tenant| name(&tenant.node)).collect();
    let at = entry.key_span();
    let Some(found) = merged.tenants.iter().find(|known| name(&known.node) == Some(tenant)) else {
        return Some(dangling(&at, format!("unknown tenant `{tenant}`"), tenant, &tenants));
    };
    let components: Vec<&str> = found.components.iter().filter_map(|component| name(&component.node)).collect();
    let Some(found) = found.components.iter().find(|known| name(&known.node) == Some(component)) else {
        let message = format!("tenant `{tenant}` has no component `{component}`");
        return Some(dangling(&at, message, component, &components));
    };
    let stages: Vec<&str> = found.stages.iter().filter_map(name).collect();
    let stage = stage?;
    let message = format!("component `{tenant}/{component}` has no stage `{stage}`");
    if stages.is_empty() {
        let help = format!("write `{tenant}/{component}`; the component has no stages");
        return Some(Finding::error(DANGLING_REFERENCE, at, message).help(help));
    }
    Some(dangling(&at, message, stage, &stages))
}

/// Reports components of a cluster with one source and different revisions of it.
fn sources(
    cluster: &Node,
    crossings: &Crossings,
    merged: &Merged,
    reported: &mut Index<(String, u32), ()>,
    findings: &mut Vec<Finding>,
) {
    let cluster_name = name(cluster).unwrap_or_default();
    let crossed: BTreeSet<usize> = crossings.sources.keys().map(|(tenant, _)| *tenant).collect();
    for at in crossed {
        let Some(tenant) = merged.tenants.get(at) else { continue };
        let Some(tenant_name) = name(&tenant.node) else { continue };
        // The components of each source, with their settings of it.
        let mut users: BTreeMap<&str, Vec<(&str, Option<&Node>)>> = BTreeMap::new();
        for (position, component) in tenant.components.iter().enumerate() {
            let part = Part { tenant: at, component: position, stage: None };
            let Some(own) = name(&component.node) else { continue };
            let Some(source) = source_of(tenant, &component.node).and_then(name) else { continue };
            let setting = crossings.sources.get(&(at, position));
            if setting.is_some() || runs(cluster, part, &merged.tenants) {
                users.entry(source).or_default().push((own, setting));
            }
        }
        for (source, users) in users {
            let Some((one, Some(setting))) = users.iter().find(|(_, setting)| setting.is_some()) else { continue };
            let Some((other, _)) = users.iter().find(|(_, other)| *other != Some(*setting)) else { continue };
            let (path, start, _) = setting.span().order();
            if reported.insert((path.to_owned(), start), ()).is_some() {
                continue;
            }
            let message = format!(
                "`{tenant_name}/{one}` and `{tenant_name}/{other}` share source `{source}`, but they set different \
                 revisions of it on cluster `{cluster_name}`"
            );
            let help = format!(
                "set the same `source` in `{tenant_name}/{other}`, or define another source in `sources` of tenant \
                 `{tenant_name}` and reference it in component `{one}`"
            );
            findings.push(Finding::error(SHARED_SOURCE, setting.span().clone(), message).help(help));
        }
    }
}
