//! The repositories of tenants: a tenant can write to the repository from which Flux builds the tenant's namespace.

use std::collections::{BTreeMap, BTreeSet};

use crate::address::Address;
use crate::flux::cluster::applied_set::Applied;
use crate::flux::object::kinds::{is_kustomization, is_source};
use crate::flux::unknown::known_contents::is_of_project;
use crate::kube::{Object, groups};
use crate::yaml::Node;

/// The repositories of the tenants of a cluster, and the sources of the cluster that fetch them.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TenantRepositories {
    /// The repositories by the key of their address.
    by_address: BTreeMap<String, TenantRepository>,
    /// The directories of the cluster's own repository that Flux applies only with the rights of tenants.
    in_fleet: BTreeMap<String, TenantRepository>,
    /// The directories of the cluster's own repository that Flux applied only with the rights of tenants in an earlier state.
    were_in_fleet: BTreeMap<String, TenantRepository>,
    /// The origin of each source that fetches such a repository.
    sources: BTreeMap<SourceId, Origin>,
}

/// A repository of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TenantRepository {
    /// The namespace of the tenant.
    pub namespace: String,
    /// The directories that Flux applies with the rights of the tenant, without `./`.
    pub paths: BTreeSet<String>,
}

/// The kind, namespace and name of a source.
type SourceId = (String, String, String);

/// The repository of a source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// The repository of the cluster itself.
    Fleet,
    /// The repository with an address.
    Address(String),
}

impl TenantRepositories {
    /// Finds the repositories of tenants. `tenant_of` returns the tenant of a namespace, and `fleet` are the sources of the
    /// cluster's own repository. `former` has the repositories of tenants of an earlier state.
    ///
    /// A repository from which Flux builds the namespaces of different tenants is not the repository of one of them.
    pub(super) fn find<'a>(
        received: &[Applied<'_>],
        tenant_of: impl Fn(&str) -> Option<&'a str>,
        fleet: &BTreeSet<(&str, &str, &str)>,
        former: Option<&Self>,
    ) -> Self {
        let sources = received.iter().filter(|applied| is_source(applied.object)).filter_map(|applied| {
            let id = (applied.object.kind().into(), applied.namespace()?.into(), applied.object.name().into());
            Some((id, address(applied.object)?))
        });
        let addresses: BTreeMap<SourceId, String> = sources.collect();
        let fleet: BTreeSet<SourceId> =
            fleet.iter().map(|(kind, namespace, name)| ((*kind).into(), (*namespace).into(), (*name).into())).collect();
        let of_fleet: BTreeSet<String> = fleet.iter().filter_map(|id| addresses.get(id)).cloned().collect();
        let own = fleet.into_iter().map(|id| (id, Origin::Fleet));
        let others = addresses.into_iter().filter_map(|(id, address)| {
            if of_fleet.contains(&address) {
                return Some((id, Origin::Fleet));
            }
            (!is_of_project(&address)).then_some((id, Origin::Address(address)))
        });
        let mut found = Self {
            by_address: former.map(|all| all.by_address.clone()).unwrap_or_default(),
            were_in_fleet: former.map(|all| all.in_fleet.clone()).unwrap_or_default(),
            sources: own.chain(others).collect(),
            ..Self::default()
        };
        let is_of_tenant = |namespace: &str| tenant_of(namespace).is_some();
        let mut by_platform: BTreeSet<String> = BTreeSet::new();
        let mut shared: BTreeSet<String> = BTreeSet::new();
        for applied in received {
            let Some((id, namespace)) = source_of(applied.object, applied.namespace()).zip(applied.namespace()) else {
                continue;
            };
            let Some(origin) = found.sources.get(&id) else { continue };
            let has_account =
                applied.object.text_at(&["spec", "serviceAccountName"]).is_some_and(|name| !name.is_empty());
            let is_delegated = is_kustomization(applied.object) && has_account && is_of_tenant(namespace);
            let path = path_of(applied.object);
            match origin {
                Origin::Fleet if is_delegated => {
                    found.in_fleet.entry(path.clone()).or_insert_with(|| TenantRepository::of(namespace, path));
                }
                Origin::Fleet if !is_of_tenant(namespace) => {
                    by_platform.insert(path);
                }
                Origin::Address(address) if is_delegated && id.1 == namespace => {
                    let known = found.by_address.entry(address.clone());
                    let known = known.or_insert_with(|| TenantRepository::of(namespace, path.clone()));
                    known.paths.insert(path);
                    if tenant_of(&known.namespace).is_some_and(|tenant| tenant_of(namespace) != Some(tenant)) {
                        shared.insert(address.clone());
                    }
                }
                _ => {}
            }
        }
        let is_of_platform = |path: &str| {
            by_platform.contains(path)
                || by_platform.range(format!("{path}/")..).next().is_some_and(|one| is_inside(one, path))
        };
        found.in_fleet.retain(|path, _| !is_of_platform(path));
        found.by_address.retain(|address, _| !shared.contains(address));
        let Self { by_address, sources, were_in_fleet, .. } = &mut found;
        sources.retain(|_, origin| match origin {
            Origin::Fleet => !were_in_fleet.is_empty(),
            Origin::Address(address) => by_address.contains_key(address),
        });
        found
    }

    /// Returns whether there are no sources with such a repository.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The repository of a tenant that an object applies, or whose chart it installs.
    pub fn applied_by(&self, object: &Object, namespace: &str) -> Option<&TenantRepository> {
        match self.sources.get(&source_of(object, Some(namespace))?)? {
            Origin::Address(address) => self.by_address.get(address),
            Origin::Fleet => {
                let path = path_of(object);
                let above = path.match_indices('/').filter_map(|(at, _)| path.get(..at)).chain([&*path]);
                above.filter(|path| !path.is_empty()).find_map(|path| self.were_in_fleet.get(path))
            }
        }
    }
}

impl TenantRepository {
    fn of(namespace: &str, path: String) -> Self {
        Self { namespace: namespace.to_owned(), paths: BTreeSet::from([path]) }
    }

    /// Returns whether an object applies files that Flux also applies with the rights of the tenant.
    pub fn shares_files_with(&self, object: &Object) -> bool {
        let path = path_of(object);
        self.paths.iter().any(|own| is_inside(&path, own) || is_inside(own, &path))
    }
}

/// Returns whether a directory is another one or inside of it.
fn is_inside(inner: &str, outer: &str) -> bool {
    outer.is_empty() || inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The source of a Kustomization or HelmRelease that applies objects to its own cluster.
fn source_of(object: &Object, namespace: Option<&str>) -> Option<SourceId> {
    let node = |keys: &[&str]| object.node.at_keys(keys).filter(|node| !node.is_null());
    let reference = if is_kustomization(object) {
        node(&["spec", "sourceRef"])
    } else if object.is(groups::HELM, "HelmRelease") {
        node(&["spec", "chartRef"]).or_else(|| node(&["spec", "chart", "spec", "sourceRef"]))
    } else {
        None
    };
    let reference = reference.filter(|_| node(&["spec", "kubeConfig"]).is_none())?;
    let text = |key: &str| reference.get(key).and_then(Node::text).filter(|text| !text.is_empty());
    Some((text("kind")?.into(), text("namespace").or(namespace)?.into(), text("name")?.into()))
}

/// The key of the address from which a source fetches files.
///
/// A HelmRepository contains charts of any authors.
fn address(source: &Object) -> Option<String> {
    let spec = |key: &str| source.text_at(&["spec", key]).filter(|text| !text.is_empty() && !text.contains('$'));
    match source.kind() {
        "GitRepository" | "OCIRepository" => Some(Address::new(spec("url")?).key().to_owned()),
        "Bucket" => Some(Address::new(&format!("{}/{}", spec("endpoint")?, spec("bucketName")?)).key().to_owned()),
        _ => None,
    }
}

/// The directory of a Kustomization, or the chart of a HelmRelease, without `./`.
fn path_of(object: &Object) -> String {
    let path = match object.kind() {
        "Kustomization" => object.text_at(&["spec", "path"]),
        _ => object.text_at(&["spec", "chart", "spec", "chart"]),
    };
    let segments = path.unwrap_or_default().split('/').filter(|segment| !matches!(*segment, "" | "."));
    segments.collect::<Vec<_>>().join("/")
}
