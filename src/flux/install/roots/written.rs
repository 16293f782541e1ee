//! Roots that the repository contains: FluxInstances, releases of charts that create a FluxInstance, and the
//! `gotk-sync.yaml` of `flux bootstrap`.
//!
//! The search reads a root from the build of its directory, since clusters often patch a shared root.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::candidate::{CandidateKind, RootCandidate, best_prefix, prefixes};
use super::names::is_part;
use super::overlaps::is_own_folder;
use super::root::is_of;
use super::synthetic_sync::{bootstrap_source, sync_of};
use crate::base::finding::{Finding, Severity};
use crate::flux::classify::objects;
use crate::flux::install::deployments::{controller_in, patched_by};
use crate::flux::install::includers::Includers;
use crate::flux::install::installation::COMPONENTS_FILE;
use crate::flux::install::instance_chart::{self, instance, instance_of};
use crate::flux::object::kinds::{is_exported, is_kustomization, is_source};
use crate::flux::object::kustomization_path::{below, clamp};
use crate::flux::object::synthetic_node::text;
use crate::flux::source::reference::SourceRef;
use crate::kube::groups::SYNC_FILE;
use crate::kube::{Object, ObjectId, groups};
use crate::kustomize::{Builder, FAILED_BUILD};
use crate::text::{File, Tree, folder_of, is_inside};
use crate::yaml::{Embedded, Node, Parsed};

/// The roots that the repository contains.
pub(super) fn written(builder: &Builder, includers: &Includers) -> Vec<RootCandidate> {
    let mut candidates = Vec::new();
    let mut tops: BTreeSet<String> = BTreeSet::new();
    let files: Vec<(&str, &Arc<Parsed>)> = builder.files().parsed().collect();
    let files: Vec<(&str, &Arc<Parsed>)> =
        files.into_par_iter().filter(|(path, parsed)| is_sync_file(path) || may_have_root(parsed)).collect();
    for (path, parsed) in files {
        let is_sync = is_sync_file(path);
        let holds = is_sync || objects(parsed).any(|object| makes_instance(&object) && !is_exported(&object));
        if holds {
            let mut above = includers.tops(path);
            let own = || {
                let objects = objects(parsed).filter(|object| !is_exported(object)).collect();
                take(objects, Vec::new(), |object| is_sync || stands_in_sync(object))
            };
            if above.is_empty() {
                candidates.extend(own());
            } else if is_sync {
                let own = own();
                let before = above.len();
                above.retain(|top| !own.iter().any(|one| applies_overlay(builder.files().tree(), one, top)));
                let is_overlaid = above.len() < before;
                if above.iter().all(|top| top != folder_of(path)) {
                    if is_overlaid {
                        candidates.extend(own);
                    } else if own.iter().any(|one| is_of_own_cluster(builder, one, &above)) {
                        above.insert(folder_of(path).to_owned());
                    }
                }
            }
            tops.extend(above);
        }
        let is_empty = || parsed.documents.iter().all(|document| document.node.is_null());
        if is_sync && is_empty() && !explains_absence(builder, path) {
            candidates.extend(to_come(builder, &parsed.file, path));
        }
        candidates.extend(values(parsed.documents.iter().map(|document| &document.node)));
    }
    for folder in &tops {
        let build = builder.build(folder);
        let found = take(build.objects, build.findings, stands_in_sync);
        candidates.extend(found.into_iter().map(|candidate| RootCandidate { home: folder.clone(), ..candidate }));
    }
    remove_includers(&mut candidates);
    let absent = includers.absent.iter().filter(|(path, _)| is_of_cluster(builder, folder_of(path)));
    candidates.extend(absent.filter_map(|(path, place)| to_come(builder, place.file(), path)));
    for candidate in &mut candidates {
        restore_source(builder, candidate);
        add_source_beside(builder, candidate);
        let folder = folder_of(candidate.file.path());
        if candidate.kind == CandidateKind::ToCome {
            // A kustomization may already patch the future file.
            candidate.objects = patched_by(builder, folder, std::mem::take(&mut candidate.objects));
        }
        if candidate.is_bootstrap() && includers.without_components.contains(folder) {
            candidate.controller = controller_in(builder, folder);
        }
    }
    candidates
}

/// The FluxInstances that a `ClusterResourceSet` of Cluster API applies to other clusters. Each value of a ConfigMap of the set
/// contains manifests.
pub(super) fn of_resource_sets(builder: &Builder) -> Vec<RootCandidate> {
    let with_text = |text: &'static str| {
        let files = builder.files().parsed().filter(move |(_, parsed)| parsed.file.text().contains(text));
        files.flat_map(|(_, parsed)| objects(parsed))
    };
    let sets =
        with_text("ClusterResourceSet").filter(|object| object.is("addons.cluster.x-k8s.io", "ClusterResourceSet"));
    let applied: BTreeSet<(Option<String>, String)> = sets
        .flat_map(|set| {
            let resources = set.node.at_keys(&["spec", "resources"]).map_or(&[][..], Node::items);
            let maps = resources.iter().filter(|one| one.get("kind").and_then(Node::text) == Some("ConfigMap"));
            let names = maps.filter_map(|one| one.get("name").and_then(Node::text));
            names.map(|name| (set.namespace().map(str::to_owned), name.to_owned())).collect::<Vec<_>>()
        })
        .collect();
    if applied.is_empty() {
        return Vec::new();
    }
    let is_applied =
        |object: &Object| applied.contains(&(object.namespace().map(str::to_owned), object.name().to_owned()));
    let maps = with_text("FluxInstance").filter(|object| object.is("", "ConfigMap") && is_applied(object));
    maps.flat_map(|map| {
        let values = map.node.get("data").map_or(&[][..], Node::entries);
        let parsed = values.iter().map(|value| Embedded::new(&value.node).parse());
        parsed.flat_map(|parsed| take(objects(&parsed).collect(), Vec::new(), |_| false)).collect::<Vec<_>>()
    })
    .map(|one| {
        // The file belongs to the management cluster.
        let home = one.synced(builder.files().tree()).unwrap_or_else(|| clamp(&one.path));
        RootCandidate { home, ..one }
    })
    .collect()
}

/// Returns whether comments fill both files of `flux bootstrap`, so that they explain why the repository does not have them,
/// such as another program that installs Flux. Users create empty files before `flux bootstrap`.
fn explains_absence(builder: &Builder, path: &str) -> bool {
    let is_comment = |path: &str| {
        let Some(parsed) = builder.files().get(path) else { return false };
        let is_empty = parsed.documents.iter().all(|document| document.node.is_null());
        is_empty && parsed.file.text().contains('#')
    };
    is_comment(path) && is_comment(&below(folder_of(path), COMPONENTS_FILE))
}

fn is_sync_file(path: &str) -> bool {
    path.rsplit('/').next() == Some(SYNC_FILE)
}

/// Returns whether a file has a FluxInstance, or the values of a chart that creates one.
fn may_have_root(parsed: &Parsed) -> bool {
    let nodes = parsed.documents.iter().map(|document| &document.node);
    objects(parsed).any(|object| makes_instance(&object)) || !values(nodes).is_empty()
}

/// Undoes a patch of the cluster's directory that gives the Kustomization of `gotk-sync.yaml` another source.
///
/// A user applies the directory of the bootstrap, without that patch, and its source is the repository.
fn restore_source(builder: &Builder, candidate: &mut RootCandidate) {
    let Some(sync) = candidate.objects.last().filter(|_| candidate.kind == CandidateKind::Sync) else { return };
    let reference = |object: &Object| {
        let field = |key: &str| object.text_at(&["spec", "sourceRef", key]).map(ToString::to_string);
        (field("kind"), field("name"))
    };
    let Some(parsed) = builder.files().get(candidate.file.path()) else { return };
    let is_same = |object: &Object| is_kustomization(object) && ObjectId::of(object) == ObjectId::of(sync);
    let written = objects(&parsed).find(is_same).filter(|written| reference(written) != reference(sync));
    let has_source =
        |written: &Object| candidate.objects.iter().any(|source| is_source(source) && is_of(written, source));
    let Some(written) = written.filter(has_source) else { return };
    let (_, name) = reference(sync);
    let other = sync.text_at(&["spec", "sourceRef", "kind"]).zip(name).map(|(kind, name)| format!("{kind} `{name}`"));
    let message = format!("a patch replaces the source of {}: {}", sync.reference(), other.unwrap_or_default());
    let help = "exclude this Kustomization from the patch: after the first reconciliation, Flux reads the directory of \
                the cluster from the other source, and stops if this source does not contain it";
    let place = sync.node.at_keys(&["spec", "sourceRef", "name"]).unwrap_or(&sync.node).span().clone();
    let mut finding = Finding::error(FAILED_BUILD, place, message).help(help).about(sync.reference());
    finding.severity = Severity::Warning;
    candidate.findings.push(finding);
    candidate.keeps_source = true;
    candidate.path = written.text_at(&["spec", "path"]).unwrap_or("./").to_string();
    if let Some(last) = candidate.objects.last_mut() {
        *last = written;
    }
}

/// Adds the source of a `gotk-sync.yaml` that another file of the directory defines. A user applies both files.
fn add_source_beside(builder: &Builder, candidate: &mut RootCandidate) {
    let Some(sync) = candidate.objects.last().filter(|_| candidate.kind == CandidateKind::Sync).cloned() else {
        return;
    };
    let is_own = |object: &Object| is_source(object) && is_of(&sync, object);
    if candidate.objects.iter().any(is_own) {
        return;
    }
    let folder = folder_of(candidate.file.path());
    let tree = builder.files().tree();
    let beside = tree.under(folder).filter(|path| folder_of(path) == folder);
    let found = beside.filter_map(|path| builder.files().get(path)).find_map(|parsed| objects(&parsed).find(is_own));
    candidate.objects.splice(0..0, found);
}

/// Returns whether an object is a FluxInstance, or the release of a chart that creates a FluxInstance.
fn makes_instance(object: &Object) -> bool {
    object.is(groups::FLUX_OPERATOR, "FluxInstance")
        || (object.is(groups::HELM, "HelmRelease") && instance_chart::sync_of(object).is_some())
}

/// Returns whether `flux bootstrap` wrote an object, according to the name of its file.
fn stands_in_sync(object: &Object) -> bool {
    object.node.origin.written().file().path().rsplit('/').next() == Some(SYNC_FILE)
}

/// The candidates among the objects of one build or file. `is_sync` selects the objects that `flux bootstrap` wrote.
pub(super) fn take(
    objects: Vec<Object>,
    findings: Vec<Finding>,
    is_sync: impl Fn(&Object) -> bool,
) -> Vec<RootCandidate> {
    let mut candidates = Vec::new();
    for object in &objects {
        let file = object.node.origin.written().file();
        if object.is(groups::FLUX_OPERATOR, "FluxInstance") {
            if let Some(path) = object.text_at(&["spec", "sync", "path"]) {
                candidates.push(RootCandidate::new(CandidateKind::Instance, file, vec![object.clone()], path));
            }
        } else if let Some(instance) = instance_chart::sync_of(object).and_then(|_| instance_of(object)) {
            let path = instance.text_at(&["spec", "sync", "path"]).unwrap_or_default().to_string();
            candidates.push(RootCandidate::new(CandidateKind::Chart, file, vec![instance], &path));
        } else if is_kustomization(object) && is_sync(object) {
            let sources = objects.iter().filter(|source| is_source(source) && is_sync(source) && is_of(object, source));
            let path = object.text_at(&["spec", "path"]).unwrap_or("./");
            let objects = sources.chain([object]).cloned().collect();
            candidates.push(RootCandidate::new(CandidateKind::Sync, file, objects, path));
        }
    }
    if candidates.iter().any(applies_itself) {
        // This Kustomization applies the others, which are in the same file.
        candidates.retain(applies_itself);
        // The path of a whole source may belong to another repository.
        let is_part = |one: &RootCandidate| !clamp(&one.path).is_empty();
        if candidates.iter().any(is_part) {
            candidates.retain(is_part);
        }
    }
    merge(&mut candidates);
    // A user applies the objects beside a single root together with the root, unlike objects beside several roots.
    if let [one] = candidates.as_mut_slice() {
        let own = std::mem::take(&mut one.objects);
        let known: Vec<ObjectId<'_>> = own.iter().map(|object| ObjectId::of(object).settled()).collect();
        let is_new = |object: &Object| !known.contains(&ObjectId::of(object).settled());
        let mut all: Vec<Object> = objects.into_iter().filter(is_new).collect();
        all.extend(own);
        one.objects = all;
        one.findings = findings.into_iter().map(of_user).collect();
    }
    candidates
}

/// The finding of a build that only a user applies. It does not affect the cluster until a user repeats the bootstrap. If
/// Flux builds the same directory, that build reports an error.
fn of_user(mut finding: Finding) -> Finding {
    if finding.severity == Severity::Error {
        finding.severity = Severity::Warning;
        let help = finding.help.take().map(|help| format!("; {help}")).unwrap_or_default();
        return finding
            .help(format!("Flux does not build this directory, but a new bootstrap of the cluster does{help}"));
    }
    finding
}

/// Returns whether a `gotk-sync.yaml` syncs the directory of its own cluster, which contains an overlay of the file. Flux
/// applies the overlay together with the file, so the overlay does not replace the file.
fn applies_overlay(tree: &Tree, one: &RootCandidate, overlay: &str) -> bool {
    let is_inner = |folder: &String| is_inside(overlay, folder) && overlay != folder && is_own_folder(one, folder);
    overlay != one.home && one.synced(tree).as_ref().is_some_and(is_inner)
}

/// Returns whether a `gotk-sync.yaml` syncs the directory of its own cluster, although the directory of another cluster includes
/// the file and patches the path: the directory contains further Kustomizations, and none of the directories that include
/// the file.
fn is_of_own_cluster(builder: &Builder, one: &RootCandidate, above: &BTreeSet<String>) -> bool {
    let Some(synced) = one.synced(builder.files().tree()).filter(|_| applies_itself(one)) else { return false };
    if synced.is_empty() || synced.split('/').any(is_part) || above.iter().any(|top| is_inside(top, &synced)) {
        return false;
    }
    let files = builder.files().tree().under(&synced).filter(|path| !is_inside(path, &one.home));
    let mut parsed = files.filter_map(|path| builder.files().get(path));
    parsed.any(|parsed| objects(&parsed).any(|object| is_kustomization(&object)))
}

/// Removes the directories that include the `gotk-sync.yaml` of a cluster without a patch of its path, such as a directory for
/// a validation in CI.
fn remove_includers(candidates: &mut Vec<RootCandidate>) {
    let is_own = |one: &RootCandidate| one.home == folder_of(one.file.path());
    let sync = |one: &RootCandidate| (one.file.path().to_owned(), clamp(&one.path));
    let own: BTreeSet<(String, String)> = candidates.iter().filter(|one| is_own(one)).map(sync).collect();
    candidates.retain(|one| one.kind != CandidateKind::Sync || is_own(one) || !own.contains(&sync(one)));
}

/// Keeps the first of several Kustomizations of one `gotk-sync.yaml`. A user applies the file to one cluster, so they are
/// parts of one bootstrap.
fn merge(candidates: &mut Vec<RootCandidate>) {
    let Some(first) = candidates.first().map(|one| one.file.path().to_string()) else { return };
    if candidates.len() > 1 && candidates.iter().all(|one| one.kind == CandidateKind::Sync && one.file.path() == first)
    {
        candidates.truncate(1);
        candidates[0].has_parts = true;
    }
}

/// Returns whether the synced path of a `gotk-sync.yaml` contains the file.
fn applies_itself(one: &RootCandidate) -> bool {
    let (home, path) = (folder_of(one.file.path()), clamp(&one.path));
    one.kind == CandidateKind::Sync && prefixes(home).any(|prefix| is_inside(home, &below(prefix, &path)))
}

/// Candidates in files of values for the chart `flux-instance`, recognized by their structure.
fn values<'a>(documents: impl Iterator<Item = &'a Node>) -> Vec<RootCandidate> {
    let mut found = Vec::new();
    for document in documents {
        let Some(spec) = document.get("instance").filter(|_| document.get("kind").is_none()) else { continue };
        let sync_field = |key: &str| spec.at_keys(&["sync", key]).and_then(Node::text);
        let (Some(path), Some(_), Some(_)) = (sync_field("path"), sync_field("kind"), sync_field("url")) else {
            continue;
        };
        found.push(RootCandidate::new(CandidateKind::Values, spec.span().file(), vec![instance(spec, None)], path));
    }
    found
}

/// Returns whether `flux bootstrap` will write a missing `gotk-sync.yaml` to a directory: the directory above, which the file then
/// syncs, contains further objects, or the directory contains further Kustomizations. If the directory does not have the usual
/// name, there are Kustomizations beside it.
///
/// Otherwise, another program passes the kustomization to `flux bootstrap`, such as Terraform with `kustomization_override`.
fn is_of_cluster(builder: &Builder, folder: &str) -> bool {
    let (files, synced) = (builder.files(), folder_of(folder));
    let is_usual = folder.rsplit('/').next() == Some(groups::FLUX_NAMESPACE);
    let mut found = files.tree().under(synced).filter_map(|path| Some((path, files.get(path)?)));
    found.any(|(path, parsed)| {
        let is_own = is_inside(path, folder);
        let counts = if is_own { is_usual } else { is_usual || folder_of(path) == synced };
        counts && objects(&parsed).any(|object| is_usual && !is_own || is_kustomization(&object))
    })
}

/// The root that `flux bootstrap` will write to an empty or missing file, in the synced directory.
fn to_come(builder: &Builder, file: &File, path: &str) -> Option<RootCandidate> {
    let folder = folder_of(path);
    let name = folder.rsplit('/').next().filter(|name| !name.is_empty())?;
    let place = file.first_line();
    let synced = folder_of(folder);
    // `flux bootstrap` gives its directory the name of Flux's namespace. Other programs may choose another name.
    let has_kustomizations = || {
        let mut files = builder.files().parsed().filter(|(path, _)| is_inside(path, synced));
        files.any(|(_, parsed)| {
            objects(parsed).any(|object| is_kustomization(&object) && object.namespace() == Some(name))
        })
    };
    let namespace = if has_kustomizations() { name } else { groups::FLUX_NAMESPACE };
    let source = bootstrap_source(namespace);
    let prefix = prefix_to_come(builder, synced, &source);
    let path = synced.get(prefix.len()..).unwrap_or_default().trim_start_matches('/');
    let objects = sync_of(&source, namespace, &text(&format!("./{path}"), &place), &place);
    let found = RootCandidate::new(CandidateKind::ToCome, file, objects, path);
    Some(RootCandidate { prefix: Some(prefix).filter(|prefix| !prefix.is_empty()), ..found })
}

/// The directory that will be the root of the source of a future bootstrap. Usually it is the tree itself. A user may also copy
/// a part of the tree to a repository: the part that contains the paths of all Kustomizations.
fn prefix_to_come(builder: &Builder, synced: &str, source: &SourceRef) -> String {
    let files = builder.files().tree().under(synced).filter_map(|path| builder.files().get(path));
    let mut paths = Vec::new();
    for parsed in files {
        let own = objects(&parsed).filter(|object| SourceRef::of_kustomization(object).as_ref() == Some(source));
        let own = own.filter_map(|object| object.text_at(&["spec", "path"]).map(clamp));
        paths.extend(own.filter(|path| !path.is_empty() && !path.contains('$')));
    }
    let (prefix, count) = best_prefix(builder.files().tree(), synced, &paths);
    if count == paths.len() { prefix } else { String::new() }
}
