//! The classification of files: manifests, files of other programs, and templates that are not valid YAML.

use std::collections::BTreeSet;

use crate::base::set_aside::{is_former, is_template as is_in_templates};
use crate::kube::Object;
use crate::kube::groups::SYNC_FILE;
use crate::kustomize::{expand_list, is_yaml};
use crate::text::{Tree, folder_of};
use crate::yaml::{INVALID_YAML, Parsed};

/// A reason why a file is not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SkipReason {
    /// The file is a template of a Helm chart.
    ChartTemplate,
    /// The file is not valid YAML and contains the template syntax of Go, Jinja or `FreeMarker`.
    Template,
    /// The file is not valid YAML and does not look like a manifest.
    NotYaml,
    /// The file contains no Kubernetes object.
    NoManifest,
    /// The file is not text, or it is too large.
    Unreadable,
    /// The file is in a hidden directory.
    Hidden,
}

impl SkipReason {
    /// The plural noun for a count of files with this reason.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::ChartTemplate => "templates of Helm charts",
            Self::Template => "templates",
            Self::NotYaml => "files that are not valid YAML and do not look like manifests",
            Self::NoManifest => "files without Kubernetes objects",
            Self::Unreadable => "files that are binary or too large",
            Self::Hidden => "files in hidden directories",
        }
    }
}

/// The directories of Helm charts, which contain a Chart.yaml.
pub(super) fn chart_folders(tree: &Tree) -> BTreeSet<String> {
    let charts = tree.entries().map(|(path, _)| path).filter(|path| path.rsplit('/').next() == Some("Chart.yaml"));
    charts.map(|path| folder_of(path).to_string()).collect()
}

/// Returns whether a path is a template of a chart: a file below a directory `templates` beside a Chart.yaml.
pub(super) fn is_chart_template(path: &str, charts: &BTreeSet<String>) -> bool {
    if charts.is_empty() || !path.contains("templates/") {
        return false;
    }
    let mut folder = folder_of(path);
    loop {
        let is_templates = folder == "templates" || folder.ends_with("/templates");
        if is_templates && charts.contains(folder_of(folder)) {
            return true;
        }
        if folder.is_empty() {
            return false;
        }
        folder = folder_of(folder);
    }
}

/// Returns whether a path is in a hidden directory, such as `.github`, which is not one of `clusters`. A kustomization of
/// another directory may still include the file.
pub(super) fn is_hidden(path: &str, clusters: &BTreeSet<String>) -> bool {
    hidden_folders(path).any(|folder| !clusters.contains(folder))
}

/// The hidden directories with the bootstrap of a cluster, a `gotk-sync.yaml` or a FluxInstance; empty if another directory
/// has a bootstrap too.
///
/// Source: sourceignore of fluxcd/pkg, which excludes only the hidden directories of Git and CI from an artifact.
pub(super) fn hidden_clusters(tree: &Tree) -> BTreeSet<String> {
    const EXCLUDED: [&str; 3] = [".git", ".github", ".circleci"];
    let is_sync = |path: &&str| path.rsplit('/').next() == Some(SYNC_FILE);
    let has_instance = |path: &&str| {
        is_yaml(path) && tree.file(path).is_ok_and(|file| file.text().lines().any(|line| line == "kind: FluxInstance"))
    };
    let paths = || tree.entries().map(|(path, _)| path);
    let hidden = |path: &str| -> Option<String> {
        let folder = hidden_folders(path).next()?;
        let is_excluded = folder.rsplit('/').next().is_some_and(|name| EXCLUDED.contains(&name));
        (!is_excluded && !is_former(folder)).then(|| folder.to_owned())
    };
    let of_syncs: BTreeSet<String> = paths().filter(is_sync).filter_map(hidden).collect();
    let is_hidden = |path: &&str| hidden_folders(path).next().is_some();
    let of_instances = || paths().filter(is_hidden).filter(has_instance).filter_map(hidden).collect();
    let found: BTreeSet<String> = if of_syncs.is_empty() { of_instances() } else { of_syncs };
    let has_bootstrap = |path: &&str| !is_hidden(path) && (is_sync(path) || has_instance(path));
    if found.is_empty() || paths().any(|path| has_bootstrap(&path)) { BTreeSet::new() } else { found }
}

/// The hidden directories that contain a path, from the outermost one.
fn hidden_folders(path: &str) -> impl Iterator<Item = &str> {
    // Most paths contain no hidden directory.
    let path = if path.starts_with('.') || path.contains("/.") { path } else { "" };
    let folders = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
    folders.filter(|folder| folder.rsplit('/').next().is_some_and(|name| name.starts_with('.')))
}

/// Returns whether the top level of a file has the fields of a Kubernetes object, even if the file is not valid YAML.
pub(super) fn claims_to_be_manifest(text: &str) -> bool {
    let value = |key: &str| {
        text.lines().find_map(|line| {
            let rest = line.trim_start_matches('\u{FEFF}').strip_prefix(key)?.trim_start().strip_prefix(':')?;
            Some(rest.split(" #").next().unwrap_or(rest).trim().trim_matches(['"', '\'']))
        })
    };
    let has_version = || value("apiVersion").is_some_and(|version| version == "v1" || version.contains('/'));
    text.contains("apiVersion")
        && has_version()
        && value("kind").is_some_and(|kind| kind.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Returns whether an invalid file is a template: the first invalid line, or the line before it, contains the template
/// syntax of Go, Jinja or `FreeMarker`, or the file contains statements of ytt.
pub(super) fn is_template(parsed: &Parsed) -> bool {
    if has_statements_of_ytt(parsed.file.text()) {
        return true;
    }
    let Some(first) = parsed.findings.iter().find(|finding| finding.rule == INVALID_YAML) else { return false };
    let (file, line) = (&parsed.file, first.at.span.position().line);
    let text = |line: u32| file.line(line).and_then(|range| file.text().get(range)).unwrap_or_default();
    let is_directive = |text: &str| ["<#", "</#"].iter().any(|start| text.trim_start().starts_with(start));
    let is_of_template = |text: &str| text.contains("{{") || text.contains("{%") || is_directive(text);
    [line, line.saturating_sub(1)].iter().any(|line| is_of_template(text(*line)))
}

/// Returns whether a text contains statements of ytt, which are comments of YAML: `#@ if name == "web":`.
fn has_statements_of_ytt(text: &str) -> bool {
    let is_statement = |line: &str| {
        let statement = line.trim_start().strip_prefix("#@").and_then(|rest| rest.split_whitespace().next());
        matches!(statement, Some("if" | "for" | "def" | "end"))
    };
    text.contains("#@") && text.lines().any(is_statement)
}

/// Returns whether a file is a template in a directory of templates. Another program creates directories from these
/// templates.
pub(super) fn is_of_scaffold(parsed: &Parsed) -> bool {
    is_template(parsed) && is_in_templates(parsed.file.path())
}

/// The objects of a file as written. As in Flux, the objects of a `List` are its items.
pub(super) fn objects(parsed: &Parsed) -> impl Iterator<Item = Object> {
    let documents = parsed.documents.iter().filter(|document| document.complete);
    let objects = documents.flat_map(|document| expand_list(&document.node)).filter_map(Object::new);
    objects.filter(|object| !object.name().is_empty())
}
