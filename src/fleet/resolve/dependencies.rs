//! The dependency graph of tenants, components and stages, with the position of each `dependsOn`.

use std::collections::BTreeSet;

use crate::base::finding::Finding;
use crate::base::graph::{self, Step};
use crate::base::similar_names::did_you_mean;
use crate::fleet::formats::is_dns_label;
use crate::fleet::merge::levels::Merged;
use crate::text::{Index, Span};
use crate::yaml::Node;

/// The rule id for references to components and tenants that are not defined.
pub(crate) const DANGLING_DEPENDENCY: &str = "dangling-dependency";
/// The rule id for dependency cycles.
const DEPENDENCY_CYCLE: &str = "dependency-cycle";

/// An item of a `dependsOn`, as written.
#[derive(Debug)]
pub(crate) struct DependencyReference<'a> {
    pub tenant: &'a str,
    pub component: &'a str,
    pub stage: Option<&'a str>,
    pub ready_expr: Option<&'a str>,
    pub at: &'a Span,
}

/// Reads an item of a component's or stage's `dependsOn`; `None` if the item is invalid.
pub(crate) fn wanted<'a>(item: &'a Node, own_tenant: &'a str) -> Option<DependencyReference<'a>> {
    if let Some(text) = item.text() {
        let (component, stage) = match text.split_once('/') {
            Some((component, stage)) => (component, Some(stage)),
            None => (text, None),
        };
        // The schema reports a value that is not a string.
        if !is_dns_label(component) || !stage.is_none_or(is_dns_label) {
            return None;
        }
        return Some(DependencyReference { tenant: own_tenant, component, stage, ready_expr: None, at: item.span() });
    }
    let text = |key: &str| item.get(key).filter(|node| !node.is_null()).and_then(Node::text);
    let component = text("component")?;
    let tenant = text("tenant").unwrap_or(own_tenant);
    Some(DependencyReference {
        tenant,
        component,
        stage: text("stage"),
        ready_expr: text("readyExpr"),
        at: item.span(),
    })
}

/// Returns the items of a `dependsOn`.
pub(crate) fn depends_on(node: &Node) -> &[Node] {
    node.get("dependsOn").map(Node::items).unwrap_or_default()
}

/// Returns the text of a node's `name`.
pub(crate) fn name(node: &Node) -> Option<&str> {
    node.get("name").filter(|name| !name.is_null()).and_then(Node::text).filter(|name| !name.is_empty())
}

/// The position of a `dependsOn`, in the sort order of spans.
type Place<'a> = (&'a str, u32, u32);

/// The dependency graph.
#[derive(Default)]
pub(crate) struct Graph<'a> {
    /// The names of the vertices in messages; the two vertices of a tenant have the same name.
    labels: Vec<String>,
    /// The edges, each with the position of its `dependsOn`; an implied edge has none.
    edges: graph::Graph<Option<Span>>,
    tenants: Index<&'a str, Parts<'a>>,
    tenant_names: Vec<&'a str>,
}

/// The vertices of a tenant.
struct Parts<'a> {
    /// The start: the dependencies of the tenant are ready.
    begins: usize,
    /// The end: all components of the tenant are ready.
    ready: usize,
    components: Index<&'a str, ComponentParts<'a>>,
    names: Vec<&'a str>,
}

struct ComponentParts<'a> {
    /// The vertices of the stages; a component without stages has one vertex.
    stages: Vec<(&'a str, usize)>,
    has_stages: bool,
}

impl<'a> Graph<'a> {
    /// Builds the graph and reports dangling references.
    pub(crate) fn of(merged: &'a Merged, findings: &mut Vec<Finding>) -> Self {
        let mut graph = Self::default();
        for tenant in &merged.tenants {
            let Some(tenant_name) = name(&tenant.node) else { continue };
            let begins = graph.vertex(format!("tenant {tenant_name}"));
            let ready = graph.vertex(format!("tenant {tenant_name}"));
            graph.edge(ready, begins, None);
            let mut parts = Parts { begins, ready, components: Index::default(), names: Vec::new() };
            for component in &tenant.components {
                let Some(component_name) = name(&component.node) else { continue };
                let mut stages: Vec<(&str, usize)> = Vec::new();
                for stage in &component.stages {
                    let Some(stage_name) = name(stage) else { continue };
                    let vertex = graph.vertex(format!("{tenant_name}/{component_name}/{stage_name}"));
                    if let Some((_, before)) = stages.last() {
                        graph.edge(vertex, *before, None);
                    }
                    stages.push((stage_name, vertex));
                }
                let has_stages = !stages.is_empty();
                if !has_stages {
                    stages.push(("", graph.vertex(format!("{tenant_name}/{component_name}"))));
                }
                for (_, vertex) in &stages {
                    graph.edge(*vertex, begins, None);
                }
                if let Some((_, last)) = stages.last() {
                    graph.edge(ready, *last, None);
                }
                parts.names.push(component_name);
                if !parts.components.contains(component_name) {
                    parts.components.insert(component_name, ComponentParts { stages, has_stages });
                }
            }
            graph.tenant_names.push(tenant_name);
            if !graph.tenants.contains(tenant_name) {
                graph.tenants.insert(tenant_name, parts);
            }
        }
        graph.connect(merged, findings);
        graph
    }

    fn vertex(&mut self, label: String) -> usize {
        self.labels.push(label);
        self.edges.add_node()
    }

    fn edge(&mut self, from: usize, to: usize, at: Option<Span>) {
        self.edges.add_edge(from, to, at);
    }

    fn connect(&mut self, merged: &'a Merged, findings: &mut Vec<Finding>) {
        let mut edges: Vec<(usize, usize, Span)> = Vec::new();
        for tenant in &merged.tenants {
            let Some(tenant_name) = name(&tenant.node) else { continue };
            let Some(parts) = self.tenants.get(tenant_name) else { continue };
            for item in depends_on(&tenant.node) {
                let Some(other) = item.text() else { continue };
                match self.tenants.get(other) {
                    Some(other) => edges.push((parts.begins, other.ready, item.span().clone())),
                    None => findings.push(self.no_tenant(other, item.span())),
                }
            }
            for component in &tenant.components {
                let Some(own) = name(&component.node).and_then(|name| parts.components.get(name)) else { continue };
                let first = own.stages.first().map(|(_, vertex)| *vertex);
                let mut says: Vec<(usize, &Node)> = first.map(|vertex| (vertex, &component.node)).into_iter().collect();
                for stage in &component.stages {
                    let vertex = own.stages.iter().find(|(own, _)| name(stage) == Some(*own));
                    says.extend(vertex.map(|(_, vertex)| (*vertex, stage)));
                }
                for (from, node) in says {
                    for item in depends_on(node) {
                        let Some(wanted) = wanted(item, tenant_name) else { continue };
                        match self.find(&wanted) {
                            Ok((to, _)) => edges.push((from, to, wanted.at.clone())),
                            Err(finding) => findings.push(*finding),
                        }
                    }
                }
            }
        }
        for (from, to, at) in edges {
            self.edge(from, to, Some(at));
        }
    }

    /// Returns the vertex that an item references, and its stage. The stage defaults to the last stage of the component.
    pub(crate) fn find(&self, wanted: &DependencyReference<'_>) -> Result<(usize, Option<&'a str>), Box<Finding>> {
        let DependencyReference { tenant, component, stage, at, .. } = wanted;
        let dangling = |message: String| Finding::error(DANGLING_DEPENDENCY, (*at).clone(), message);
        let Some(parts) = self.tenants.get(*tenant) else { return Err(Box::new(self.no_tenant(tenant, at))) };
        let Some(found) = parts.components.get(*component) else {
            let finding = dangling(format!("tenant `{tenant}` has no component `{component}`"));
            let elsewhere = self
                .tenant_names
                .iter()
                .find(|other| self.tenants.get(**other).is_some_and(|other| other.components.contains(*component)));
            let help = match (elsewhere, did_you_mean(component, parts.names.iter().copied())) {
                (Some(other), _) => {
                    format!("found in tenant `{other}`; write `{{tenant: {other}, component: {component}}}`")
                }
                (None, Some(meant)) => format!("did you mean `{meant}`?"),
                (None, None) => format!("use one of its components: {}", listed(&parts.names)),
            };
            return Err(Box::new(finding.help(help)));
        };
        match stage {
            None => {
                let (stage, vertex) = found.stages.last().expect("a component has a vertex for itself or its stages");
                Ok((*vertex, found.has_stages.then_some(*stage)))
            }
            Some(stage) => {
                if let Some((stage, vertex)) = found.stages.iter().find(|(own, _)| found.has_stages && own == stage) {
                    return Ok((*vertex, Some(*stage)));
                }
                let finding = dangling(format!("component `{tenant}/{component}` has no stage `{stage}`"));
                let stages: Vec<&str> = found.stages.iter().map(|(stage, _)| *stage).collect();
                let help = match did_you_mean(stage, stages.iter().copied()) {
                    _ if !found.has_stages => "reference the component; it has no stages".to_owned(),
                    Some(meant) => format!("did you mean `{component}/{meant}`?"),
                    None => format!("use one of its stages: {}", listed(&stages)),
                };
                Err(Box::new(finding.help(help)))
            }
        }
    }

    fn no_tenant(&self, tenant: &str, at: &Span) -> Finding {
        let finding = Finding::error(DANGLING_DEPENDENCY, at.clone(), format!("unknown tenant `{tenant}`"));
        match did_you_mean(tenant, self.tenant_names.iter().copied()) {
            Some(meant) => finding.help(format!("did you mean `{meant}`?")),
            None => finding.help(format!("use one of the tenants: {}", listed(&self.tenant_names))),
        }
    }

    /// Returns the names of all tenants, in the order of the files.
    pub(crate) fn tenant_names(&self) -> &[&'a str] {
        &self.tenant_names
    }

    /// Returns the names of a tenant's components; `None` if the tenant is not defined.
    pub(crate) fn components(&self, tenant: &str) -> Option<&[&'a str]> {
        self.tenants.get(tenant).map(|parts| parts.names.as_slice())
    }

    /// Returns whether a tenant has a component.
    pub(crate) fn has_component(&self, tenant: &str, component: &str) -> bool {
        self.tenants.get(tenant).is_some_and(|parts| parts.components.contains(component))
    }

    /// Reports each cycle once, starting at the `dependsOn` that comes first in the files.
    ///
    /// A cycle of tenants contains all their components, so longer cycles through a reported `dependsOn` are not reported.
    pub(crate) fn cycles(&self, findings: &mut Vec<Finding>) {
        let mut circles = self.circles();
        circles.sort_by_key(|circle| (self.written(circle).len(), circle.len()));
        let mut reported: Vec<BTreeSet<Place<'_>>> = Vec::new();
        for circle in circles {
            let written = self.written(&circle);
            if !reported.iter().any(|shorter| shorter.is_subset(&written)) {
                findings.extend(self.circle(circle));
                reported.push(written);
            }
        }
    }

    /// Returns the positions of the `dependsOn` items in a cycle.
    fn written(&self, circle: &[Step]) -> BTreeSet<Place<'_>> {
        circle
            .iter()
            .filter_map(|(vertex, edge)| Some(self.edges.edges(*vertex)[*edge].label.as_ref()?.order()))
            .collect()
    }

    /// Returns the shortest cycle through each `dependsOn` that is part of a cycle.
    fn circles(&self) -> Vec<Vec<Step>> {
        let components = self.edges.cyclic_components(|_| true);
        let mut cycles = Vec::new();
        for component in components {
            let members: Index<usize, ()> = component.iter().map(|vertex| (*vertex, ())).collect();
            for from in component {
                for (at, edge) in self.edges.edges(from).iter().enumerate() {
                    if edge.label.is_none() || !members.contains(&edge.to) {
                        continue;
                    }
                    let back = self.edges.shortest_path(edge.to, from, |edge| members.contains(&edge.to));
                    let back = back.filter(|_| edge.to != from).unwrap_or_default();
                    cycles.push(std::iter::once((from, at)).chain(back).collect());
                }
            }
        }
        cycles
    }

    /// Returns the finding for a cycle, given as vertices with their outgoing edges.
    fn circle(&self, mut circle: Vec<Step>) -> Option<Finding> {
        let place = |(vertex, edge): Step| self.edges.edges(vertex)[edge].label.as_ref();
        let written = |step: &Step| place(*step).map(Span::order);
        let first = (0..circle.len())
            .filter(|at| written(&circle[*at]).is_some())
            .min_by(|a, b| written(&circle[*a]).cmp(&written(&circle[*b])))?;
        circle.rotate_left(first);
        let label = |vertex: usize| match self.labels[vertex].strip_prefix("tenant ") {
            Some(tenant) => format!("tenant `{tenant}`"),
            None => format!("`{}`", self.labels[vertex]),
        };
        let around = circle.iter().chain(circle.first());
        let mut names: Vec<String> = around.map(|(vertex, _)| label(*vertex)).collect();
        if circle.len() > 1 {
            names.dedup();
        }
        let at = place(circle[0])?.clone();
        let mut finding =
            Finding::error(DEPENDENCY_CYCLE, at, format!("`dependsOn` forms a cycle: {}", names.join(" → ")))
                .help("remove one of the `dependsOn` items; otherwise none of the listed items becomes ready");
        for (step, next) in circle.iter().zip(circle.iter().cycle().skip(1)).skip(1) {
            let Some(at) = place(*step).cloned() else { continue };
            finding = finding.related(at, format!("{} depends on {}", label(step.0), label(next.0)));
        }
        Some(finding)
    }
}

/// Lists names for a help text, and shortens a long list.
pub(crate) fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(8).map(|name| format!("`{name}`")).collect();
    match names.len() {
        0 => "none".into(),
        1..=8 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), more - 8),
    }
}
