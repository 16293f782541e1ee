use std::collections::BTreeSet;

use crate::base::finding::{Finding, Severity};
use crate::flux::Applied;
use crate::lint::controllers::Installed;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;

declare! {
    /// The controller of a Flux object is not installed on the cluster.
    ///
    /// ## Why
    ///
    /// Each Flux kind has a controller. Not all controllers are installed by default: the image controllers and
    /// `source-watcher` are optional. The CRDs are installed together with the controller. Without the CRD, the API
    /// server rejects the object, and Flux does not apply the Kustomization that contains the object. With only the
    /// CRD, no controller reconciles the object.
    ///
    /// The FluxInstance defines the installed controllers. The default is four controllers. The Deployments of
    /// `gotk-components.yaml` also define controllers, with or without a FluxInstance. The rule does not run if the
    /// controllers are unknown. It ignores objects of a shard.
    ///
    /// If no Kustomization applies the objects of its own bootstrap, a user may have installed more controllers, so the
    /// finding is a warning.
    ///
    /// ## How to fix it
    ///
    /// Add the controller to the components, or remove the object.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. source-watcher exists from Flux 2.7 on.
    ///
    /// ## Source
    ///
    /// [Flux Operator: components](https://fluxoperator.dev/docs/crd/fluxinstance/#components-configuration),
    /// [Flux: bootstrap, extra components](https://fluxcd.io/flux/installation/configuration/optional-components/)
    "missing-controller", Error, "the controller of a Flux object is not installed on the cluster",
    Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    let Some(installed) = Installed::of(view) else { return };
    let mut orphans: Vec<(Applied<'_>, &str)> = Vec::new();
    for (group, kind, controller) in installed.missing_kinds() {
        let objects = view.of_kind(group, kind).filter(|applied| installed.is_orphan(applied));
        orphans.extend(objects.map(|applied| (applied, controller)));
    }
    let missing: BTreeSet<&str> = orphans.iter().map(|(_, controller)| *controller).collect();
    let names = listed(&missing);
    let verb = if missing.len() == 1 { "is" } else { "are" };
    let place = &installed.place;
    for (applied, controller) in orphans {
        let object = applied.object;
        let message = format!("{} has no controller: `{controller}` is not installed", object.reference());
        let help = format!(
            "add {names} to the components of Flux, or remove the objects that need {}",
            match missing.len() {
                1 => "it: no other controller reconciles these kinds",
                _ => "them: no other controller reconciles these kinds",
            }
        );
        let summary = format!(" objects have no controller: {names} {verb} not installed");
        let mut finding = Finding::error(RULE.id, object.span().clone(), message).help(help).about(object.reference());
        if !installed.is_managed {
            finding.severity = Severity::Warning;
        }
        // One change of the components removes all findings.
        let key = format!("{}:{}", place.file().path(), place.range().start);
        found.push(finding.related(place.clone(), "installed controllers").caused_by(key, "", summary));
    }
}

/// Names in backticks, as text for a message.
fn listed(names: &BTreeSet<&str>) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        names => names.concat(),
    }
}
