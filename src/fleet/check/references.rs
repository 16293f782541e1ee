//! Dangling references.

use crate::base::finding::Finding;
use crate::base::similar_names::did_you_mean;
use crate::fleet::input::files::Input;
use crate::fleet::merge::levels::{Merged, MergedTenant, further_namespaces, namespace_of};
use crate::fleet::merge::placement::placed_at;
use crate::fleet::resolve::dependencies::{DANGLING_DEPENDENCY, Graph, depends_on, listed, name, wanted};
use crate::text::{Index, Span};
use crate::yaml::Node;

/// The rule id for environments that are not defined.
const UNKNOWN_ENVIRONMENT: &str = "unknown-environment";
/// The rule id for other references to undefined names.
pub(super) const DANGLING_REFERENCE: &str = "dangling-reference";

pub(super) fn check(input: &Input, merged: &Merged, graph: &Graph<'_>, findings: &mut Vec<Finding>) {
    let environments = Environments::of(input);
    for cluster in &input.clusters {
        if let Some(environment) = cluster.get("environment").filter(|node| !node.is_null()) {
            environments.require(environment.text(), environment.span(), findings);
        }
    }
    for tenant in &input.tenants {
        let sources = tenant.get("source").into_iter().chain(items(tenant, "sources"));
        for entry in sources.filter_map(|source| source.get("environments")).flat_map(Node::entries) {
            environments.require(Some(&entry.key), &entry.key_span(), findings);
        }
    }
    let settings = |level: &Node, findings: &mut Vec<Finding>| {
        chosen_tenants(level, graph, findings);
        left_out_components(level, graph, findings);
    };
    input.root.at_keys(&["defaults", "cluster"]).into_iter().for_each(|level| settings(level, findings));
    for entry in input.root.get("environments").map(Node::entries).unwrap_or_default() {
        settings(&entry.node, findings);
    }
    input.clusters.iter().for_each(|cluster| settings(cluster, findings));
    for (tenant, merged) in input.tenants.iter().zip(&merged.tenants) {
        component_sources(tenant, &merged.sources, findings);
        automation_source(merged, findings);
        access(tenant, merged, findings);
    }
    missing_dependencies(merged, graph, findings);
}

fn items<'a>(node: &'a Node, key: &str) -> &'a [Node] {
    node.get(key).map(Node::items).unwrap_or_default()
}

struct Environments<'a> {
    names: Vec<&'a str>,
    known: Index<&'a str, ()>,
    /// The place of the definitions.
    at: Option<Span>,
}

impl<'a> Environments<'a> {
    fn of(input: &'a Input) -> Self {
        let entry = input.root.entry("environments").filter(|entry| entry.node.is_map());
        let names: Vec<&str> =
            entry.into_iter().flat_map(|entry| entry.node.entries()).map(|entry| &*entry.key).collect();
        let known = names.iter().map(|name| (*name, ())).collect();
        Self { names, known, at: entry.map(crate::yaml::Entry::key_span) }
    }

    fn require(&self, environment: Option<&str>, at: &Span, findings: &mut Vec<Finding>) {
        let Some(environment) = environment.filter(|name| !name.is_empty()) else { return };
        if self.known.contains(environment) {
            return;
        }
        let mut finding =
            Finding::error(UNKNOWN_ENVIRONMENT, at.clone(), format!("unknown environment `{environment}`"));
        finding = match did_you_mean(environment, self.names.iter().copied()) {
            Some(meant) => finding.help(format!("did you mean `{meant}`?")),
            None => finding.help(format!("define it: `environments: {{{environment}: {{}}}}`")),
        };
        if let Some(defined) = &self.at {
            finding = finding.related(defined.clone(), format!("defined here: {}", listed(&self.names)));
        }
        findings.push(finding);
    }
}

pub(super) fn dangling(at: &Span, message: String, typed: &str, known: &[&str]) -> Finding {
    let finding = Finding::error(DANGLING_REFERENCE, at.clone(), message);
    match did_you_mean(typed, known.iter().copied()) {
        Some(meant) => finding.help(format!("did you mean `{meant}`?")),
        None => finding.help(format!("use one of: {}", listed(known))),
    }
}

fn chosen_tenants(level: &Node, graph: &Graph<'_>, findings: &mut Vec<Finding>) {
    for item in items(level, "tenants") {
        let Some(tenant) = item.text() else { continue };
        if graph.components(tenant).is_none() {
            let message = format!("unknown tenant `{tenant}`");
            findings.push(dangling(item.span(), message, tenant, graph.tenant_names()));
        }
    }
}

fn left_out_components(level: &Node, graph: &Graph<'_>, findings: &mut Vec<Finding>) {
    for item in items(level, "withoutComponents") {
        let Some((tenant, component)) = item.text().and_then(|text| text.split_once('/')) else { continue };
        match graph.components(tenant) {
            None => {
                let message = format!("unknown tenant `{tenant}`");
                findings.push(dangling(item.span(), message, tenant, graph.tenant_names()));
            }
            Some(known) if !graph.has_component(tenant, component) => {
                let message = format!("tenant `{tenant}` has no component `{component}`");
                findings.push(dangling(item.span(), message, component, known));
            }
            Some(_) => {}
        }
    }
}

fn component_sources(tenant: &Node, sources: &[Node], findings: &mut Vec<Finding>) {
    let known: Vec<&str> = sources.iter().filter_map(name).collect();
    for component in items(tenant, "components") {
        let chosen = component.get("source").filter(|source| !source.is_null());
        if let Some(text) = chosen.and_then(Node::text)
            && !known.contains(&text)
        {
            let at = chosen.unwrap_or(component).span();
            let tenant = name(tenant).unwrap_or_default();
            findings.push(dangling(at, format!("tenant `{tenant}` has no source `{text}`"), text, &known));
        }
        if let (None, true, Some(component), Some(tenant)) =
            (chosen, sources.is_empty(), component.get("name"), name(tenant))
        {
            let message = format!("tenant `{tenant}` has components but no `source`");
            let help = "set the source of the components: `source: {url: https://…}`";
            findings.push(Finding::error(DANGLING_REFERENCE, component.span().clone(), message).help(help));
        }
    }
}

fn automation_source(tenant: &MergedTenant, findings: &mut Vec<Finding>) {
    let Some(chosen) = tenant.node.at_keys(&["imageAutomation", "source"]) else { return };
    let known: Vec<&str> = tenant.sources.iter().filter_map(name).collect();
    if let Some(text) = chosen.text().filter(|text| !known.contains(text) && !known.is_empty()) {
        let owner = name(&tenant.node).unwrap_or_default();
        findings.push(dangling(chosen.span(), format!("tenant `{owner}` has no source `{text}`"), text, &known));
    }
}

/// Returns the namespaces of a tenant: the namespaces in its list and the namespaces of its components.
fn namespaces<'a>(tenant: &'a Node, merged: &'a MergedTenant) -> Vec<&'a str> {
    let listed = items(tenant, "namespaces").iter().filter_map(name);
    let implied = merged.components.iter().filter_map(|component| namespace_of(&component.node)).filter_map(Node::text);
    let further = merged.components.iter().flat_map(|component| further_namespaces(&component.node));
    listed.chain(implied).chain(further.filter_map(Node::text)).collect()
}

fn access(tenant: &Node, merged: &MergedTenant, findings: &mut Vec<Finding>) {
    let known = namespaces(tenant, merged);
    for item in items(tenant, "access").iter().flat_map(|access| items(access, "namespaces")) {
        let Some(namespace) = item.text() else { continue };
        if !known.contains(&namespace) {
            let tenant = name(tenant).unwrap_or_default();
            let message = format!("tenant `{tenant}` has no namespace `{namespace}`");
            findings.push(dangling(item.span(), message, namespace, &known));
        }
    }
}

/// Reports dependencies on tenants and components that a cluster does not run: the dependent never becomes ready.
fn missing_dependencies(merged: &Merged, graph: &Graph<'_>, findings: &mut Vec<Finding>) {
    let waits = Waits::of(merged, graph);
    for cluster in &merged.clusters {
        let (chosen, left_out) = (cluster.get("tenants"), cluster.get("withoutComponents"));
        if chosen.is_none() && left_out.is_none() {
            continue;
        }
        let Some(cluster_name) = name(cluster) else { continue };
        let chosen: Option<Index<&str, ()>> =
            chosen.map(|chosen| chosen.items().iter().filter_map(Node::text).map(|text| (text, ())).collect());
        let runs = |tenant: &str| chosen.as_ref().is_none_or(|chosen| chosen.contains(tenant));
        let gone: Index<&str, &Node> =
            items(cluster, "withoutComponents").iter().filter_map(|item| Some((item.text()?, item))).collect();
        let at = |missing: &str| {
            let placed = merged.tenants.iter().find(|tenant| name(&tenant.node) == Some(missing));
            let placed = placed.and_then(|tenant| placed_at(&tenant.node));
            placed.unwrap_or_else(|| cluster.get("tenants").unwrap_or(cluster).span().clone())
        };
        for (tenant, other, written) in &waits.tenants {
            if runs(tenant) && !runs(other) {
                let message =
                    format!("cluster `{cluster_name}` runs tenant `{tenant}` but not its dependency `{other}`");
                let finding = Finding::error(DANGLING_DEPENDENCY, at(other), message);
                findings.push(finding.related((*written).clone(), "the dependency is defined here"));
            }
        }
        if chosen.is_none() && gone.is_empty() {
            continue;
        }
        for (from, to, written) in &waits.components {
            let tenant = |path: &str| path.split_once('/').is_some_and(|(tenant, _)| runs(tenant));
            let stays = |path: &String| tenant(path) && !gone.contains(path.as_str());
            if stays(from) && !stays(to) {
                let message = format!("cluster `{cluster_name}` runs `{from}` but not its dependency `{to}`");
                let place = gone
                    .get(to.as_str())
                    .map_or_else(|| at(to.split('/').next().unwrap_or_default()), |item| item.span().clone());
                let finding = Finding::error(DANGLING_DEPENDENCY, place, message);
                findings.push(finding.related((*written).clone(), "the dependency is defined here"));
            }
        }
    }
}

/// The dependencies as written; components as `tenant/component`.
struct Waits<'a> {
    tenants: Vec<(&'a str, &'a str, &'a Span)>,
    components: Vec<(String, String, &'a Span)>,
}

impl<'a> Waits<'a> {
    fn of(merged: &'a Merged, graph: &Graph<'_>) -> Self {
        let mut waits = Self { tenants: Vec::new(), components: Vec::new() };
        for tenant in &merged.tenants {
            let Some(own) = name(&tenant.node) else { continue };
            for item in depends_on(&tenant.node) {
                let known = item.text().filter(|other| graph.components(other).is_some());
                waits.tenants.extend(known.map(|other| (own, other, item.span())));
            }
            for component in &tenant.components {
                let Some(component_name) = name(&component.node) else { continue };
                for node in std::iter::once(&component.node).chain(&component.stages) {
                    for item in depends_on(node) {
                        let Some(wanted) = wanted(item, own) else { continue };
                        let (from, to) =
                            (format!("{own}/{component_name}"), format!("{}/{}", wanted.tenant, wanted.component));
                        if from != to && graph.has_component(wanted.tenant, wanted.component) {
                            waits.components.push((from, to, wanted.at));
                        }
                    }
                }
            }
        }
        waits
    }
}
