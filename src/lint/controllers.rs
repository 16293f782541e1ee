//! The Flux controllers of a cluster, and the kinds that each controller reconciles.

use std::collections::BTreeSet;

use crate::base::finding::Follows;
use crate::flux::{Applied, ApplierKind, CONTROLLERS, DEFAULT_CONTROLLERS, is_resource_set};
use crate::kube::{Object, groups};
use crate::lint::view::View;
use crate::text::Span;
use crate::yaml::{Entry, Node};

/// The default label that assigns objects to shards of a controller.
const SHARD: &str = "sharding.fluxcd.io/key";

/// The Flux kinds: group, kind, and the controller that reconciles the kind.
const KINDS: [(&str, &str, &str); 14] = [
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
pub(crate) struct Installed {
    names: BTreeSet<String>,
    /// The position of the field or the first Deployment that defines the controllers.
    pub(crate) place: Span,
    /// The labels that assign objects to shards.
    shards: BTreeSet<String>,
    /// Whether Git determines the controllers. Without an applier of its own bootstrap, a user may have installed more.
    pub(crate) is_managed: bool,
}

/// Returns whether the controller of a kind is certainly missing on a cluster.
pub(crate) fn lacks_controller(view: &View<'_>, group: &str, kind: &str) -> bool {
    let Some(installed) = Installed::of(view).filter(|installed| installed.is_managed) else { return false };
    installed.missing_kinds().any(|(other, name, _)| (other, name) == (group, kind))
}

/// The finding from which other findings of an object follow if its controller is missing: the API server rejects the object, or no
/// controller reads it.
pub(crate) fn follows_from(object: &Object) -> Follows {
    Follows { rules: &["missing-controller"], object: object.reference(), stands_alone: true }
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

    /// The kinds without a controller: group, kind and controller.
    pub(crate) fn missing_kinds(&self) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        KINDS.into_iter().filter(|(_, _, controller)| !self.has(controller))
    }

    /// Returns whether an object of a kind without a controller needs the controller. A shard of a controller may reconcile the
    /// object, since the installed controllers do not include shards.
    pub(crate) fn is_orphan(&self, applied: &Applied<'_>) -> bool {
        let is_of_shard = self.shards.iter().any(|key| applied.object.label(key).is_some());
        !is_of_shard && !waits_for_crd(applied, applied.object.group())
    }

    fn has(&self, controller: &str) -> bool {
        self.names.contains(controller)
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

/// Returns whether `dependsOn` lets a ResourceSet apply an object only after a CRD of the object's group exists.
fn waits_for_crd(applied: &Applied<'_>, group: &str) -> bool {
    let set = applied.by.object.as_ref().filter(|object| is_resource_set(object));
    let dependencies = set.and_then(|set| set.node.at_keys(&["spec", "dependsOn"])).map_or(&[][..], Node::items);
    dependencies.iter().any(|dependency| {
        let text = |field: &str| dependency.get(field).and_then(Node::text).unwrap_or_default();
        let is_of_group = text("name").strip_suffix(group).is_some_and(|plural| plural.ends_with('.'));
        text("kind") == "CustomResourceDefinition" && is_of_group
    })
}
