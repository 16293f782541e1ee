//! Loading of the access rights of a cluster from the objects that the cluster receives.

use std::collections::BTreeMap;

use super::cluster::Rbac;
use crate::base::finding::ObjectRef;
use crate::flux::{Applied, FleetIdentity, Receiver, Tenancy, is_flux};
use crate::kube::{Object, groups};
use crate::rbac::identity::flux_identity::{FluxIdentities, acts_as};
use crate::rbac::identity::unknown_rights::{UnknownRightsSource, UnknownRightsSources};
use crate::rbac::model::role::{Binding, Product, Role};
use crate::rbac::model::shipped::SHIPPED;
use crate::text::Span;
use crate::yaml::Node;

impl Rbac {
    /// The rights on a cluster: the rights that its objects define, and the rights that Kubernetes and Flux create.
    pub fn on_cluster(receiver: &Receiver<'_>, tenancy: &Tenancy) -> Self {
        let mut rbac = Self::default();
        rbac.add_shipped(Product::Kubernetes, "");
        let mut relevant: Vec<Applied<'_>> = Vec::new();
        let (mut has_operator, mut patches_flux) = (false, false);
        for applied in receiver.applied_sets().flat_map(crate::flux::AppliedSet::applied) {
            has_operator |= applied.object.group() == groups::FLUX_OPERATOR;
            patches_flux |= patches_flux_roles(applied.object);
            rbac.add_namespace_of(&applied);
            rbac.account_objects.add(applied.object, applied.namespace());
            if is_relevant(applied.object) {
                relevant.push(applied);
            }
            rbac.policies.add(&applied);
        }
        rbac.flux_identities = FluxIdentities::on_cluster(&relevant, tenancy, receiver);
        if receiver.target.is_none() {
            for home in &tenancy.flux_namespaces {
                rbac.flux_namespaces.insert(home.as_str().into());
                rbac.account_objects.add_controllers(home);
                // If the repository contains Flux's own bindings, possibly patched, these replace the shipped bindings.
                let own = format!("crd-controller-{home}");
                let is_received = |applied: &Applied<'_>| {
                    applied.object.kind() == "ClusterRoleBinding" && applied.object.name() == own
                };
                if !relevant.iter().any(is_received) && !patches_flux {
                    rbac.add_shipped(Product::Flux, home);
                }
                if has_operator {
                    rbac.add_shipped(Product::FluxOperator, home);
                }
            }
        }
        for applied in &relevant {
            rbac.add(applied);
            rbac.add_impersonated_account(applied, tenancy);
            rbac.content_users.add(applied, &rbac.flux_identities, tenancy);
        }
        rbac.index();
        let appliers = || receiver.appliers();
        let sources = SourceObjects::among(&relevant);
        let of_root = appliers().filter(|applier| applier.is_of_root());
        let mut own = of_root.chain(appliers()).filter_map(|applier| applier.source.as_ref());
        let own = own.next().and_then(|source| sources.get(source)?.text_at(&["spec", "url"]));
        let found = relevant.iter().map(|applied| applied.object).filter(|object| object.group() == groups::SOURCE);
        let fleet = FleetIdentity::new(own, found);
        let unbuilt = appliers().filter_map(|applier| {
            let artifact = applier.source.as_ref().and_then(|source| sources.get(source));
            UnknownRightsSource::of_applier(applier, artifact, &fleet, tenancy)
        });
        let releases = relevant.iter().filter(|applied| applied.object.is(groups::HELM, "HelmRelease"));
        let charts = releases
            .filter_map(|release| UnknownRightsSource::of_chart(release, sources.of_chart(release), &fleet, tenancy));
        let sets = receiver.applied_sets().filter(|set| set.by.is_known);
        let bases =
            sets.flat_map(|set| set.unread().map(|base| UnknownRightsSource::of_base(&set.by, base, &fleet, tenancy)));
        let (is_bound, scopes) = (|account: &_| rbac.is_bound(account), |account: &_| rbac.scopes_to_grant(account));
        rbac.unknown_rights =
            UnknownRightsSources::collect(receiver, unbuilt.chain(charts).chain(bases).collect(), is_bound, scopes);
        rbac
    }

    fn add_shipped(&mut self, by: Product, home: &str) {
        SHIPPED.roles(by, home).for_each(|role| self.add_role(role));
        SHIPPED.bindings(by, home).for_each(|binding| self.add_binding(binding));
    }

    fn add_namespace_of(&mut self, applied: &Applied<'_>) {
        let object = applied.object;
        let namespace = if object.is("", "Namespace") { Some(object.name()) } else { applied.namespace() };
        if let Some(namespace) = namespace {
            self.add_namespace(namespace);
        }
    }

    fn add(&mut self, applied: &Applied<'_>) {
        let object = applied.object;
        let place = |span: &Span| applied.by.place(span);
        let namespace = applied.namespace().unwrap_or("default");
        match object.kind() {
            "Role" => self.add_role(Role::read(object, namespace, place)),
            "ClusterRole" => self.add_role(Role::read(object, "", place)),
            "RoleBinding" => {
                if let Some(binding) = Binding::read(object, namespace, place) {
                    self.add_binding(binding);
                }
            }
            "ClusterRoleBinding" => {
                if let Some(binding) = Binding::read(object, "", place) {
                    self.add_binding(binding);
                }
            }
            "ServiceAccount" => self.add_account(namespace, object.name()),
            _ => {}
        }
    }

    /// Adds the account that Flux impersonates for an object.
    fn add_impersonated_account(&mut self, applied: &Applied<'_>, tenancy: &Tenancy) {
        if let Some(account) = acts_as(applied.object, applied.namespace(), tenancy) {
            self.add_account(&account.namespace, &account.name);
            self.impersonated.entry(account.namespace).or_default().insert(account.name);
        }
    }
}

/// The sources of a cluster, by kind, namespace and name.
struct SourceObjects<'a>(BTreeMap<(&'a str, &'a str, &'a str), &'a Object>);

impl<'a> SourceObjects<'a> {
    fn among(objects: &[Applied<'a>]) -> Self {
        let sources = objects.iter().map(|applied| applied.object).filter(|object| object.group() == groups::SOURCE);
        Self(
            sources
                .map(|object| ((object.kind(), object.namespace().unwrap_or_default(), object.name()), object))
                .collect(),
        )
    }

    fn get(&self, reference: &ObjectRef) -> Option<&'a Object> {
        let namespace = reference.namespace.as_deref().unwrap_or_default();
        self.0.get(&(&*reference.kind, namespace, &*reference.name)).copied()
    }

    fn of_chart(&self, release: &Applied<'_>) -> Option<&'a Object> {
        let spec = release.object.node.get("spec")?;
        let reference = spec.get("chartRef").or_else(|| spec.at_keys(&["chart", "spec", "sourceRef"]))?;
        let text = |key: &str| reference.get(key).and_then(Node::text).filter(|text| !text.is_empty());
        let namespace = text("namespace").or(release.namespace())?;
        self.0.get(&(text("kind")?, namespace, text("name")?)).copied()
    }
}

/// Returns whether an object may affect the rights on a cluster.
fn is_relevant(object: &Object) -> bool {
    match object.kind() {
        "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding" => object.group() == groups::RBAC,
        "ServiceAccount" => object.group().is_empty(),
        _ => is_flux(object) || object.group() == groups::FLUX_OPERATOR,
    }
}

/// Returns whether the rights on a cluster may depend on the content of an object.
pub(crate) fn determines_rights(object: &Object) -> bool {
    is_relevant(object) || object.is("", "Namespace")
}

/// Returns whether a FluxInstance patches the rights of Flux's own accounts, so that the shipped roles do not apply.
fn patches_flux_roles(object: &Object) -> bool {
    let patches = object
        .is(groups::FLUX_OPERATOR, "FluxInstance")
        .then(|| object.node.at_keys(&["spec", "kustomize", "patches"]));
    let mut patches = patches.flatten().map_or(&[][..], Node::items).iter();
    patches.any(|patch| {
        let text = |keys: &[&str]| patch.at_keys(keys).and_then(Node::text).unwrap_or_default();
        text(&["target", "kind"]).contains("ClusterRole") || text(&["patch"]).contains("kind: ClusterRole")
    })
}
