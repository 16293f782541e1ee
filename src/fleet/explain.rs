//! The origin of each value of a fleet.

use crate::fleet::load::Loaded;
use crate::fleet::merge::crossing::Crossings;
use crate::fleet::merge::levels::{Merged, MergedTenant};
use crate::fleet::resolve::dependencies::name;
use crate::fleet::resolve::fleet::{Cluster, Component, Dependency, Fleet, Tenant};
use crate::text::Span;
use crate::yaml::{Node, Reader};

/// One value of a cluster, tenant, source, component or stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// The owner of the value: ``cluster `prod-eu` ``.
    pub subject: String,
    /// The path of the field: `flux.tuning.concurrency`.
    pub field: String,
    /// The value on one line.
    pub value: String,
    /// The origin of the value.
    pub from: Provenance,
}

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provenance {
    /// A place in a file: fleet.yaml, an included file, or the layout's `layout.yaml`.
    At(Span),
    /// A derived value, with the reason.
    Derived(&'static str),
}

impl std::fmt::Display for Provenance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::At(span) => write!(f, "{}:{}", span.file().path(), span.position().line),
            Self::Derived(why) => write!(f, "derived: {why}"),
        }
    }
}

/// Returns every value of every cluster, tenant, component and stage, in the order of the files.
///
/// In a fleet with errors, only merged values are explained. Derived values need a fleet without errors.
pub fn explain(loaded: &Loaded) -> Vec<Explained> {
    let mut lines = Lines::default();
    let Some(merged) = &loaded.merged else { return lines.0 };
    let fleet = loaded.fleet.as_ref();
    let is_only = merged.repositories.iter().count() < 2;
    for repository in merged.repositories.iter().filter(|_| !is_only) {
        let subject = format!("repository `{}`", name(repository).unwrap_or_default());
        lines.leaves(&subject, "", repository);
    }
    for (index, cluster) in merged.clusters.iter().enumerate() {
        let subject = format!("cluster `{}`", name(cluster).unwrap_or_default());
        lines.leaves(&subject, "", cluster);
        if let Some(resolved) = fleet.and_then(|fleet| fleet.clusters.get(index)) {
            lines.cluster(&subject, cluster, resolved);
            if !is_only && cluster.get("repository").is_none() {
                let why = "the repository of fleet.yaml";
                lines.derived(&subject, "repository", resolved.repository.name.clone(), why);
            }
        }
        if let Some(crossings) = loaded.crossings.get(index) {
            lines.crossings(cluster, crossings, merged);
        }
    }
    for (index, tenant) in merged.tenants.iter().enumerate() {
        lines.tenant(tenant, fleet, index);
    }
    lines.0
}

#[derive(Default)]
struct Lines(Vec<Explained>);

impl Lines {
    fn derived(&mut self, subject: &str, field: &str, value: String, why: &'static str) {
        let from = Provenance::Derived(why);
        self.0.push(Explained { subject: subject.into(), field: field.into(), value, from });
    }

    /// The leaves of a merged node: scalars, and the items of lists.
    fn leaves(&mut self, subject: &str, field: &str, node: &Node) {
        let below = |key: &str| if field.is_empty() { key.to_owned() } else { format!("{field}.{key}") };
        if node.is_map() && !node.entries().is_empty() {
            for entry in node.entries().iter().filter(|entry| !entry.node.is_null()) {
                self.leaves(subject, &below(&entry.key), &entry.node);
            }
        } else if node.is_seq() && !node.items().is_empty() {
            for (index, item) in node.items().iter().enumerate() {
                self.leaf(subject, format!("{field}[{index}]"), item);
            }
        } else {
            self.leaf(subject, field.into(), node);
        }
    }

    fn leaf(&mut self, subject: &str, field: String, node: &Node) {
        let value = match node.text() {
            Some(text) if !text.contains('\n') => text.to_owned(),
            _ => crate::yaml::to_json(node, Reader::Core).to_string(),
        };
        let from = Provenance::At(node.span().clone());
        self.0.push(Explained { subject: subject.into(), field, value, from });
    }

    fn cluster(&mut self, subject: &str, merged: &Node, resolved: &Cluster) {
        if merged.get("branch").is_none() {
            self.derived(subject, "branch", resolved.branch.clone(), "the branch of its repository");
        }
        if merged.get("path").is_none() {
            self.derived(subject, "path", resolved.path.clone(), "the name of the cluster");
        }
        if merged.get("tenants").is_none() {
            self.derived(subject, "tenants", format!("[{}]", resolved.tenants.join(", ")), "all tenants of the fleet");
        }
    }

    /// The settings of components on a cluster that are not their own.
    fn crossings(&mut self, cluster: &Node, crossings: &Crossings, merged: &Merged) {
        let on = format!("on cluster `{}`", name(cluster).unwrap_or_default());
        for crossing in &crossings.parts {
            let Some((tenant, component, own)) = crossing.part.of(&merged.tenants) else { continue };
            let names = [&tenant.node, &component.node].map(|node| name(node).unwrap_or_default()).join("/");
            let subject = match crossing.part.stage {
                Some(_) => format!("stage `{names}/{}` {on}", name(own).unwrap_or_default()),
                None => format!("component `{names}` {on}"),
            };
            let mut before = Lines::default();
            before.leaves(&subject, "", own);
            let mut here = Lines::default();
            here.leaves(&subject, "", &crossing.node);
            self.0.extend(here.0.into_iter().filter(|line| !before.0.contains(line)));
        }
        for ((tenant, component), source) in &crossings.sources {
            let Some(tenant) = merged.tenants.get(*tenant) else { continue };
            let Some(component) = tenant.components.get(*component) else { continue };
            let names = [&tenant.node, &component.node].map(|node| name(node).unwrap_or_default()).join("/");
            self.leaves(&format!("component `{names}` {on}"), "source", source);
        }
    }

    fn tenant(&mut self, merged: &MergedTenant, fleet: Option<&Fleet>, index: usize) {
        let tenant_name = name(&merged.node).unwrap_or_default();
        let subject = format!("tenant `{tenant_name}`");
        let resolved = fleet.and_then(|fleet| fleet.tenants.get(index));
        self.leaves(&subject, "", &merged.node);
        if resolved.is_some_and(|tenant| tenant.depended_on) && merged.node.at_keys(&["sync", "wait"]).is_none() {
            self.derived(&subject, "sync.wait", "true".into(), "another tenant depends on it");
        }
        for (index, source) in merged.sources.iter().enumerate() {
            let subject = format!("source `{}` of tenant `{tenant_name}`", name(source).unwrap_or_default());
            self.leaves(&subject, "", source);
            if let Some(source) = resolved.and_then(|tenant| tenant.sources.get(index)) {
                self.derived(&subject, "kind", format!("{:?}", source.kind), "the scheme of its URL");
            }
        }
        for namespace in &merged.namespaces {
            let subject = format!("namespace `{}` of tenant `{tenant_name}`", name(namespace).unwrap_or_default());
            self.leaves(&subject, "", namespace);
        }
        for (index, component) in merged.components.iter().enumerate() {
            let path = format!("{tenant_name}/{}", name(&component.node).unwrap_or_default());
            let subject = format!("component `{path}`");
            let found = resolved.and_then(|tenant| Some((tenant, tenant.components.get(index)?)));
            self.leaves(&subject, "", &component.node);
            if let Some((tenant, found)) = found {
                self.component(&subject, tenant, &component.node, found);
            }
            for (index, stage) in component.stages.iter().enumerate() {
                let subject = format!("stage `{path}/{}`", name(stage).unwrap_or_default());
                self.leaves(&subject, "", stage);
                let Some(resolved) = found.and_then(|(_, found)| found.stages.get(index)) else { continue };
                self.wait(&subject, stage, resolved.reconcile.wait);
                if index > 0 {
                    let before = resolved.depends_on.first().map(written).unwrap_or_default();
                    self.derived(&subject, "dependsOn", before, "the previous stage");
                }
            }
        }
    }

    fn component(&mut self, subject: &str, tenant: &Tenant, merged: &Node, resolved: &Component) {
        if merged.get("namespace").is_none() {
            let why = match tenant.role {
                crate::fleet::model::Role::Platform => "the namespace of Flux",
                crate::fleet::model::Role::Tenant => "the name of the component",
            };
            self.derived(subject, "namespace", resolved.namespace.clone(), why);
        }
        if merged.get("source").is_none() {
            self.derived(subject, "source", resolved.source.name.clone(), "the first source of the tenant");
        }
        self.wait(subject, merged, resolved.reconcile.wait);
    }

    fn wait(&mut self, subject: &str, merged: &Node, wait: Option<bool>) {
        if merged.get("wait").is_none() && wait == Some(true) {
            self.derived(subject, "wait", "true".into(), "another component or stage depends on it");
        }
    }
}

fn written(dependency: &Dependency) -> String {
    match &dependency.stage {
        Some(stage) => format!("{}/{stage}", dependency.component),
        None => dependency.component.clone(),
    }
}
