//! The tenants of a cluster, and the lockdown that isolates them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::lockdown::Lockdown;
use super::operator::OperatorAccount;
use super::tenant_repositories::TenantRepositories;
use crate::address::Address;
use crate::config;
use crate::config::TenancyMode;
use crate::flux::cluster::applied_set::Applied;
use crate::flux::helm::Values;
use crate::flux::install::installation::OPERATOR;
use crate::flux::install::lockdown::Installation;
use crate::flux::object::kinds::{is_flux, is_kustomization, is_source};
use crate::flux::unknown::known_contents::is_of_project;
use crate::flux::variables::unset::without_values;
use crate::kube::Object;
use crate::kube::groups;
use crate::yaml::Node;

/// The label with the tenant of a namespace or of a Flux object.
const TENANT_LABEL: &str = "toolkit.fluxcd.io/tenant";
/// The name that represents all service accounts of a namespace.
const ANY: &str = "";
/// The built-in ClusterRoles that allow to manage the objects of a namespace.
const MANAGERS: &[&str] = &["admin", "cluster-admin", "edit"];

/// The tenancy of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tenancy {
    /// Whether tenants share the cluster.
    pub multi_tenant: bool,
    /// The lockdown of Flux, if any.
    pub lockdown: Option<Lockdown>,
    /// The account that Flux Operator uses for a ResourceSet without `serviceAccountName`.
    pub operator: OperatorAccount,
    /// The configured reason why there is no lockdown.
    pub unlocked: Option<String>,
    /// The namespaces of Flux.
    pub flux_namespaces: BTreeSet<String>,
    /// The namespaces of tenants, with the tenant if it is known.
    pub tenants: BTreeMap<String, Option<String>>,
    /// The namespaces of tenants that the platform may use itself: nothing names a tenant, and the objects of the
    /// namespace come from the platform's sources.
    pub supposed: BTreeSet<String>,
    /// The namespaces that would belong to tenants without the ClusterRoleBindings of their accounts.
    pub platform: BTreeSet<String>,
    /// The namespaces with Flux objects that do not belong to tenants, other than those of Flux.
    pub without_tenant: BTreeSet<String>,
    /// Service accounts outside of tenants' namespaces, as `namespace/name`, with their tenant.
    pub accounts: BTreeMap<String, String>,
    /// The repositories of the tenants.
    pub repositories: TenantRepositories,
    /// Namespaces from which a hub reconciles other clusters.
    pub hubs: BTreeSet<String>,
    /// Subjects of `RoleBinding`s: the namespace of the binding, and the namespace and name of the service account.
    bound: BTreeSet<(String, String, String)>,
    /// Namespaces with a service account that may manage the namespace.
    managed: BTreeSet<String>,
    /// Subjects of `ClusterRoleBinding`s: the namespace and name of the service account.
    bound_everywhere: BTreeSet<(String, String)>,
}

/// The file that defines the clusters and tenants of a repository.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Governance {
    /// The repository has no such file.
    #[default]
    None,
    /// A fleet.yaml.
    Fleet,
}

impl Tenancy {
    /// Detects the tenancy from the objects of a cluster, and from the kustomizations that install Flux.
    ///
    /// Only objects of [`AppliedSet::tenancy_objects`](crate::flux::AppliedSet::tenancy_objects) are relevant.
    /// `home` is the namespace of the root's Kustomization. Without it, the objects show which namespaces are of Flux.
    /// `declared` are the namespaces of a fleet.yaml with their tenants. The tenants of other namespaces, such as the
    /// namespaces that a layout adds, are inferred.
    pub fn detect<'d>(
        received: &[Applied<'_>],
        installations: &[&Installation],
        home: Option<&str>,
        declared: impl IntoIterator<Item = (&'d String, &'d String)>,
        governance: Governance,
    ) -> Self {
        let flux_namespaces = flux_namespaces(received, home);
        let lockdown = Lockdown::detect(received, installations, &flux_namespaces);
        let mut tenancy = Self { lockdown, flux_namespaces, ..Self::default() };
        for applied in received {
            tenancy.take_binding(applied.object, applied.namespace());
            let is_remote = is_kustomization(applied.object) && is_remote(applied.object);
            if let Some(namespace) = applied.namespace().filter(|_| is_remote) {
                tenancy.hubs.insert(namespace.to_string());
            }
        }
        tenancy.infer(received);
        tenancy.accounts = tenancy.accounts_beside_flux(received);
        for (namespace, name) in declared {
            tenancy.declare(namespace, name);
        }
        let governed = governance == Governance::Fleet;
        let has_tenants = !tenancy.tenants.is_empty() || !tenancy.accounts.is_empty();
        tenancy.multi_tenant = governed || tenancy.lockdown.is_some() || has_tenants;
        tenancy
    }

    /// Detects the default account of Flux Operator. `values` returns the merged values of a HelmRelease.
    pub fn detect_operator(&mut self, received: &[Applied<'_>], values: impl Fn(&Applied<'_>) -> Option<Values>) {
        self.operator = OperatorAccount::detect(received, values);
    }

    /// Finds the repositories of the tenants. `fleet` has the kinds, namespaces and names of the sources of the cluster's own
    /// repository. `former` has the repositories of tenants of an earlier state.
    pub fn find_repositories(
        &mut self,
        received: &[Applied<'_>],
        fleet: &BTreeSet<(&str, &str, &str)>,
        former: Option<&TenantRepositories>,
    ) {
        let tenants = &self.tenants;
        let tenant_of = |namespace: &str| {
            let (namespace, tenant) = tenants.get_key_value(namespace)?;
            Some(tenant.as_deref().unwrap_or(namespace))
        };
        self.repositories = TenantRepositories::find(received, tenant_of, fleet, former);
    }

    /// Applies the configuration: the tenants of namespaces, and whether tenants share the cluster.
    pub fn apply(&mut self, configured: &config::Tenancy) {
        for (namespace, tenant) in configured.namespaces() {
            self.declare(namespace, tenant);
        }
        self.accounts.extend(configured.accounts().map(|(account, tenant)| (account.to_string(), tenant.to_string())));
        self.multi_tenant = match configured.mode {
            Some(mode) => mode == TenancyMode::Multi,
            None => self.multi_tenant || !self.tenants.is_empty(),
        };
        self.unlocked = configured.lockdown.as_ref().map(|lockdown| lockdown.reason.clone());
    }

    /// Makes a namespace one of a tenant.
    fn declare(&mut self, namespace: &str, tenant: &str) {
        for others in [&mut self.supposed, &mut self.platform, &mut self.without_tenant] {
            others.remove(namespace);
        }
        self.tenants.insert(namespace.to_owned(), Some(tenant.to_owned()));
    }

    /// The service account that a controller impersonates by default.
    pub fn default_account(&self, controller: &str) -> Option<&str> {
        if let (OPERATOR, OperatorAccount::Default(account)) = (controller, &self.operator) {
            return Some(account);
        }
        self.lockdown.as_ref()?.locks(controller)?.default_account.as_deref()
    }

    /// Returns whether the default service account of a controller has a binding in a namespace. Without a binding, the
    /// account has no rights.
    pub fn default_account_works(&self, controller: &str, namespace: &str) -> bool {
        // The chart of the operator binds the account of the operator.
        let is_shipped =
            |account: &str| controller == OPERATOR && account == OPERATOR && self.flux_namespaces.contains(namespace);
        self.default_account(controller).is_some_and(|account| {
            self.is_bound(namespace, account) || self.is_bound_everywhere(namespace, account) || is_shipped(account)
        })
    }

    /// Returns whether a RoleBinding in a namespace has a service account of that namespace as subject.
    fn is_bound(&self, namespace: &str, account: &str) -> bool {
        let has =
            |account: &str| self.bound.contains(&(namespace.to_string(), namespace.to_string(), account.to_string()));
        has(account) || has(ANY)
    }

    /// Returns whether the source of a Kustomization is in a namespace of Flux, which belongs to the platform.
    fn is_of_platform(&self, kustomization: &Object) -> bool {
        let source = kustomization.text_at(&["spec", "sourceRef", "namespace"]);
        source.is_some_and(|namespace| self.flux_namespaces.contains(namespace))
    }

    fn is_bound_everywhere(&self, namespace: &str, account: &str) -> bool {
        let has = |account: &str| self.bound_everywhere.contains(&(namespace.to_string(), account.to_string()));
        has(account) || has(ANY)
    }

    fn take_binding(&mut self, object: &Object, namespace: Option<&str>) {
        let everywhere = match object.kind() {
            "RoleBinding" => false,
            "ClusterRoleBinding" => true,
            _ => return,
        };
        if object.group() != groups::RBAC {
            return;
        }
        for subject in object.node.get("subjects").map_or(&[][..], Node::items) {
            let text = |key: &str| subject.get(key).and_then(Node::text).filter(|text| !text.is_empty());
            let (Some(kind), Some(name)) = (text("kind"), text("name")) else { continue };
            let found = match kind {
                // A subject without a namespace counts as a subject of the binding's namespace, as in kustomize.
                "ServiceAccount" => text("namespace").or(namespace).map(|of| (of, name)),
                "User" => name.strip_prefix("system:serviceaccount:").and_then(|account| account.split_once(':')),
                "Group" => name.strip_prefix("system:serviceaccounts:").map(|of| (of, ANY)),
                _ => None,
            };
            let Some((of, name)) = found else { continue };
            if everywhere {
                self.bound_everywhere.insert((of.into(), name.into()));
            } else if let Some(namespace) = namespace {
                self.bound.insert((namespace.into(), of.into(), name.into()));
                if of == namespace && MANAGERS.contains(&object.text_at(&["roleRef", "name"]).unwrap_or_default()) {
                    self.managed.insert(namespace.into());
                }
            }
        }
    }

    /// Infers the accounts of tenants in the namespaces of Flux: a label assigns the namespace to a tenant, and a
    /// RoleBinding confines the account to this namespace. The namespace itself remains a namespace of the platform.
    fn accounts_beside_flux(&self, received: &[Applied<'_>]) -> BTreeMap<String, String> {
        let labelled = labelled_flux_namespaces(&self.flux_namespaces, received);
        if labelled.is_empty() {
            return BTreeMap::new();
        }
        let named = received.iter().filter(|applied| is_flux(applied.object)).filter_map(|applied| {
            let namespace = applied.namespace()?;
            let tenant = labelled.get(namespace)?;
            Some((namespace, applied.object.text_at(&["spec", "serviceAccountName"])?, *tenant))
        });
        let confined = named.filter(|(namespace, account, _)| {
            self.is_bound(namespace, account) && !self.is_bound_everywhere(namespace, account)
        });
        confined.map(|(namespace, account, tenant)| (format!("{namespace}/{account}"), tenant.to_string())).collect()
    }

    /// The namespaces and names of the sources of other repositories than those of Flux's namespaces and of public
    /// projects.
    fn sources_of_other_repositories<'a>(&self, received: &[Applied<'a>]) -> BTreeSet<(Cow<'a, str>, &'a str)> {
        let sources = received.iter().filter(|applied| is_source(applied.object)).filter_map(|applied| {
            let url = applied.object.text_at(&["spec", "url"]).filter(|url| !url.contains('$'))?;
            Some((namespace_of(applied)?, applied.object.name(), Address::new(url)))
        });
        let (of_flux, others): (Vec<_>, Vec<_>) =
            sources.partition(|(namespace, ..)| self.flux_namespaces.contains(&**namespace));
        let known: BTreeSet<&str> = of_flux.iter().map(|(.., url)| url.key()).collect();
        let is_other = |url: &Address| !known.is_empty() && !known.contains(url.key()) && !is_of_project(url.key());
        others.into_iter().filter(|(.., url)| is_other(url)).map(|(namespace, name, _)| (namespace, name)).collect()
    }

    /// Infers the namespaces of tenants: namespaces with Flux objects whose service account has a RoleBinding there,
    /// and labelled namespaces. Service accounts of `ClusterRoleBinding`s belong to the platform, unless a label or a
    /// Kustomization assigns their namespace to a tenant. A label and a Kustomization of another repository are
    /// sufficient without a `RoleBinding`. Otherwise, an account with more rights would have fewer findings.
    ///
    /// A label alone does not prove a tenant, since the namespace of a platform's releases often has the label of the
    /// responsible team. The label is sufficient together with a lockdown, a service account that may manage the
    /// namespace, or a Kustomization that delegates the namespace to another repository. The repository of a public
    /// project does not belong to a tenant. An operator binds its service account to a role of its own.
    ///
    /// The namespaces without a label or a delegation are only supposed to belong to tenants.
    fn infer(&mut self, received: &[Applied<'_>]) {
        let mut found: BTreeMap<String, TenantCandidate> = BTreeMap::new();
        let of_projects = sources_of_projects(received);
        let of_others = self.sources_of_other_repositories(received);
        for applied in received {
            let object = applied.object;
            if !(is_flux(object) || object.is("", "Namespace")) {
                continue;
            }
            let own = || Some(Cow::Borrowed(object.name()));
            let namespace = if object.is("", "Namespace") { own() } else { namespace_of(applied) };
            let Some(namespace) = namespace.as_deref().filter(|name| !name.contains('$')) else { continue };
            if self.flux_namespaces.contains(namespace) {
                continue;
            }
            let candidate = found.entry(namespace.to_string()).or_default();
            candidate.holds_flux |= is_flux(object);
            // A Kustomization that targets another cluster delegates no namespace of this cluster.
            if is_kustomization(object) && !is_remote(object) && !self.is_of_platform(object) {
                let name = object.text_at(&["spec", "sourceRef", "name"]).unwrap_or_default();
                let source = (Cow::Borrowed(namespace), name);
                candidate.is_handed_over |= !of_projects.contains(&source);
                candidate.is_of_other_repository |= of_others.contains(&source);
            }
            if let Some(tenant) = object.label(TENANT_LABEL).filter(|tenant| !tenant.is_empty()) {
                candidate.label = Some(tenant.to_string());
            }
            if let Some(account) = object.text_at(&["spec", "serviceAccountName"]).filter(|_| is_flux(object)) {
                candidate.accounts.insert(account.to_string());
            }
        }
        let is_supposed = |candidate: &TenantCandidate| candidate.label.is_none() && !candidate.is_handed_over;
        let is_bound = |namespace: &str, candidate: &TenantCandidate| {
            let is_of_platform = |account: &str| is_supposed(candidate) && self.is_bound_everywhere(namespace, account);
            let mut accounts = candidate.accounts.iter();
            candidate.holds_flux
                && accounts.any(|account| self.is_bound(namespace, account) && !is_of_platform(account))
        };
        let is_bound_everywhere = |namespace: &str, candidate: &TenantCandidate| {
            candidate.accounts.iter().any(|account| self.is_bound_everywhere(namespace, account))
        };
        let is_labelled = |namespace: &str, candidate: &TenantCandidate| {
            let counts = self.lockdown.is_some() || candidate.is_handed_over || self.managed.contains(namespace);
            candidate.label.is_some() && counts
        };
        let (tenants, others): (BTreeMap<String, TenantCandidate>, BTreeMap<_, _>) =
            found.into_iter().partition(|(namespace, candidate)| {
                let platform = is_bound_everywhere(namespace, candidate) && !candidate.is_of_other_repository;
                let is_labelled = is_labelled(namespace, candidate) && !platform;
                is_bound(namespace, candidate) || (candidate.holds_flux && is_labelled)
            });
        let platform = others.iter().filter(|(namespace, candidate)| {
            let is_confined = || candidate.accounts.iter().any(|account| self.is_bound(namespace, account));
            let is_candidate = candidate.holds_flux && is_bound_everywhere(namespace, candidate);
            is_candidate && (is_confined() || is_labelled(namespace, candidate))
        });
        let platform = platform.map(|(namespace, _)| namespace.clone()).collect();
        let supposed = tenants.iter().filter(|(_, candidate)| is_supposed(candidate));
        let supposed = supposed.map(|(namespace, _)| namespace.clone()).collect();
        let tenants = tenants.into_iter().map(|(namespace, candidate)| (namespace, candidate.label)).collect();
        let without_tenant = others.into_iter().filter(|(_, candidate)| candidate.holds_flux);
        let without_tenant = without_tenant.map(|(namespace, _)| namespace).collect();
        (self.tenants, self.supposed, self.platform, self.without_tenant) =
            (tenants, supposed, platform, without_tenant);
    }
}

/// The namespaces and names of the sources with repositories of public projects.
fn sources_of_projects<'a>(received: &[Applied<'a>]) -> BTreeSet<(Cow<'a, str>, &'a str)> {
    let is_of_project =
        |source: &Object| source.text_at(&["spec", "url"]).is_some_and(|url| is_of_project(Address::new(url).key()));
    let sources = received.iter().filter(|applied| is_source(applied.object) && is_of_project(applied.object));
    sources.map(|applied| (namespace_of(applied).unwrap_or_default(), applied.object.name())).collect()
}

/// The namespace of an object. A variable that only the cluster knows has its default: otherwise, it would hide the tenant of
/// the namespace.
fn namespace_of<'a>(applied: &Applied<'a>) -> Option<Cow<'a, str>> {
    let default = || without_values(applied.object.node.at_keys(&["metadata", "namespace"])?);
    let default = || default().filter(|namespace| !namespace.is_empty()).map(Cow::Owned);
    applied.namespace().map(Cow::Borrowed).or_else(default)
}

/// Returns whether Flux applies the contents of an object to another cluster.
fn is_remote(object: &Object) -> bool {
    object.node.at_keys(&["spec", "kubeConfig"]).is_some_and(Node::is_map)
}

/// The namespaces of Flux that a label assigns to a tenant.
fn labelled_flux_namespaces<'a>(homes: &BTreeSet<String>, received: &[Applied<'a>]) -> BTreeMap<&'a str, &'a str> {
    let spaces = received.iter().map(|applied| applied.object);
    let spaces = spaces.filter(|object| object.is("", "Namespace") && homes.contains(object.name()));
    let labelled = spaces.filter_map(|object| Some((object.name(), object.label(TENANT_LABEL)?)));
    labelled.filter(|(_, tenant)| !tenant.is_empty()).collect()
}

/// A namespace that may belong to a tenant.
#[derive(Default)]
struct TenantCandidate {
    holds_flux: bool,
    is_handed_over: bool,
    /// Whether Flux certainly applies objects of another repository there.
    is_of_other_repository: bool,
    label: Option<String>,
    accounts: BTreeSet<String>,
}

/// Returns whether `flux bootstrap` wrote an object. `flux bootstrap` overwrites the file at each upgrade.
pub fn is_of_bootstrap(object: &Object) -> bool {
    let path = object.node.origin.written().file().path();
    path.rsplit('/').next() == Some(groups::SYNC_FILE) && is_flux(object)
}

/// The namespaces of Flux. If the root is known, no other object can declare the namespace of a tenant to be one.
fn flux_namespaces(received: &[Applied<'_>], home: Option<&str>) -> BTreeSet<String> {
    let installs = |object: &Object| object.is(groups::FLUX_OPERATOR, "FluxInstance") || is_of_bootstrap(object);
    let installing = received.iter().filter(|applied| home.is_none() && installs(applied.object));
    let found = installing.filter_map(Applied::namespace).chain(home).chain([groups::FLUX_NAMESPACE]);
    found.map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;

    fn applied(yaml: &str) -> Tenancy {
        let text = format!("apiVersion: fleetwright.dev/v1alpha1\nkind: Config\nlint: {{tenancy: {yaml}}}\n");
        let (settings, findings) = config::read(&File::new(config::PATH, text));
        assert_eq!(findings, []);
        let mut tenancy = Tenancy::detect(&[], &[], None, [], Governance::None);
        tenancy.apply(&settings.lint.tenancy);
        tenancy
    }

    #[test]
    fn declared_tenants_make_a_cluster_multi_tenant_unless_the_mode_says_otherwise() {
        let tenancy = applied("{tenants: {a: [one, two], b: {namespaces: [three]}}}");
        let of = |namespace: &str| tenancy.tenants.get(namespace).and_then(Option::as_deref);
        assert_eq!([of("one"), of("two"), of("three"), of("four")], [Some("a"), Some("a"), Some("b"), None]);
        assert!(tenancy.multi_tenant);
        let single = applied("{mode: single, tenants: {a: [one]}}");
        assert!(!single.multi_tenant && single.tenants.contains_key("one"));
        assert!(applied("{mode: multi}").multi_tenant && !applied("{}").multi_tenant);
    }

    #[test]
    fn a_missing_lockdown_may_have_a_reason() {
        let tenancy = applied("{lockdown: {mode: none, reason: central sources}}");
        assert_eq!((tenancy.unlocked.as_deref(), tenancy.lockdown), (Some("central sources"), None));
    }
}
