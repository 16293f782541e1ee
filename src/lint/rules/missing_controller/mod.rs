mod controllers;

use crate::base::finding::Finding;
use crate::flux::{Applied, is_resource_set};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use controllers::{Installed, KINDS};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// An object of Flux has no controller on its cluster.
    ///
    /// ## Why
    ///
    /// Each kind of Flux has its controller, and not all are installed: those for images and `source-watcher` only when they are
    /// asked for. Without its controller the API server refuses the object, since its kind comes with the controller, and with
    /// it the whole Kustomization that brings it; or nobody acts on it.
    ///
    /// Which controllers there are says the FluxInstance, the four usual ones where it lists none, else the Deployments of
    /// `gotk-components.yaml`. Silent where neither is known, and for objects of a shard.
    ///
    /// ## How to fix it
    ///
    /// Add the controller to the components, or take the object out.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImageRepository
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   image: registry.example.com/acme/web
    ///   interval: 5m
    /// # flux-system/flux.yaml
    /// apiVersion: fluxcd.controlplane.io/v1
    /// kind: FluxInstance
    /// metadata:
    ///   name: flux
    ///   namespace: flux-system
    /// spec:
    ///   distribution:
    ///     registry: ghcr.io/fluxcd
    ///     version: 2.x
    ///   sync:
    ///     kind: GitRepository
    ///     path: clusters/example
    ///     ref: refs/heads/main
    ///     url: https://git.example.com/acme/fleet.git
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImageRepository
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   image: registry.example.com/acme/web
    ///   interval: 5m
    /// # flux-system/flux.yaml
    /// apiVersion: fluxcd.controlplane.io/v1
    /// kind: FluxInstance
    /// metadata:
    ///   name: flux
    ///   namespace: flux-system
    /// spec:
    ///   distribution:
    ///     registry: ghcr.io/fluxcd
    ///     version: 2.x
    ///   components:
    ///     - source-controller
    ///     - kustomize-controller
    ///     - image-reflector-controller
    ///   sync:
    ///     kind: GitRepository
    ///     path: clusters/example
    ///     ref: refs/heads/main
    ///     url: https://git.example.com/acme/fleet.git
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux Operator: components](https://fluxoperator.dev/docs/crd/fluxinstance/#components-configuration),
    /// [Flux: bootstrap, extra components](https://fluxcd.io/flux/installation/configuration/optional-components/)
    "missing-controller", Error, "an object of Flux has no controller on its cluster",
    Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    let Some(installed) = Installed::of(view) else { return };
    for (group, kind, controller) in KINDS {
        if installed.has(controller) {
            continue;
        }
        for applied in view.of_kind(group, kind) {
            let object = applied.object;
            if installed.is_of_shard(object) || waits_for_kind(&applied, group) {
                continue;
            }
            let message = format!("{} has no controller: `{controller}` is not installed", object.reference());
            let help = format!(
                "add `{controller}` to the components of Flux, or take the object out; without it nobody acts on it"
            );
            let finding = Finding::error(RULE.id, object.span().clone(), message).help(help);
            found.push(finding.related(installed.place.clone(), "these controllers are").about(object.reference()));
        }
    }
}

/// Tells whether a ResourceSet brings an object once its kind is there, which it says by what it depends on.
fn waits_for_kind(applied: &Applied<'_>, group: &str) -> bool {
    let set = applied.by.object.as_ref().filter(|object| is_resource_set(object));
    let needed = set.and_then(|set| set.node.at_keys(&["spec", "dependsOn"])).map_or(&[][..], Node::items);
    needed.iter().any(|needed| {
        let said = |field: &str| needed.get(field).and_then(Node::text).unwrap_or_default();
        let of_group = said("name").strip_suffix(group).is_some_and(|plural| plural.ends_with('.'));
        said("kind") == "CustomResourceDefinition" && of_group
    })
}
