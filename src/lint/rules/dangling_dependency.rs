use crate::base::finding::Finding;
use crate::kube::ObjectId;
use crate::lint::findings::Findings;
use crate::lint::presence::missing::MissingSearch;
use crate::lint::refs::dependency::{DEPENDENTS, Dependency, dependencies};
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;

declare! {
    /// `dependsOn` names something that does not exist.
    ///
    /// ## Why
    ///
    /// Flux waits for it for ever: nothing of the Kustomization, HelmRelease or ResourceSet is applied, new versions
    /// neither. It mostly comes from a dependency that was renamed, or that is in another namespace: without one, it is
    /// looked for beside the object itself. A ResourceSet has to say the namespace in any case.
    ///
    /// Kustomizations depend on Kustomizations and HelmReleases on HelmReleases, so that one of the other kind does not count. A
    /// ResourceSet depends on objects of any kind; those that operators make are not missed. Silent where something
    /// that is not known may bring it: a source without a copy, a ResourceSet with live inputs, a chart in that
    /// namespace. Charts of public registries are not taken to bring Flux objects of a name that their values do not say.
    ///
    /// ## How to fix it
    ///
    /// Correct the name or the namespace, or take the line away.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   dependsOn:
    ///     - name: database
    ///   interval: 1h
    ///   path: ./shop
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   dependsOn:
    ///     - name: databases
    ///       namespace: data
    ///   interval: 1h
    ///   path: ./shop
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: databases
    ///   namespace: data
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/databases
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///     namespace: flux-system
    ///   wait: true
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: dependencies](https://fluxcd.io/flux/components/kustomize/kustomizations/#dependencies)
    "dangling-dependency", Error, "`dependsOn` names something that does not exist", Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    let mut search = MissingSearch::on(view);
    for (group, kind) in DEPENDENTS {
        for applied in view.of_kind(group, kind) {
            for Dependency { node, target: wanted, .. } in dependencies(applied.object) {
                let is_there = view.find(wanted.group, wanted.kind, wanted.namespace, wanted.name).is_some();
                if is_there || !is_judged(wanted) {
                    continue;
                }
                let Some(missing) = search.missing(wanted) else { continue };
                let by = applied.object.reference();
                let message = format!("{by} depends on {wanted}, which nothing brings to the cluster");
                let finding = Finding::error(RULE.id, applied.by.place(node.span()), message).about(by);
                found.push(missing.explain(finding, "bring it, or take the line away: it is waited for without end"));
            }
        }
    }
}

/// Whether only manifests make objects of a kind: those of others may come from an operator or by hand.
fn is_judged(wanted: ObjectId<'_>) -> bool {
    match (wanted.group, wanted.kind) {
        // Somebody installs Flux itself, and what it reports it makes.
        (_, "FluxInstance" | "FluxReport" | "ExternalArtifact" | "HelmChart") => false,
        ("", "ConfigMap" | "Namespace") => true,
        _ => wanted.is_flux(),
    }
}
