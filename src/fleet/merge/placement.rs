//! The placement of tenants and components on clusters: their `clusters` and `environments`.
//!
//! It becomes `tenants` and `withoutComponents` of each cluster, so that later steps read one form only.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobMatcher};

use super::levels::{Merged, MergedTenant};
use crate::base::finding::Finding;
use crate::text::{Index, Span};
use crate::yaml::{Entry, Node, Style, Value};

/// The rule id for places that contradict each other.
const CONTRADICTION: &str = "contradictory-placement";
/// The fields of a placement.
const FIELDS: [&str; 2] = ["clusters", "environments"];

/// Where a tenant or component runs.
struct Placement<'a> {
    node: &'a Node,
    clusters: Vec<(GlobMatcher, &'a Node)>,
    environments: Vec<(GlobMatcher, &'a Node)>,
}

impl<'a> Placement<'a> {
    /// Reads the placement of a tenant or component; `None` if it sets none.
    fn of(node: &'a Node) -> Option<Self> {
        let said = FIELDS.iter().any(|field| node.get(field).is_some_and(Node::is_seq));
        let patterns = |field: &str| {
            let items = node.get(field).map(Node::items).unwrap_or_default().iter();
            // An invalid glob has a finding.
            items.filter_map(|item| Some((glob(item.text()?).ok()?, item))).collect()
        };
        said.then(|| Self { node, clusters: patterns("clusters"), environments: patterns("environments") })
    }

    /// Returns the item that places the owner on a cluster.
    fn item(&self, cluster: &str, environment: &str) -> Option<&'a Node> {
        let of = |patterns: &[(GlobMatcher, &'a Node)], name: &str| {
            patterns.iter().find(|(glob, _)| glob.is_match(name)).map(|(_, item)| *item)
        };
        of(&self.clusters, cluster).or_else(|| of(&self.environments, environment))
    }

    /// Returns the place of the whole placement.
    fn at(&self) -> Span {
        placed_at(self.node).unwrap_or_else(|| self.node.span().clone())
    }
}

/// Returns the place of the placement of a tenant or component.
pub(crate) fn placed_at(node: &Node) -> Option<Span> {
    FIELDS.iter().find_map(|field| node.entry(field)).filter(|entry| !entry.node.is_null()).map(Entry::key_span)
}

/// Compiles a name or a glob of clusters or environments.
pub(crate) fn glob(text: &str) -> Result<GlobMatcher, globset::Error> {
    Ok(GlobBuilder::new(text).literal_separator(true).build()?.compile_matcher())
}

/// The placements of a tenant and its components.
struct TenantPlacement<'a> {
    tenant: &'a MergedTenant,
    name: &'a str,
    own: Option<Placement<'a>>,
    components: Vec<(&'a str, Placement<'a>)>,
}

/// Applies the placement of tenants and components to clusters.
pub(crate) fn apply(merged: &mut Merged, findings: &mut Vec<Finding>) {
    let tenants = std::mem::take(&mut merged.tenants);
    let placements: Vec<TenantPlacement<'_>> = tenants.iter().filter_map(of_tenant).collect();
    if placements.iter().any(|placement| placement.own.is_some() || !placement.components.is_empty()) {
        let mut placer = Placer { placements: &placements, reported: Index::default(), findings };
        for cluster in &mut merged.clusters {
            *cluster = placer.place(cluster);
        }
    }
    drop(placements);
    merged.tenants = tenants;
}

fn name(node: &Node) -> Option<&str> {
    node.get("name").filter(|name| !name.is_null()).and_then(Node::text).filter(|name| !name.is_empty())
}

fn of_tenant(tenant: &MergedTenant) -> Option<TenantPlacement<'_>> {
    let components = tenant.components.iter().filter_map(|component| {
        let placement = Placement::of(&component.node)?;
        Some((name(&component.node)?, placement))
    });
    let name = name(&tenant.node)?;
    Some(TenantPlacement { tenant, name, own: Placement::of(&tenant.node), components: components.collect() })
}

/// Sets the tenants and components of clusters.
struct Placer<'a, 'f> {
    placements: &'a [TenantPlacement<'a>],
    /// The places of contradictions, so that a setting of an environment is reported once.
    reported: Index<(String, u32, String, u32), ()>,
    findings: &'f mut Vec<Finding>,
}

impl Placer<'_, '_> {
    fn place(&mut self, cluster: &Node) -> Node {
        let Some(own) = name(cluster) else { return cluster.clone() };
        let environment = cluster.get("environment").and_then(Node::text).unwrap_or_default();
        let listed = cluster.get("tenants").filter(|list| list.is_seq());
        let chosen: BTreeMap<&str, &Node> =
            listed.map(Node::items).unwrap_or_default().iter().filter_map(|item| Some((item.text()?, item))).collect();
        let left_out = cluster.get("withoutComponents").filter(|list| list.is_seq());
        let mut without: Vec<Node> = left_out.map(Node::items).unwrap_or_default().to_vec();
        let excluded: BTreeMap<String, Span> =
            without.iter().filter_map(|item| Some((item.text()?.to_owned(), item.span().clone()))).collect();
        let mut running: Vec<Node> = Vec::new();
        let mut placed = false;
        for placement in self.placements {
            let tenant = placement.name;
            let by_cluster = chosen.get(tenant).copied();
            let by_tenant = placement.own.as_ref().map(|own_place| own_place.item(own, environment));
            let subject = format!("tenant `{tenant}`");
            match (by_cluster, listed, by_tenant) {
                (Some(item), _, Some(None)) => {
                    let at = placement.own.as_ref().map(Placement::at);
                    self.contradiction(own, &subject, item.span(), at.as_ref());
                }
                (None, Some(list), Some(Some(item))) => {
                    self.contradiction(own, &subject, item.span(), Some(list.span()));
                }
                _ => {}
            }
            placed |= by_tenant.is_some();
            let runs = by_tenant.map_or(listed.is_none() || by_cluster.is_some(), |item| item.is_some());
            if !runs {
                let other =
                    placement.own.as_ref().map(Placement::at).or_else(|| listed.map(|list| list.span().clone()));
                self.components_without_tenant(own, placement, other.as_ref());
                continue;
            }
            let at = by_cluster.or(by_tenant.flatten()).or_else(|| placement.tenant.node.get("name"));
            running.extend(at.map(|at| scalar(tenant, at.span())));
            for (component, its) in &placement.components {
                let path = format!("{tenant}/{component}");
                match (its.item(own, environment), excluded.get(&path)) {
                    (Some(item), Some(excluded)) => {
                        self.contradiction(own, &format!("component `{path}`"), item.span(), Some(excluded));
                    }
                    (None, None) => without.push(scalar(&path, &its.at())),
                    _ => {}
                }
            }
        }
        let mut cluster = cluster.clone();
        let cluster_name = cluster.get("name").map_or_else(|| cluster.span().clone(), |name| name.span().clone());
        let mut replace = |key: &str, old: Option<&Node>, items: Vec<Node>| {
            let at = old.map_or_else(|| cluster_name.clone(), |old| old.span().clone());
            cluster = cluster.with(Entry::new(key, &at, Node::at(Value::Seq(items.into()), at.clone())));
        };
        if placed {
            replace("tenants", listed, running);
        }
        if without.len() > excluded.len() {
            replace("withoutComponents", left_out, without);
        }
        cluster
    }

    /// Reports a component that names a cluster on which its tenant does not run.
    fn components_without_tenant(&mut self, cluster: &str, placement: &TenantPlacement<'_>, other: Option<&Span>) {
        for (component, its) in &placement.components {
            let named = its.clusters.iter().find(|(_, item)| item.text() == Some(cluster));
            let Some((_, item)) = named else { continue };
            let subject = format!("component `{}/{component}`", placement.name);
            self.contradiction(cluster, &subject, item.span(), other);
        }
    }

    fn contradiction(&mut self, cluster: &str, subject: &str, runs: &Span, other: Option<&Span>) {
        let ((file, start, _), second) = (runs.order(), other.map(Span::order));
        let (other_file, other_start) = second.map_or(("", 0), |(file, start, _)| (file, start));
        let key = (file.to_owned(), start, other_file.to_owned(), other_start);
        if self.reported.insert(key, ()).is_some() {
            return;
        }
        let message = format!("{subject} runs on cluster `{cluster}` according to one setting, but not to another");
        let mut finding = Finding::error(CONTRADICTION, runs.clone(), message)
            .help("change one of the settings, so that both contain the cluster or neither does");
        if let Some(other) = other {
            finding = finding.related(other.clone(), "the setting that does not contain it");
        }
        self.findings.push(finding);
    }
}

fn scalar(text: &str, at: &Span) -> Node {
    Node::scalar(text, Style::Plain, at.clone())
}
