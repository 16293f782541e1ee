//! Roots: the objects with which a user bootstraps a cluster, and from which Flux reaches all others.
//!
//! A root is a FluxInstance, the release of a chart that creates one, or the `gotk-sync.yaml` of `flux bootstrap`. It
//! is read from the build of its directory, since clusters often patch a shared one. A repository without these may
//! have a source and a Kustomization that applies the directory of its own file: a user applied them as well.

use crate::kube::groups;
use std::collections::{BTreeMap, BTreeSet};

use super::deployments::{controller_in, patched_by};
use super::includers::Includers;
use super::installation::SYNC_FILE;
use super::instance_chart::{instance, instance_of, sync_of};
use super::kustomizations::KustomizationFile;
use crate::base::finding::Finding;
use crate::flux::classify::objects;
use crate::flux::object::kinds::{is_kustomization, is_source};
use crate::flux::object::kustomization_path::{below, clamp};
use crate::flux::object::synthetic_node::{map, text};
use crate::flux::source::reference::SourceRef;
use crate::kube::{Object, ObjectId};
use crate::kustomize::Builder;
use crate::text::{File, Tree, folder_of, is_inside};
use crate::yaml::{Name, Node};

/// The bootstrap of a cluster.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    /// The name of the cluster.
    pub(crate) name: Name,
    /// The objects of the bootstrap: a FluxInstance, or a source and a Kustomization. The object that creates the root
    /// is the last one.
    pub(crate) objects: Vec<Object>,
    /// The findings of the build that contains them.
    pub(crate) findings: Vec<Finding>,
    /// The directory of the tree that is the root of the synced source; `None` if it is not in the tree.
    pub(crate) prefix: Option<String>,
    /// The Deployment of kustomize-controller, if the file that installs Flux is missing.
    pub(crate) controller: Option<Object>,
    /// Whether the synced path exists.
    pub(crate) path_exists: bool,
}

impl Root {
    /// The source that it syncs, if that is the repository itself.
    pub(crate) fn own_source(&self) -> Option<SourceRef> {
        let last = self.objects.last().filter(|_| self.path_exists)?;
        if !last.is(groups::FLUX_OPERATOR, "FluxInstance") {
            return SourceRef::of_kustomization(last);
        }
        let namespace = last.namespace().unwrap_or(groups::FLUX_NAMESPACE);
        let sync_field = |key: &str| last.text_at(&["spec", "sync", key]).filter(|text| !text.is_empty());
        let (kind, name) = (sync_field("kind").unwrap_or("GitRepository"), sync_field("name").unwrap_or(namespace));
        Some(SourceRef { kind: kind.into(), namespace: namespace.into(), name: name.into() })
    }

    /// The source of its Kustomization, if it is part of the bootstrap.
    pub(crate) fn source(&self) -> Option<&Object> {
        let sync = self.objects.last().filter(|object| is_kustomization(object))?;
        self.objects.iter().find(|source| is_source(source) && is_of(sync, source))
    }
}

/// The kind of a candidate, the most reliable one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CandidateKind {
    Instance,
    Sync,
    Chart,
    Values,
    ToCome,
}

struct RootCandidate {
    kind: CandidateKind,
    file: File,
    /// The objects of the bootstrap; the object that creates the root is the last one.
    objects: Vec<Object>,
    findings: Vec<Finding>,
    controller: Option<Object>,
    path: String,
}

impl RootCandidate {
    fn new(kind: CandidateKind, file: &File, objects: Vec<Object>, path: &str) -> Self {
        Self { kind, file: file.clone(), objects, findings: Vec::new(), controller: None, path: path.to_string() }
    }
}

/// The roots of a tree, sorted by name.
pub(crate) fn roots(builder: &Builder, kustomizations: &[KustomizationFile]) -> Vec<Root> {
    let files = builder.files();
    let mut candidates = Vec::new();
    let includers = Includers::new(files.tree(), kustomizations);
    let mut tops: BTreeSet<String> = BTreeSet::new();
    for (path, parsed) in files.parsed() {
        let is_sync = path.rsplit('/').next() == Some(SYNC_FILE);
        let holds = is_sync || objects(parsed).any(|object| makes_instance(&object));
        if holds {
            let above = includers.tops(path);
            if above.is_empty() {
                candidates
                    .extend(take(objects(parsed).collect(), Vec::new(), |object| is_sync || stands_in_sync(object)));
            }
            tops.extend(above);
        }
        if is_sync && parsed.documents.iter().all(|document| document.node.is_null()) {
            candidates.extend(to_come(&parsed.file, path));
        }
        candidates.extend(values(parsed.documents.iter().map(|document| &document.node)));
    }
    for folder in &tops {
        let build = builder.build(folder);
        candidates.extend(take(build.objects, build.findings, stands_in_sync));
    }
    if candidates.is_empty() {
        candidates.extend(by_hand(builder, &includers));
    }
    candidates.extend(includers.absent.iter().filter_map(|(path, place)| to_come(place.file(), path)));
    for candidate in &mut candidates {
        let folder = folder_of(candidate.file.path());
        if candidate.kind == CandidateKind::ToCome {
            // The kustomization with the patches of the future file exists already.
            candidate.objects = patched_by(builder, folder, std::mem::take(&mut candidate.objects));
        }
        if matches!(candidate.kind, CandidateKind::Sync | CandidateKind::ToCome)
            && includers.without_components.contains(folder)
        {
            candidate.controller = controller_in(builder, folder);
        }
    }
    settle(files.tree(), candidates)
}

/// Returns whether an object is a FluxInstance, or the release of a chart that creates one.
fn makes_instance(object: &Object) -> bool {
    object.is(groups::FLUX_OPERATOR, "FluxInstance")
        || (object.is(groups::HELM, "HelmRelease") && sync_of(object).is_some())
}

/// Returns whether `flux bootstrap` wrote an object, according to the name of its file.
fn stands_in_sync(object: &Object) -> bool {
    object.node.origin.written().file().path().rsplit('/').next() == Some(SYNC_FILE)
}

/// Whether a Kustomization applies the part of the repository that contains its own file. A Kustomization of the
/// repository root does not count: a tenant's may do so with another repository.
fn applies_itself(object: &Object) -> bool {
    let path = object.text_at(&["spec", "path"]).map(clamp).unwrap_or_default();
    is_kustomization(object) && !path.is_empty() && is_inside(object.node.origin.written().file().path(), &path)
}

/// Roots that were written without the tools of Flux: a source and a Kustomization in one file.
fn by_hand(builder: &Builder, includers: &Includers) -> Vec<RootCandidate> {
    let makes_root = |objects: &[Object]| {
        let mut syncs = objects.iter().filter(|object| applies_itself(object));
        syncs.any(|sync| objects.iter().any(|source| is_source(source) && is_of(sync, source)))
    };
    let is_sync = |object: &Object| !is_kustomization(object) || applies_itself(object);
    let mut candidates = Vec::new();
    let mut tops: BTreeSet<String> = BTreeSet::new();
    for (path, parsed) in builder.files().parsed() {
        let objects: Vec<Object> = objects(parsed).collect();
        if !makes_root(&objects) {
            continue;
        }
        let above = includers.tops(path);
        if above.is_empty() {
            candidates.extend(take(objects, Vec::new(), is_sync));
        }
        tops.extend(above);
    }
    for folder in &tops {
        let build = builder.build(folder);
        candidates.extend(take(build.objects, build.findings, is_sync));
    }
    candidates
}

/// The candidates among the objects of one build or file. `is_sync` selects the objects of the bootstrap.
fn take(objects: Vec<Object>, findings: Vec<Finding>, is_sync: impl Fn(&Object) -> bool) -> Vec<RootCandidate> {
    let mut candidates = Vec::new();
    for object in &objects {
        let file = object.node.origin.written().file();
        if object.is(groups::FLUX_OPERATOR, "FluxInstance") {
            if let Some(path) = object.text_at(&["spec", "sync", "path"]) {
                candidates.push(RootCandidate::new(CandidateKind::Instance, file, vec![object.clone()], path));
            }
        } else if let Some(instance) = sync_of(object).and_then(|_| instance_of(object)) {
            let path = instance.text_at(&["spec", "sync", "path"]).unwrap_or_default().to_string();
            candidates.push(RootCandidate::new(CandidateKind::Chart, file, vec![instance], &path));
        } else if is_kustomization(object) && is_sync(object) {
            let sources = objects.iter().filter(|source| is_source(source) && is_sync(source) && is_of(object, source));
            let path = object.text_at(&["spec", "path"]).unwrap_or("./");
            let objects = sources.chain([object]).cloned().collect();
            candidates.push(RootCandidate::new(CandidateKind::Sync, file, objects, path));
        }
    }
    // The objects beside a single root are applied together with it. Those beside several roots are not.
    if let [one] = candidates.as_mut_slice() {
        let own = std::mem::take(&mut one.objects);
        let known: Vec<ObjectId<'_>> = own.iter().map(|object| ObjectId::of(object).settled()).collect();
        let is_new = |object: &Object| !known.contains(&ObjectId::of(object).settled());
        let mut all: Vec<Object> = objects.into_iter().filter(is_new).collect();
        all.extend(own);
        one.objects = all;
        one.findings = findings;
    }
    candidates
}

/// Returns whether a source is the one that a Kustomization of the same namespace references.
fn is_of(kustomization: &Object, source: &Object) -> bool {
    let source_field = |key: &str| kustomization.text_at(&["spec", "sourceRef", key]);
    source_field("name") == Some(source.name()) && source_field("kind") == Some(source.kind())
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

/// The root that `flux bootstrap` will write into a file that is empty or missing. The file's directory has the name of
/// Flux's namespace and is in the synced directory.
fn to_come(file: &File, path: &str) -> Option<RootCandidate> {
    let folder = folder_of(path);
    let namespace = folder.rsplit('/').next().filter(|name| !name.is_empty())?;
    let place = file.first_line();
    let at = |text_: &str| text(text_, &place);
    let metadata = || map(vec![("name", at(namespace)), ("namespace", at(namespace))], &place);
    let synced = folder_of(folder);
    let reference = map(vec![("kind", at("GitRepository")), ("name", at(namespace))], &place);
    let spec = vec![
        ("interval", at("10m0s")),
        ("path", at(&format!("./{synced}"))),
        ("prune", at("true")),
        ("sourceRef", reference),
    ];
    let object = |version: &str, kind: &str, spec: Node| {
        let node = vec![("apiVersion", at(version)), ("kind", at(kind)), ("metadata", metadata()), ("spec", spec)];
        Object { node: map(node, &place) }
    };
    let source = map(vec![("interval", at("1m0s"))], &place);
    let objects = vec![
        object("source.toolkit.fluxcd.io/v1", "GitRepository", source),
        object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", map(spec, &place)),
    ];
    Some(RootCandidate::new(CandidateKind::ToCome, file, objects, synced))
}

/// Resolves the synced directories of candidates, keeps one candidate for each, and names the roots.
fn settle(tree: &Tree, mut candidates: Vec<RootCandidate>) -> Vec<Root> {
    candidates.sort_by(|a, b| (a.kind, a.file.path()).cmp(&(b.kind, b.file.path())));
    let mut found: BTreeMap<(Option<String>, String), RootCandidate> = BTreeMap::new();
    for candidate in candidates {
        let path = clamp(&candidate.path);
        let prefix = prefix(tree, candidate.file.path(), &path);
        // `flux bootstrap` writes its file into the synced repository, so the path is missing there.
        let prefix = prefix.or_else(|| (candidate.kind == CandidateKind::Sync).then(String::new));
        // Roots that sync another repository differ by their own files.
        let exists = path_exists(tree, prefix.as_deref(), &path);
        let of = if exists { path } else { below(&path, candidate.file.path()) };
        found.entry((prefix, of)).or_insert(candidate);
    }
    let folders = found.iter().map(|((prefix, _), root)| named_after(tree, prefix.as_deref(), root));
    let folders: Vec<String> = folders.collect();
    let names = shortest(&folders);
    let roots = found.into_iter().zip(names).map(|(((prefix, _), candidate), name)| Root {
        path_exists: path_exists(tree, prefix.as_deref(), &candidate.path),
        name: name.into(),
        objects: candidate.objects,
        findings: candidate.findings,
        controller: candidate.controller,
        prefix,
    });
    let mut roots: Vec<Root> = roots.collect();
    roots.sort_by(|a, b| a.name.cmp(&b.name));
    roots
}

/// The directory of the tree below which the path of a source exists: the tree itself, or a part that is an artifact or
/// a separate repository.
fn prefix(tree: &Tree, file: &str, path: &str) -> Option<String> {
    let mut folders: Vec<&str> = Vec::new();
    let mut folder = folder_of(file);
    loop {
        folders.push(folder);
        if folder.is_empty() {
            break;
        }
        folder = folder_of(folder);
    }
    folders.reverse();
    // The synced directory nearly always contains the bootstrap itself; if not, the outermost directory counts.
    let own = folders.iter().find(|prefix| is_inside(file, &below(prefix, path)));
    let own = own.or_else(|| folders.iter().find(|prefix| tree.has_folder(&below(prefix, path))));
    own.map(ToString::to_string)
}

fn path_exists(tree: &Tree, prefix: Option<&str>, path: &str) -> bool {
    prefix.is_some_and(|prefix| tree.has_folder(&below(prefix, &clamp(path))))
}

fn named_after(tree: &Tree, prefix: Option<&str>, root: &RootCandidate) -> String {
    let path = below(prefix.unwrap_or_default(), &clamp(&root.path));
    let from_file = matches!(root.kind, CandidateKind::Sync | CandidateKind::ToCome) && !tree.has_folder(&path);
    let whole = if from_file { folder_of(root.file.path()).to_string() } else { path };
    // The directory of Flux's namespace does not name the cluster.
    let trimmed = whole.strip_suffix("/flux-system").map_or(whole.clone(), ToString::to_string);
    if trimmed.is_empty() { "cluster".to_string() } else { trimmed }
}

/// The shortest unique suffixes of paths.
fn shortest(paths: &[String]) -> Vec<String> {
    let end = |path: &str, count: usize| {
        let segments: Vec<&str> = path.split('/').collect();
        segments[segments.len().saturating_sub(count)..].join("/")
    };
    let mut counts: Vec<usize> = vec![1; paths.len()];
    loop {
        let ends: Vec<String> = paths.iter().zip(&counts).map(|(path, count)| end(path, *count)).collect();
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for name in &ends {
            *seen.entry(name).or_default() += 1;
        }
        let mut grew = false;
        for ((name, count), path) in ends.iter().zip(&mut counts).zip(paths) {
            if seen.get(name.as_str()).is_some_and(|times| *times > 1) && name != path {
                *count += 1;
                grew = true;
            }
        }
        if !grew {
            return ends;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_shortest_unique_suffixes() {
        let paths = ["clusters/eu/prod", "clusters/us/prod", "clusters/staging", "prod"].map(ToString::to_string);
        assert_eq!(shortest(&paths), ["eu/prod", "us/prod", "staging", "prod"]);
    }
}
