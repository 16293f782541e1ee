use std::collections::BTreeMap;

use crate::base::finding::{Finding, Label, Severity};
use crate::flux::{Applied, ApplierKind};
use crate::lint::facts::ownership::{OwnershipSettings, is_ignored, prunes};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;

/// So many owners of one object are shown.
const MAX_SHOWN: usize = 4;

declare! {
    /// Two Kustomizations apply the same object to the same cluster.
    ///
    /// ## Why
    ///
    /// Nothing warns: all Kustomizations apply as the same field manager, so that there is never a conflict. Each one
    /// undoes what the other says, at every interval, and the object belongs to whichever came last. When that one stops
    /// bringing it, or is deleted, it prunes the object, and it is gone for both.
    ///
    /// Objects count as the same whatever the version of their API, and whether they name `default` or no namespace. What
    /// a Kustomization with `kubeConfig` applies counts for the cluster that it leads to. A ResourceSet counts as a
    /// Kustomization does.
    ///
    /// Silent when every owner says `kustomize.toolkit.fluxcd.io/prune: disabled` of it; when all but one say
    /// `kustomize.toolkit.fluxcd.io/ssa: IfNotPresent`, `Ignore` or `Merge`, or `reconcile: disabled`, which ResourceSets
    /// do not heed; about suspended Kustomizations; and about what bootstraps Flux: the `gotk-sync.yaml` that is applied by hand and then by itself,
    /// and the objects that Flux Operator makes and tells Flux to leave alone. Where no owner prunes it and all say the
    /// same of it, nothing breaks yet, and it is a warning.
    ///
    /// ## How to fix it
    ///
    /// Let one Kustomization own it, and let the others depend on that one. For a Namespace that several must bring, say
    /// `kustomize.toolkit.fluxcd.io/prune: disabled` in all of them.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # sync.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/web
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: api
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/api
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources: [flux-system/gotk-sync.yaml, sync.yaml]
    /// # web/namespace.yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: apps
    /// # api/namespace.yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: apps
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// # sync.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/web
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: api
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/api
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources: [flux-system/gotk-sync.yaml, sync.yaml]
    /// # web/namespace.yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: web
    /// # api/namespace.yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: api
    /// ```
    ///
    /// ## Source
    ///
    /// [kustomize-controller#1724](https://github.com/fluxcd/kustomize-controller/issues/1724),
    /// [flux2#5611](https://github.com/fluxcd/flux2/issues/5611)
    "object-owned-twice", Error, "two Kustomizations apply the same object to the same cluster",
    Check::Cluster(check),
}

/// Group, kind, namespace and name.
type Id<'a> = (&'a str, &'a str, &'a str, &'a str);

fn check(view: &View<'_>, found: &mut Findings) {
    // Without a root nobody knows which folders one cluster gets: staging and production lie side by side.
    if !view.is_whole() {
        return;
    }
    let mut owned: BTreeMap<Id<'_>, Vec<Applied<'_>>> = BTreeMap::new();
    for (first, again) in view.duplicates() {
        // They are told by a hash.
        if first.object.name() != again.object.name() || first.object.kind() != again.object.kind() {
            continue;
        }
        let owners = owned.entry(id(&first)).or_insert_with(|| vec![first]);
        owners.push(again);
    }
    found.extend(owned.into_values().filter_map(judge));
}

fn id<'a>(applied: &Applied<'a>) -> Id<'a> {
    let object = applied.object;
    (object.group(), object.kind(), object.namespace().unwrap_or_default(), object.name())
}

fn judge(mut owners: Vec<Applied<'_>>) -> Option<Finding> {
    owners.retain(|owner| {
        let is_ours = matches!(owner.by.kind, ApplierKind::Kustomization | ApplierKind::ResourceSet);
        is_ours && !owner.by.is_suspended()
    });
    // Two objects of one identity in one build are another fault.
    owners.sort_by_key(|owner| owner.by.at);
    owners.dedup_by_key(|owner| owner.by.at);
    let settings: Vec<OwnershipSettings> = owners.iter().map(|owner| OwnershipSettings::read(owner.object, owner.by.kind)).collect();
    // What a ResourceSet applies may send every Kustomization away.
    let is_sent_away = owners.iter().any(|owner| owner.by.kind == ApplierKind::ResourceSet && is_ignored(owner.object));
    let leaves_it = |(owner, setting): &(&Applied<'_>, &OwnershipSettings)| {
        setting.is_not_overwritten || (is_sent_away && owner.by.kind == ApplierKind::Kustomization)
    };
    let writers = owners.iter().zip(&settings).filter(|one| !leaves_it(one)).count();
    if writers < 2 || settings.iter().all(|setting| setting.is_not_pruned) {
        return None;
    }
    let pruned = owners.iter().zip(&settings).any(|(owner, setting)| !setting.is_not_pruned && prunes(owner.by));
    let (first, rest) = owners.split_first()?;
    let differ = rest.iter().any(|owner| owner.object.node != first.object.node);
    Some(finding(&owners, pruned, differ))
}

fn finding(owners: &[Applied<'_>], pruned: bool, differ: bool) -> Finding {
    let last = owners.last().expect("only objects with two owners are judged");
    let object = last.object.reference();
    let place = last.by.place(last.object.span());
    let message = format!("{object} is applied by {}", names(owners));
    let consequence = match (pruned, differ) {
        (true, _) => "the one that applied it last prunes it when it stops bringing it, and it is gone for the others",
        (false, true) => "each undoes what the other says, at every interval",
        (false, false) => "as soon as they differ, each undoes what the other says",
    };
    let help = format!("let one of them own it, and the others depend on that one: {consequence}");
    let label = Label::new(place.clone(), format!("{} brings it here", last.by.reference));
    let mut finding = Finding::error(RULE.id, label, message).help(help).about(object);
    if !pruned && !differ {
        finding.severity = Severity::Warning;
    }
    for owner in owners.iter().take(MAX_SHOWN) {
        let here = owner.by.place(owner.object.span());
        if here != place {
            finding = finding.related(here, format!("{} brings it here", owner.by.reference));
        }
        if let Some(applier) = &owner.by.object {
            let span =
                owner.by.brought_by.as_ref().map_or_else(|| applier.span().clone(), |by| by.place(applier.span()));
            finding = finding.related(span, format!("{} applies it", owner.by.reference));
        }
    }
    finding
}

/// The owners in words; of many the first two.
fn names(owners: &[Applied<'_>]) -> String {
    let name = |owner: &Applied<'_>| owner.by.reference.to_string();
    match owners {
        [a, b] => format!("{} and {}", name(a), name(b)),
        [a, b, c] => format!("{}, {} and {}", name(a), name(b), name(c)),
        [a, b, rest @ ..] => format!("{}, {} and {} others", name(a), name(b), rest.len()),
        [one] => name(one),
        [] => String::new(),
    }
}
