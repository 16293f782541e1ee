//! Evidence in the files of other programs about the objects that these programs create: scripts, Taskfiles, Ansible,
//! Terraform, helmfiles, and machine configurations of Talos.
//!
//! Fleetwright does not run these programs, and does not know when they run. Therefore, a file does not prove that an
//! object exists. Rules do not report an object as missing if another program may create it.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use crate::flux::classify::{claims_to_be_manifest, is_chart_template};
use crate::flux::install::kustomizations::is_kustomization_name;
use crate::flux::unknown::known_contents::groups_of_chart;
use crate::kustomize::is_yaml;
use crate::text::{File, Index, Tree, folder_of, is_inside};

/// The maximum number of files that are read.
const MAX_FILES: usize = 5_000;
/// The maximum length of a file that is read.
const MAX_LEN: usize = 512 * 1024;
/// The maximum length of the address of a manifest.
const MAX_ADDRESS: usize = 2_048;

/// The directory of the mappings of hologit.
const MAPPINGS: &str = ".holo/branches/";
/// The extensions of scripts, and of templates from which programs create manifests.
const EXTENSIONS: [&str; 16] =
    ["bash", "fish", "hcl", "j2", "jinja", "jinja2", "just", "mk", "nu", "ps1", "py", "sh", "tf", "tmpl", "tpl", "zsh"];
/// The prefixes of the names of task files.
const TASK_FILES: [&str; 5] = ["justfile", ".justfile", "makefile", "taskfile", ".taskfile"];
/// The flags of kubectl and helm whose value is the next word.
const FLAGS_WITH_VALUE: [&str; 10] = [
    "-n",
    "--namespace",
    "--context",
    "--kube-context",
    "--kubeconfig",
    "--from-literal",
    "--from-file",
    "--from-env-file",
    "-o",
    "--output",
];

/// The programs whose files a repository contains. The files are read at the first query.
#[derive(Debug, Clone, Default)]
pub struct OtherPrograms {
    tree: Tree,
    charts: BTreeSet<String>,
    clusters: BTreeSet<Arc<str>>,
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
}

/// The programs of one cluster, without the programs in the directories of other clusters.
#[derive(Debug, Clone, Copy)]
pub struct ClusterPrograms<'a> {
    all: &'a OtherPrograms,
    cluster: &'a str,
}

/// The evidence in one file.
#[derive(Debug, Clone)]
struct Evidence {
    file: File,
    /// The names of releases and charts.
    charts: BTreeSet<String>,
    /// The API groups of CRDs.
    groups: BTreeSet<String>,
    /// The kinds and names of Secrets, ConfigMaps and Namespaces.
    objects: BTreeSet<(&'static str, String)>,
    /// Whether the program creates a namespace for each item of a list.
    creates_namespaces: bool,
    /// The names of files that a program with kubectl mentions, alone and with their directory.
    named_files: BTreeSet<String>,
    /// The ends of the paths of directories that a command applies with `kubectl apply --kustomize`.
    applied_folders: BTreeSet<String>,
}

impl OtherPrograms {
    /// The programs in a tree. `charts` are the directories of Helm charts, which contain no programs, and `clusters` the
    /// names of all clusters.
    /// `other` is another state of the repository.
    pub(in crate::flux) fn of(
        tree: &Tree,
        charts: &BTreeSet<String>,
        clusters: BTreeSet<Arc<str>>,
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
    pub fn applier(&self, folder: &str) -> Option<&str> {
        self.evidence().iter().find(|one| one.applies(folder)).map(|one| one.file.path())
    }

    /// The file of a program that mentions the whole path of a file.
    pub(in crate::flux) fn mention(&self, path: &str) -> Option<String> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let mentions = |text: &str| {
            text.match_indices(path).any(|(at, _)| {
                let before = text.get(..at).unwrap_or_default().trim_end_matches("./");
                let after = text.get(at + path.len()..).unwrap_or_default();
                !before.ends_with(is_part) && !after.starts_with(|c| is_part(c) || c == '.')
            })
        };
        let is_whole = path.contains('/');
        let mentioned = self.files().find(|file| is_whole && mentions(file.text())).map(|file| file.path().to_owned());
        mentioned.or_else(|| self.mapping(path))
    }

    /// The mapping of hologit that adds a file: `.holo/branches/BRANCH/PATH.toml` adds files of another repository to
    /// `PATH`, and a file whose name starts with `_` adds them to its directory. Flux reads the composed branch.
    fn mapping(&self, path: &str) -> Option<String> {
        let adds = |file: &&str| {
            let mapping = file.strip_prefix(MAPPINGS).and_then(|file| file.split_once('/')?.1.strip_suffix(".toml"));
            mapping.is_some_and(|mapping| {
                let name = mapping.rsplit('/').next().unwrap_or(mapping);
                is_inside(path, if name.starts_with('_') { folder_of(mapping) } else { mapping })
            })
        };
        // The innermost mapping is the most specific one.
        self.tree
            .under(MAPPINGS.trim_end_matches('/'))
            .filter(adds)
            .max_by_key(|file| file.len())
            .map(ToString::to_string)
    }

    fn evidence(&self) -> &[Arc<Evidence>] {
        let read = || AllEvidence::of(self.files(), self.other.as_ref().and_then(|other| other.get()));
        &self.evidence.get_or_init(read).found
    }

    /// The files of programs.
    fn files(&self) -> impl Iterator<Item = File> {
        let paths = self.tree.entries().map(|(path, _)| path).filter(|path| may_be_program(path));
        let paths = paths.filter(|path| !is_chart_template(path, &self.charts));
        let files = paths.filter_map(|path| self.tree.file(path).ok());
        let is_manifest = |file: &File| is_yaml(file.path()) && claims_to_be_manifest(file.text());
        files.filter(move |file| file.text().len() <= MAX_LEN && !is_manifest(file)).take(MAX_FILES)
    }
}

impl AllEvidence {
    /// The evidence in files. `other` is the evidence in another state of the repository.
    fn of(files: impl Iterator<Item = File>, other: Option<&Self>) -> Self {
        let mut all = Self { of_files: Index::default(), found: Vec::new() };
        for file in files {
            let known = other.and_then(|other| other.of_files.get(file.path())).filter(|known| known.file == file);
            let evidence = known.cloned().unwrap_or_else(|| Arc::new(Evidence::of(file)));
            all.of_files.insert(evidence.file.path().to_owned(), evidence.clone());
            all.found.extend((!evidence.is_empty()).then_some(evidence));
        }
        all
    }
}

impl<'a> ClusterPrograms<'a> {
    /// Returns whether a program may install a release, or another release of the same chart.
    pub fn installs(self, chart: &str, release: &str) -> bool {
        self.evidence().any(|one| one.charts.contains(chart) || one.charts.contains(release))
    }

    /// Returns whether a program may install the CRDs of an API group.
    pub fn defines(self, group: &str) -> bool {
        self.evidence().any(|one| one.groups.contains(group))
    }

    /// The file of a program that may create a Secret, ConfigMap or Namespace with a name.
    pub fn creator(self, kind: &str, name: &str) -> Option<&'a str> {
        let object = (created_kind(kind)?, name.to_owned());
        self.evidence().find(|one| one.objects.contains(&object)).map(|one| one.file.path())
    }

    /// Returns whether a program, such as a script that creates namespaces in a loop, may create a namespace.
    pub fn creates_namespace(self, name: &str) -> bool {
        self.evidence().any(|one| one.creates_namespaces) || self.creator("Namespace", name).is_some()
    }

    /// Returns whether a program with kubectl mentions the file of an object.
    pub fn names_file(self, path: &str, object: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let with_folder = path.rmatch_indices('/').nth(1).and_then(|(at, _)| path.get(at + 1..)).unwrap_or(path);
        self.evidence().any(|one| {
            one.named_files.contains(with_folder) || (name.starts_with(object) && one.named_files.contains(name))
        })
    }

    /// The file of a program that may apply a directory.
    pub fn applier(self, folder: &str) -> Option<&'a str> {
        self.evidence().find(|one| one.applies(folder)).map(|one| one.file.path())
    }

    /// Returns whether a program mentions a path, so that its effect may depend on the directory of a cluster.
    pub fn mentions_paths(self) -> bool {
        self.evidence().any(|one| !one.named_files.is_empty() || !one.applied_folders.is_empty())
    }

    /// The files of the programs.
    pub fn files(self) -> impl Iterator<Item = &'a str> {
        self.evidence().map(|one| one.file.path())
    }

    fn evidence(self) -> impl Iterator<Item = &'a Evidence> {
        let Self { all, cluster } = self;
        let is_of_another = move |path: &str| {
            let mut others = path.split('/').filter(|segment| all.clusters.contains(*segment)).peekable();
            others.peek().is_some() && others.all(|other| other != cluster)
        };
        all.evidence().iter().map(AsRef::as_ref).filter(move |one: &&Evidence| !is_of_another(one.file.path()))
    }
}

impl Evidence {
    fn of(file: File) -> Self {
        let mut evidence = Self {
            named_files: if file.text().contains("kubectl") { named_files(file.text()) } else { BTreeSet::new() },
            file,
            charts: BTreeSet::new(),
            groups: BTreeSet::new(),
            objects: BTreeSet::new(),
            creates_namespaces: false,
            applied_folders: BTreeSet::new(),
        };
        let file = evidence.file.clone();
        evidence.read(file.text(), is_helmfile(file.path()) || contains_releases(file.text()));
        evidence
    }

    fn applies(&self, folder: &str) -> bool {
        let is_end = |end: &String| {
            folder.strip_suffix(end.as_str()).is_some_and(|start| start.is_empty() || start.ends_with('/'))
        };
        self.applied_folders.iter().any(is_end)
    }

    fn is_empty(&self) -> bool {
        let is_silent = self.charts.is_empty() && self.groups.is_empty() && self.objects.is_empty();
        is_silent && !self.creates_namespaces && self.named_files.is_empty() && self.applied_folders.is_empty()
    }

    fn read(&mut self, text: &str, is_helmfile: bool) {
        let mut manifest = Manifest::default();
        let mut resource: Option<&'static str> = None;
        let (mut command, mut loops) = (String::new(), 0_usize);
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            self.read_addresses(line);
            if let Some((kind, name)) = manifest.read(line) {
                self.add(kind, name);
            }
            // Terraform: `resource "kubernetes_secret" "vars" { metadata { name = "vars"`.
            resource = resource_of(line).or(resource);
            if let Some((key, value)) = line.split_once('=')
                && key.trim() == "name"
                && let Some(kind) = resource.take()
            {
                self.add(kind, value);
            }
            if is_helmfile {
                self.read_helmfile(line);
            }
            loops += usize::from(line.starts_with("for ") || line.starts_with("while "));
            if let Some(start) = line.strip_suffix('\\') {
                command.push_str(start);
                command.push(' ');
            } else {
                command.push_str(line);
                self.read_command(&command, loops > 0);
                command.clear();
            }
            loops = loops.saturating_sub(usize::from(line.starts_with("done") || line.ends_with("done")));
        }
    }

    /// Reads a line of a helmfile. A helmfile is often a template, and therefore not valid YAML.
    fn read_helmfile(&mut self, line: &str) {
        let line = line.trim_start_matches("- ");
        if let Some(namespace) = line.strip_prefix("namespace:") {
            self.add("Namespace", namespace);
        }
        if let Some(value) = ["name:", "chart:"].into_iter().find_map(|key| line.strip_prefix(key)) {
            self.add_chart(trimmed(value));
        }
    }

    /// Reads a command of kubectl, flux or helm.
    fn read_command(&mut self, command: &str, in_loop: bool) {
        if command.contains("kubectl") && command.contains("apply") {
            self.read_apply(command);
        }
        if !command.contains("create") && !command.contains("helm") {
            return;
        }
        let words: Vec<&str> = command.split_whitespace().map(trimmed).filter(|word| !word.is_empty()).collect();
        for (at, _) in words.iter().enumerate().filter(|(_, word)| **word == "create") {
            let rest = words.get(at + 1..).unwrap_or_default();
            let (kind, rest) = match rest.split_first() {
                Some((&("secret" | "secrets"), rest)) => ("Secret", rest.get(1..).unwrap_or_default()),
                Some((&("configmap" | "cm"), rest)) => ("ConfigMap", rest),
                Some((&("namespace" | "ns"), rest)) => ("Namespace", rest),
                _ => continue,
            };
            let Some(name) = arguments(rest).next() else { continue };
            self.add(kind, name);
            self.creates_namespaces |= in_loop && kind == "Namespace" && is_computed(name);
        }
        let is_helm = |word: &&str| word.rsplit('/').next() == Some("helm");
        if words.iter().any(is_helm) && ["install", "upgrade", "template"].iter().any(|word| words.contains(word)) {
            arguments(&words).for_each(|word| self.add_chart(word));
            let namespace = words.iter().position(|word| matches!(*word, "-n" | "--namespace"));
            let namespace = namespace.and_then(|at| words.get(at + 1));
            let namespace =
                namespace.copied().or_else(|| words.iter().find_map(|word| word.strip_prefix("--namespace=")));
            if let Some(namespace) = namespace.filter(|_| words.contains(&"--create-namespace")) {
                self.add("Namespace", namespace);
            }
        }
    }

    /// Reads the directories that a command of kubectl applies.
    fn read_apply(&mut self, command: &str) {
        let mut words = command.split_whitespace();
        while let Some(word) = words.next() {
            let (flag, value) = word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value)));
            if !matches!(flag, "-k" | "--kustomize") {
                continue;
            }
            let Some(value) = value.or_else(|| words.next()) else { continue };
            // A variable usually contains the root of the repository, or one of its directories.
            let known = trimmed(value).rsplit(['}', ')']).next().unwrap_or_default();
            let known = if known.starts_with('$') { known.split_once('/').map_or("", |(_, rest)| rest) } else { known };
            let folder = known.trim_start_matches("./").trim_matches('/');
            if !folder.is_empty() && !folder.contains("..") && !is_computed(folder) {
                self.applied_folders.insert(folder.to_owned());
            }
        }
    }

    /// Reads the addresses of manifests of public projects.
    fn read_addresses(&mut self, line: &str) {
        let mut rest = line;
        // The search continues after each address, so its time is linear.
        while let Some(at) = rest.find("https://") {
            let start = rest.get(at..).unwrap_or_default();
            let address = address(start.get(..start.floor_char_boundary(MAX_ADDRESS)).unwrap_or_default());
            rest = start.get(address.len().max("https://".len())..).unwrap_or_default();
            let (file, query) = address.split_once('?').unwrap_or((address, ""));
            if !is_yaml(file) && !query.contains("ref=") {
                continue;
            }
            for segment in file.split('/').skip(3) {
                self.add_groups(segment);
            }
            let name = file.rsplit('/').next().unwrap_or(file);
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            // The files of single CRDs: `GROUP_PLURAL.yaml`, or `PLURAL.GROUP.yaml`.
            let group = stem.split_once('_').map(|(group, _)| group).or(stem.split_once('.').map(|(_, group)| group));
            if let Some(group) = group.filter(|group| group.contains('.')) {
                self.groups.insert(group.to_owned());
            }
        }
    }

    fn add_chart(&mut self, chart: &str) {
        let name = chart.rsplit('/').next().unwrap_or(chart);
        self.charts.insert(name.to_owned());
        self.add_groups(name);
    }

    fn add_groups(&mut self, name: &str) {
        let project = match name {
            "prometheus-operator" => "prometheus-operator-crds",
            "external-snapshotter" => "snapshot-controller",
            _ => name,
        };
        let base = project.strip_suffix("-crds").or(project.strip_suffix("-crd")).unwrap_or(project);
        for group in groups_of_chart(project).iter().chain(groups_of_chart(base)) {
            self.groups.insert((*group).to_owned());
        }
    }

    fn add(&mut self, kind: &'static str, name: &str) {
        let name = trimmed(name);
        if !is_computed(name) {
            self.objects.insert((kind, name.to_owned()));
        }
    }
}

/// A manifest inside another file, read line by line.
#[derive(Default)]
struct Manifest {
    is_core: bool,
    kind: Option<&'static str>,
    in_metadata: bool,
}

impl Manifest {
    /// Reads a line, and returns the object whose name it contains.
    fn read<'a>(&mut self, line: &'a str) -> Option<(&'static str, &'a str)> {
        let line = line.trim_start_matches("- ");
        if let Some(version) = line.strip_prefix("apiVersion:") {
            *self = Self { is_core: trimmed(version) == "v1", ..Self::default() };
        } else if let Some(kind) = line.strip_prefix("kind:").filter(|_| self.is_core && !self.in_metadata) {
            self.kind = created_kind(trimmed(kind));
        } else if line.starts_with("metadata:") {
            self.in_metadata = true;
        } else if let Some(name) = line.strip_prefix("name:").filter(|_| self.in_metadata) {
            return Some((std::mem::take(self).kind?, name));
        }
        None
    }
}

/// The names of files in a text, alone and with their directory.
fn named_files(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "._-/".contains(c)));
    let paths = words.filter(|word| word.contains('.'));
    let names = paths.flat_map(|path| {
        let starts = path.rmatch_indices('/').map(|(at, _)| at + 1).take(2);
        starts.filter_map(|start| path.get(start..)).chain([path])
    });
    names.filter(|name| !name.is_empty()).map(ToOwned::to_owned).collect()
}

/// The kind of an object, if commands create objects of that kind.
fn created_kind(kind: &str) -> Option<&'static str> {
    ["Secret", "ConfigMap", "Namespace"].into_iter().find(|known| *known == kind)
}

/// The kind of the object of a Terraform resource.
fn resource_of(line: &str) -> Option<&'static str> {
    let name = line.strip_prefix("resource")?.trim_start().strip_prefix("\"kubernetes_")?;
    let kinds = [("secret", "Secret"), ("config_map", "ConfigMap"), ("namespace", "Namespace")];
    kinds.into_iter().find(|(start, _)| name.starts_with(start)).map(|(_, kind)| kind)
}

/// The arguments of a command, without flags and their values.
fn arguments<'a>(words: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let mut is_value = false;
    words.iter().copied().filter(move |word| {
        let is_argument = !is_value && !word.starts_with('-');
        is_value = FLAGS_WITH_VALUE.contains(word);
        is_argument
    })
}

/// The address at the start of a text. An address may contain variables in braces, with spaces.
fn address(text: &str) -> &str {
    let mut depth = 0_usize;
    let is_end = |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ')' | ']' | '>' | ',' | ';' | '|'))
    };
    text.find(is_end).and_then(|end| text.get(..end)).unwrap_or(text)
}

/// A word without quotes, and without the punctuation of lists and commands.
fn trimmed(word: &str) -> &str {
    word.trim().trim_matches(['"', '\'', '`', ',', ';', '[', ']', '(', ')'])
}

/// Returns whether a name contains a variable.
fn is_computed(name: &str) -> bool {
    name.contains(['$', '{', '}', '<'])
}

fn is_helmfile(path: &str) -> bool {
    path.split('/').any(|segment| segment.starts_with("helmfile"))
}

/// Returns whether a text has the list of releases of a helmfile.
fn contains_releases(text: &str) -> bool {
    text.lines().any(|line| line.trim_end() == "releases:")
}

fn may_be_program(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_task_file = || {
        let lower = name.to_ascii_lowercase();
        TASK_FILES.iter().any(|start| lower.starts_with(start))
    };
    (is_yaml(path) && !is_kustomization_name(name))
        || EXTENSIONS.contains(&extension)
        || is_helmfile(path)
        || is_task_file()
}
