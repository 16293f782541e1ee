use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::{Finding, Severity};
use crate::flux::{Applied, ApplierKind};
use crate::kube::{ObjectId, groups};
use crate::lint::findings::Findings;
use crate::lint::presence::missing::MissingSearch;
use crate::lint::presence::own_inputs::{is_needed_above, secrets_of_decryption, secrets_of_sources};
use crate::lint::refs::copied_data::{CopiedData, copied_data};
use crate::lint::refs::reference::Reference;
use crate::lint::refs::values_reference::values_of;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::text::Span;

declare! {
    /// A ResourceSet copies the data of an object that the cluster does not receive.
    ///
    /// ## Why
    ///
    /// For the annotations `fluxcd.controlplane.io/copyFrom` and `fluxcd.controlplane.io/convertKubeConfigFrom`, Flux
    /// Operator reads the referenced object before it applies the ResourceSet. If that object is missing, the
    /// ResourceSet fails, and the operator does not apply the objects of the ResourceSet. At that time, an object of
    /// the same ResourceSet does not exist yet.
    ///
    /// The severity is warning for Secrets, because users often create them by hand, and for a ConfigMap that other
    /// objects also read. The rule does not report an object that an applier above the ResourceSet needs, since without
    /// it, the ResourceSet would not exist. It ignores a Secret that a source of the cluster or a decryption reads, and a
    /// Secret whose copy they read: users create these Secrets by hand. The rule also does not report an object that an unknown input may create: a source without a local copy, a ResourceSet with live
    /// inputs, or a chart in that namespace. It ignores objects that a known controller creates, such as the Secret of
    /// an ExternalSecret, and objects that the configuration declares as `external`.
    ///
    /// ## How to fix it
    ///
    /// Correct the annotation. Its value is `namespace/name`, and the referenced object has the kind of the annotated
    /// object. Or add the object to a manifest outside of the ResourceSet.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: fluxcd.controlplane.io/v1
    /// kind: ResourceSet
    /// metadata:
    ///   name: team
    ///   namespace: flux-system
    /// spec:
    ///   resources:
    ///     - apiVersion: v1
    ///       kind: ConfigMap
    ///       metadata:
    ///         name: info
    ///         namespace: flux-system
    ///         annotations:
    ///           fluxcd.controlplane.io/copyFrom: flux-system/cluster-info
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: cluster-info
    ///   namespace: flux-system
    /// data:
    ///   region: eu-west-1
    /// ---
    /// apiVersion: fluxcd.controlplane.io/v1
    /// kind: ResourceSet
    /// metadata:
    ///   name: team
    ///   namespace: flux-system
    /// spec:
    ///   resources:
    ///     - apiVersion: v1
    ///       kind: ConfigMap
    ///       metadata:
    ///         name: info
    ///         namespace: flux-system
    ///         annotations:
    ///           fluxcd.controlplane.io/copyFrom: flux-system/cluster-info
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.2, until now. Flux Operator expands ResourceSets.
    ///
    /// ## Source
    ///
    /// [Flux Operator: copying data](https://fluxoperator.dev/docs/crd/resourceset/#copying-data-from-existing-configmaps-and-secrets)
    "dangling-copy", Error, "a ResourceSet copies the data of an object that the cluster does not receive",
    Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    let mut search = MissingSearch::on(view);
    let secrets = OnceCell::new();
    // A template creates one object for each input, and the annotations of these objects may differ.
    let mut by_place: BTreeMap<(String, usize, bool), (Finding, usize)> = BTreeMap::new();
    for set in view.applied_sets().filter(|set| set.by.kind == ApplierKind::ResourceSet) {
        for copy in set.makers() {
            for data in copied_data(copy.object) {
                let of_users = secrets.get_or_init(|| &secrets_of_sources(view) | &secrets_of_decryption(view));
                let Some(finding) = judge(view, &mut search, of_users, &copy, &data, found) else {
                    continue;
                };
                let (file, at) = (finding.at.span.file().path().to_owned(), finding.at.span.range().start);
                let is_error = finding.severity == Severity::Error;
                by_place.entry((file, at, is_error)).or_insert((finding, 0)).1 += 1;
            }
        }
    }
    for (mut finding, count) in by_place.into_values() {
        match count {
            1 => {}
            2 => finding.message.push_str("; so does one similar object"),
            _ => finding.message = format!("{}; so do {} similar objects", finding.message, count - 1),
        }
        found.push(finding);
    }
}

fn judge<'a>(
    view: &View<'a>,
    search: &mut MissingSearch<'_, 'a>,
    secrets: &BTreeSet<ObjectId<'a>>,
    copy: &Applied<'a>,
    data: &CopiedData<'a>,
    found: &mut Findings,
) -> Option<Finding> {
    let (by, set) = (copy.object.reference(), &copy.by.reference);
    let error =
        |place: &Span, message: String| Finding::error(RULE.id, copy.by.place(place), message).about(set.clone());
    let Reference { node, target } = match data {
        CopiedData::From(reference) => reference,
        CopiedData::Invalid(node) => {
            let text = node.text().filter(|text| !text.contains('$'))?;
            let message = format!("{by} copies its data from `{text}`, which is not `namespace/name`");
            let help = format!("correct the annotation: {set} fails, and Flux Operator applies none of its objects");
            return Some(error(node.span(), message).help(help));
        }
    };
    // An object whose annotation references the object itself adopts an object that a user created.
    if *target == ObjectId::of(copy.object) {
        return None;
    }
    let received = view.get(*target);
    if let Some(received) = received.filter(|received| received.by.at == copy.by.at) {
        let message = format!("{by} copies its data from {target} of the same ResourceSet");
        let help = format!(
            "move one of the two objects out of the ResourceSet: Flux Operator reads {target} before it applies any \
             object, so {set} fails"
        );
        let place = received.object.span().clone();
        return Some(error(node.span(), message).help(help).related(place, "the referenced object"));
    }
    if received.is_some() {
        return None;
    }
    // Without the target, the cluster would not receive the ResourceSet. Users create credentials of sources and keys by
    // hand, also those that only the copy serves.
    let is_of_users = || secrets.contains(target) || secrets.contains(&ObjectId::of(copy.object));
    if is_needed_above(copy.by, *target) || (target.kind == "Secret" && is_of_users()) {
        return None;
    }
    let missing = search.missing(*target, copy.by.object.as_ref(), found)?;
    let message = format!("{by} copies its data from {target}, which the cluster does not receive");
    let mut finding = error(node.span(), message);
    let mut help = format!(
        "add {target} outside of {set}, or correct the name: {set} fails, and Flux Operator applies none of its objects"
    );
    if target.kind == "Secret" || is_read_elsewhere(view, *target) {
        finding.severity = Severity::Warning;
        help.push_str(
            "; if another tool creates the referenced object, declare it below `external` in `.fleetwright.yaml`",
        );
    }
    Some(missing.explain(finding, &help))
}

/// Returns whether other objects read an object, so that another program probably creates it.
fn is_read_elsewhere(view: &View<'_>, wanted: ObjectId<'_>) -> bool {
    let releases = view.of_kind(groups::HELM, "HelmRelease");
    let readers = view.of_kind(groups::KUSTOMIZE, "Kustomization").chain(releases);
    readers.flat_map(|reader| values_of(reader.object)).any(|values| values.target == wanted)
}
