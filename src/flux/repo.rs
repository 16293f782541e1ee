//! Loading of a repository: each file is read once, each kustomization is built once, and each object occurs once.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use rayon::ThreadPoolBuilder;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::absent_files::{excuse_ignored, excuse_submodules, excuse_written};
use super::classify::{
    SkipReason, chart_folders, claims_to_be_manifest, is_chart_template, is_hidden, is_of_scaffold, is_template,
    objects,
};
use super::settings::Settings;
use super::source;
use crate::base::finding::{Finding, Severity};
use crate::base::group_findings::sort;
use crate::base::set_aside::{self, is_set_aside, is_test_data};
use crate::flux::build::applier_spec::instance_digest;
use crate::flux::build::digest::Digest;
use crate::flux::cluster::applied_set::AppliedSet;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::cluster::lookups::Lookups;
use crate::flux::engine::crossed_path::crossed_paths;
use crate::flux::engine::exchange::{Exchange, KeptBuilds};
use crate::flux::engine::outcome::Gap;
use crate::flux::engine::unmatched_patches::PatchTally;
use crate::flux::engine::unreached_path::OwnSources;
use crate::flux::engine::waves::{AT_ONCE, run};
use crate::flux::install::kustomizations::{
    KustomizationFile, is_kustomization_name, kustomizations, parked_paths, patches,
};
use crate::flux::install::lockdown::Installation;
use crate::flux::install::roots::find::{Roots, roots};
use crate::flux::install::roots::root::Root;
use crate::flux::install::sync::{SyncPatches, objects_of};
use crate::flux::model::built_object::Built;
use crate::flux::model::completion::{Completion, WrittenKustomization, WrittenKustomizations};
use crate::flux::query::image_marker::{Marker, markers};
use crate::flux::query::other_programs::OtherPrograms;
use crate::flux::source::sources::Sources;
use crate::kube::{Object, groups};
use crate::kustomize::{Build, Builder, Files, MISSING_RESOURCE, Omission, Totals, is_yaml, omissions_by_name};
use crate::text::{Entry, File, Index, Tree, folder_of};

use crate::yaml::{DUPLICATE_KEY, Node, Parsed};

/// The contents of a repository.
#[derive(Debug, Clone, Default)]
pub struct Repo {
    /// The clusters, sorted by name. A repository without a root has one cluster, with an empty name.
    pub clusters: Vec<Cluster>,
    /// The distinct objects: as built if a kustomization includes them, as written if not.
    pub objects: Vec<Built>,
    /// The objects of files that are below a kustomization but not included in it, as written.
    pub aside: Vec<Object>,
    /// The comments that reference image policies.
    pub markers: Vec<Marker>,
    /// The paths that kustomizations list in commented-out lines.
    pub parked: BTreeSet<String>,
    /// The objects that other programs may create, such as a script that bootstraps a cluster.
    pub other_programs: OtherPrograms,
    /// The directories of excluded roots, which sync the directories of other clusters.
    pub unfollowed: BTreeSet<String>,
    /// The sources of FluxInstances that no object applies yet.
    pub prepared: Vec<source::SourceRef>,
    /// The directories of Helm charts, whose files belong to the charts.
    pub charts: BTreeSet<String>,
    /// The reasons why appliers were not built, other than failed builds, sorted.
    pub gaps: Vec<Gap>,
    /// The findings of files and builds, each with the id of its rule.
    pub problems: Vec<Finding>,
    /// The files that were not checked.
    pub skipped: Skipped,
    /// The number of omissions of builds, by name.
    pub not_done: BTreeMap<String, usize>,
    /// The directories that contain a file of `flux bootstrap`.
    pub flux_folders: BTreeSet<String>,
    /// The kustomizations, and the files with patches that they name.
    pub patches: Vec<Node>,
    /// The kustomizations that contain the installation of Flux.
    pub installations: Vec<Installation>,
    /// The sources of the clusters, with their local copies.
    pub sources: Option<Arc<Sources>>,
    /// The builds that another state of the repository can share.
    shareable: Option<Arc<Shareable>>,
}

/// The builds that another state of a repository can share.
#[derive(Debug)]
struct Shareable {
    builder: Builder,
    of_clusters: KeptBuilds,
}

/// The files that were not checked, counted by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped(pub BTreeMap<&'static str, usize>);

impl Skipped {
    fn count(&mut self, reason: SkipReason) {
        *self.0.entry(reason.text()).or_default() += 1;
    }

    /// The number of files that were not checked.
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }
}

/// Returns whether a finding reports a missing directory `flux-system`, which `flux bootstrap` will create.
fn is_to_come(finding: &Finding) -> bool {
    let path = finding.at.span.text().trim_matches(['"', '\'']).trim_start_matches("./").trim_end_matches('/');
    finding.rule == MISSING_RESOURCE && path == groups::FLUX_NAMESPACE
}

/// A finding in a file that a generator copies as text: only the program that reads the text parses the file, and many
/// programs accept a key that is defined twice.
fn of_data(finding: Finding) -> Finding {
    if finding.rule != DUPLICATE_KEY {
        return finding;
    }
    let help = "keep one of the keys, unless the program that reads the file accepts both".to_owned();
    Finding { severity: Severity::Warning, help: Some(help), ..finding }
}

/// The paths that kustomizations reference.
#[derive(Default)]
struct NamedPaths {
    /// The directories with a kustomization, and whether the kustomization is a Component.
    folders: BTreeMap<String, bool>,
    /// The files and directories that kustomizations include.
    included: BTreeSet<String>,
    /// The other files that kustomizations use, such as patches.
    others: BTreeSet<String>,
    /// The files that generators copy as text, which may be templates of other programs.
    data: BTreeSet<String>,
}

impl Repo {
    /// The parsed form of a file, if loading parsed the file.
    pub fn parsed(&self, file: &File) -> Option<&Arc<Parsed>> {
        let parsed = self.sources.as_ref()?.repository_files().parsed_ahead(file.path())?;
        (parsed.file == *file).then_some(parsed)
    }

    /// Loads a repository from a tree of files.
    pub fn load(tree: &Tree, settings: &Settings) -> Self {
        Self::load_with(tree, settings, &Self::default(), false)
    }

    /// Loads a repository from a tree of files, and keeps its builds for another state of the repository.
    pub fn load_shareable(tree: &Tree, settings: &Settings) -> Self {
        Self::load_with(tree, settings, &Self::default(), true)
    }

    /// Loads a repository from a tree of files. `other` is another state of the repository: both share the documents of
    /// equal files and, if `other` is shareable, the builds with equal inputs.
    pub fn load_beside(tree: &Tree, settings: &Settings, other: &Self) -> Self {
        Self::load_with(tree, settings, other, false)
    }

    fn load_with(tree: &Tree, settings: &Settings, other: &Self, is_shareable: bool) -> Self {
        let charts = chart_folders(tree);
        let is_included = |file: &File| !is_hidden(file.path()) && !is_chart_template(file.path(), &charts);
        let files = match &other.sources {
            Some(other) => Files::read_beside(tree, is_included, other.repository_files()),
            None => Files::read(tree, is_included),
        };
        let load = || Self::load_files(tree, &files, &charts, settings, (other, is_shareable));
        let repo = load();
        if !repo.sources.as_ref().is_some_and(|sources| sources.totals().are_exceeded()) {
            return repo;
        }
        // Threads reach a limit of all builds in any order. One thread always reaches it in the same build.
        let Ok(one_thread) = ThreadPoolBuilder::new().num_threads(1).build() else { return repo };
        drop(repo);
        one_thread.install(load)
    }

    /// Loads the objects and clusters of files.
    fn load_files(
        tree: &Tree,
        files: &Files,
        charts: &BTreeSet<String>,
        settings: &Settings,
        (other, is_shareable): (&Self, bool),
    ) -> Self {
        let mut repo = Self::default();
        repo.count_unread(tree, charts);
        repo.charts.clone_from(charts);
        let kustomizations = kustomizations(files);
        let named = NamedPaths::new(&kustomizations);
        let complete = files.clone().with_copies(source::bases(files, &settings.copies));
        let builder = match &other.shareable {
            Some(other) => Builder::beside(complete, &other.builder),
            None if is_shareable => Builder::recording(complete),
            None => Builder::new(complete),
        };
        let builder = builder.within(&Arc::new(Totals::new(settings.bounds.builds)));
        let exchange = match (&other.shareable, &other.sources) {
            (Some(builds), Some(sources)) => Exchange::take(&builds.of_clusters, sources),
            _ if is_shareable => Exchange::keep(),
            _ => Exchange::default(),
        };
        let Roots { found: roots, overlaps, prepared } = roots(&builder, &kustomizations, &settings.config.roots);
        let (is_rootless, own) = (roots.is_empty(), OwnSources::new(&roots));
        // The objects of the directories and the builds of the clusters do not depend on each other.
        let load_objects = || {
            repo.build(&builder, &named, is_rootless);
            repo.patches = patches(files, &kustomizations);
            repo.installations = Installation::all(&builder, &kustomizations);
            let applied = applied_folders(files);
            let loose = repo.add_loose_files(files, &named, &applied);
            repo.complete();
            repo.parked = kustomizations.iter().flat_map(KustomizationFile::parked).collect();
            repo.parked.extend(parked_paths(files).into_iter().filter(|path| !applied.contains(path)));
            repo.markers = markers(files);
            loose
        };
        let build_clusters = || {
            let sources = Arc::new(sources(files, &builder, settings, &roots));
            let outcome = (!is_rootless).then(|| run(roots, &sources, settings, &exchange));
            (sources, outcome)
        };
        let ((sources, outcome), loose) = rayon::join(build_clusters, load_objects);
        repo.sources = Some(sources);
        match (loose, outcome) {
            (loose, None) => {
                repo.problems.extend(loose);
                repo.problems.retain(|finding| !is_test_data(finding.at.span.file().path()));
                excuse_ignored(&mut repo.problems, files.tree());
                repo.clusters.push(repo.without_root());
            }
            (loose, Some(outcome)) => {
                repo.clusters = outcome.clusters;
                repo.problems.extend(outcome.findings);
                repo.add_loose_findings(loose, files.tree());
                repo.problems.extend(own.missing_paths(&repo.objects, &repo.clusters, files.tree()));
                repo.problems.extend(crossed_paths(&repo.clusters, &named.included, files.tree()));
                repo.not_done = outcome.not_done;
                repo.gaps = outcome.gaps;
            }
        }
        repo.prepared = prepared;
        for overlap in overlaps {
            repo.problems.push(overlap.finding);
            repo.unfollowed.insert(overlap.folder);
        }
        let clusters = repo.clusters.iter().map(|cluster| cluster.name.clone()).collect();
        repo.other_programs = OtherPrograms::of(tree, &repo.charts, clusters, &other.other_programs);
        excuse_written(&mut repo.problems, &repo.other_programs);
        excuse_submodules(&mut repo.problems, tree);
        sort(&mut repo.problems);
        repo.shareable = exchange.into_kept().map(|of_clusters| Arc::new(Shareable { builder, of_clusters }));
        repo
    }

    fn count_unread(&mut self, tree: &Tree, charts: &BTreeSet<String>) {
        for (path, entry) in tree.entries() {
            if !is_yaml(path) || path.split('/').any(|segment| segment == ".git") {
                continue;
            }
            if is_hidden(path) {
                self.skipped.count(SkipReason::Hidden);
                continue;
            }
            if matches!(path.rsplit('/').next(), Some("gotk-components.yaml" | "gotk-sync.yaml")) {
                self.flux_folders.insert(folder_of(path).to_owned());
            }
            match entry {
                Entry::Opaque(_) => self.skipped.count(SkipReason::Unreadable),
                Entry::Text(_) if is_chart_template(path, charts) => self.skipped.count(SkipReason::ChartTemplate),
                Entry::Text(_) | Entry::Deferred => {}
            }
        }
    }

    /// Builds every kustomization that no other kustomization includes, and the kustomizations that include each other
    /// in a cycle.
    fn build(&mut self, builder: &Builder, named: &NamedPaths, is_rootless: bool) {
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
            let folder: Arc<str> = folder.as_str().into();
            for object in build.objects {
                let object = Built { object, folder: folder.clone(), completion: Completion::default(), is_final };
                self.add(object, &mut seen);
            }
        }
        self.problems.extend(patches.findings());
        self.not_done = omissions_by_name(&builder.not_done());
    }

    /// Adds the objects of files that no kustomization includes. Returns the findings of invalid files that look like
    /// manifests.
    fn add_loose_files(&mut self, files: &Files, named: &NamedPaths, applied: &BTreeSet<String>) -> Vec<Finding> {
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
                let is_judged =
                    spoken_for && !is_copied_template && !is_of_scaffold(parsed) && !set_aside::is_template(path);
                if is_judged && is_set_aside(path, |_| false) {
                    loose.extend(parsed.findings.iter().cloned());
                } else if is_judged {
                    // The builds report duplicate keys of patches, because the objects determine the consequences.
                    let is_patch = !is_kustomization && !named.included.contains(path) && named.others.contains(path);
                    let told = parsed.findings.iter().filter(|finding| !is_patch || finding.rule != DUPLICATE_KEY);
                    let of_file = |finding: Finding| if is_only_data { of_data(finding) } else { finding };
                    self.problems.extend(told.cloned().map(of_file));
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
            if !is_loose_file(path, named, applied) {
                self.aside.extend(objects(parsed));
                continue;
            }
            let folder: Arc<str> = folder_of(path).into();
            for object in objects(parsed) {
                let built = Built { object, folder: folder.clone(), completion: Completion::default(), is_final: true };
                self.add(built, &mut seen);
            }
        }
        loose
    }

    /// Adds the findings of invalid files that no kustomization includes. If no build reads such a file, its finding is
    /// a warning, since the file does not break a build yet.
    fn add_loose_findings(&mut self, loose: Vec<Finding>, tree: &Tree) {
        if loose.is_empty() {
            return;
        }
        let exclusions = LazyCell::new(|| source::Exclusions::of_tree(tree));
        let place = |finding: &Finding| {
            let (path, start, len) = finding.at.span.order();
            (finding.rule, path.to_owned(), start, len)
        };
        let known: BTreeSet<_> = self.problems.iter().map(place).collect();
        for mut finding in loose {
            // If a build reads the file, that build reported the same finding, so the finding stays an error.
            if !known.contains(&place(&finding)) {
                if exclusions.contain(finding.at.span.file().path()) {
                    continue;
                }
                finding.severity = Severity::Warning;
            }
            self.problems.push(finding);
        }
    }

    /// Adds an object, unless an equal object from the same position exists.
    fn add(&mut self, built: Built, seen: &mut Seen) {
        let known = seen.entry(place_hash(&built.object));
        let is_known = |at: &usize| self.objects.get(*at).is_some_and(|other| is_same(&other.object, &built.object));
        if known.iter().any(is_known) {
            return;
        }
        known.push(self.objects.len());
        self.objects.push(built);
    }

    /// Sets the changes that Kustomizations make to each object. All Kustomizations must be built beforehand.
    fn complete(&mut self) {
        let appliers: WrittenKustomizations =
            self.objects.iter().filter_map(|built| WrittenKustomization::read(&built.object)).collect();
        let mut known: BTreeMap<Arc<str>, Completion> = BTreeMap::new();
        for built in &mut self.objects {
            let done = known.entry(built.folder.clone()).or_insert_with(|| appliers.completion(&built.folder));
            built.completion = done.clone();
        }
    }

    /// The only cluster of a repository without a root. The cluster receives the objects of every directory except test
    /// data.
    fn without_root(&self) -> Cluster {
        let mut cluster = Cluster {
            name: "".into(),
            folder: String::new(),
            is_assumed: false,
            appliers: Vec::new(),
            applied_sets: Vec::new(),
            lookups: Lookups::default(),
        };
        let mut by_folder: BTreeMap<Arc<str>, Arc<crate::flux::cluster::applier::Applier>> = BTreeMap::new();
        let is_aside = |built: &&Built| is_test_data(built.object.span().file().path());
        for built in self.objects.iter().filter(|built| !is_aside(built)) {
            let by = by_folder.entry(built.folder.clone()).or_insert_with(|| {
                let at = cluster.appliers.len();
                let applier = Arc::new(crate::flux::cluster::applier::Applier::folder(&built.folder, at));
                cluster.appliers.push(applier.clone());
                applier
            });
            let (objects, by) = (vec![built.object.clone()].into(), by.clone());
            let mut completion = built.completion.clone();
            completion.open = !built.is_final;
            cluster.applied_sets.push(AppliedSet {
                by,
                objects,
                completion: Arc::new(completion),
                inventory: None,
                facts: None,
                undefined: Arc::default(),
            });
        }
        cluster
    }
}

/// The sources of the clusters, including the sources of roots, which are the repository itself.
fn sources(files: &Files, builder: &Builder, settings: &Settings, roots: &[Root]) -> Sources {
    let mut sources = Sources::new(files.clone(), settings.copies.clone()).within(builder.totals());
    // The FluxInstances of most clusters differ only in the path, and so all of them have valid patches if one has.
    let mut valid: Index<Digest, ()> = Index::default();
    // If several roots have the same URL, the first root determines the directory of the source. Roots with an existing
    // path are the most reliable, so they come first.
    let (sure, guessed): (Vec<&Root>, Vec<&Root>) = roots.iter().partition(|root| root.path_exists);
    for root in sure.into_iter().chain(guessed) {
        let syncs_other = root.path_exists && !root.is_own;
        let Some(prefix) = root.prefix.as_ref().filter(|_| !syncs_other) else { continue };
        for object in &root.objects {
            if object.is(groups::FLUX_OPERATOR, "FluxInstance") {
                let digest = instance_digest(object);
                let read = if valid.contains(&digest) { SyncPatches::Related } else { SyncPatches::All };
                let (made, findings) = objects_of(object, builder, read);
                if findings.is_empty() {
                    valid.insert(digest, ());
                }
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

impl NamedPaths {
    fn new(kustomizations: &[KustomizationFile]) -> Self {
        let mut named = Self::default();
        for KustomizationFile { folder, is_component, references, .. } in kustomizations {
            named.folders.insert(folder.clone(), *is_component);
            named.included.extend(references.included.iter().cloned());
            named.others.extend(references.named.iter().cloned());
            named.data.extend(references.data.iter().cloned());
        }
        named
    }
}

/// The directories of the Flux Kustomizations as written. They are enough to find the files that Flux applies without a
/// kustomization file.
fn applied_folders(files: &Files) -> BTreeSet<String> {
    let parsed: Vec<&Arc<Parsed>> = files.parsed().map(|(_, parsed)| parsed).collect();
    let folders = |parsed: &&Arc<Parsed>| {
        objects(parsed).filter_map(|object| WrittenKustomization::applied_folder(&object)).collect::<Vec<_>>()
    };
    parsed.par_iter().flat_map_iter(folders).collect()
}

/// Returns whether Flux applies a file without a kustomization file. Flux does not enter directories that have a
/// kustomization file.
fn is_loose_file(path: &str, named: &NamedPaths, applied: &BTreeSet<String>) -> bool {
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
