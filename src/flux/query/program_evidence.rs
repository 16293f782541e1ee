//! Evidence in the file of a program about the objects that the program creates. The file is read line by line.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memchr;

use super::cluster_config::{created_with_cluster, is_cluster_config};
use super::created_objects::{
    Manifest, contains_releases, created_by_flux, is_helmfile, is_key_of_account, resource_of,
};
use super::indirect_files::{FileSearch, copied_files, downloaded_files, searches};

use super::shell::{
    Definitions, ProgramLine, SimpleCommand, is_computed, is_end_of_path, path_of_manifest, path_with_variable,
    pattern_of, program_lines, simple_commands, trimmed, without_inner_quotes, without_watched_files,
};
use super::template_paths::template_paths;
use crate::flux::unknown::known_contents::groups_of_chart;
use crate::kube::groups::{FLUX_NAMESPACE, SYNC_FILE};
use crate::kustomize::is_yaml;
use crate::text::File;

/// The maximum length of the address of a manifest.
const MAX_ADDRESS: usize = 2_048;
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

/// The argument with which eksctl creates a service account.
const EKSCTL_ACCOUNT: &str = "iamserviceaccount";

/// Parts of the commands that are read, of which none overlaps another. Most lines contain none.
static COMMAND: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let parts = ["apply", "flux bootstrap", "create", "helm"];
    let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(parts);
    finder.expect("the words are few and short")
});

/// The evidence in one file.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    pub(super) file: File,
    /// The names of releases and charts.
    pub(super) charts: BTreeSet<String>,
    /// The API groups of CRDs.
    pub(super) groups: BTreeSet<String>,
    /// The kinds and names of objects, such as Secrets, Namespaces and Kustomizations.
    pub(super) objects: BTreeSet<(&'static str, String)>,
    /// Whether the program creates a namespace for each item of a list.
    pub(super) creates_namespaces: bool,
    /// The names of files that a program with kubectl mentions, alone and with their directory.
    pub(super) named_files: BTreeSet<String>,
    /// The ends of the paths of directories that a command applies with `kubectl apply --kustomize`.
    pub(super) applied_folders: BTreeSet<String>,
    /// The ends of the paths of manifests in a program that applies objects.
    pub(super) applied_files: BTreeSet<String>,
    /// The files and directories that templates apply, with all files below them.
    pub(super) template_paths: BTreeSet<String>,
    /// The ends of the paths of directories in commands that the program only prints, for a user.
    pub(super) printed_folders: BTreeSet<String>,
    /// The paths of directories with a variable, in a program that applies objects. The item of a variable is empty.
    pub(super) read_folders: BTreeSet<Vec<String>>,
    /// The searches for manifests, in a program that applies objects.
    pub(super) searches: BTreeSet<FileSearch>,
}

/// Returns whether a program writes the output of `kustomize build --enable-helm` to a file.
pub(super) fn renders_charts(text: &str) -> bool {
    if !text.contains("--enable-helm") {
        return false;
    }
    let writes = |command: &str| {
        let mut words = command.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let (is_redirect, target) = match word.strip_prefix('>') {
                Some(rest) => (true, rest.trim_start_matches('>')),
                None => (matches!(word, "-o" | "--output"), word.strip_prefix("--output=").unwrap_or_default()),
            };
            let target =
                if target.is_empty() && is_redirect { words.peek().copied().unwrap_or_default() } else { target };
            if !target.is_empty() && !target.starts_with("/dev/") && !target.starts_with('&') {
                return true;
            }
        }
        false
    };
    // A command continues after a line that ends with `\`.
    let text = text.replace("\\\n", " ");
    let mut commands = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    commands.any(|line| line.contains("kustomize") && line.contains("--enable-helm") && writes(line))
}

impl Evidence {
    pub(super) fn of(file: File) -> Self {
        let own = file.clone();
        let is_cluster = is_cluster_config(own.text());
        let is_program = !is_cluster && !is_document(own.path());
        let text = if is_program { without_watched_files(own.text()) } else { Cow::Borrowed(own.text()) };
        let mut evidence = Self {
            named_files: if is_program && text.contains("kubectl") { named_files(&text) } else { BTreeSet::new() },
            template_paths: if is_program { template_paths(&file) } else { BTreeSet::new() },
            file,
            charts: BTreeSet::new(),
            groups: BTreeSet::new(),
            objects: BTreeSet::new(),
            creates_namespaces: false,
            applied_folders: BTreeSet::new(),
            applied_files: BTreeSet::new(),
            printed_folders: BTreeSet::new(),
            read_folders: BTreeSet::new(),
            searches: BTreeSet::new(),
        };
        if is_cluster {
            created_with_cluster(&own).for_each(|(kind, name)| evidence.add(kind, &name));
        } else if is_program {
            evidence.applied_files.extend(downloaded_files(&text));
            evidence.read(&text, is_helmfile(own.path()) || contains_releases(&text));
        } else {
            evidence.read_document(&text);
        }
        evidence
    }

    /// Returns whether a command applies a directory.
    pub(super) fn applies(&self, folder: &str) -> bool {
        contains_end_of(&self.applied_folders, folder)
    }

    /// Returns whether the program prints a command that applies a directory.
    pub(super) fn prints(&self, folder: &str) -> bool {
        contains_end_of(&self.printed_folders, folder)
    }

    /// Returns whether the program may apply the files of a directory, according to a path with a variable.
    pub(super) fn may_read(&self, folder: &str) -> bool {
        if self.read_folders.is_empty() {
            return false;
        }
        let segments: Vec<&str> = folder.split('/').collect();
        let is_at = |start: &[&str], path: &[String]| {
            path.iter().zip(start).all(|(wanted, segment)| wanted.is_empty() || wanted == segment)
        };
        self.read_folders.iter().any(|path| segments.windows(path.len()).any(|start| is_at(start, path)))
    }

    /// The files and directories that templates apply, each with this file.
    pub(super) fn templates(&self) -> impl Iterator<Item = (&str, &str)> {
        self.template_paths.iter().map(|path| (path.as_str(), self.file.path()))
    }

    pub(super) fn is_empty(&self) -> bool {
        let is_silent = self.charts.is_empty() && self.groups.is_empty() && self.objects.is_empty();
        is_silent && !self.creates_namespaces && self.named_files.is_empty() && !self.has_folders()
    }

    /// Returns whether the program mentions a directory that it applies.
    pub(super) fn has_folders(&self) -> bool {
        let is_in_command =
            !self.applied_folders.is_empty() || !self.printed_folders.is_empty() || !self.applied_files.is_empty();
        is_in_command || !(self.read_folders.is_empty() && self.template_paths.is_empty() && self.searches.is_empty())
    }

    fn read(&mut self, text: &str, is_helmfile: bool) {
        let mut manifest = Manifest::default();
        let mut resource: Option<&'static str> = None;
        let (mut command, mut loops) = (String::new(), 0_usize);
        let is_applier = text.contains("kubectl") && text.contains("apply");
        let definitions = Definitions::of(if is_applier { text } else { "" });
        // Most files contain none of these.
        let has_addresses = text.contains("https://");
        let has_artifacts = text.contains("oci://");
        let has_manifests = text.contains("apiVersion") && text.contains("metadata");
        let has_bootstrap = text.contains("bootstrap");
        let mut parts = COMMAND.find_iter(text).map(|found| found.start()).peekable();
        let has_commands = has_bootstrap || parts.peek().is_some();
        let has_arguments = ["kubernetes_", "service_account", "k8s_sa_name"].iter().any(|part| text.contains(part));
        let has_places = has_addresses || has_artifacts || has_manifests;
        if !(has_places || has_commands || has_arguments || is_applier || is_helmfile) {
            return;
        }
        if is_applier {
            let lines = || program_lines(text).filter(|line| !line.is_printed).map(|line| line.text);
            self.searches = searches(lines());
            self.applied_files.extend(copied_files(self.file.path(), lines()));
        }
        for ProgramLine { range, text: line, is_printed } in program_lines(text) {
            let has_slash = memchr(b'/', line.as_bytes()).is_some();
            if has_slash && has_addresses && line.contains("https://") {
                self.read_addresses(line);
            }
            if has_slash && has_artifacts && line.contains("oci://") {
                self.read_artifacts(line);
            }
            let is_text = || simple_commands(line).all(SimpleCommand::is_printed);
            if has_slash && is_applier && !is_printed && !is_text() {
                let line = without_inner_quotes(line);
                let words = || line.split(is_end_of_path).map(|word| word.trim_start_matches('<'));
                self.applied_files.extend(words().filter_map(path_of_manifest));
                self.read_folders.extend(line.split(is_end_of_path).filter_map(path_with_variable));
            }
            if has_manifests && let Some((kind, name)) = manifest.read(line) {
                self.add(kind, name);
            }
            // Terraform: `resource "kubernetes_secret" "vars" { metadata { name = "vars"`.
            resource = resource_of(line).or(resource);
            let assignment = if has_arguments { line.split_once('=') } else { None };
            if let Some((key, value)) = assignment {
                let key = key.trim();
                match key {
                    "name" => resource.take().into_iter().for_each(|kind| self.add(kind, value)),
                    // The modules that create an account with a role of a cloud have this argument.
                    "service_account_name" => self.add("ServiceAccount", value),
                    _ => {}
                }
                // The modules of clouds create the account that they give rights to: `service_account_name = "backup"`.
                if is_key_of_account(key) {
                    value.split(['"', '[', ']', ',']).for_each(|value| {
                        let name = value.rsplit(':').next().unwrap_or(value).trim();
                        if !name.is_empty() {
                            self.add("ServiceAccount", name);
                        }
                    });
                }
            }
            if is_helmfile {
                self.read_helmfile(line);
            }
            if !has_commands {
                continue;
            }
            loops += usize::from(line.starts_with("for ") || line.starts_with("while "));
            // The parts before the line are in comments and in other lines.
            while parts.next_if(|part| *part < range.start).is_some() {}
            let has_part = parts.peek().is_some_and(|part| *part < range.end);
            if let Some(start) = line.strip_suffix('\\') {
                command.push_str(start);
                command.push(' ');
            } else if command.is_empty() {
                if has_part {
                    self.read_command(line, &definitions, loops > 0, is_printed);
                }
            } else {
                command.push_str(line);
                if COMMAND.is_match(&command) {
                    self.read_command(&command, &definitions, loops > 0, is_printed);
                }
                command.clear();
            }
            loops = loops.saturating_sub(usize::from(line.starts_with("done") || line.ends_with("done")));
        }
    }

    /// Reads the commands with which a user creates objects before the bootstrap. Other commands may be examples.
    fn read_document(&mut self, text: &str) {
        if !["kubectl", EKSCTL_ACCOUNT].iter().any(|command| text.contains(command)) {
            return;
        }
        let (mut command, definitions) = (String::new(), Definitions::of(text));
        for line in text.lines().map(str::trim) {
            command.push_str(line.strip_suffix('\\').unwrap_or(line));
            command.push(' ');
            if line.ends_with('\\') {
                continue;
            }
            let is_read = command.contains("kubectl") || command.contains(EKSCTL_ACCOUNT);
            if is_read && !command.contains("helm") && !command.starts_with('#') {
                self.read_command(&command, &definitions, false, true);
            }
            command.clear();
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

    /// Reads a command of kubectl, flux or helm. `is_printed` is whether the command is in a text for a user.
    fn read_command(&mut self, command: &str, definitions: &Definitions<'_>, in_loop: bool, is_printed: bool) {
        if command.contains("apply") && definitions.runs_kubectl(command) {
            let commands = simple_commands(command);
            commands.for_each(|command| self.read_apply(command, definitions, is_printed || command.is_printed()));
        }
        if command.contains("flux bootstrap") {
            self.applied_files.extend(bootstrapped(command));
        }
        if command.contains("flux create kustomization") && !command.contains("--export") && !is_printed {
            self.read_folders.extend(command.split(is_end_of_path).filter_map(path_with_variable));
        }
        if !command.contains("create") && !command.contains("helm") {
            return;
        }
        let words: Vec<&str> = command.split_whitespace().map(trimmed).filter(|word| !word.is_empty()).collect();
        let is_export = words.contains(&"--export");
        // `eksctl create iamserviceaccount --name NAME`
        if words.contains(&EKSCTL_ACCOUNT) {
            let name = words.iter().find_map(|word| word.strip_prefix("--name="));
            let value = words.iter().position(|word| *word == "--name").and_then(|at| words.get(at + 1).copied());
            name.or(value).into_iter().for_each(|name| self.add("ServiceAccount", name));
        }
        for (at, _) in words.iter().enumerate().filter(|(_, word)| **word == "create") {
            let rest = words.get(at + 1..).unwrap_or_default();
            let (kind, rest) = match rest.split_first() {
                Some((&("secret" | "secrets"), rest)) => ("Secret", rest.get(1..).unwrap_or_default()),
                Some((&("configmap" | "cm"), rest)) => ("ConfigMap", rest),
                Some((&("namespace" | "ns"), rest)) => ("Namespace", rest),
                Some((&("serviceaccount" | "sa"), rest)) => ("ServiceAccount", rest),
                // With `--export`, the command only prints the object.
                _ if is_export => continue,
                _ => {
                    let Some(created) = created_by_flux(rest) else { continue };
                    created
                }
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
    fn read_apply(&mut self, command: SimpleCommand<'_>, definitions: &Definitions<'_>, is_printed: bool) {
        let folders = if is_printed { &mut self.printed_folders } else { &mut self.applied_folders };
        let mut words = command.text.split_whitespace();
        while let Some(word) = words.next() {
            let (flag, value) = word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value)));
            if !matches!(flag, "-k" | "--kustomize") {
                continue;
            }
            let Some(value) = value.or_else(|| words.next()) else { continue };
            let value = definitions.expanded(value.trim_matches(['"', '\'']));
            // A variable usually contains the root of the repository, or one of its directories.
            let known = trimmed(&value).rsplit(['}', ')']).next().unwrap_or_default();
            let known = if known.starts_with('$') { known.split_once('/').map_or("", |(_, rest)| rest) } else { known };
            let folder = known.trim_start_matches("./").trim_matches('/');
            if !folder.is_empty() && !folder.contains("..") && !is_computed(folder) {
                folders.insert(folder.to_owned());
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

    /// Reads the addresses of OCI artifacts, which are nearly always charts.
    fn read_artifacts(&mut self, line: &str) {
        for rest in line.split("oci://").skip(1) {
            let address = address(rest);
            // A tag or a digest follows the name.
            let name = address.rsplit('/').next().unwrap_or(address).split(['@', ':']).next().unwrap_or_default();
            if !name.is_empty() && !is_computed(name) {
                self.add_chart(name);
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
        } else if let Some(pattern) = pattern_of(name) {
            self.objects.insert((kind, pattern));
        }
    }
}

/// Returns whether one of the ends of paths is the end of a path.
fn contains_end_of(ends: &BTreeSet<String>, folder: &str) -> bool {
    let is_end =
        |end: &String| folder.strip_suffix(end.as_str()).is_some_and(|start| start.is_empty() || start.ends_with('/'));
    ends.iter().any(is_end)
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

/// The file that a command `flux bootstrap` writes and applies.
fn bootstrapped(command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().map(trimmed).collect();
    let flag = |name: &str| {
        words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(name)? {
            "" => words.get(at + 1).copied(),
            value => value.strip_prefix('='),
        })
    };
    let (path, namespace) = (flag("--path")?, flag("--namespace").unwrap_or(FLUX_NAMESPACE));
    let path = path.trim_start_matches("./").trim_matches('/');
    (!path.is_empty() && !is_computed(path)).then(|| format!("{path}/{namespace}/{SYNC_FILE}"))
}

/// Returns whether a file is documentation, whose commands a user runs.
pub(super) fn is_document(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "md" | "mdx" | "adoc"))
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
