use crate::finding::Finding;
use crate::lint::controllers::{Installed, KINDS};
use crate::lint::rule::declare;
use crate::lint::{Check, Found, View};

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

fn check(view: &View<'_>, found: &mut Found) {
    let Some(installed) = Installed::of(view) else { return };
    for (group, kind, controller) in KINDS {
        if installed.has(controller) {
            continue;
        }
        for applied in view.of_kind(group, kind) {
            let object = applied.object;
            if installed.is_of_shard(object) {
                continue;
            }
            let message = format!("{} has no controller: `{controller}` is not installed", object.reference());
            let help = format!("add `{controller}` to the components of Flux, or take the object out; without it nobody acts on it");
            let finding = Finding::error(RULE.id, object.span().clone(), message).help(help);
            found.push(finding.related(installed.place.clone(), "these controllers are").about(object.reference()));
        }
    }
}
