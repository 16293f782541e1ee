use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::finding::{Finding, Label, Severity};
use crate::flux::{Applied, Applier, ApplierKind};
use crate::kube::{Scope, scope_of};
use crate::lint::facts::distinct::written_position;
use crate::lint::facts::ownership::{OwnershipSettings, is_ignored, prunes};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::text::is_inside;

/// The number of owners that a finding shows for one object.
const MAX_SHOWN: usize = 4;

declare! {
    /// Two Kustomizations apply the same object to the same cluster.
    ///
    /// ## Why
    ///
    /// Flux reports no conflict, because all Kustomizations apply as the same field manager. Each one reverts the
    /// changes of the other at every interval, and the object belongs to the one that applied it last. If that one no
    /// longer contains the object, or is deleted, it prunes the object, and the other one loses it too.
    ///
    /// Two objects are the same even if their API versions differ.
    /// Objects of a Kustomization with `kubeConfig` belong to the cluster that it references. A ResourceSet counts like
    /// a Kustomization.
    ///
    /// The rule ignores:
    ///
    /// - an object that every owner annotates with `kustomize.toolkit.fluxcd.io/prune: disabled`
    /// - an object that all owners but one annotate with `kustomize.toolkit.fluxcd.io/ssa: IfNotPresent`, `Ignore` or
    ///   `Merge`, or with `reconcile: disabled`; ResourceSets do not support these annotations
    /// - suspended Kustomizations
    /// - a namespaced object without a namespace, which Flux rejects ([default-namespace](default-namespace.md))
    /// - the objects that bootstrap Flux: a `gotk-sync.yaml` that is first applied by hand and then by Flux, and the
    ///   objects that Flux Operator creates and excludes from reconciliation
    ///
    /// If the path of one Kustomization contains the path of another one, both apply the same files. The rule reports
    /// the outer path once. It is a warning if both apply the objects unchanged, and an error if they change them
    /// differently, for example with patches or labels.
    ///
    /// The severity is warning if no owner prunes the object and all owners define it equally, because nothing breaks
    /// yet.
    ///
    /// ## How to fix it
    ///
    /// Let one Kustomization own the object, and let the others depend on that one. If several Kustomizations must
    /// contain the same Namespace, annotate it with `kustomize.toolkit.fluxcd.io/prune: disabled` in all of them.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. The apply policies `IfNotPresent` and `Ignore` exist from Flux 2.1 on.
    ///
    /// ## Source
    ///
    /// [kustomize-controller#1724](https://github.com/fluxcd/kustomize-controller/issues/1724),
    /// [flux2#5611](https://github.com/fluxcd/flux2/issues/5611)
    "object-owned-twice", Error, "two Kustomizations apply the same object to the same cluster",
    Check::Cluster(check),
}

/// The group, kind, namespace and name of an object.
type Id<'a> = (&'a str, &'a str, &'a str, &'a str);

fn check(view: &View<'_>, found: &mut Findings) {
    // Without a root, the directories of one cluster are unknown: staging and production may be side by side.
    if !view.is_whole() {
        return;
    }
    let mut owned: BTreeMap<Id<'_>, Vec<Applied<'_>>> = BTreeMap::new();
    for (first, again) in view.duplicates() {
        // `View::duplicates` compares hashes, which may collide.
        if first.object.name() != again.object.name() || first.object.kind() != again.object.kind() {
            continue;
        }
        let owners = owned.entry(id(&first)).or_insert_with(|| vec![first]);
        owners.push(again);
    }
    // Kustomizations whose directories overlap own the same files; the overlap is the fault.
    let mut overlaps: BTreeMap<usize, Vec<[Applied<'_>; 2]>> = BTreeMap::new();
    let mut judged: Vec<(Names, Finding)> = Vec::new();
    for owners in owned.into_values() {
        match (nested(&owners), judge(owners)) {
            (Some(pair), Some(_)) => overlaps.entry(pair[0].by.at).or_default().push(pair),
            (None, Some(own)) => judged.push(own),
            (_, None) => {}
        }
    }
    found.extend(overlaps.into_values().filter_map(|pairs| overlap(&pairs)));
    // A line whose objects have different owners is the cause. Otherwise it is the group of owners.
    let mut owners_of: BTreeMap<(String, usize), BTreeSet<&Names>> = BTreeMap::new();
    for (owners, finding) in &judged {
        owners_of.entry(line(finding)).or_default().insert(owners);
    }
    let shared = owners_of.into_iter().filter(|(_, all)| all.len() > 1).map(|(line, _)| line);
    let shared: BTreeSet<(String, usize)> = shared.collect();
    for (owners, finding) in judged {
        let line = line(&finding);
        found.push(if shared.contains(&line) {
            let key = format!("{}:{}", line.0, line.1);
            finding.caused_by(key, "", " objects of this file are each applied by several Kustomizations")
        } else {
            let summary = format!(" objects are applied by {}", in_words(&owners));
            finding.caused_by(owners.join(" "), "", summary)
        });
    }
}

/// The two owners of an object, if the directory of the first one contains that of the second one and both apply the
/// object of the same file. The Kustomizations may change the object, and may use two sources with the same content.
fn nested<'a>(owners: &[Applied<'a>]) -> Option<[Applied<'a>; 2]> {
    let [a, b] = owners else { return None };
    let is_same_file = written_position(a.object) == written_position(b.object);
    let has_source = a.by.source.is_some() && b.by.source.is_some();
    let (outer, inner) = if is_inside(&b.by.folder, &a.by.folder) { (a, b) } else { (b, a) };
    let is_nested = is_inside(&inner.by.folder, &outer.by.folder) && outer.by.at != inner.by.at;
    (is_same_file && has_source && is_nested).then_some([*outer, *inner])
}

/// The finding of a Kustomization whose directory contains those of others.
fn overlap(pairs: &[[Applied<'_>; 2]]) -> Option<Finding> {
    let [outer, _] = pairs.first()?;
    let path = |applied: &Applied<'_>| {
        let object = applied.by.object.as_ref()?;
        let node = object.node.at_keys(&["spec", "path"]).unwrap_or(&object.node);
        let place = |by: &Arc<Applier>| by.place(node.span());
        Some(applied.by.parent_applier.as_ref().map_or_else(|| node.span().clone(), place))
    };
    let folder =
        |applied: &Applied<'_>| if applied.by.folder.is_empty() { ".".into() } else { applied.by.folder.clone() };
    let mut inner: Vec<&Applied<'_>> = pairs.iter().map(|[_, inner]| inner).collect();
    inner.sort_by_key(|applied| applied.by.at);
    inner.dedup_by_key(|applied| applied.by.at);
    let (first, rest) = inner.split_first()?;
    let count = if pairs.len() == 1 { "one object".to_string() } else { format!("{} objects", pairs.len()) };
    let (contains, inside) = (folder(outer), folder(first));
    let whose = format!("{}, `{inside}`", first.by.reference);
    let message = match rest.len() {
        0 if contains == inside => format!(
            "{} and {} have the same path `{contains}`, so both apply {count}",
            outer.by.reference, first.by.reference
        ),
        0 => format!(
            "the path of {} is `{contains}`, which contains the path of {whose}, so both apply {count}",
            outer.by.reference
        ),
        more => format!(
            "the path of {} is `{contains}`, which contains the path of {whose}, and {}, so {count} are applied twice",
            outer.by.reference,
            if more == 1 { "that of another one".to_string() } else { format!("those of {more} others") }
        ),
    };
    let differ = pairs.iter().filter(|[outer, inner]| outer.object.node != inner.object.node).count();
    let message = match differ {
        0 => message,
        all if all == pairs.len() => format!("{message} with different content"),
        some => format!("{message}, {some} of them with different content"),
    };
    let help = "apply each directory with one Kustomization: list the directories of the outer one in a \
                kustomization.yaml, or remove the inner Kustomization. Each one takes over the objects of the other at \
                every interval, and if one is deleted with `prune: true`, they are missing until the other applies them \
                again";
    let label = Label::new(path(outer)?, format!("applies `{contains}`"));
    let mut finding = Finding::error(RULE.id, label, message).help(help).about(outer.by.reference.clone());
    if differ == 0 {
        finding.severity = Severity::Warning;
    }
    for applied in inner.iter().take(MAX_SHOWN) {
        if let Some(other) = path(applied) {
            finding = finding.related(other, format!("applies `{}`", folder(applied)));
        }
    }
    for [_, applied] in pairs.iter().take(MAX_SHOWN) {
        finding = finding.related(applied.by.place(applied.object.span()), applied.object.reference().to_string());
    }
    Some(finding)
}

/// The names of the owners of an object.
type Names = Vec<String>;

/// The path and the offset of a finding.
fn line(finding: &Finding) -> (String, usize) {
    let span = &finding.at.span;
    (span.file().path().to_owned(), span.range().start)
}

fn id<'a>(applied: &Applied<'a>) -> Id<'a> {
    let object = applied.object;
    (object.group(), object.kind(), object.namespace().unwrap_or_default(), object.name())
}

fn judge(mut owners: Vec<Applied<'_>>) -> Option<(Names, Finding)> {
    owners.retain(|owner| {
        let is_ours = matches!(owner.by.kind, ApplierKind::Kustomization | ApplierKind::ResourceSet);
        // Flux rejects a namespaced object without a namespace.
        let object = owner.object;
        let is_refused = object.namespace().is_none() && scope_of(object.group(), object.kind()) == Scope::Namespaced;
        is_ours && !owner.by.is_suspended() && !is_refused
    });
    // Two objects with one identity in the same build are another fault.
    owners.sort_by_key(|owner| owner.by.at);
    owners.dedup_by_key(|owner| owner.by.at);
    let settings: Vec<OwnershipSettings> =
        owners.iter().map(|owner| OwnershipSettings::read(owner.object, owner.by.kind)).collect();
    // The annotations of an object in a ResourceSet may exclude it from every Kustomization.
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
    let names = owners.iter().map(|owner| owner.by.reference.to_string()).collect();
    Some((names, finding(&owners, pruned, differ)))
}

fn finding(owners: &[Applied<'_>], pruned: bool, differ: bool) -> Finding {
    let last = owners.last().expect("only objects with two owners are judged");
    let object = last.object.reference();
    let place = last.by.place(last.object.span());
    let names: Names = owners.iter().map(|owner| owner.by.reference.to_string()).collect();
    let message = format!("{object} is applied by {}", in_words(&names));
    let consequence = match (pruned, differ) {
        (true, _) => "if the one that applied it last no longer contains it, the object is deleted for the others too",
        (false, true) => "each reverts the changes of the other at every interval",
        (false, false) => "as soon as they differ, each reverts the changes of the other",
    };
    let help = format!("let one of them own it, and let the others depend on that one: {consequence}");
    let label = Label::new(place.clone(), format!("{} contains it here", last.by.reference));
    let mut finding = Finding::error(RULE.id, label, message).help(help).about(object);
    if !pruned && !differ {
        finding.severity = Severity::Warning;
    }
    let (shown, others) = owners.split_at(owners.len().min(MAX_SHOWN));
    let others = others.iter().map(|owner| {
        Label::new(owner.by.place(owner.object.span()), format!("{} contains it here", owner.by.reference))
    });
    finding = finding.with_others(others.collect());
    for owner in shown {
        let here = owner.by.place(owner.object.span());
        if here != place {
            finding = finding.related(here, format!("{} contains it here", owner.by.reference));
        }
        if let Some(applier) = &owner.by.object {
            let span =
                owner.by.parent_applier.as_ref().map_or_else(|| applier.span().clone(), |by| by.place(applier.span()));
            finding = finding.related(span, format!("{} applies it", owner.by.reference));
        }
    }
    finding
}

/// The owners as text. If there are many, only the first two are listed.
fn in_words(owners: &[String]) -> String {
    match owners {
        [a, b] => format!("{a} and {b}"),
        [a, b, c] => format!("{a}, {b} and {c}"),
        [a, b, rest @ ..] => format!("{a}, {b} and {} others", rest.len()),
        [one] => one.clone(),
        [] => String::new(),
    }
}
