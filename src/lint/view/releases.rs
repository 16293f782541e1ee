//! The releases of Flux and Kubernetes on a cluster, and the schemas that they bring.

use std::sync::Arc;

use super::View;
use crate::api::catalog::{Catalog, Product, Releases};
use crate::flux::{Applied, CONTROLLER_KINDS, CONTROLLERS, FluxVersion, controller_of};
use crate::kube::{Object, groups};

/// The first release of Flux that does not serve all APIs of earlier releases.
const WITH_REMOVED_APIS: (u64, u64) = (2, 7);

impl<'a> View<'a> {
    /// Returns whether the repository shows the arguments of Flux's controllers.
    ///
    /// Such a repository contains their Deployments, a kustomization that installs them, or a FluxInstance.
    pub fn shows_controllers(&self) -> bool {
        let mut workloads = CONTROLLER_KINDS.iter().flat_map(|kind| self.of_kind("apps", kind));
        self.installations.iter().any(|installation| installation.brings_controllers)
            || self.of_kind(groups::FLUX_OPERATOR, "FluxInstance").next().is_some()
            || workloads.any(|applied| controller_of(applied.object).is_some())
    }

    /// Returns whether the cluster has a minor release of Flux, such as `(2, 7)`, or a later release.
    ///
    /// The result is `None` if the repository does not specify the version.
    pub fn has_flux(&self, since: (u64, u64)) -> Option<bool> {
        self.flux_version.get_or_init(|| self.detect_flux_version()).as_ref()?.is_at_least(since)
    }

    /// Returns whether Flux certainly applies objects with `kubectl apply`, as it did before 0.18. The API server then accepts two
    /// items with the key of a list, drops null, and each object is applied regardless of the others.
    pub(crate) fn uses_kubectl(&self) -> bool {
        self.has_flux((0, 18)) == Some(false)
    }

    fn detect_flux_version(&self) -> Option<FluxVersion> {
        let controllers = self.of_kind("apps", "Deployment").map(|applied| applied.object);
        let controllers: Vec<&Object> = controllers.filter(|object| CONTROLLERS.contains(&object.name())).collect();
        let instances: Vec<Applied<'a>> = self.of_kind(groups::FLUX_OPERATOR, "FluxInstance").collect();
        let instances: Vec<&Object> = instances.iter().map(|applied| applied.object).collect();
        let known = FluxVersion::detect(&self.receiver.to_string(), &controllers, &instances, self.settings);
        // Users may also install Flux from its manifests in a registry.
        let artifacts = self.of_kind(groups::SOURCE, "OCIRepository");
        let of_artifact = artifacts.filter_map(|applied| {
            let text = |field: &[&str]| applied.object.text_at(field);
            let url = text(&["spec", "url"])?;
            if !url.ends_with("/flux-manifests") {
                return None;
            }
            FluxVersion::parse(text(&["spec", "ref", "semver"]).or_else(|| text(&["spec", "ref", "tag"]))?)
        });
        // A prefix may rename the controllers, but kustomize renames neither definitions nor namespaces.
        let definitions = self.of_kind("apiextensions.k8s.io", "CustomResourceDefinition");
        let mut labelled = definitions.chain(self.of_kind("", "Namespace")).map(|applied| applied.object);
        let of_components = || {
            labelled.find_map(|object| {
                let path = object.node.origin.written().file().path();
                let label = object.node.at_keys(&["metadata", "labels", "app.kubernetes.io/version"])?;
                path.ends_with("gotk-components.yaml").then(|| FluxVersion::parse(label.text()?))?
            })
        };
        let known = known.or_else(|| of_artifact.into_iter().next()).or_else(of_components);
        // A cluster that is not bootstrapped yet probably gets the old Flux of the other clusters. A version that removed APIs
        // would be a guess with errors.
        let evidence = &self.receiver.cluster.evidence;
        let is_to_come = evidence.is_generated || evidence.is_to_come;
        let is_old = |flux: &&FluxVersion| is_to_come && flux.is_at_least(WITH_REMOVED_APIS) == Some(false);
        known.or_else(|| self.written.newest_flux().filter(is_old).cloned())
    }

    /// The schemas of the kinds of the cluster. Clusters with the same definitions and releases share them.
    pub fn catalog(&self) -> &Arc<Catalog> {
        self.catalog.get_or_init(|| {
            let definitions = self.of_kind("apiextensions.k8s.io", "CustomResourceDefinition");
            // Another version of Flux brings its own definitions.
            let is_other = self.settings.flux_version.is_some();
            let is_replaced = |object: &&Object| {
                let group = object.text_at(&["spec", "group"]).unwrap_or_default();
                is_other && Product::of_group(group) == Some(Product::Flux)
            };
            let received = definitions.map(|applied| applied.object).filter(|object| !is_replaced(object));
            self.written.definitions.catalog(received, self.releases())
        })
    }

    /// The releases of Kubernetes and Flux on the cluster, as far as they are known.
    pub fn releases(&self) -> Releases {
        let flux = self.flux_version.get_or_init(|| self.detect_flux_version());
        let kubernetes = self.settings.kubernetes(&self.receiver.to_string());
        Releases { kubernetes, flux: flux.as_ref().and_then(FluxVersion::release).cloned() }
    }
}
