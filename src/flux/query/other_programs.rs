//! Evidence in the files of other programs about the objects that these programs create: scripts, Taskfiles, Ansible,
//! Terraform, helmfiles, and machine configurations of Talos.
//!
//! Fleetwright does not run these programs, and does not know when they run. Therefore, a file does not prove that an
//! object exists. Rules do not report an object as missing if another program may create it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use arcstr::ArcStr;

use super::cluster_config::is_cluster_config;
use super::created_objects::{created_kind, is_helmfile};
use super::named_folders::{applies_itself, may_name_folders, named_paths};
use super::program_evidence::{Evidence, is_document, renders_charts};
use super::program_index::{FirstPrograms, ProgramIndex};
use crate::flux::classify::{claims_to_be_manifest, is_chart_template};
use crate::flux::install::kustomizations::is_kustomization_name;
use crate::kustomize::{FILE_NAMES, is_yaml};
use crate::text::{File, Index, Tree, folder_of, join};

/// The maximum number of bytes that are compared to find the paths that programs mention.
const MAX_COMPARED: usize = 100 << 20;
/// The maximum number of files that are read.
const MAX_FILES: usize = 5_000;
/// The maximum length of a file that is read.
const MAX_LEN: usize = 512 * 1024;

/// The maximum number of programs that are read for searches, and for paths that contain a variable.
const MAX_WITH_PATTERNS: usize = 50;

/// The directory of the mappings of hologit.
const MAPPINGS: &str = ".holo/branches/";
/// The extensions of scripts, and of templates from which programs create manifests.
const EXTENSIONS: [&str; 17] = [
    "bash", "fish", "hcl", "j2", "jinja", "jinja2", "just", "mk", "nu", "ps1", "py", "sh", "template", "tf", "tmpl",
    "tpl", "zsh",
];
/// The prefixes of the names of task files.
const TASK_FILES: [&str; 6] = ["justfile", ".justfile", "makefile", "gnumakefile", "taskfile", ".taskfile"];
/// The programs whose files a repository contains. The files are read at the first query.
#[derive(Debug, Clone, Default)]
pub struct OtherPrograms {
    tree: Tree,
    charts: BTreeSet<String>,
    clusters: BTreeSet<ArcStr>,
    evidence: Arc<OnceLock<AllEvidence>>,
    /// The evidence in another state of the repository, which has most files too.
    other: Option<Arc<OnceLock<AllEvidence>>>,
}

/// The evidence in the files of a repository.
#[derive(Debug)]
struct AllEvidence {
    /// The evidence in each file, by path.
    of_files: Index<String, Arc<Evidence>>,
    /// The evidence that is not empty, in the order of paths.
    found: Vec<Arc<Evidence>>,
    /// The positions of the evidence about each manifest, by the end of the manifest's path.
    of_manifests: Index<String, Vec<usize>>,
    /// The positions of the evidence with searches for manifests, or with paths that contain a variable.
    with_patterns: Vec<usize>,
    /// The positions of the evidence by what the programs create or name.
    index: ProgramIndex,
}

/// The programs of one cluster, without the programs in the directories of other clusters.
#[derive(Debug, Clone, Copy)]
pub struct ClusterPrograms<'a> {
    all: &'a OtherPrograms,
    cluster: &'a str,
}

impl OtherPrograms {
    /// The programs in a tree. `charts` are the directories of Helm charts, which contain no programs, and `clusters` the
    /// names of all clusters.
    /// `other` is another state of the repository.
    pub(in crate::flux) fn of(
        tree: &Tree,
        charts: &BTreeSet<String>,
        clusters: BTreeSet<ArcStr>,
        other: &Self,
    ) -> Self {
        let other = Some(other.evidence.clone());
        Self { tree: tree.clone(), charts: charts.clone(), clusters, evidence: Arc::default(), other }
    }

    /// The programs of a cluster.
    pub fn of_cluster<'a>(&'a self, cluster: &'a str) -> ClusterPrograms<'a> {
        ClusterPrograms { all: self, cluster }
    }

    /// The file of a program that may apply a directory to any cluster.
    ///
    /// A command that a program only prints does not apply a directory.
    pub fn applier(&self, folder: &str) -> Option<&str> {
        let has_kustomization = self.has_kustomization(folder);
        let may_apply = |one: &&Arc<Evidence>| (has_kustomization && one.applies(folder)) || one.may_read(folder);
        self.evidence().iter().find(may_apply).map(|one| one.file.path())
    }

    /// The file of a program that may apply a manifest to any cluster, such as a script that mentions the path of the
    /// manifest and runs `kubectl apply`.
    pub fn applier_of_file(&self, path: &str) -> Option<&str> {
        Some(self.appliers_of_file(path).next()?.file.path())
    }

    /// Returns whether `kubectl apply --kustomize` can build a directory.
    fn has_kustomization(&self, folder: &str) -> bool {
        FILE_NAMES.iter().filter_map(|name| join(folder, name)).any(|path| self.tree.has_file(&path))
    }

    /// The files and directories that templates apply, each with the file of the template.
    pub fn template_paths(&self) -> impl Iterator<Item = (&str, &str)> {
        self.evidence().iter().flat_map(|one| one.templates())
    }

    /// The directories and manifests among `wanted` that programs or commands in documentation apply, or that programs name
    /// exactly, each with the first file.
    pub fn named_paths(&self, wanted: &BTreeSet<&str>) -> BTreeMap<String, String> {
        if wanted.is_empty() {
            return BTreeMap::new();
        }
        named_paths(self.files_with(|path| may_be_program(path) || may_name_folders(path)), wanted)
    }

    /// Returns whether a comment of a manifest contains a command that applies the manifest.
    pub fn is_applied_by_comment(&self, path: &str) -> bool {
        self.tree.file(path).is_ok_and(|file| applies_itself(&file))
    }

    /// The missing files that programs mention with their whole path, or write to a directory that a variable names, each
    /// with the file of the first program.
    ///
    /// A mapping of hologit mentions the files that it adds.
    pub(in crate::flux) fn mentions(&self, missing: &BTreeSet<String>) -> BTreeMap<String, String> {
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        if missing.is_empty() {
            return found;
        }
        let names: BTreeSet<&str> = missing.iter().filter_map(|path| path.rsplit('/').next()).collect();
        let mut compared = 0;
        for file in self.files() {
            for path in paths_in(file.text(), &names) {
                compared += path.len();
                if compared > MAX_COMPARED {
                    break;
                }
                if missing.contains(path) {
                    found.entry(path.to_owned()).or_insert_with(|| file.path().to_owned());
                }
            }
            for end in written_ends(file.text(), &names) {
                compared += missing.len();
                if compared > MAX_COMPARED {
                    break;
                }
                for path in missing.iter().filter(|path| path.ends_with(end)) {
                    found.entry(path.to_owned()).or_insert_with(|| file.path().to_owned());
                }
            }
        }
        let mappings = self.mappings();
        for path in missing.iter().filter(|_| !mappings.is_empty()) {
            let above =
                std::iter::successors(Some(path.as_str()), |path| Some(folder_of(path)).filter(|_| !path.is_empty()));
            // The innermost mapping is the most specific one.
            if let Some(mapping) = above.filter_map(|path| mappings.get(path)).max_by_key(|file| (file.len(), *file)) {
                found.entry(path.clone()).or_insert_with(|| (*mapping).to_owned());
            }
        }
        found
    }

    /// The file of a program that renders the Helm charts of kustomizations to files.
    pub(in crate::flux) fn renderer(&self) -> Option<String> {
        self.files().find(|file| renders_charts(file.text())).map(|file| file.path().to_owned())
    }

    /// The mappings of hologit that add files, by the path to which they add files: `.holo/branches/BRANCH/PATH.toml`
    /// adds files of another repository to `PATH`, and a file whose name starts with `_` adds them to its directory.
    /// Flux reads the composed branch.
    fn mappings(&self) -> BTreeMap<&str, &str> {
        let mut mappings: BTreeMap<&str, &str> = BTreeMap::new();
        for file in self.tree.under(MAPPINGS.trim_end_matches('/')) {
            let mapping = file.strip_prefix(MAPPINGS).and_then(|file| file.split_once('/')?.1.strip_suffix(".toml"));
            let Some(mapping) = mapping else { continue };
            let name = mapping.rsplit('/').next().unwrap_or(mapping);
            let target = if name.starts_with('_') { folder_of(mapping) } else { mapping };
            let longest = mappings.get(target).is_none_or(|other| other.len() <= file.len());
            if longest {
                mappings.insert(target, file);
            }
        }
        mappings
    }

    /// Reads the files now, on this thread, instead of at the first query.
    pub(in crate::flux) fn read(&self) {
        self.evidence();
    }

    fn evidence(&self) -> &[Arc<Evidence>] {
        &self.all_evidence().found
    }

    fn all_evidence(&self) -> &AllEvidence {
        let other = || self.other.as_ref().and_then(|other| other.get());
        let files = || self.files_with(|path| may_be_program(path) || is_document(path));
        let read = || AllEvidence::of(files(), &self.clusters, other());
        self.evidence.get_or_init(read)
    }

    /// The evidence that programs may apply a manifest.
    fn appliers_of_file<'a>(&'a self, path: &str) -> impl Iterator<Item = &'a Evidence> {
        let all = self.all_evidence();
        let ends = path.match_indices('/').map(|(at, _)| at + 1).filter_map(|start| path.get(start..));
        let ends = std::iter::once(path).chain(ends);
        let places = ends.filter_map(move |end| all.of_manifests.get(end)).flatten();
        places.filter_map(move |at| all.found.get(*at)).map(AsRef::as_ref).chain(self.finders_of_file(path))
    }

    /// The evidence that programs search for a manifest by its name, or apply its directory by a path with a variable.
    fn finders_of_file<'a>(&'a self, path: &str) -> impl Iterator<Item = &'a Evidence> {
        let all = self.all_evidence();
        let found = all.with_patterns.iter().filter_map(|at| all.found.get(*at)).map(AsRef::as_ref);
        let finds = |one: &Evidence| one.searches.iter().any(|search| search.finds(path));
        found.filter(move |one: &&Evidence| finds(one) || one.may_read(folder_of(path)))
    }

    /// The files of programs.
    fn files(&self) -> impl Iterator<Item = File> {
        self.files_with(may_be_program)
    }

    /// The files of programs among the files with certain paths. A file with known evidence is not read again.
    fn files_with(&self, is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = File> {
        let known = self.evidence.get();
        let paths = self.tree.entries().map(|(path, _)| path).filter(move |path| is_wanted(path));
        let files = paths.filter_map(move |path| match known.and_then(|known| known.of_files.get(path)) {
            Some(evidence) => Some(evidence.file.clone()),
            None => self.program(path),
        });
        files.take(MAX_FILES)
    }

    /// The file at a path, unless its content or its directory shows that it is no program.
    fn program(&self, path: &str) -> Option<File> {
        if is_chart_template(path, &self.charts) || self.tree.is_longer_than(path, MAX_LEN) {
            return None;
        }
        let file = self.tree.file(path).ok()?;
        let is_program = !is_without_extension(path) || is_task_file(path) || file.text().starts_with("#!");
        let is_manifest = || is_yaml(path) && claims_to_be_manifest(file.text()) && !is_cluster_config(file.text());
        (is_program && file.text().len() <= MAX_LEN && !is_manifest()).then_some(file)
    }
}

fn is_of_path(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/')
}

/// The ends of the paths to which a program writes files whose name is `wanted`, if the paths begin with a variable, such as
/// `/settings.env` in `file = "${var.directory}/settings.env"`.
fn written_ends<'a>(text: &'a str, wanted: &BTreeSet<&str>) -> impl Iterator<Item = &'a str> {
    let is_wanted = |end: &&str| end.rsplit('/').next().is_some_and(|name| wanted.contains(name));
    let targets = text.lines().filter_map(|line| {
        let (key, value) = line.split_once('=').unwrap_or_default();
        let is_of_resource = matches!(key.trim(), "file" | "filename");
        let redirected = || line.rsplit_once('>').or_else(|| line.rsplit_once("tee ")).map(|(_, target)| target);
        if is_of_resource { Some(value) } else { redirected() }
    });
    let ends = targets.filter_map(|target| {
        let target = target.trim().trim_matches(['"', '\'']);
        let rest = target.strip_prefix('$')?;
        let rest = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).map_or(rest, |(_, rest)| rest);
        let end = rest.get(rest.find('/')?..)?;
        end.chars().all(is_of_path).then_some(end)
    });
    ends.filter(is_wanted)
}

/// The paths in a text whose last segment is `wanted`, from each of their directories on.
fn paths_in<'a>(text: &'a str, wanted: &BTreeSet<&str>) -> impl Iterator<Item = &'a str> {
    let words = text.split(|c| !is_of_path(c)).filter(|word| word.contains('/'));
    let slashes = |word: &'a str| word.match_indices('/').map(|(at, _)| at);
    let whole = words.flat_map(move |word| slashes(word).chain([word.len()]).filter_map(|end| word.get(..end)));
    let named = whole.filter(|path| path.rsplit('/').next().is_some_and(|name| wanted.contains(name)));
    named.flat_map(move |path| {
        let starts = std::iter::once(0).chain(slashes(path).map(|at| at + 1));
        starts.filter_map(|start| path.get(start..)).filter(|path| path.contains('/'))
    })
}

impl AllEvidence {
    /// The evidence in files. `other` is the evidence in another state of the repository.
    fn of(files: impl Iterator<Item = File>, clusters: &BTreeSet<ArcStr>, other: Option<&Self>) -> Self {
        let mut all = Self {
            of_files: Index::default(),
            found: Vec::new(),
            of_manifests: Index::default(),
            with_patterns: Vec::new(),
            index: ProgramIndex::default(),
        };
        for file in files {
            let known = other.and_then(|other| other.of_files.get(file.path())).filter(|known| known.file == file);
            let evidence = known.cloned().unwrap_or_else(|| Arc::new(Evidence::of(file)));
            all.of_files.insert(evidence.file.path().to_owned(), evidence.clone());
            all.found.extend((!evidence.is_empty()).then_some(evidence));
        }
        for (at, one) in all.found.iter().enumerate() {
            for path in &one.applied_files {
                all.of_manifests.entry_or(path.clone(), Vec::new).push(at);
            }
            let has_patterns = !one.searches.is_empty() || !one.read_folders.is_empty();
            if has_patterns && all.with_patterns.len() < MAX_WITH_PATTERNS {
                all.with_patterns.push(at);
            }
        }
        all.index = ProgramIndex::new(all.found.iter().map(AsRef::as_ref), clusters);
        all
    }
}

impl<'a> ClusterPrograms<'a> {
    /// Returns whether a program may install a release, or another release of the same chart.
    pub fn installs(self, chart: &str, release: &str) -> bool {
        let index = self.index();
        [chart, release].iter().any(|name| self.first(index.charts.get(*name)).is_some())
    }

    /// Returns whether a program may install the CRDs of an API group.
    pub fn defines(self, group: &str) -> bool {
        self.first(self.index().groups.get(group)).is_some()
    }

    /// The file of a program that may create an object with a name, if programs create objects of its kind.
    pub fn creator(self, group: &str, kind: &str, name: &str) -> Option<&'a str> {
        let (_, kind) = created_kind(kind).filter(|(known, _)| *known == group)?;
        self.first(self.index().creators(kind, name)).map(|one| one.file.path())
    }

    /// Returns whether a program, such as a script that creates namespaces in a loop, may create a namespace.
    pub fn creates_namespace(self, name: &str) -> bool {
        self.first(Some(&self.index().namespaces)).is_some() || self.creator("", "Namespace", name).is_some()
    }

    /// Returns whether a program with kubectl mentions the file of an object.
    pub fn names_file(self, path: &str, object: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let with_folder = path.rmatch_indices('/').nth(1).and_then(|(at, _)| path.get(at + 1..)).unwrap_or(path);
        let is_named = |name: &str| self.first(self.index().named_files.get(name)).is_some();
        let is_found = || self.all.finders_of_file(path).any(|one| !self.is_of_another(one.file.path()));
        is_named(with_folder) || (name.starts_with(object) && is_named(name)) || is_found()
    }

    /// The file of a program that may apply a directory, or of a program that tells the user to apply it.
    pub fn applier(self, folder: &str) -> Option<&'a str> {
        let is_applied = |one: &&Evidence| one.applies(folder) || one.prints(folder);
        self.evidence().find(is_applied).filter(|_| self.all.has_kustomization(folder)).map(|one| one.file.path())
    }

    /// The file of a program that may apply a manifest.
    pub fn applier_of_file(self, path: &str) -> Option<&'a str> {
        let mut appliers = self.all.appliers_of_file(path).map(|one| one.file.path());
        appliers.find(|program| !self.is_of_another(program))
    }

    /// The files and directories that templates apply, each with the file of the template.
    pub fn template_paths(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.evidence().flat_map(Evidence::templates)
    }

    /// Returns whether a program mentions a path, so that its effect may depend on the directory of a cluster.
    pub fn mentions_paths(self) -> bool {
        self.evidence().any(|one| !one.named_files.is_empty() || one.has_folders())
    }

    /// The files of the programs.
    pub fn files(self) -> impl Iterator<Item = &'a str> {
        self.evidence().map(|one| one.file.path())
    }

    fn index(self) -> &'a ProgramIndex {
        &self.all.all_evidence().index
    }

    /// The evidence of the first of some programs that may run for the cluster.
    fn first(self, programs: Option<&FirstPrograms>) -> Option<&'a Evidence> {
        let at = programs?.of(self.cluster)?;
        self.all.evidence().get(at).map(AsRef::as_ref)
    }

    fn evidence(self) -> impl Iterator<Item = &'a Evidence> {
        let all = self.all.evidence().iter().map(AsRef::as_ref);
        all.filter(move |one: &&Evidence| !self.is_of_another(one.file.path()))
    }

    /// Returns whether a program is in the directory of another cluster.
    fn is_of_another(self, path: &str) -> bool {
        let mut others = path.split('/').filter(|segment| self.all.clusters.contains(*segment)).peekable();
        others.peek().is_some() && others.all(|other| other != self.cluster)
    }
}

fn may_be_program(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    (is_yaml(path) && !is_kustomization_name(name))
        || EXTENSIONS.contains(&extension)
        || is_helmfile(path)
        || is_task_file(path)
        || is_without_extension(path)
}

fn is_task_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    TASK_FILES.iter().any(|start| name.starts_with(start))
}

/// Returns whether a file has no extension. It may be a script, according to its first line.
fn is_without_extension(path: &str) -> bool {
    !path.rsplit('/').next().unwrap_or(path).contains('.')
}
