//! The Flux controllers of a cluster, and the kinds that each controller reconciles.

use std::collections::BTreeSet;

use crate::flux::{ApplierKind, CONTROLLERS, DEFAULT_CONTROLLERS};
use crate::kube::{Object, groups};
use crate::lint::view::View;
use crate::text::Span;
use crate::yaml::{Entry, Node};

/// The default label that assigns objects to shards of a controller.
const SHARD: &str = "sharding.fluxcd.io/key";

/// The Flux kinds: group, kind, and the controller that reconciles the kind.
pub(super) const KINDS: [(&str, &str, &str); 14] = [
    (groups::HELM, "HelmRelease", "helm-controller"),
    (groups::IMAGE, "ImagePolicy", "image-reflector-controller"),
    (groups::IMAGE, "ImageRepository", "image-reflector-controller"),
    (groups::IMAGE, "ImageUpdateAutomation", "image-automation-controller"),
    (groups::KUSTOMIZE, "Kustomization", "kustomize-controller"),
    (groups::NOTIFICATION, "Alert", "notification-controller"),
    (groups::NOTIFICATION, "Provider", "notification-controller"),
    (groups::NOTIFICATION, "Receiver", "notification-controller"),
    (groups::SOURCE_EXTENSIONS, "ArtifactGenerator", "source-watcher"),
    (groups::SOURCE, "Bucket", "source-controller"),
    (groups::SOURCE, "GitRepository", "source-controller"),
    (groups::SOURCE, "HelmChart", "source-controller"),
    (groups::SOURCE, "HelmRepository", "source-controller"),
    (groups::SOURCE, "OCIRepository", "source-controller"),
];

/// The installed controllers of a cluster.
pub(super) struct Installed {
    names: BTreeSet<String>,
    /// The position of the field or the first Deployment that defines the controllers.
    pub(crate) place: Span,
    /// The labels that assign objects to shards.
    shards: BTreeSet<String>,
    /// Whether Git determines the controllers. Without an applier of its own bootstrap, a user may have installed more.
    pub(super) is_managed: bool,
}

impl Installed {
    /// Returns the controllers of a cluster, or `None` if they are unknown.
    pub(crate) fn of(view: &View<'_>) -> Option<Self> {
        let is_flux = |release: &Object| release.text_at(&["spec", "chart", "spec", "chart"]) == Some("flux2");
        if !view.is_whole() || view.of_kind(groups::HELM, "HelmRelease").any(|applied| is_flux(applied.object)) {
            return None;
        }
        match (Self::of_instance(view), Self::of_deployments(view)) {
            // Flux Operator deletes only objects that it applied itself, so it keeps the controllers of a bootstrap.
            (Some(of_instance), Some(of_deployments)) => Some(of_instance.with(of_deployments)),
            (of_instance, of_deployments) => of_instance.or(of_deployments),
        }
    }

    /// Returns whether a controller is installed.
    pub(crate) fn has(&self, controller: &str) -> bool {
        self.names.contains(controller)
    }

    /// Returns whether a shard of a controller reconciles an object. The installed controllers do not include shards.
    pub(super) fn is_of_shard(&self, object: &Object) -> bool {
        self.shards.iter().any(|key| object.label(key).is_some())
    }

    fn of_instance(view: &View<'_>) -> Option<Self> {
        let mut found: Option<Self> = None;
        for applied in view.of_kind(groups::FLUX_OPERATOR, "FluxInstance") {
            let spec = applied.object.node.get("spec")?;
            let listed = spec.get("components").map_or(&[][..], Node::items);
            let listed: Vec<&str> = listed.iter().map(Node::text).collect::<Option<_>>()?;
            if listed.iter().any(|name| name.contains('$')) {
                return None;
            }
            let place = spec.entry("components").map_or_else(|| applied.object.span().clone(), Entry::key_span);
            let installed = found.get_or_insert_with(|| Self::none(place));
            let names: &[&str] = if listed.is_empty() { &DEFAULT_CONTROLLERS } else { &listed };
            installed.names.extend(names.iter().map(ToString::to_string));
            let key = spec.get("sharding").and_then(|sharding| sharding.get("key")).and_then(Node::text);
            installed.shards.extend(key.map(ToString::to_string));
        }
        found
    }

    /// Reads the controllers from the Deployments of `gotk-components.yaml`.
    ///
    /// Without source-controller, which the flux CLI always installs, the controllers are unknown.
    fn of_deployments(view: &View<'_>) -> Option<Self> {
        let homes = &view.tenancy().flux_namespaces;
        let mut found: Option<Self> = None;
        for (home, name) in homes.iter().flat_map(|home| CONTROLLERS.iter().map(move |name| (home, *name))) {
            if let Some(applied) = view.find("apps", "Deployment", home, name) {
                let installed = found.get_or_insert_with(|| Self::none(applied.object.span().clone()));
                installed.names.insert(name.to_string());
                installed.is_managed &= applied.by.kind != ApplierKind::Bootstrap;
            }
        }
        found.filter(|installed| installed.has("source-controller"))
    }

    /// Adds the controllers of another installation.
    fn with(mut self, other: Self) -> Self {
        self.names.extend(other.names);
        self.shards.extend(other.shards);
        self.is_managed &= other.is_managed;
        self
    }

    fn none(place: Span) -> Self {
        Self { names: BTreeSet::new(), place, shards: BTreeSet::from([SHARD.to_string()]), is_managed: true }
    }
}
