//! The resolved fleet, after merging and deriving. Templates render it.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use crate::fleet::model::{
    ClusterSettings, Flux, NetworkPolicy, PodSecurity, Provider, Reconcile, Role, Root, SourceRef, TenantSettings,
    Verify,
};
use crate::fleet::scalar::{Duration, Raw, Text};
use crate::text::{Index, Span};

/// A fleet with merged settings, resolved references and default values.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fleet {
    /// The name.
    pub name: String,
    /// The name of the layout in fleet.yaml.
    pub layout: String,
    /// The repository of fleet.yaml, named `fleet`.
    pub repository: Repository,
    /// All repositories: `fleet`, then `repositories`.
    pub repositories: Vec<Repository>,
    /// The installation of Flux, before the overrides of clusters.
    pub flux: Flux,
    /// The free values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Raw>,
    /// The environments in the order of fleet.yaml.
    pub environments: Vec<Environment>,
    /// The clusters in the order of the files.
    pub clusters: Vec<Cluster>,
    /// The tenants in the order of the files.
    pub tenants: Vec<Tenant>,
    /// The span of `name`.
    #[serde(skip)]
    pub span: Span,
}

/// An environment with the defaults merged in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Environment {
    /// The name.
    pub name: String,
    /// The names of its clusters, in the order of the fleet.
    pub clusters: Vec<String>,
    /// The settings that its clusters share.
    #[serde(flatten)]
    #[schemars(schema_with = "included::<ClusterSettings>")]
    pub settings: ClusterSettings,
    /// The span of the name.
    #[serde(skip)]
    pub span: Span,
}

/// A repository with its name.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Repository {
    /// The name.
    pub name: String,
    /// The kind of source for the repository, from the scheme of the URL.
    pub kind: SourceKind,
    /// The URL.
    pub url: String,
    /// The branch, or the tag of an OCI artifact.
    pub branch: String,
    /// The directory of the rendered files that is the root of the repository: `.` if it is all of them. `None` if the
    /// repository is not rendered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The name of the Secret with the credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// The provider that authenticates Flux.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<Provider>,
    /// The interval at which Flux checks for updates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// The span of the name.
    #[serde(skip)]
    pub span: Span,
}

impl Repository {
    /// Returns the root of the repository in the rendered files; empty if it is all of them.
    pub fn folder(&self) -> Option<String> {
        crate::text::normalize(self.path.as_deref()?)
    }
}

/// A cluster with its environment and the defaults merged in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// The name.
    pub name: String,
    /// The environment.
    pub environment: String,
    /// The repository that the cluster syncs.
    pub repository: Repository,
    /// The directory of the repository that the cluster syncs.
    pub path: String,
    /// The branch of the repository that the cluster syncs.
    pub branch: String,
    /// The directory with which Flux starts, if no rendered file defines it.
    #[serde(skip)]
    pub root: Option<Root>,
    /// The installation of Flux on the cluster.
    pub flux: Flux,
    /// The names of the tenants that run on the cluster, in the order of the fleet.
    pub tenants: Vec<String>,
    /// The names in `tenants`.
    #[serde(skip)]
    pub tenant_names: Index<String, ()>,
    /// The components that do not run on the cluster, although their tenants do.
    pub without_components: Vec<ComponentName>,
    /// The overrides of the tenants' sources on the cluster.
    pub overrides: Vec<Override>,
    /// The components and stages with different settings on the cluster, in the order of the fleet. Clusters with the
    /// same settings share them, so templates receive them separately.
    #[serde(skip)]
    pub components: Vec<Arc<ClusterComponent>>,
    /// The other settings, without `repository`, `path`, `branch`, `flux`, `tenants`, `withoutComponents` and `components`.
    #[serde(flatten)]
    #[schemars(schema_with = "included::<ClusterSettings>")]
    pub settings: ClusterSettings,
    /// The span of `name`.
    #[serde(skip)]
    pub span: Span,
}

impl Cluster {
    /// Returns whether a tenant runs on the cluster.
    pub fn runs(&self, tenant: &str) -> bool {
        self.tenant_names.contains(tenant)
    }
}

/// The name of a component, with its tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentName {
    /// The tenant.
    pub tenant: String,
    /// The component.
    pub component: String,
}

/// The settings of a component or stage that differ on a cluster.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterComponent {
    /// The tenant.
    pub tenant: String,
    /// The component.
    pub component: String,
    /// The stage; `None` for a component without stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// The changed settings. A mapping contains its changed entries; an entry that the cluster removes is null.
    pub changes: Raw,
    /// All settings on the cluster.
    pub settings: Reconcile,
}

/// The overrides of a source for an environment or a cluster. Clusters apply them as patches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Override {
    /// The tenant of the source.
    pub tenant: String,
    /// The name of the source.
    pub source: String,
    /// The kind of the source.
    pub kind: SourceKind,
    /// The revision on the cluster.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<SourceRef>,
    /// The signature verification on the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
}

/// A tenant with the defaults merged in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// The name.
    pub name: String,
    /// The role of the tenant.
    pub role: Role,
    /// The tenants that must be ready before this tenant.
    pub depends_on: Vec<String>,
    /// The first source of the tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// All sources of the tenant, including the first one.
    pub sources: Vec<Source>,
    /// The components, in the order of the file.
    pub components: Vec<Component>,
    /// The namespaces: first those of the tenant's list, then those of its components. A platform tenant has only those of its list.
    pub namespaces: Vec<Namespace>,
    /// Whether another tenant depends on this tenant.
    pub depended_on: bool,
    /// The runtime-info variables on the clusters that run the tenant.
    pub runtime_info: BTreeMap<String, Variable>,
    /// The other settings, without `dependsOn` and `defaults`.
    #[serde(flatten)]
    #[schemars(schema_with = "included::<TenantSettings>")]
    pub settings: TenantSettings,
    /// The span of `name`.
    #[serde(skip)]
    pub span: Span,
}

/// The properties of a runtime-info variable on the clusters that run a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    /// Whether every cluster defines the variable.
    pub everywhere: bool,
    /// Whether every value remains a string without quotes; `3` would be a number.
    pub is_text: bool,
}

/// The kind of a source object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum SourceKind {
    /// A Git repository.
    GitRepository,
    /// An OCI artifact.
    OCIRepository,
}

/// A source with its name, kind and revision resolved.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The name of the object.
    pub name: String,
    /// The kind of the object, from the scheme of the URL.
    pub kind: SourceKind,
    /// The URL.
    pub url: String,
    /// The name of the fleet's repository that the source fetches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The revision to fetch.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<SourceRef>,
    /// The name of the Secret with the credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// The interval at which Flux checks for updates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// The timeout of fetch operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// The provider that authenticates Flux.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<Provider>,
    /// The signature verification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
    /// The files to exclude.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore: Option<String>,
    /// The free values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Raw>,
    /// The span of the source.
    #[serde(skip)]
    pub span: Span,
}

/// A component with its tenant's defaults merged in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Component {
    /// The name.
    pub name: String,
    /// The name of the tenant.
    pub tenant: String,
    /// The namespace of the component; for a platform tenant, by default the namespace of Flux.
    pub namespace: String,
    /// The namespaces of the component: `namespace`, then the further ones.
    pub namespaces: Vec<String>,
    /// The source of the component.
    pub source: Source,
    /// Whether the component is the first in its namespace, so that its directory contains the namespace's own objects.
    pub home: bool,
    /// The labels of the component's objects, in addition to the labels of the tenant.
    pub labels: BTreeMap<String, Text>,
    /// The stages. Without stages, one Kustomization applies the component.
    pub stages: Vec<Stage>,
    /// The dependencies of a component without stages.
    pub depends_on: Vec<Dependency>,
    /// The settings of the Kustomization, without `dependsOn`.
    #[serde(flatten)]
    #[schemars(schema_with = "included::<Reconcile>")]
    pub reconcile: Reconcile,
    /// The span of `name`.
    #[serde(skip)]
    pub span: Span,
}

/// A stage with its component's settings merged in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    /// The name.
    pub name: String,
    /// The name of the component.
    pub component: String,
    /// The dependencies, starting with the previous stage.
    pub depends_on: Vec<Dependency>,
    /// The settings of the Kustomization, without `dependsOn`.
    #[serde(flatten)]
    #[schemars(schema_with = "included::<Reconcile>")]
    pub reconcile: Reconcile,
    /// The span of `name`.
    #[serde(skip)]
    pub span: Span,
}

/// A dependency. The stage is set if the component has stages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dependency {
    /// The tenant.
    pub tenant: String,
    /// The component.
    pub component: String,
    /// The stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// The CEL expression that determines whether the dependency is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_expr: Option<String>,
}

/// A namespace of a confined tenant with the tenant's settings merged in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Namespace {
    /// The name.
    pub name: String,
    /// The first component in the namespace; `None` if no component uses the namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    /// The labels, in addition to the labels of the tenant.
    pub labels: BTreeMap<String, Text>,
    /// The annotations.
    pub annotations: BTreeMap<String, Text>,
    /// The `spec.hard` of the ResourceQuota.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota: Option<BTreeMap<String, Text>>,
    /// The `spec.limits` of the LimitRange.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_range: Option<Vec<Raw>>,
    /// The default network policies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_policy: Option<NetworkPolicy>,
    /// The Pod Security level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_security: Option<PodSecurity>,
    /// The span of the name.
    #[serde(skip)]
    pub span: Span,
}

/// Refers to the schema of settings that a type includes. The fields of the type replace those of the same name.
fn included<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "allOf": [generator.subschema_for::<T>()] })
}

impl Fleet {
    /// Removes duplicate names and duplicate cluster directories, so that rendering reports only other collisions.
    pub(crate) fn without_repetitions(mut self) -> Self {
        fn once<T>(items: &mut Vec<T>, key: impl Fn(&T) -> &str) {
            let mut seen: Index<String, ()> = Index::default();
            items.retain(|item| seen.insert(key(item).to_owned(), ()).is_none());
        }
        let mut synced: Index<(String, String), ()> = Index::default();
        self.clusters.retain(|one| synced.insert((one.repository.name.clone(), one.path.clone()), ()).is_none());
        once(&mut self.clusters, |cluster| &cluster.name);
        once(&mut self.tenants, |tenant| &tenant.name);
        for tenant in &mut self.tenants {
            once(&mut tenant.namespaces, |namespace| &namespace.name);
            once(&mut tenant.components, |component| &component.name);
            for component in &mut tenant.components {
                once(&mut component.stages, |stage| &stage.name);
            }
        }
        self
    }

    /// Returns the confined tenant of each namespace, by namespace.
    pub fn tenant_namespaces(&self) -> BTreeMap<String, String> {
        let confined = self.tenants.iter().filter(|tenant| tenant.role == Role::Tenant);
        let pairs = confined
            .flat_map(|tenant| tenant.namespaces.iter().map(|namespace| (namespace.name.clone(), tenant.name.clone())));
        pairs.collect()
    }
}
