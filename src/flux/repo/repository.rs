//! Loading of a repository: each file is read once, each kustomization is built once, and each object occurs once.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::ThreadPoolBuilder;

use super::absent_files::{
    excuse_ignored, excuse_rendered, excuse_submodules, excuse_written, remove_copied, remove_to_come,
};
use super::chart_clusters::ChartClusters;
use super::directory_objects::DirectoryObjects;
use super::missing_lists::join_lists;
use super::moved_folders::explain;
use super::named_paths::{NamedPaths, applied_folders};
use super::nested_roots::NestedRoot;
use super::own_sources::sources;
use super::rootless::{in_directories, only_cluster};
use super::skipped::Skipped;
use super::switched_off_images::remove_switched_off;
use super::unsubstituted_paths::explain_variables;
use crate::address::Address;
use crate::base::finding::{Finding, Severity};
use crate::base::group_findings::sort;
use crate::base::set_aside::is_test_data;
use crate::flux::classify::{SkipReason, chart_folders, hidden_clusters, is_chart_template, is_hidden};
use crate::flux::cluster::applied_set::AppliedSet;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::engine::crossed_path::crossed_paths;
use crate::flux::engine::exchange::{Exchange, KeptBuilds};
use crate::flux::engine::outcome::Gap;
use crate::flux::engine::unreached_path::OwnSources;
use crate::flux::engine::waves::run;
use crate::flux::install::kustomizations::{
    KustomizationFile, PatchDocument, kustomizations, parked_paths, patches, paths_of_components,
};
use crate::flux::install::lockdown::Installation;
use crate::flux::install::roots::find::{Roots, roots};
use crate::flux::model::built_object::Built;
use crate::flux::model::completion::Completion;
use crate::flux::query::image_marker::{Marker, markers};
use crate::flux::query::other_programs::OtherPrograms;
use crate::flux::settings::Settings;
use crate::flux::source;
use crate::flux::source::sources::Sources;
use crate::kube::Object;
use crate::kustomize::{Builder, Files, Totals, is_yaml};
use crate::text::{Entry, File, Tree, folder_of};
use crate::yaml::{INVALID_YAML, Parsed, parse};

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
    /// The clusters that templates of Helm charts define, if the repository has no other cluster.
    pub chart_clusters: ChartClusters,
    /// The reasons why appliers were not built, other than failed builds, sorted.
    pub gaps: Vec<Gap>,
    /// The directories that missing paths of Kustomizations probably mean, by path.
    pub moved: BTreeMap<String, String>,
    /// The findings of files and builds, each with the id of its rule.
    pub problems: Vec<Finding>,
    /// The files that were not checked.
    pub skipped: Skipped,
    /// The number of omissions of builds, by name.
    pub not_done: BTreeMap<String, usize>,
    /// The directories that contain a file of `flux bootstrap`.
    pub flux_folders: BTreeSet<String>,
    /// The kustomizations, and the files with patches that they name.
    pub patches: Vec<PatchDocument>,
    /// The kustomizations that contain the installation of Flux.
    pub installations: Vec<Installation>,
    /// The sources of the clusters, with their local copies.
    pub sources: Option<Arc<Sources>>,
    /// The roots whose source is assumed to be a directory of the repository.
    nested_roots: Vec<NestedRoot>,
    /// The builds that another state of the repository can share.
    shareable: Option<Arc<Shareable>>,
}

/// The builds that another state of a repository can share.
#[derive(Debug)]
struct Shareable {
    builder: Builder,
    of_clusters: KeptBuilds,
}

impl Repo {
    /// The parsed form of a file, if loading parsed the file.
    pub fn parsed(&self, file: &File) -> Option<&Arc<Parsed>> {
        let parsed = self.sources.as_ref()?.repository_files().parsed_ahead(file.path())?;
        (parsed.file == *file).then_some(parsed)
    }

    /// Returns whether the source of a root is assumed to be a directory of the repository.
    pub fn has_nested_roots(&self) -> bool {
        !self.nested_roots.is_empty()
    }

    /// Reports each nested root whose source is the whole repository, according to the remotes of the checkout.
    ///
    /// The result is the other nested roots.
    pub fn check_nested_roots(&mut self, remotes: &[Address]) -> Vec<NestedRoot> {
        let nested = self.nested_roots.clone().into_iter();
        let (wrong, assumed): (Vec<_>, Vec<_>) = nested.partition(|root| remotes.contains(&root.address));
        self.problems.extend(wrong.iter().map(NestedRoot::finding));
        sort(&mut self.problems);
        assumed
    }

    /// The objects of files and directories that `is_wanted` selects, as their directories apply them.
    pub fn in_directories(&self, is_wanted: impl Fn(&Object) -> bool) -> Vec<AppliedSet> {
        let aside = self.aside.iter().filter(|object| is_wanted(object)).map(|object| Built {
            folder: folder_of(object.span().file().path()).into(),
            object: object.clone(),
            completion: Completion::default(),
            is_final: true,
            lacks_changes: false,
        });
        let aside: Vec<Built> = aside.collect();
        in_directories(self.objects.iter().filter(|built| is_wanted(&built.object)).chain(&aside)).1
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
        let hidden = hidden_clusters(tree);
        let is_included = |file: &File| !is_hidden(file.path(), &hidden) && !is_chart_template(file.path(), &charts);
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
        let complete = files.clone().with_copies(&source::bases(files, &settings.copies));
        let builder = match &other.shareable {
            Some(other) => Builder::beside(complete, &other.builder),
            None if is_shareable => Builder::recording(complete),
            None => Builder::new(complete),
        };
        // Both states are in memory.
        let totals = match &other.sources {
            Some(other) => Totals::after(settings.bounds.builds, other.totals()),
            None => Totals::new(settings.bounds.builds),
        };
        let builder = builder.within(&Arc::new(totals));
        let exchange = match (&other.shareable, &other.sources) {
            (Some(builds), Some(sources)) => Exchange::take(&builds.of_clusters, sources),
            _ if is_shareable => Exchange::keep(),
            _ => Exchange::default(),
        };
        let find_roots = || roots(&builder, &kustomizations, &settings.config.roots);
        let (Roots { found: roots, overlaps, prepared }, applied) =
            rayon::join(find_roots, || repo.read_kustomizations(files, &builder, &kustomizations));
        repo.nested_roots = NestedRoot::all(&roots);
        let (is_rootless, own) = (roots.is_empty(), OwnSources::new(&roots));
        // The objects of the directories and the builds of the clusters do not depend on each other.
        let mut of_directories = DirectoryObjects::default();
        let load_objects = || {
            of_directories.build(&builder, &named, is_rootless);
            let loose = of_directories.add_loose_files(files, &named, &applied, is_rootless);
            of_directories.complete();
            loose
        };
        let build_clusters = || {
            let sources = Arc::new(sources(files, &builder, settings, &roots));
            let outcome = (!is_rootless).then(|| run(roots, &sources, settings, &exchange));
            (sources, outcome)
        };
        let ((sources, outcome), loose) = rayon::join(build_clusters, load_objects);
        repo.sources = Some(sources);
        repo.take(of_directories);
        match (loose, outcome) {
            (loose, None) => {
                repo.problems.extend(loose);
                repo.problems.retain(|finding| !is_test_data(finding.at.span.file().path()));
                excuse_ignored(&mut repo.problems, files.tree());
                let objects = repo.objects.iter().map(|built| &built.object).chain(&repo.aside);
                remove_copied(&mut repo.problems, objects);
                repo.clusters.push(only_cluster(&repo.objects));
                repo.chart_clusters = ChartClusters::of(tree, charts);
                repo.other_programs = repo.programs(tree, other);
            }
            (loose, Some(outcome)) => {
                repo.clusters = outcome.clusters;
                repo.problems.extend(outcome.findings);
                add_loose_findings(&mut repo.problems, loose, files.tree());
                repo.other_programs = repo.programs(tree, other);
                let missing = || own.missing_paths(&repo.objects, &repo.clusters, files.tree());
                let crossed = || crossed_paths(&repo.clusters, &named.included, files.tree());
                // The checks of several clusters read the files of programs, and would read them on one thread.
                let read = || {
                    if repo.clusters.len() > 1 {
                        repo.other_programs.read();
                    }
                };
                let (missing, (crossed, ())) = rayon::join(missing, || rayon::join(crossed, read));
                repo.problems.extend(missing.into_iter().chain(crossed));
                repo.not_done = outcome.not_done;
                repo.gaps = outcome.gaps;
            }
        }
        repo.prepared = prepared;
        for overlap in overlaps {
            repo.problems.push(overlap.finding);
            repo.unfollowed.insert(overlap.folder);
        }
        remove_to_come(&mut repo.problems, &repo.clusters);
        remove_switched_off(&mut repo.problems, &kustomizations, files);
        excuse_written(&mut repo.problems, &repo.other_programs);
        excuse_rendered(&mut repo.problems, &repo.other_programs);
        excuse_submodules(&mut repo.problems, tree);
        let nested: BTreeSet<&str> = repo.nested_roots.iter().map(|root| &*root.folder).collect();
        repo.moved = explain(&mut repo.problems, files.tree(), &repo.clusters, &nested);
        explain_variables(&mut repo.problems, &repo.clusters);
        join_lists(&mut repo.problems);
        sort(&mut repo.problems);
        repo.shareable = exchange.into_kept().map(|of_clusters| Arc::new(Shareable { builder, of_clusters }));
        repo
    }

    /// Reads facts that do not depend on roots. Returns the directories that Flux Kustomizations apply.
    fn read_kustomizations(
        &mut self,
        files: &Files,
        builder: &Builder,
        kustomizations: &[KustomizationFile],
    ) -> BTreeSet<String> {
        let applied = applied_folders(files);
        self.patches = patches(files, kustomizations);
        self.installations = Installation::all(builder, kustomizations);
        self.parked = kustomizations.iter().flat_map(KustomizationFile::parked).collect();
        self.parked.extend(parked_paths(files).into_iter().filter(|path| !applied.contains(path)));
        self.parked.extend(paths_of_components(files, kustomizations));
        self.markers = markers(files);
        applied
    }

    /// The programs of a tree. `other` is another state of the repository.
    fn programs(&self, tree: &Tree, other: &Self) -> OtherPrograms {
        let clusters = self.clusters.iter().map(|cluster| cluster.name.clone()).collect();
        OtherPrograms::of(tree, &self.charts, clusters, &other.other_programs)
    }

    fn take(&mut self, of_directories: DirectoryObjects) {
        let DirectoryObjects { objects, aside, problems, skipped, not_done } = of_directories;
        (self.objects, self.aside, self.problems, self.not_done) = (objects, aside, problems, not_done);
        self.skipped.add(skipped);
    }

    fn count_unread(&mut self, tree: &Tree, charts: &BTreeSet<String>) {
        let hidden = hidden_clusters(tree);
        for (path, entry) in tree.entries() {
            if !is_yaml(path) || path.split('/').any(|segment| segment == ".git") {
                continue;
            }
            if is_hidden(path, &hidden) {
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
}

/// Adds the findings of invalid files that may not belong to a build. If no build reads such a file, its finding is a
/// warning, since the file does not break a build yet.
fn add_loose_findings(problems: &mut Vec<Finding>, loose: Vec<Finding>, tree: &Tree) {
    if loose.is_empty() {
        return;
    }
    let exclusions = LazyCell::new(|| source::Exclusions::of_tree(tree));
    let place = |finding: &Finding| {
        let (path, start, len) = finding.at.span.order();
        (finding.rule, path.to_owned(), start, len)
    };
    let known: BTreeSet<_> = problems.iter().map(place).collect();
    for mut finding in loose {
        // If a build reads the file, that build reported the same finding, so the finding stays an error.
        if !known.contains(&place(&finding)) {
            if exclusions.contain(finding.at.span.file().path()) || is_valid_with_variables(&finding) {
                continue;
            }
            finding.severity = Severity::Warning;
        }
        problems.push(finding);
    }
}

/// Returns whether a file is valid YAML after Flux substitutes its variables. A generator reads a file as text, so that
/// Flux substitutes the variables before a program parses it.
fn is_valid_with_variables(finding: &Finding) -> bool {
    let file = finding.at.span.file();
    finding.rule == INVALID_YAML
        && file.text().contains("${")
        && parse(&File::new(file.path(), with_values(file.text()))).findings.is_empty()
}

/// A text with a word in place of each variable.
fn with_values(text: &str) -> String {
    let mut parts = text.split("${");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let after = part.split_once('}').map_or(part, |(_, after)| after);
        format!("{text}value{after}")
    })
}
