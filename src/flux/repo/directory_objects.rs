//! The objects of all directories and files, regardless of clusters.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash as _, Hasher as _};

use arcstr::ArcStr;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::absent_files::is_to_come;
use super::named_paths::NamedPaths;
use super::skipped::Skipped;
use crate::base::finding::{Finding, Severity};
use crate::base::set_aside::{self, is_set_aside};
use crate::flux::build::sops::with_unknown_texts;
use crate::flux::classify::{SkipReason, claims_to_be_manifest, is_of_scaffold, is_template, objects};
use crate::flux::engine::unmatched_patches::PatchTally;
use crate::flux::engine::waves::AT_ONCE;
use crate::flux::install::kustomizations::is_kustomization_name;
use crate::flux::model::built_object::Built;
use crate::flux::model::completion::{Completion, WrittenKustomization, WrittenKustomizations};
use crate::kube::Object;
use crate::kustomize::{Build, Builder, Files, Omission, omissions_by_name};
use crate::text::{Index, folder_of};
use crate::yaml::{DUPLICATE_KEY, SECOND_OBJECT};

/// The objects of all directories and files, with the findings of their builds.
#[derive(Default)]
pub(super) struct DirectoryObjects {
    /// The distinct objects: as built if a kustomization includes them, as written if not.
    pub(super) objects: Vec<Built>,
    /// The objects of files that are below a kustomization but not included in it, as written.
    pub(super) aside: Vec<Object>,
    pub(super) problems: Vec<Finding>,
    pub(super) skipped: Skipped,
    /// The number of omissions of builds, by name.
    pub(super) not_done: BTreeMap<String, usize>,
}

impl DirectoryObjects {
    /// Builds every kustomization that no other kustomization includes, and the kustomizations that include each other
    /// in a cycle.
    pub(super) fn build(&mut self, builder: &Builder, named: &NamedPaths, is_rootless: bool) {
        let mut seen = Seen::default();
        let mut covered: BTreeSet<String> = BTreeSet::new();
        let buildable = || named.folders.iter().filter(|(_, component)| !**component).map(|(folder, _)| folder);
        let tops: Vec<&String> = buildable().filter(|folder| !named.included.contains(*folder)).collect();
        // If there are roots, the clusters finish the builds of the directories that they reach.
        let build_one = |folder: &String| if is_rootless { builder.build(folder) } else { builder.accumulate(folder) };
        let at_once = |some: &[&'_ String]| -> Vec<Build> { some.par_iter().map(|top| build_one(top)).collect() };
        let tops = tops.chunks(AT_ONCE).flat_map(|some| some.iter().copied().zip(at_once(some)));
        let mut patches = PatchTally::default();
        // The builds run one after the other, so that the directories of a cycle are built once.
        let rest = buildable().filter(|folder| named.included.contains(*folder)).map(|folder| (folder, None));
        for (folder, build) in tops.map(|(folder, build)| (folder, Some(build))).chain(rest) {
            if covered.contains(folder) {
                continue;
            }
            let build = build.unwrap_or_else(|| build_one(folder));
            covered.extend(build.folders);
            // A component that the build omits may set any field of any object.
            let is_final = !build.not_done.contains_key(&Omission::RemoteComponent);
            self.problems.extend(build.findings.into_iter().filter(|finding| !is_to_come(finding)));
            patches.take_folder(&build.patch_targets);
            let folder: ArcStr = folder.as_str().into();
            for (at, object) in build.objects.into_iter().enumerate() {
                let lacks_changes = build.lacks_changes.contains(&at);
                let folder = folder.clone();
                let object = Built { object, folder, completion: Completion::default(), is_final, lacks_changes };
                self.add(object, &mut seen);
            }
        }
        self.problems.extend(patches.findings());
        self.not_done = omissions_by_name(&builder.not_done());
    }

    /// Adds the objects of files that no kustomization includes. Returns the findings of invalid files that no build
    /// may read. If there are roots, a kustomization that lists a file is not enough: a cluster must build it.
    pub(super) fn add_loose_files(
        &mut self,
        files: &Files,
        named: &NamedPaths,
        applied: &BTreeSet<String>,
        is_rootless: bool,
    ) -> Vec<Finding> {
        let mut loose = Vec::new();
        let mut seen = Seen::default();
        for (path, parsed) in files.parsed() {
            let is_kustomization = named.folders.contains_key(folder_of(path)) && is_kustomization_name(path);
            let mentioned = named.included.contains(path) || named.others.contains(path);
            let text = parsed.file.text();
            let is_data = named.data.contains(path);
            let spoken_for = is_kustomization || mentioned || is_data;
            if !parsed.findings.is_empty() {
                let template = is_template(parsed);
                let is_only_data = is_data && !is_kustomization && !mentioned;
                let is_copied_template = template && is_only_data;
                // Users fill the placeholders of a template before a cluster reads the copy.
                let template = template || set_aside::is_template(path);
                let of_file = |finding: Finding| if is_only_data { of_data(finding) } else { finding };
                let is_judged =
                    spoken_for && !is_copied_template && !is_of_scaffold(parsed) && !set_aside::is_template(path);
                if is_judged && is_set_aside(path, |_| false) {
                    loose.extend(parsed.findings.iter().cloned().map(of_file));
                } else if is_judged {
                    // The builds report duplicate keys of patches, because the objects determine the consequences.
                    let is_patch = !is_kustomization && !named.included.contains(path) && named.others.contains(path);
                    let told = parsed.findings.iter().filter(|finding| !is_patch || finding.rule != DUPLICATE_KEY);
                    let told = told.cloned().map(of_file);
                    if is_rootless { self.problems.extend(told) } else { loose.extend(told) }
                } else if parsed.is_cut || (!template && claims_to_be_manifest(text)) {
                    loose.extend(parsed.findings.iter().cloned());
                } else {
                    self.skipped.count(if template { SkipReason::Template } else { SkipReason::NotYaml });
                    continue;
                }
            }
            if spoken_for {
                continue;
            }
            if objects(parsed).next().is_none() {
                self.skipped.count(SkipReason::NoManifest);
                continue;
            }
            if !named.leaves_to_flux(path, applied) {
                self.aside.extend(objects(parsed));
                continue;
            }
            let folder: ArcStr = folder_of(path).into();
            for object in objects(parsed) {
                let built = Built {
                    object,
                    folder: folder.clone(),
                    completion: Completion::default(),
                    is_final: true,
                    lacks_changes: false,
                };
                self.add(built, &mut seen);
            }
        }
        loose
    }

    /// Adds an object, unless an equal object from the same position exists.
    fn add(&mut self, mut built: Built, seen: &mut Seen) {
        if let Some(unknown) = with_unknown_texts(&built.object, false) {
            built.object = unknown;
        }
        let known = seen.entry(place_hash(&built.object));
        let is_known = |at: &usize| self.objects.get(*at).is_some_and(|other| is_same(&other.object, &built.object));
        if known.iter().any(is_known) {
            return;
        }
        known.push(self.objects.len());
        self.objects.push(built);
    }

    /// Sets the changes that Kustomizations make to each object. All Kustomizations must be built beforehand.
    pub(super) fn complete(&mut self) {
        let appliers: WrittenKustomizations =
            self.objects.iter().filter_map(|built| WrittenKustomization::read(&built.object)).collect();
        let mut known: BTreeMap<ArcStr, Completion> = BTreeMap::new();
        for built in &mut self.objects {
            let done = known.entry(built.folder.clone()).or_insert_with(|| appliers.completion(&built.folder));
            built.completion = done.clone();
        }
    }
}

/// A finding in a file that a generator copies as text: only the program that reads the text parses the file. Many programs
/// accept a key that is defined twice, and some have syntax of their own, such as `!include`.
fn of_data(finding: Finding) -> Finding {
    let finding = Finding { severity: Severity::Warning, ..finding };
    if finding.rule == DUPLICATE_KEY && finding.help.as_deref() != Some(SECOND_OBJECT) {
        return finding.help("keep one of the keys, unless the program that reads the file accepts both");
    }
    finding
}

/// The indexes of objects, by the hash of their position and identity.
type Seen = Index<u64, Vec<usize>>;

/// A hash of the position and the identity of an object. Different objects may have the same hash.
fn place_hash(object: &Object) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    object.node.span().order().hash(&mut hasher);
    (object.api_version(), object.kind(), object.namespace(), object.name()).hash(&mut hasher);
    hasher.finish()
}

/// Returns whether two objects have the same position, identity and content.
fn is_same(one: &Object, other: &Object) -> bool {
    one.node.span().order().0 == other.node.span().order().0
        && one.node.span().range().start == other.node.span().range().start
        && one.reference() == other.reference()
        && one.node == other.node
}
