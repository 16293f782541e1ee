mod wording;
mod other_writers;
mod overlap;

use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::{Finding, Label, Severity};
use crate::flux::{Applied, ApplierKind, State, is_kustomization};
use crate::kube::{Object, Scope, groups, scope_of};
use crate::lint::facts::difference::{Definition, Difference, difference};
use crate::lint::facts::distinct::{WrittenPosition, written_position};
use crate::lint::facts::ownership_settings::{OwnershipSettings, is_ignored, prunes};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, pedantic};
use crate::lint::view::View;
use crate::text::{Span, is_inside, join};
use crate::yaml::Node;
use other_writers::{twice_installed, twice_written};
use overlap::{Nested, overlap};
use wording::{MAX_SHOWN, WITH_DIFFERENCE, safe_removal};

declare! {
    /// Two Kustomizations, or Flux and another controller, write the same object of a cluster.
    ///
    /// ## Why
    ///
    /// Flux does not report a conflict, because all Kustomizations use the same field manager. If two Kustomizations
    /// define the object differently, each reverts the changes of the other at every interval. This is an error.
    ///
    /// Equal definitions are a warning, because the cluster still works. At each interval, only the labels with the
    /// name of the owner change, since the last Kustomization that applied the object owns it. If the
    /// owner no longer contains the object, or is deleted, Flux prunes the object. The object is then missing until the
    /// other Kustomization applies it again. Data that Kubernetes deletes with the object, such as the data of a
    /// volume, is lost.
    ///
    /// The comparison ignores the labels and annotations of `commonMetadata`. It also ignores labels and annotations
    /// that only describe an object, such as `app.kubernetes.io/name`.
    ///
    /// Two objects are the same even if their API versions differ. This includes two objects of one build, since each
    /// reconciliation applies the object that differs from the cluster. The severity is pedantic if the two objects of
    /// a build are equal. Objects of a Kustomization with `kubeConfig` belong to the cluster that the `kubeConfig`
    /// references. The rule treats a ResourceSet as a Kustomization.
    ///
    /// The rule ignores:
    ///
    /// - equal objects that every owner annotates with `kustomize.toolkit.fluxcd.io/prune: disabled`; Flux's own
    ///   Namespace needs the annotation only in its copies
    /// - an object that all owners except one annotate with `kustomize.toolkit.fluxcd.io/ssa: IfNotPresent`, `Ignore`
    ///   or `Merge`, or with `reconcile: disabled`; ResourceSets do not support these annotations
    /// - suspended Kustomizations, and Kustomizations that do not build, since Flux applies nothing of them
    /// - a namespaced object without a namespace, which Flux rejects ([default-namespace](default-namespace.md))
    /// - the objects of a cluster's directory that no object applies, since a user may apply the directory by hand
    /// - the objects that bootstrap Flux: a `gotk-sync.yaml` that a user first applies by hand and that Flux applies
    ///   later, and the objects that Flux Operator creates and excludes from reconciliation
    ///
    /// If the path of one Kustomization contains the path of another Kustomization, both apply the same files. The rule
    /// reports the outer path once. The severity is warning if both apply the objects unchanged. It is error if the
    /// Kustomizations change the objects differently, for example with patches or labels.
    ///
    /// The rule also reports a Secret that a Kustomization contains and that another controller writes (warning):
    ///
    /// - An ExternalSecret replaces all data of the Secret, and Flux restores its own data at each reconciliation. With
    ///   `creationPolicy: Merge` or `CreateOrMerge`, only keys that both contain are a fault.
    /// - A SealedSecret fails, since its controller does not change a Secret that another program created. With the
    ///   annotation `sealedsecrets.bitnami.com/managed`, it replaces the data; with
    ///   `sealedsecrets.bitnami.com/patch`, only keys that both contain are a fault.
    /// - cert-manager writes the keys `tls.crt`, `tls.key` and `ca.crt` of a Certificate. Other keys are no fault.
    ///
    /// A FluxInstance beside the `gotk-components.yaml` of `flux bootstrap` is a warning too: Flux Operator and
    /// kustomize-controller replace the controllers of each other.
    ///
    /// A Secret annotated with `kustomize.toolkit.fluxcd.io/ssa: IfNotPresent` is not a fault, since Flux only creates it.
    ///
    /// ## How to fix it
    ///
    /// Let one Kustomization own the object, and let the others depend on it. Before you remove the object from a
    /// Kustomization, set `prune: false` in that Kustomization and wait for its reconciliation. Otherwise, Flux deletes
    /// the object if that Kustomization applied it last. Before you remove a Kustomization with a `deletionPolicy`,
    /// also set the `deletionPolicy` to `Orphan`.
    ///
    /// If several Kustomizations must contain the same Namespace, annotate it with
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
    /// # web/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: default
    /// data:
    ///   log: debug
    /// # api/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: default
    /// data:
    ///   log: info
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
    /// # web/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: web-settings
    ///   namespace: default
    /// data:
    ///   log: debug
    /// # api/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: api-settings
    ///   namespace: default
    /// data:
    ///   log: info
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
    "object-owned-twice", Error, "two Kustomizations, or Flux and another controller, write the same object of a cluster",
    Check::Cluster(check),
}

/// The group, kind, namespace and name of an object.
type Id<'a> = (&'a str, &'a str, &'a str, &'a str);

fn check(view: &View<'_>, found: &mut Findings) {
    // Without a root, the directories of one cluster are unknown: staging and production may be side by side.
    if !view.is_whole() {
        return;
    }
    found.extend(twice_written(RULE.id, view));
    found.extend(twice_installed(RULE.id, view));
    let mut owned: BTreeMap<Id<'_>, Vec<Applied<'_>>> = BTreeMap::new();
    for (first, again) in view.duplicates() {
        // `View::duplicates` compares hashes, which may collide.
        if first.object.name() != again.object.name() || first.object.kind() != again.object.kind() {
            continue;
        }
        if [&first, &again].into_iter().any(sets_identity) {
            continue;
        }
        let owners = owned.entry(id(&first)).or_insert_with(|| vec![first]);
        owners.push(again);
    }
    // It is not certain that Flux reconciles the directory of a generated root.
    let cluster = view.receiver.cluster;
    for owners in owned.values_mut() {
        owners.retain(|owner| !cluster.is_generated(owner.by));
    }
    found.extend(owned.values().filter_map(|owners| in_two_versions(owners)));
    let nested: Vec<Option<Nested<'_>>> = owned.values().map(|owners| Nested::of(owners)).collect();
    let overlapping: BTreeSet<(usize, usize)> =
        nested.iter().flatten().filter(|nested| nested.is_of_inner_folder()).map(Nested::appliers).collect();
    // Kustomizations with overlapping directories own the same files, so the overlap is the fault.
    let mut overlaps: BTreeMap<usize, Vec<Nested<'_>>> = BTreeMap::new();
    let mut judged: Vec<(Names, WrittenPosition<'_>, Finding)> = Vec::new();
    for (owners, nested) in owned.into_values().zip(nested) {
        let nested = nested.filter(|nested| overlapping.contains(&nested.appliers()));
        match (nested, judge(owners)) {
            (Some(nested), Some(_)) => overlaps.entry(nested.outer.by.at).or_default().push(nested),
            (None, Some((owners, object, finding))) => judged.push((owners, written_position(object), finding)),
            (_, None) => {}
        }
    }
    found.extend(overlaps.into_values().filter_map(|nested| overlap(RULE.id, view, &nested)));
    // If the objects of one manifest have different owners, the manifest is the cause, such as that of a component.
    // Otherwise, the group of owners is the cause.
    let mut owners_of: BTreeMap<WrittenPosition<'_>, BTreeSet<&Names>> = BTreeMap::new();
    for (owners, written, _) in &judged {
        owners_of.entry(*written).or_default().insert(owners);
    }
    let shared = owners_of.into_iter().filter(|(_, all)| all.len() > 1).map(|(written, _)| written);
    let shared: BTreeSet<WrittenPosition<'_>> = shared.collect();
    for (owners, written, finding) in judged {
        found.push(if shared.contains(&written) {
            let (_, file, at) = written;
            let summary = format!(" objects of `{file}` are each applied by several Kustomizations");
            finding.caused_by(format!("{file}:{at}"), "", summary)
        } else {
            let differ = if finding.severity == Severity::Error { WITH_DIFFERENCE } else { "" };
            let summary = format!(" objects are applied by {}{differ}", in_words(&owners));
            finding.caused_by(owners.join(" "), "", summary)
        });
    }
}

/// Returns whether an applier sets a variable in the identity of an object to a value that is not known. Another applier
/// may set the variable to another value.
fn sets_identity(applied: &Applied<'_>) -> bool {
    let object = applied.object;
    let texts = [object.name(), object.namespace().unwrap_or_default()];
    let Some(own) = applied.by.object.as_ref().filter(|_| texts.iter().any(|text| text.contains("${"))) else {
        return false;
    };
    let Some(values) = own.node.at_keys(&["spec", "postBuild", "substitute"]) else { return false };
    let mut starts = texts.into_iter().flat_map(|text| text.split("${").skip(1));
    starts.any(|start| {
        let end = start.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(start.len());
        start.get(..end).is_some_and(|name| values.get(name).is_some())
    })
}

/// The names of the owners of an object.
type Names = Vec<String>;

fn id<'a>(applied: &Applied<'a>) -> Id<'a> {
    let object = applied.object;
    (object.group(), object.kind(), object.namespace().unwrap_or_default(), object.name())
}

fn judge(mut owners: Vec<Applied<'_>>) -> Option<(Names, &Object, Finding)> {
    owners.retain(|owner| {
        let is_ours = matches!(owner.by.kind, ApplierKind::Kustomization | ApplierKind::ResourceSet);
        // Flux rejects a namespaced object without a namespace.
        let object = owner.object;
        let is_refused = object.namespace().is_none() && scope_of(object.group(), object.kind()) == Scope::Namespaced;
        is_ours && !owner.by.is_suspended() && owner.by.state != State::Failed && !is_refused
    });
    // `in_two_versions` reports two objects with one identity in the same build.
    owners.sort_by_key(|owner| owner.by.at);
    owners.dedup_by_key(|owner| owner.by.at);
    let settings: Vec<OwnershipSettings> =
        owners.iter().map(|owner| OwnershipSettings::read(owner.object, owner.by.kind)).collect();
    // The annotations of an object in a ResourceSet may exclude the object from every Kustomization.
    let is_sent_away = owners.iter().any(|owner| owner.by.kind == ApplierKind::ResourceSet && is_ignored(owner.object));
    let leaves_it = |(owner, setting): &(&Applied<'_>, &OwnershipSettings)| {
        setting.is_not_overwritten || (is_sent_away && owner.by.kind == ApplierKind::Kustomization)
    };
    let writers = owners.iter().zip(&settings).filter(|one| !leaves_it(one)).count();
    if writers < 2 {
        return None;
    }
    let (first, rest) = owners.split_first()?;
    let mut differences = rest.iter().filter_map(|owner| Some((owner, difference(first.object, owner.object)?)));
    let difference = differences.clone().find(|(_, found)| found.has_effect).or_else(|| differences.next());
    let has_effect = difference.as_ref().is_some_and(|(_, found)| found.has_effect);
    let has_protected = settings.iter().any(|setting| setting.is_not_pruned);
    let mut deleting = owners.iter().zip(&settings).filter(|(owner, setting)| {
        // Only an uninstallation removes Flux's own objects from the manifests.
        let is_kept = setting.is_not_pruned || (has_protected && is_installation(owner.object));
        !is_kept
    });
    let is_equal_enough = difference.is_none() || settings.iter().all(|setting| setting.is_not_pruned);
    let is_protected = is_equal_enough && deleting.clone().next().is_none();
    if is_protected && !has_effect {
        return None;
    }
    let is_pruned = deleting.any(|(owner, _)| prunes(owner.by));
    let names = owners.iter().map(|owner| owner.by.reference.to_string()).collect();
    let last = owners.last()?.object;
    Some((names, last, finding(&owners, is_pruned, difference)))
}

/// Returns whether an object belongs to the installation of Flux.
fn is_installation(object: &Object) -> bool {
    object.label("app.kubernetes.io/part-of") == Some("flux")
}

fn finding(owners: &[Applied<'_>], is_pruned: bool, difference: Option<(&Applied<'_>, Difference<'_>)>) -> Finding {
    let last = owners.last().expect("only objects with two owners are judged");
    let object = last.object.reference();
    let place = brought(last).unwrap_or_else(|| last.by.place(last.object.span()));
    let names: Names = owners.iter().map(|owner| owner.by.reference.to_string()).collect();
    let has_effect = difference.as_ref().is_some_and(|(_, found)| found.has_effect);
    let differ = if has_effect { WITH_DIFFERENCE } else { "" };
    let message = format!("{object} is applied by {}{differ}", in_words(&names));
    let consequence = match &difference {
        Some((_, found)) if found.has_effect => "each reverts the changes of the other at every interval",
        Some(_) => "each reverts the labels and annotations of the other at every interval",
        None => "as soon as the definitions differ, each reverts the changes of the other",
    };
    let deletion = if is_pruned { format!("; {}", safe_removal(owners, "the object")) } else { String::new() };
    let remedy = match different_target(owners) {
        Some(field) => format!("the objects differ in `{field}`; give one of them another name"),
        None => "let one of them own the object, and let the others depend on that one".to_owned(),
    };
    let help = format!("{remedy}: {consequence}{deletion}");
    let label = Label::new(place.clone(), format!("{} contains it here", last.by.reference));
    let mut finding = Finding::error(RULE.id, label, message).help(help).about(object);
    if !has_effect {
        finding.severity = Severity::Warning;
    }
    let position = |owner: &Applied<'_>| brought(owner).unwrap_or_else(|| owner.by.place(owner.object.span()));
    // The main position is that of the last owner.
    let further = owners.get(MAX_SHOWN..owners.len() - 1).unwrap_or_default();
    let further = further.iter().map(|owner| {
        let (at, by) = (position(owner), &owner.by.reference);
        // An output joins the labels of one position: `A contains it here, also for B`.
        let label = if at == place { by.to_string() } else { format!("{by} contains it here") };
        Label::new(at, label)
    });
    finding = finding.with_others(further.collect());
    for owner in owners.iter().take(MAX_SHOWN) {
        let here = position(owner);
        if here != place {
            finding = finding.related(here, format!("{} contains it here", owner.by.reference));
        }
        if let Some(applier) = &owner.by.object {
            let span =
                owner.by.parent_applier.as_ref().map_or_else(|| applier.span().clone(), |by| by.place(applier.span()));
            finding = finding.related(span, format!("{} applies it", owner.by.reference));
        }
    }
    if let Some((owner, difference)) = difference {
        let label = different_field(&owners[0], owner, &difference);
        finding = finding.related(label.span, label.message);
    }
    finding
}

/// The label at the field that two owners define differently.
fn different_field(first: &Applied<'_>, second: &Applied<'_>, difference: &Difference<'_>) -> Label {
    let Difference { field, node, only_in, .. } = difference;
    let owner = if *only_in == Some(Definition::First) { first } else { second };
    let text = if only_in.is_some() { "is only here" } else { "differs" };
    Label::new(owner.by.place(node.span()), format!("`{field}` {text}"))
}

/// The field that gives two Kustomizations or HelmReleases with one name different targets. Such objects share only the
/// name, and the cluster needs both.
fn different_target(owners: &[Applied<'_>]) -> Option<&'static str> {
    let (first, rest) = owners.split_first()?;
    if !is_kustomization(first.object) && !first.object.is(groups::HELM, "HelmRelease") {
        return None;
    }
    let fields: [(&str, &[&str]); 4] = [
        ("spec.path", &["spec", "path"]),
        ("spec.targetNamespace", &["spec", "targetNamespace"]),
        ("spec.kubeConfig", &["spec", "kubeConfig", "secretRef", "name"]),
        ("spec.kubeConfig", &["spec", "kubeConfig", "configMapRef", "name"]),
    ];
    let differs = |keys: &[&str]| rest.iter().any(|one| one.object.text_at(keys) != first.object.text_at(keys));
    fields.iter().find(|(_, keys)| differs(keys)).map(|(field, _)| *field)
}

/// The position of the entry of `spec.components` that adds an object; `None` for an object that no component adds.
fn brought(owner: &Applied<'_>) -> Option<Span> {
    let file = owner.object.node.origin.written().file().path().to_owned();
    let object = owner.by.object.as_ref()?;
    let components = object.node.at_keys(&["spec", "components"])?.items();
    let contains = |component: &&Node| {
        let folder = component.text().and_then(|path| join(&owner.by.folder, path));
        folder.is_some_and(|folder| is_inside(&file, &folder))
    };
    let span = components.iter().find(contains)?.span();
    Some(owner.by.parent_applier.as_ref().map_or_else(|| span.clone(), |by| by.place(span)))
}

/// Returns the finding for an object that one build contains in two API versions, which kustomize does not compare.
fn in_two_versions(owners: &[Applied<'_>]) -> Option<Finding> {
    let mut pairs =
        owners.iter().enumerate().flat_map(|(at, one)| owners[at + 1..].iter().map(move |other| (one, other)));
    let (first, second) = pairs.find(|(one, other)| {
        one.by.at == other.by.at
            && one.by.kind == ApplierKind::Kustomization
            && one.object.api_version() != other.object.api_version()
    })?;
    let object = second.object.reference();
    let message = format!(
        "{} contains {object} twice, as `{}` and `{}`",
        second.by.reference,
        first.object.api_version(),
        second.object.api_version()
    );
    let place = second.by.place(second.object.span());
    let found = difference(first.object, second.object).filter(|found| found.has_effect);
    let finding = match found {
        Some(difference) => {
            let label = different_field(first, second, &difference);
            Finding::error(RULE.id, place, message)
                .help(
                    "remove one of the manifests: both define one object, and each reconciliation applies the other \
                     one",
                )
                .related(label.span, label.message)
        }
        None => pedantic(RULE.id, place, message).help(
            "remove one of the manifests: both define one object, and as soon as they differ, each reconciliation \
             applies the other one",
        ),
    };
    Some(finding.related(first.by.place(first.object.span()), "the first one").about(object))
}

/// The owners, as text for a message. If there are more than three owners, the text lists the first two and the number
/// of the others.
fn in_words(owners: &[String]) -> String {
    match owners {
        [a, b] => format!("{a} and {b}"),
        [a, b, c] => format!("{a}, {b} and {c}"),
        [a, b, rest @ ..] => format!("{a}, {b} and {} others", rest.len()),
        [one] => one.clone(),
        [] => String::new(),
    }
}
