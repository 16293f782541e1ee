use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::{Finding, Label};
use crate::flux::{Applied, AppliedSet, Cluster, State, is_flux};
use crate::kube::{Object, groups};
use crate::lint::facts::own_position::own_position;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::{Entry, Name, Node};

/// The maximum number of objects of one Kustomization that a finding shows.
const MAX_SHOWN: usize = 5;

declare! {
    /// A Kustomization with `kubeConfig` applies Flux objects to a cluster on which no manifest installs Flux.
    ///
    /// ## Why
    ///
    /// All objects of such a Kustomization go to the remote cluster, including HelmReleases and sources. If the remote
    /// cluster does not have the CRDs of Flux, it rejects these objects (`no matches for kind`), and Flux does not
    /// apply the Kustomization. Usually, the author wants Flux on the hub to install a chart on the remote cluster.
    ///
    /// The rule does not report a Kustomization in these cases:
    ///
    /// - The remote cluster receives Flux: its CRDs or controllers, a `gotk-sync.yaml`, a FluxInstance, or a chart
    ///   that installs Flux.
    /// - The linter cannot build an applier for the remote cluster.
    /// - A cluster of the same repository has its own Flux, and its name matches the Secret of the kubeConfig. A
    ///   directory with that name and a `gotk-components.yaml` or `gotk-sync.yaml` is sufficient.
    ///
    /// The severity is warning, because another repository or program may install Flux on the remote cluster.
    ///
    /// ## How to fix it
    ///
    /// Remove `kubeConfig` from the Kustomization, and set `spec.kubeConfig` in the HelmRelease. The HelmRelease stays
    /// on the hub, and Flux installs the chart on the remote cluster. Or install Flux on the remote cluster first. If
    /// Flux is already installed there, add an exception to `.fleetwright.yaml`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # sync.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: spoke
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   kubeConfig:
    ///     secretRef:
    ///       name: spoke
    ///   path: ./clusters/example/spoke
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources: [flux-system/gotk-sync.yaml, sync.yaml]
    /// # spoke/cache.yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: cache
    ///   namespace: apps
    /// spec:
    ///   interval: 1h
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: cache
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// # sync.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: spoke
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/spoke
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources: [flux-system/gotk-sync.yaml, sync.yaml]
    /// # spoke/cache.yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: cache
    ///   namespace: apps
    /// spec:
    ///   interval: 1h
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: cache
    ///   kubeConfig:
    ///     secretRef:
    ///       name: spoke
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [flux2#3499](https://github.com/fluxcd/flux2/issues/3499)
    "flux-object-on-remote", Warning, "a Kustomization applies Flux objects to a remote cluster without a known installation of Flux",
    Check::Fleet(check),
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    let mut installers: BTreeMap<&Name, BTreeSet<&str>> = BTreeMap::new();
    for view in fleet.views.iter().filter(|view| view.is_whole()) {
        let Some(target) = &view.receiver.target else { continue };
        let own = &view.receiver.cluster.name;
        let is_same = |cluster: &Cluster| cluster.name != *own && leads_to(target, &cluster.name);
        let installers = installers.entry(own).or_insert_with(|| targets_of_flux(view.receiver.cluster));
        let installed = || installers.contains(&**target) || target.split('/').any(|part| installers.contains(part));
        let has_folder = || {
            let above =
                fleet.repo.flux_folders.iter().map(|folder| folder.strip_suffix("/flux-system").unwrap_or(folder));
            above.filter(|folder| *folder != &*view.receiver.cluster.folder).any(|folder| leads_to(target, folder))
        };
        judge(view, installed, || fleet.repo.clusters.iter().any(is_same) || has_folder(), found);
    }
}

/// The kubeconfigs of the HelmReleases of a cluster that install Flux on remote clusters, according to their names.
fn targets_of_flux(cluster: &Cluster) -> BTreeSet<&str> {
    let releases = cluster.applied_sets.iter().flat_map(AppliedSet::tenancy_objects).map(|applied| applied.object);
    let releases = releases.filter(|object| object.is(groups::HELM, "HelmRelease"));
    let installs_flux = |object: &&Object| {
        let text = |keys: &[&str]| object.text_at(keys).unwrap_or_default();
        let names = [object.name(), text(&["spec", "chart", "spec", "chart"]), text(&["spec", "chartRef", "name"])];
        names.iter().any(|name| name.contains("flux"))
    };
    let configs = releases.filter(installs_flux).flat_map(|release| {
        ["secretRef", "configMapRef"]
            .into_iter()
            .filter_map(move |kind| release.text_at(&["spec", "kubeConfig", kind, "name"]))
    });
    configs.filter(|name| !name.is_empty()).collect()
}

/// Returns whether a remote cluster is probably the cluster with the given name.
///
/// The name of the kubeconfig of the remote cluster determines the result.
fn leads_to(target: &str, cluster: &str) -> bool {
    let cluster = cluster.rsplit('/').next().unwrap_or(cluster);
    target.split('/').any(|part| {
        let rest = part.strip_prefix(cluster).or_else(|| part.strip_suffix(cluster));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-') || rest.ends_with('-'))
    })
}

fn judge(view: &View<'_>, installed: impl Fn() -> bool, has_own_flux: impl Fn() -> bool, found: &mut Findings) {
    let lists = view.by_flux().map(|(brought, _)| *brought);
    let with_flux: Vec<(&AppliedSet, Vec<Applied<'_>>)> = lists
        .map(|brought| {
            (brought, brought.tenancy_objects().filter(|applied| is_flux(applied.object)).collect::<Vec<_>>())
        })
        .filter(|(_, objects)| !objects.is_empty())
        .collect();
    if with_flux.is_empty() {
        return;
    }
    if view.appliers().any(|applier| applier.state != State::Built) || has_own_flux() {
        found.unchecked("whether a remote cluster has Flux");
    } else if !receives_flux(view) && !installed() {
        let findings = with_flux.into_iter().filter_map(|(brought, objects)| finding(brought, &objects));
        let name: Name = view.receiver.to_string().into();
        found.extend(findings.map(|finding| Finding { clusters: vec![name.clone()], ..finding }));
    }
}

/// Returns whether the remote cluster receives Flux, by any method of installation.
fn receives_flux(view: &View<'_>) -> bool {
    let is_flux_group = |group: &str| groups::is_toolkit(group) || group == groups::FLUX_OPERATOR;
    let mut definitions = view.of_kind("apiextensions.k8s.io", "CustomResourceDefinition");
    if definitions.any(|definition| definition.object.text_at(&["spec", "group"]).is_some_and(is_flux_group)) {
        return true;
    }
    if view.of_kind(groups::FLUX_OPERATOR, "FluxInstance").next().is_some() {
        return true;
    }
    let mut controllers = view.of_kind("apps", "Deployment");
    if controllers.any(|applied| matches!(applied.object.name(), "kustomize-controller" | "flux-operator")) {
        return true;
    }
    let mut telling = view.by_flux().flat_map(|(brought, _)| brought.tenancy_objects());
    telling.any(|applied| applied.object.node.origin.written().file().path().ends_with(groups::SYNC_FILE))
}

fn finding(brought: &AppliedSet, objects: &[Applied<'_>]) -> Option<Finding> {
    let (first, rest) = objects.split_first()?;
    let applier = brought.by.object.as_ref()?;
    let config = applier.node.get("spec").and_then(|spec| spec.entry("kubeConfig"));
    let place = own_position(&brought.by, &config.map_or_else(|| applier.span().clone(), Entry::key_span));
    let others = match rest.len() {
        0 => String::new(),
        1 => " and another Flux object".to_owned(),
        more => format!(" and {more} other Flux objects"),
    };
    let message = format!(
        "{} applies {}{others} to a cluster on which no manifest installs Flux",
        brought.by.reference,
        first.object.reference()
    );
    let help = "if Flux does not run on that cluster, remove `spec.kubeConfig` from the Kustomization and set it in \
                the HelmReleases: without the CRDs of Flux, the remote cluster rejects these objects";
    let finding = Finding::warning(RULE.id, Label::new(place, "all objects go to the remote cluster"), message)
        .help(help)
        .about(brought.by.reference.clone());
    let shown = objects.iter().take(MAX_SHOWN);
    Some(shown.fold(finding, |finding, applied| {
        let kind = applied.object.node.get("kind").map_or(applied.object.span(), Node::span);
        finding.related(applied.by.place(kind), applied.object.reference().to_string())
    }))
}
