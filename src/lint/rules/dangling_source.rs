use crate::base::finding::Finding;
use crate::flux::Applied;
use crate::kube::{ObjectId, groups};
use crate::lint::findings::Findings;
use crate::lint::presence::missing::MissingSearch;
use crate::lint::refs::source_reference::{BUILT_FROM_SOURCES, SourceReference, source_of};
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// A `sourceRef` or `chartRef` names a source that the cluster does not receive.
    ///
    /// ## Why
    ///
    /// Flux finds nothing to build from: the Kustomization or HelmRelease fails, and so does what depends on it. It
    /// mostly comes from a source that was renamed or left out of a kustomization.yaml, or from a `namespace` that is not
    /// said: without one, the source is looked for beside the object itself.
    ///
    /// Judged are Kustomizations, HelmReleases, HelmCharts and ImageUpdateAutomations, and what sources include. The source that
    /// a FluxInstance makes for its `sync` counts. Silent where something that is not known may bring it: a source without
    /// a copy, a ResourceSet with live inputs, a chart in that namespace. Charts of public registries are not taken to
    /// bring Flux objects of a name that their values do not say.
    ///
    /// ## How to fix it
    ///
    /// Correct the name, the kind or the namespace, or bring the source.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: shop
    ///   namespace: shop
    /// spec:
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
    ///   namespace: shop
    /// spec:
    ///   interval: 1h
    ///   path: ./shop
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///     namespace: flux-system
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: source reference](https://fluxcd.io/flux/components/kustomize/kustomizations/#source-reference)
    "dangling-source", Error, "a source that is referred to does not reach the cluster", Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    let mut search = MissingSearch::on(view);
    for (group, kind) in BUILT_FROM_SOURCES {
        for applied in view.of_kind(group, kind) {
            let Some(SourceReference { node, target: wanted }) = source_of(applied.object) else { continue };
            if view.find(wanted.group, wanted.kind, wanted.namespace, wanted.name).is_some() {
                continue;
            }
            if is_made(view, wanted) {
                continue;
            }
            let Some(missing) = search.missing(wanted) else { continue };
            found.push(missing.explain(finding(&applied, node, wanted), "bring it, or correct the name"));
        }
    }
}

fn finding(applied: &Applied<'_>, node: &Node, wanted: ObjectId<'_>) -> Finding {
    let by = applied.object.reference();
    let message = format!("{by} is made from {wanted}, which nothing brings to the cluster");
    Finding::error(RULE.id, applied.by.place(node.span()), message).about(by)
}

/// Whether a controller makes a source, or may do so.
fn is_made(view: &View<'_>, wanted: ObjectId<'_>) -> bool {
    match wanted.kind {
        "ExternalArtifact" => view.may_generate_artifact(wanted.namespace, wanted.name),
        // helm-controller makes one for each release that says what its chart is.
        "HelmChart" => view.of_kind(groups::HELM, "HelmRelease").any(|release| {
            let Some(namespace) = release.object.namespace() else { return false };
            let is_named = wanted.name.strip_prefix(namespace).and_then(|rest| rest.strip_prefix('-'));
            is_named == Some(release.object.name()) && release.object.node.at_keys(&["spec", "chart"]).is_some()
        }),
        _ => false,
    }
}
