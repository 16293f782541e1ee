//! Resolves merged levels into a fleet: decodes values and derives others.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::decode::decode;
use super::dependencies::{Graph, depends_on, name, wanted};
use super::fleet::{
    Cluster, Component, ComponentName, Dependency, Environment, Fleet, Namespace, Override, Repository, Source,
    SourceKind, Stage, Tenant,
};
use super::on_cluster::{self, OnClusters};
use super::variable::variables;
use crate::base::finding::Finding;
use crate::fleet::input::files::Input;
use crate::fleet::merge::crossing::Crossings;
use crate::fleet::merge::levels::{Merged, MergedComponent, MergedTenant, further_namespaces, namespace_of};
use crate::fleet::merge::repositories::OWN_REPOSITORY;
use crate::fleet::model;
use crate::fleet::model::{ClusterSettings, Reconcile, Role, TenantSettings};
use crate::fleet::scalar::Text;
use crate::kube::groups;
use crate::text::{Index, Span};
use crate::yaml::Node;

/// Resolves a fleet. Values that cannot be decoded are findings.
pub(crate) fn resolve(
    input: &Input,
    merged: &Merged,
    crossings: &[Arc<Crossings>],
    graph: &Graph<'_>,
    findings: &mut Vec<Finding>,
) -> Option<Fleet> {
    let flux: model::Flux = decode(&merged.flux, findings)?;
    let namespace = flux.namespace.as_ref().map_or(groups::FLUX_NAMESPACE, |namespace| namespace.0.as_str()).to_owned();
    let mut repositories = Vec::new();
    for repository in merged.repositories.iter() {
        repositories.extend(resolve_repository(repository, findings));
    }
    let own = |repository: &&Repository| repository.name == OWN_REPOSITORY;
    let repository = repositories.iter().find(own)?.clone();
    let waits = DependencyTargets::of(merged, graph);
    let resolver = Resolver { graph, waits: &waits, namespace: &namespace };
    let mut tenants = Vec::new();
    for tenant in &merged.tenants {
        tenants.extend(resolver.tenant(tenant, findings));
    }
    let overrides = Overrides::of(merged, &tenants, findings);
    let mut clusters = Vec::new();
    let names = on_cluster::names(merged.tenants.iter().map(|tenant| &tenant.node));
    let is_dependency = |tenant: &str, component: &str, stage: &str| waits.part(tenant, component, stage);
    let mut on_clusters = OnClusters::new(names, &tenants, &is_dependency);
    for ((cluster, root), crossings) in merged.clusters.iter().zip(&merged.roots).zip(crossings) {
        let Some(mut here) = resolve_cluster(cluster, &repositories, &tenants, &overrides, findings) else {
            continue;
        };
        on_clusters.apply(&mut here, crossings, findings);
        here.root = match root {
            Some(root) => decode(root, findings),
            None => None,
        };
        clusters.push(here);
    }
    variables(&mut tenants, &clusters);
    let environments = merged.environments.iter().filter_map(|(entry, node)| {
        let own = clusters.iter().filter(|cluster| cluster.environment == *entry.key);
        Some(Environment {
            name: entry.key.to_string(),
            clusters: own.map(|cluster| cluster.name.clone()).collect(),
            settings: decode(node, findings)?,
            span: entry.key_span(),
        })
    });
    let environments = environments.collect();
    let (name, span) = named(&input.root)?;
    let layout = input.root.get("layout").and_then(Node::text).unwrap_or(model::DEFAULT_LAYOUT).to_owned();
    let values = match merged.fleet.get("values") {
        Some(values) => Some(decode(values, findings)?),
        None => None,
    };
    Some(Fleet { name, layout, repository, repositories, flux, values, environments, clusters, tenants, span })
}

fn named(node: &Node) -> Option<(String, Span)> {
    let name = node.get("name")?;
    Some((name.text()?.to_owned(), name.span().clone()))
}

/// The targets of dependencies, by tenant, component and stage (empty for a component without stages).
pub(super) struct DependencyTargets<'a> {
    parts: Index<(&'a str, &'a str, &'a str), ()>,
    tenants: Index<&'a str, ()>,
}

impl<'a> DependencyTargets<'a> {
    pub(crate) fn of(merged: &'a Merged, graph: &Graph<'a>) -> Self {
        let mut waited = Self { parts: Index::default(), tenants: Index::default() };
        for tenant in &merged.tenants {
            let Some(own) = name(&tenant.node) else { continue };
            for item in depends_on(&tenant.node) {
                item.text().map(|other| waited.tenants.insert(other, ()));
            }
            for component in &tenant.components {
                let mut before = None;
                for stage in &component.stages {
                    if let (Some(component), Some(stage)) = (name(&component.node), before) {
                        waited.parts.insert((own, component, stage), ());
                    }
                    before = name(stage);
                }
                for node in std::iter::once(&component.node).chain(&component.stages) {
                    for item in depends_on(node) {
                        let Some(item) = wanted(item, own) else { continue };
                        let Ok((_, stage)) = graph.find(&item) else { continue };
                        waited.parts.insert((item.tenant, item.component, stage.unwrap_or_default()), ());
                    }
                }
            }
        }
        waited
    }

    /// Returns whether a component or stage is a dependency of another component or stage.
    pub(crate) fn part(&self, tenant: &str, component: &str, stage: &str) -> bool {
        self.parts.contains(&(tenant, component, stage))
    }

    /// Returns whether a tenant is a dependency of another tenant.
    pub(crate) fn tenant(&self, tenant: &str) -> bool {
        self.tenants.contains(tenant)
    }
}

struct Resolver<'a> {
    graph: &'a Graph<'a>,
    waits: &'a DependencyTargets<'a>,
    /// The namespace of Flux.
    namespace: &'a str,
}

impl Resolver<'_> {
    fn tenant(&self, merged: &MergedTenant, findings: &mut Vec<Finding>) -> Option<Tenant> {
        let (name, span) = named(&merged.node)?;
        let mut settings: TenantSettings = decode(&merged.node, findings)?;
        let role: Role = decode(merged.node.get("role")?, findings)?;
        let depends_on = settings.depends_on.take().unwrap_or_default().into_iter().map(|tenant| tenant.0).collect();
        let depended_on = self.waits.tenant(&name);
        let mut sync = settings.sync.take().unwrap_or_default();
        sync.wait = sync.wait.or(depended_on.then_some(true));
        settings.sync = Some(sync);
        let sources: Vec<Source> =
            merged.sources.iter().filter_map(|source| resolve_source(source, findings)).collect();
        let mut homes: BTreeMap<String, String> = BTreeMap::new();
        let mut components = Vec::new();
        for component in &merged.components {
            let Some(resolved) = self.component(&name, role, component, &sources, findings) else { continue };
            let home = !homes.contains_key(&resolved.namespace);
            homes.entry(resolved.namespace.clone()).or_insert_with(|| resolved.name.clone());
            components.push(Component { home, ..resolved });
        }
        let namespaces = merged.namespaces.iter().filter_map(|namespace| {
            let mut resolved = resolve_namespace(namespace, findings)?;
            resolved.component = homes.get(&resolved.name).cloned();
            Some(resolved)
        });
        let namespaces = namespaces.collect();
        let source = sources.first().cloned();
        let runtime_info = BTreeMap::new();
        Some(Tenant {
            name,
            role,
            depends_on,
            source,
            sources,
            components,
            namespaces,
            depended_on,
            runtime_info,
            settings,
            span,
        })
    }

    fn component(
        &self,
        tenant: &str,
        role: Role,
        merged: &MergedComponent,
        sources: &[Source],
        findings: &mut Vec<Finding>,
    ) -> Option<Component> {
        let (name, span) = named(&merged.node)?;
        let namespace = match (role, merged.node.get("namespace")) {
            (Role::Platform, None) => self.namespace.to_owned(),
            (Role::Platform | Role::Tenant, _) => namespace_of(&merged.node)?.text()?.to_owned(),
        };
        let source = match merged.node.get("source").and_then(Node::text) {
            Some(chosen) => sources.iter().find(|source| source.name == chosen)?,
            None => sources.first()?,
        };
        let labels = match merged.node.get("labels") {
            Some(labels) => decode::<BTreeMap<String, Text>>(labels, findings)?,
            None => BTreeMap::new(),
        };
        let own = self.dependencies(tenant, &merged.node);
        let mut stages: Vec<Stage> = Vec::new();
        for stage in &merged.stages {
            let (stage_name, span) = named(stage)?;
            let depends_on = match stages.last() {
                None => own.clone(),
                Some(before) => {
                    let stage = Some(before.name.clone());
                    vec![Dependency { tenant: tenant.into(), component: name.clone(), stage, ready_expr: None }]
                }
            };
            let mut depends_on = depends_on;
            for dependency in self.dependencies(tenant, stage) {
                if !depends_on.contains(&dependency) {
                    depends_on.push(dependency);
                }
            }
            let mut reconcile: Reconcile = decode(stage, findings)?;
            let waited = self.waits.part(tenant, &name, &stage_name);
            reconcile.wait = reconcile.wait.or(waited.then_some(true));
            stages.push(Stage { name: stage_name, component: name.clone(), depends_on, reconcile, span });
        }
        let mut reconcile: Reconcile = decode(&merged.node, findings)?;
        let waited = stages.is_empty() && self.waits.part(tenant, &name, "");
        reconcile.wait = reconcile.wait.or(waited.then_some(true));
        let mut namespaces = vec![namespace.clone()];
        for further in further_namespaces(&merged.node).iter().filter_map(Node::text) {
            if !namespaces.iter().any(|known| known == further) {
                namespaces.push(further.to_owned());
            }
        }
        if namespaces.len() > 1 {
            let stages = stages.iter_mut().map(|stage| &mut stage.reconcile);
            stages.chain([&mut reconcile]).for_each(|reconcile| reconcile.target_namespace = Some(false));
        }
        let (tenant, source, depends_on) = (tenant.to_owned(), source.clone(), own);
        let home = false;
        Some(Component {
            name,
            tenant,
            namespace,
            namespaces,
            source,
            home,
            labels,
            stages,
            depends_on,
            reconcile,
            span,
        })
    }

    fn dependencies(&self, tenant: &str, node: &Node) -> Vec<Dependency> {
        let resolved = depends_on(node).iter().filter_map(|item| {
            let wanted = wanted(item, tenant)?;
            let (_, stage) = self.graph.find(&wanted).ok()?;
            Some(Dependency {
                tenant: wanted.tenant.to_owned(),
                component: wanted.component.to_owned(),
                stage: stage.map(str::to_owned),
                ready_expr: wanted.ready_expr.map(str::to_owned),
            })
        });
        resolved.collect()
    }
}

fn resolve_namespace(merged: &Node, findings: &mut Vec<Finding>) -> Option<Namespace> {
    let span = merged.get("name")?.span().clone();
    let model::Namespace { name, labels, annotations, quota, limit_range, network_policy, pod_security } =
        decode(merged, findings)?;
    let (labels, annotations) = (labels.unwrap_or_default(), annotations.unwrap_or_default());
    let name = name.0;
    Some(Namespace {
        name,
        component: None,
        labels,
        annotations,
        quota,
        limit_range,
        network_policy,
        pod_security,
        span,
    })
}

fn resolve_source(merged: &Node, findings: &mut Vec<Finding>) -> Option<Source> {
    let span = merged.get("url").unwrap_or(merged).span().clone();
    let source: model::Source = decode(merged, findings)?;
    let url = source.url?;
    let kind = kind_of(&url);
    Some(Source {
        name: source.name?.0,
        kind,
        url,
        repository: source.repository.map(|repository| repository.0),
        reference: source.reference,
        secret: source.secret.map(|secret| secret.0),
        interval: source.interval,
        timeout: source.timeout,
        provider: source.provider,
        verify: source.verify,
        ignore: source.ignore,
        values: source.values,
        span,
    })
}

fn resolve_repository(node: &Node, findings: &mut Vec<Finding>) -> Option<Repository> {
    let (name, span) = named(node)?;
    let model::Repository { url, branch, path, secret, provider, interval } = decode(node, findings)?;
    let path = path.map(|path| match crate::text::normalize(&path.0) {
        Some(folder) if folder.is_empty() => ".".to_owned(),
        folder => folder.unwrap_or(path.0),
    });
    let (kind, secret) = (kind_of(&url), secret.map(|secret| secret.0));
    Some(Repository { name, kind, url, branch, path, secret, provider, interval, span })
}

/// Returns the kind of source for a URL.
pub(crate) fn kind_of(url: &str) -> SourceKind {
    if url.starts_with("oci://") { SourceKind::OCIRepository } else { SourceKind::GitRepository }
}

/// The overrides of sources, by environment, in the order of the tenants.
struct Overrides(BTreeMap<String, Vec<Override>>);

impl Overrides {
    fn of(merged: &Merged, tenants: &[Tenant], findings: &mut Vec<Finding>) -> Self {
        let mut by_environment: BTreeMap<String, Vec<Override>> = BTreeMap::new();
        for (merged, tenant) in merged.tenants.iter().zip(tenants) {
            for (node, source) in merged.sources.iter().zip(&tenant.sources) {
                for entry in node.get("environments").map(Node::entries).unwrap_or_default() {
                    let Some(model::SourceOverride { reference, verify }) = decode(&entry.node, findings) else {
                        continue;
                    };
                    let (tenant, name, kind) = (tenant.name.clone(), source.name.clone(), source.kind);
                    let change = Override { tenant, source: name, kind, reference, verify };
                    by_environment.entry(entry.key.to_string()).or_default().push(change);
                }
            }
        }
        Self(by_environment)
    }
}

fn resolve_cluster(
    merged: &Node,
    repositories: &[Repository],
    tenants: &[Tenant],
    overrides: &Overrides,
    findings: &mut Vec<Finding>,
) -> Option<Cluster> {
    let (name, span) = named(merged)?;
    let environment = merged.get("environment")?.text()?.to_owned();
    let mut settings: ClusterSettings = decode(merged, findings)?;
    let repository = settings.repository.take().map_or_else(|| OWN_REPOSITORY.to_owned(), |repository| repository.0);
    let repository = repositories.iter().find(|one| one.name == repository)?.clone();
    let flux = settings.flux.take().unwrap_or_default();
    let path = settings.path.take().map_or_else(|| name.clone(), |path| path.0);
    let path = crate::text::normalize(&path).unwrap_or(path);
    let branch = settings.branch.take().unwrap_or_else(|| repository.branch.clone());
    settings.components = None;
    let chosen = settings.tenants.take();
    let chosen: Option<Index<&str, ()>> =
        chosen.as_ref().map(|chosen| chosen.iter().map(|tenant| (tenant.0.as_str(), ())).collect());
    let runs = |tenant: &str| chosen.as_ref().is_none_or(|chosen| chosen.contains(tenant));
    let here: Vec<String> = tenants.iter().map(|tenant| &tenant.name).filter(|name| runs(name)).cloned().collect();
    let without = settings.without_components.take().unwrap_or_default().into_iter().filter_map(|path| {
        let (tenant, component) = path.0.split_once('/')?;
        Some(ComponentName { tenant: tenant.into(), component: component.into() })
    });
    let without_components = without.filter(|component| runs(&component.tenant)).collect();
    let changes = overrides.0.get(&environment).into_iter().flatten();
    let overrides = changes.filter(|change| runs(&change.tenant)).cloned().collect();
    let tenants = here;
    Some(Cluster {
        name,
        environment,
        repository,
        path,
        branch,
        root: None,
        flux,
        tenant_names: tenants.iter().map(|name| (name.clone(), ())).collect(),
        tenants,
        without_components,
        overrides,
        components: Vec::new(),
        settings,
        span,
    })
}
