use crate::base::finding::{Finding, Severity};
use crate::flux::{Applied, ApplierKind, State};
use crate::kube::{ObjectId, groups};
use crate::lint::facts::own_position::narrowed_path;
use crate::lint::findings::Findings;
use crate::lint::presence::missing::MissingSearch;
use crate::lint::refs::reference::Reference;
use crate::lint::refs::source_reference::{
    BUILT_FROM_SOURCES, INPUT_PROVIDER, MADE_OF_SOURCES, input_sources, source_of,
};
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// A `sourceRef` or `chartRef` references a source that the cluster does not receive.
    ///
    /// ## Why
    ///
    /// Flux cannot build the Kustomization or HelmRelease without its source, so the object and its dependents fail.
    /// Often, a commit renamed the source, a kustomization.yaml does not list the source, or the reference has no
    /// `namespace`. Without `namespace`, Flux searches the namespace of the referencing object.
    ///
    /// If a Kustomization fails, the objects in its directory are missing, too. The linter does not report references to
    /// them, but counts them in the finding about this Kustomization.
    ///
    /// The rule checks Kustomizations, HelmReleases, HelmCharts and ImageUpdateAutomations, and the sources that
    /// GitRepositories include (`include`) and ArtifactGenerators copy from (`sources`). It warns about a missing input provider of
    /// a ResourceSet (`inputsFrom`), and about an ExternalArtifact of a cluster without an ArtifactGenerator, which another program
    /// may create. It accepts the source that
    /// a FluxInstance creates for its `sync`. The rule does not report a source that an unknown input may create: a
    /// source without a local copy, a ResourceSet with live inputs, or a chart in that namespace. The rule assumes that
    /// a chart of another owner or domain creates a Flux object only if the values of its HelmRelease contain the manifest
    /// of the object.
    ///
    /// On a remote cluster (`spec.kubeConfig`), the rule reports only a name with a typing error, as a warning: other
    /// programs may create other objects there.
    ///
    /// ## How to fix it
    ///
    /// Correct the name, the kind or the namespace, or add the source.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. `chartRef` exists from Flux 2.3 on, and ExternalArtifacts exist from Flux 2.7 on.
    ///
    /// ## Source
    ///
    /// [Flux: source reference](https://fluxcd.io/flux/components/kustomize/kustomizations/#source-reference)
    "dangling-source", Error, "the cluster does not receive a referenced source", Check::Cluster(check),
    fixes: [Safe, Unsafe],
}

fn check(view: &View<'_>, found: &mut Findings) {
    let mut search = MissingSearch::on(view);
    let is_not_built = !view.appliers().any(|by| by.state == State::Built && by.kind != ApplierKind::Bootstrap);
    let has_sources_by_hand = has_sources_by_hand(view);
    for (group, kind) in BUILT_FROM_SOURCES.into_iter().chain(MADE_OF_SOURCES) {
        for applied in view.of_kind(group, kind) {
            for Reference { node, target: wanted } in
                source_of(applied.object).into_iter().chain(input_sources(applied.object))
            {
                if view.find(wanted.group, wanted.kind, wanted.namespace, wanted.name).is_some() {
                    continue;
                }
                if is_generated(view, wanted) {
                    continue;
                }
                let Some(missing) = search.missing(wanted, Some(applied.object), found) else { continue };
                let is_by_hand = has_sources_by_hand && applied.object.is(groups::KUSTOMIZE, "Kustomization");
                let has_no_generator = wanted.kind == "ExternalArtifact" && !view.generated_artifacts().has_generators;
                let help = if has_no_generator {
                    "add an ArtifactGenerator with this artifact, or correct the kind, if no other program creates it"
                } else if is_by_hand {
                    "add the source, or correct the name, if nothing outside of Git creates it"
                } else {
                    "add the source, or correct the name: without it, the object never becomes ready"
                };
                let finding = finding(&applied, node, wanted);
                let mut finding = finding.fixed_at(missing.fix(node), |span| applied.by.place(span));
                // An earlier revision may have applied the source, if this reference is in the root itself.
                let is_doubtful = is_by_hand && !missing.is_certain_mistake();
                let is_of_other = may_be_elsewhere(view, wanted.namespace);
                // Another program may create an input provider, such as one for each environment.
                let is_doubtful = is_doubtful || wanted.kind == INPUT_PROVIDER || has_no_generator;
                if is_doubtful || is_of_other || missing.is_uncertain() || is_not_built && missing.is_elsewhere() {
                    finding.severity = Severity::Warning;
                }
                found.push(match narrowed_path(&applied) {
                    Some(help) => finding.fixed_by(None).help(help),
                    None => missing.explain_to(&applied, finding, help),
                });
            }
        }
    }
}

/// Returns whether a user or another program creates sources: no file contains the root of the cluster or its source.
fn has_sources_by_hand(view: &View<'_>) -> bool {
    let cluster = view.receiver.cluster;
    let roots = cluster.appliers.iter().filter(|applier| applier.is_of_bootstrap());
    cluster.evidence.is_generated
        && roots.filter_map(|root| root.source.as_ref()).all(|source| {
            let namespace = source.namespace.as_deref().unwrap_or_default();
            let id = ObjectId { group: source.group(), kind: &source.kind, namespace, name: &source.name };
            view.written.find(id).is_none()
        })
}

/// Returns whether another repository may create the sources of a namespace: it bootstraps the cluster, and this repository
/// does not create the namespace.
fn may_be_elsewhere(view: &View<'_>, namespace: &str) -> bool {
    view.receiver.cluster.evidence.lacks_bootstrap
        && !view.tenancy().flux_namespaces.contains(namespace)
        && view.find("", "Namespace", "", namespace).is_none()
}

fn finding(applied: &Applied<'_>, node: &Node, wanted: ObjectId<'_>) -> Finding {
    let by = applied.object.reference();
    let message = format!("{by} uses {wanted}, which the cluster does not receive");
    Finding::error(RULE.id, applied.by.place(node.span()), message).about(by)
}

/// The maximum number of hyphens in the name of a HelmChart that may separate the namespace and the name of a release.
const MAX_PARTS: usize = 260;

/// Returns whether a controller creates or may create a source.
fn is_generated(view: &View<'_>, wanted: ObjectId<'_>) -> bool {
    match wanted.kind {
        "ExternalArtifact" => {
            view.generated_artifacts().has_generators && view.may_generate_artifact(wanted.namespace, wanted.name)
        }
        // helm-controller creates a HelmChart for each release that sets `spec.chart`.
        "HelmChart" => {
            let names = wanted
                .name
                .match_indices('-')
                .take(MAX_PARTS)
                .filter_map(|(at, _)| Some((wanted.name.get(..at)?, wanted.name.get(at + 1..)?)));
            let mut releases =
                names.filter_map(|(namespace, name)| view.find(groups::HELM, "HelmRelease", namespace, name));
            releases.any(|release| release.object.node.at_keys(&["spec", "chart"]).is_some())
        }
        _ => false,
    }
}
