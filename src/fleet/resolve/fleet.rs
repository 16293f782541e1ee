//! The fleet after merging and deriving: what templates see, and what explains itself by its spans.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::fleet::model::{
    ClusterSettings, Flux, NetworkPolicy, PodSecurity, Provider, Reconcile, Repository, Role, SourceRef,
    TenantSettings, Verify,
};
use crate::fleet::scalar::{Duration, Raw, Text};
use crate::text::{Index, Span};

/// A fleet with every setting merged, every name resolved and every default filled.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fleet {
    /// Its name.
    pub name: String,
    /// The layout's name, as fleet.yaml says it.
    pub layout: String,
    /// The fleet repository.
    pub repository: Repository,
    /// How Flux is installed where a cluster says nothing else.
    pub flux: Flux,
    /// The clusters in the order of the files.
    pub clusters: Vec<Cluster>,
    /// The tenants in the order of the files.
    pub tenants: Vec<Tenant>,
    /// Where `name` stands.
    #[serde(skip)]
    pub span: Span,
}

/// A cluster with its environment and the defaults merged in.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// Its environment.
    pub environment: String,
    /// The folder of the fleet repository that it syncs.
    pub path: String,
    /// The branch of the fleet repository that it syncs.
    pub branch: String,
    /// How Flux is installed here.
    pub flux: Flux,
    /// The names of the tenants that run here, in the fleet's order.
    pub tenants: Vec<String>,
    /// The components that do not run here although their tenant does.
    pub without_components: Vec<ComponentName>,
    /// What its environment changes of the tenants' sources.
    pub overrides: Vec<Override>,
    /// What else was said; `path`, `branch`, `flux`, `tenants` and `withoutComponents` have moved to the fields above.
    #[serde(flatten)]
    pub settings: ClusterSettings,
    /// Where `name` stands.
    #[serde(skip)]
    pub span: Span,
}

/// A component by its tenant's name and its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComponentName {
    /// The tenant.
    pub tenant: String,
    /// The component.
    pub component: String,
}

/// What an environment changes of a source, for its clusters to patch.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Override {
    /// The tenant that the source belongs to.
    pub tenant: String,
    /// The source's name.
    pub source: String,
    /// The source's kind.
    pub kind: SourceKind,
    /// The revision that runs here.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<SourceRef>,
    /// Who must have signed it here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
}

/// A tenant with the defaults merged in.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// Its name.
    pub name: String,
    /// How far it reaches.
    pub role: Role,
    /// The tenants that must be ready before it.
    pub depends_on: Vec<String>,
    /// The first of its sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Its sources, the first one included.
    pub sources: Vec<Source>,
    /// Its components, in the order of the file.
    pub components: Vec<Component>,
    /// Its namespaces: those that it lists, then those of its components. None for a platform tenant.
    pub namespaces: Vec<Namespace>,
    /// Whether another tenant depends on it.
    pub depended_on: bool,
    /// What runtime-info holds on the clusters that run it: key → what is true of its values there.
    pub runtime_info: BTreeMap<String, Variable>,
    /// What else was said; `dependsOn` and `defaults` have moved to where they apply.
    #[serde(flatten)]
    pub settings: TenantSettings,
    /// Where `name` stands.
    #[serde(skip)]
    pub span: Span,
}

/// A key of runtime-info, as a tenant meets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    /// Whether each of the clusters has it.
    pub everywhere: bool,
    /// Whether each value is still this text where Flux puts it without quotes; `3` would be a number.
    pub is_text: bool,
}

/// Which kind of object a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum SourceKind {
    /// A Git repository.
    GitRepository,
    /// An OCI artifact.
    OCIRepository,
}

/// A source with its name, kind and revision filled.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The object's name.
    pub name: String,
    /// The object's kind, from the scheme of the URL.
    pub kind: SourceKind,
    /// Its URL.
    pub url: String,
    /// Which revision.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<SourceRef>,
    /// The Secret with the credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// How often Flux looks for a new revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// How long fetching may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Who proves who we are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<Provider>,
    /// Who must have signed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
    /// Files to leave out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore: Option<String>,
    /// Where it stands.
    #[serde(skip)]
    pub span: Span,
}

/// A component with its tenant's defaults merged in.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Component {
    /// Its name.
    pub name: String,
    /// Its tenant's name.
    pub tenant: String,
    /// The namespace that it runs in; Flux's for a platform tenant.
    pub namespace: String,
    /// The source that it comes from.
    pub source: Source,
    /// Whether it is the first component of its namespace, with which the namespace's own objects go.
    pub home: bool,
    /// Labels of what it brings, beside its tenant's.
    pub labels: BTreeMap<String, Text>,
    /// Its stages; one without stages is reconciled as a whole.
    pub stages: Vec<Stage>,
    /// What must be ready first, of a component without stages.
    pub depends_on: Vec<Dependency>,
    /// Its settings; `dependsOn` has moved to the field above.
    #[serde(flatten)]
    pub reconcile: Reconcile,
    /// Where `name` stands.
    #[serde(skip)]
    pub span: Span,
}

/// A stage with its component's settings merged in.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// Its component's name.
    pub component: String,
    /// What must be ready first; the stage before it comes first.
    pub depends_on: Vec<Dependency>,
    /// Its settings; `dependsOn` has moved to the field above.
    #[serde(flatten)]
    pub reconcile: Reconcile,
    /// Where `name` stands.
    #[serde(skip)]
    pub span: Span,
}

/// Something that must be ready first; the stage is there whenever the component has stages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dependency {
    /// The tenant.
    pub tenant: String,
    /// The component.
    pub component: String,
    /// The stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// The CEL expression that decides when it counts as ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_expr: Option<String>,
}

/// A namespace of a confined tenant with the tenant's settings merged in.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Namespace {
    /// Its name.
    pub name: String,
    /// The component that is at home in it; a namespace without components has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    /// Its labels beside the tenant's own.
    pub labels: BTreeMap<String, Text>,
    /// Its annotations.
    pub annotations: BTreeMap<String, Text>,
    /// What it may use at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota: Option<BTreeMap<String, Text>>,
    /// The `spec.limits` of its LimitRange.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_range: Option<Vec<Raw>>,
    /// The traffic that it lets in and out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_policy: Option<NetworkPolicy>,
    /// Its Pod Security level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_security: Option<PodSecurity>,
    /// Where its name stands.
    #[serde(skip)]
    pub span: Span,
}

impl Fleet {
    /// Takes out what stands twice, a name or a cluster's folder, so that what is left shows what else collides.
    pub(crate) fn without_repetitions(mut self) -> Self {
        fn once<T>(items: &mut Vec<T>, key: impl Fn(&T) -> &str) {
            let mut seen: Index<String, ()> = Index::default();
            items.retain(|item| seen.insert(key(item).to_owned(), ()).is_none());
        }
        once(&mut self.clusters, |cluster| &cluster.name);
        once(&mut self.clusters, |cluster| &cluster.path);
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

    /// Which confined tenant each namespace belongs to: namespace → tenant.
    pub fn tenant_namespaces(&self) -> BTreeMap<String, String> {
        let pairs = self
            .tenants
            .iter()
            .flat_map(|tenant| tenant.namespaces.iter().map(|namespace| (namespace.name.clone(), tenant.name.clone())));
        pairs.collect()
    }
}
