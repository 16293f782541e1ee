//! A repository: every file read once, every kustomization built once, every object found once.

use crate::flux::model::built_object::Built;
use crate::kube::groups;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::classify::{
    Reason, chart_folders, claims_to_be_manifest, is_chart_template, is_hidden, is_template, objects,
};
use super::settings::Settings;
use super::source;
use crate::base::finding::{Finding, ObjectRef, sort};
use crate::flux::cluster::applied_set::Brought;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::cluster::lookups::Lookups;
use crate::flux::engine::outcome::Gap;
use crate::flux::engine::unmatched_patches::Tally;
use crate::flux::engine::unreached_path::Own;
use crate::flux::engine::waves::{AT_ONCE, run};
use crate::flux::install::kustomizations::{KustomizationFile, is_kustomization_name, kustomizations};
use crate::flux::install::lockdown::Installation;
use crate::flux::install::root::{Root, roots};
use crate::flux::install::sync::objects_of;
use crate::flux::model::completion::{Applier, Appliers, Completion};
use crate::flux::query::image_marker::{Marker, markers};
use crate::flux::source::sources::Sources;
use crate::kube::Object;
use crate::kustomize::{Build, Builder, Files, Omission, is_yaml, omissions_by_name};
use crate::text::{Entry, Index, Tree, folder_of};

/// What a repository holds.
#[derive(Debug, Clone, Default)]
pub struct Repo {
    /// What each cluster receives, sorted by name. In a repository without any root it is one, without a name.
    pub clusters: Vec<Cluster>,
    /// The objects, as built where a kustomization builds them and as written elsewhere; each once.
    pub objects: Vec<Built>,
    /// The objects of files that lie below a kustomization which names them nowhere, as they are written.
    pub aside: Vec<Object>,
    /// The comments that name image policies.
    pub markers: Vec<Marker>,
    /// What kustomizations name in a line that is commented out: it is not meant to be there for now.
    pub parked: BTreeSet<String>,
    /// The folders of Helm charts: what they hold is the charts'.
    pub charts: BTreeSet<String>,
    /// What was not built although nothing is wrong, sorted by reason.
    pub gaps: Vec<Gap>,
    /// What is wrong with its files and builds; each finding names its rule.
    pub problems: Vec<Finding>,
    /// The files that were not judged.
    pub skipped: Skipped,
    /// What kustomizations ask for and was not done, counted by name.
    pub not_done: BTreeMap<String, usize>,
    /// The kustomizations that bring Flux's own installation.
    pub installations: Vec<Installation>,
}

/// Files that were not judged, counted by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped(pub BTreeMap<&'static str, usize>);

impl Skipped {
    fn count(&mut self, reason: Reason) {
        *self.0.entry(reason.text()).or_default() += 1;
    }

    /// How many files in all.
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }
}

/// What kustomizations name, by path.
#[derive(Default)]
struct Named {
    /// Folders that have a kustomization, and whether it is a Component.
    folders: BTreeMap<String, bool>,
    /// What kustomizations take objects from.
    included: BTreeSet<String>,
    /// What they read for something else.
    others: BTreeSet<String>,
}

impl Repo {
    /// Reads a tree.
    pub fn load(tree: &Tree, settings: &Settings) -> Self {
        let mut repo = Self::default();
        let charts = chart_folders(tree);
        let files = Files::read(tree, |file| !is_hidden(file.path()) && !is_chart_template(file.path(), &charts));
        repo.count_unread(tree, &charts);
        repo.charts = charts;
        let kustomizations = kustomizations(&files);
        let named = Named::of(&kustomizations);
        let appliers = appliers(&files);
        let builder = Builder::new(files.clone().with_copies(source::bases(&files, &settings.copies)));
        let roots = roots(&builder, &kustomizations);
        let (is_rootless, own) = (roots.is_empty(), Own::of(&roots));
        // Neither half needs the other one: what lies in the folders, and what clusters make of it.
        let fill = || {
            repo.build(&builder, &named, is_rootless);
            repo.installations = Installation::all(&builder, &kustomizations);
            repo.take_loose(&files, &named, &appliers);
            repo.complete();
            repo.parked = kustomizations.iter().flat_map(KustomizationFile::parked).collect();
            repo.markers = markers(&files);
        };
        let bring = || {
            (!is_rootless).then(|| {
                let sources = sources(&files, &builder, settings, &roots);
                run(roots, &sources, settings)
            })
        };
        match rayon::join(fill, bring) {
            ((), None) => repo.clusters.push(repo.without_root()),
            ((), Some(outcome)) => {
                repo.clusters = outcome.clusters;
                repo.problems.extend(outcome.findings);
                repo.problems.extend(own.missing_paths(&repo.objects, &repo.clusters, files.tree()));
                repo.not_done = outcome.not_done;
                repo.gaps = outcome.gaps;
            }
        }
        sort(&mut repo.problems);
        repo
    }

    fn count_unread(&mut self, tree: &Tree, charts: &BTreeSet<String>) {
        for (path, entry) in tree.entries() {
            if !is_yaml(path) || path.split('/').any(|segment| segment == ".git") {
                continue;
            }
            if is_hidden(path) {
                self.skipped.count(Reason::Hidden);
                continue;
            }
            match entry {
                Entry::Opaque(_) => self.skipped.count(Reason::Unreadable),
                Entry::Text(_) if is_chart_template(path, charts) => self.skipped.count(Reason::ChartTemplate),
                Entry::Text(_) | Entry::Deferred => {}
            }
        }
    }

    /// Builds every kustomization that no other one includes; those that include each other in a circle too.
    fn build(&mut self, builder: &Builder, named: &Named, rootless: bool) {
        let mut seen = Seen::default();
        let mut covered: BTreeSet<String> = BTreeSet::new();
        let buildable = || named.folders.iter().filter(|(_, component)| !**component).map(|(folder, _)| folder);
        let tops: Vec<&String> = buildable().filter(|folder| !named.included.contains(*folder)).collect();
        // Where there are roots, what they reach decides, and is built from there.
        let build_one = |folder: &String| if rootless { builder.build(folder) } else { builder.accumulate(folder) };
        let at_once = |some: &[&'_ String]| -> Vec<Build> { some.par_iter().map(|top| build_one(top)).collect() };
        let tops = tops.chunks(AT_ONCE).flat_map(|some| some.iter().copied().zip(at_once(some)));
        let mut patches = Tally::default();
        // One by one: what goes round in a circle is built once.
        let rest = buildable().filter(|folder| named.included.contains(*folder)).map(|folder| (folder, None));
        for (folder, build) in tops.map(|(folder, build)| (folder, Some(build))).chain(rest) {
            if covered.contains(folder) {
                continue;
            }
            let build = build.unwrap_or_else(|| build_one(folder));
            covered.extend(build.folders);
            // A component can set any field of any object.
            let settled = !build.not_done.contains_key(&Omission::RemoteComponent);
            self.problems.extend(build.findings);
            patches.take_folder(&build.patch_targets);
            let folder: Arc<str> = folder.as_str().into();
            for object in build.objects {
                let object = Built { object, folder: folder.clone(), completion: Completion::default(), settled };
                self.add(object, &mut seen);
            }
        }
        self.problems.extend(patches.findings());
        self.not_done = omissions_by_name(&builder.not_done());
    }

    /// Takes the objects of files that no kustomization is responsible for.
    fn take_loose(&mut self, files: &Files, named: &Named, appliers: &[Applier]) {
        let applied: BTreeSet<&str> = appliers.iter().map(Applier::folder).collect();
        let mut seen = Seen::default();
        for (path, parsed) in files.parsed() {
            let is_kustomization = named.folders.contains_key(folder_of(path)) && is_kustomization_name(path);
            let mentioned = named.included.contains(path) || named.others.contains(path);
            let text = parsed.file.text();
            let spoken_for = is_kustomization || mentioned;
            if !parsed.findings.is_empty() {
                let template = is_template(parsed);
                if spoken_for || (!template && claims_to_be_manifest(text)) {
                    self.problems.extend(parsed.findings.iter().cloned());
                } else {
                    self.skipped.count(if template { Reason::Template } else { Reason::NotYaml });
                    continue;
                }
            }
            if spoken_for {
                continue;
            }
            if objects(parsed).next().is_none() {
                self.skipped.count(Reason::NoManifest);
                continue;
            }
            if !is_loose(path, named, &applied) {
                self.aside.extend(objects(parsed));
                continue;
            }
            let folder: Arc<str> = folder_of(path).into();
            for object in objects(parsed) {
                let built = Built { object, folder: folder.clone(), completion: Completion::default(), settled: true };
                self.add(built, &mut seen);
            }
        }
    }

    /// Adds an object unless the same one, from the same place, is there already.
    fn add(&mut self, built: Built, seen: &mut Seen) {
        let reference = built.object.reference();
        let span = built.object.node.span();
        let key = (reference, span.file().path().to_string(), span.range().start);
        let known = seen.entry(key);
        if known.iter().any(|at| self.objects.get(*at).is_some_and(|other| other.object.node == built.object.node)) {
            return;
        }
        known.push(self.objects.len());
        self.objects.push(built);
    }

    /// Says of each object what its appliers do to it, once all of them are known as built.
    fn complete(&mut self) {
        let appliers: Appliers = self.objects.iter().filter_map(|built| Applier::of(&built.object)).collect();
        let mut known: BTreeMap<Arc<str>, Completion> = BTreeMap::new();
        for built in &mut self.objects {
            let done = known.entry(built.folder.clone()).or_insert_with(|| appliers.completion(&built.folder));
            built.completion = done.clone();
        }
    }

    /// The one cluster of a repository without any root: it receives every folder.
    fn without_root(&self) -> Cluster {
        let mut cluster =
            Cluster { name: "".into(), appliers: Vec::new(), brought: Vec::new(), lookups: Lookups::default() };
        let mut by_folder: BTreeMap<Arc<str>, Arc<crate::flux::cluster::applier::Applier>> = BTreeMap::new();
        for built in &self.objects {
            let by = by_folder.entry(built.folder.clone()).or_insert_with(|| {
                let at = cluster.appliers.len();
                let applier = Arc::new(crate::flux::cluster::applier::Applier::folder(&built.folder, at));
                cluster.appliers.push(applier.clone());
                applier
            });
            let (objects, by) = (vec![built.object.clone()].into(), by.clone());
            let mut completion = built.completion.clone();
            completion.open = !built.settled;
            cluster.brought.push(Brought {
                by,
                objects,
                completion,
                inventory: None,
                facts: None,
                unset: Arc::default(),
            });
        }
        cluster
    }
}

/// The sources of the clusters: what a root fetches is the repository itself.
fn sources(files: &Files, builder: &Builder, settings: &Settings, roots: &[Root]) -> Sources {
    let mut sources = Sources::new(files.clone(), settings.copies.clone());
    // The first one counts where several know one address: those whose path is there know best.
    let (sure, guessed): (Vec<&Root>, Vec<&Root>) = roots.iter().partition(|root| root.there);
    for root in sure.into_iter().chain(guessed) {
        let Some(prefix) = &root.prefix else { continue };
        for object in &root.objects {
            if object.is(groups::FLUX_OPERATOR, "FluxInstance") {
                let (made, _) = objects_of(object, builder);
                for source in &made {
                    sources.add_own(source, prefix);
                }
            }
        }
        if let Some(source) = root.source() {
            sources.add_own(source, prefix);
        }
    }
    sources
}

/// Where objects were seen: identity, path and offset → positions in the list.
type Seen = Index<(ObjectRef, String, usize), Vec<usize>>;

impl Named {
    fn of(kustomizations: &[KustomizationFile]) -> Self {
        let mut named = Self::default();
        for KustomizationFile { folder, is_component, references, .. } in kustomizations {
            named.folders.insert(folder.clone(), *is_component);
            named.included.extend(references.included.iter().cloned());
            named.others.extend(references.named.iter().cloned());
        }
        named
    }
}

/// The Flux Kustomizations as written: what they apply is known well enough from that to tell loose files.
fn appliers(files: &Files) -> Vec<Applier> {
    let parsed = files.parsed().map(|(_, parsed)| parsed);
    parsed.flat_map(|parsed| objects(parsed).filter_map(|object| Applier::of(&object)).collect::<Vec<_>>()).collect()
}

/// Tells whether Flux takes a file by itself: walking a folder it stops where a kustomization takes over.
fn is_loose(path: &str, named: &Named, applied: &BTreeSet<&str>) -> bool {
    let mut folder = folder_of(path);
    loop {
        if named.folders.contains_key(folder) {
            return false;
        }
        if folder.is_empty() || applied.contains(folder) {
            return true;
        }
        folder = folder_of(folder);
    }
}
