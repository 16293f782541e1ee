//! What a file is: a manifest, somebody else's file, or text that no parser can read yet.

use std::collections::BTreeSet;

use crate::kube::Object;
use crate::kustomize::expand_list;
use crate::text::{Tree, folder_of};
use crate::yaml::{INVALID_YAML, Parsed};

/// Why a file is not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// A template of a Helm chart.
    ChartTemplate,
    /// It does not parse and holds templating: Go's, Jinja's.
    Template,
    /// It does not parse, and nothing says that it should be a manifest.
    NotYaml,
    /// It holds no Kubernetes object.
    NoManifest,
    /// It is no text, or too large.
    Unreadable,
    /// It lies in a hidden folder.
    Hidden,
}

impl Reason {
    /// What is counted, in the plural.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::ChartTemplate => "templates of Helm charts",
            Self::Template => "templates",
            Self::NotYaml => "files that are no YAML and claim to be no manifest",
            Self::NoManifest => "files without Kubernetes objects",
            Self::Unreadable => "binary or too large files",
            Self::Hidden => "files in hidden folders",
        }
    }
}

/// The folders of Helm charts: those with a Chart.yaml.
pub(super) fn chart_folders(tree: &Tree) -> BTreeSet<String> {
    let charts = tree.entries().map(|(path, _)| path).filter(|path| path.rsplit('/').next() == Some("Chart.yaml"));
    charts.map(|path| folder_of(path).to_string()).collect()
}

/// Tells whether a path is a template of a chart: below the `templates` of a folder with a Chart.yaml.
pub(super) fn is_chart_template(path: &str, charts: &BTreeSet<String>) -> bool {
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

/// Tells whether a path lies in a hidden folder: Git's own, CI's, an archive. What a kustomization outside includes
/// from there is built all the same.
pub(super) fn is_hidden(path: &str) -> bool {
    folder_of(path).split('/').any(|segment| segment.starts_with('.'))
}

/// Tells whether a file says at its top level that it holds a Kubernetes object, whether it parses or not.
pub(super) fn claims_to_be_manifest(text: &str) -> bool {
    let value = |key: &str| {
        text.lines().find_map(|line| {
            let rest = line.trim_start_matches('\u{FEFF}').strip_prefix(key)?.trim_start().strip_prefix(':')?;
            Some(rest.split(" #").next().unwrap_or(rest).trim().trim_matches(['"', '\'']))
        })
    };
    let version = value("apiVersion").is_some_and(|version| version == "v1" || version.contains('/'));
    version && value("kind").is_some_and(|kind| kind.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Tells whether what a file was not understood for is a template: the text is Go's or Jinja's at the first place
/// that is no YAML, or on the line before.
pub(super) fn is_template(parsed: &Parsed) -> bool {
    let Some(first) = parsed.findings.iter().find(|finding| finding.rule == INVALID_YAML) else { return false };
    let (file, line) = (&parsed.file, first.at.span.position().line);
    let text = |line: u32| file.line(line).and_then(|range| file.text().get(range)).unwrap_or_default();
    [line, line.saturating_sub(1)].iter().any(|line| text(*line).contains("{{") || text(*line).contains("{%"))
}

/// The objects of a file as written; those of a `List` are its items, as Flux takes them.
pub(super) fn objects(parsed: &Parsed) -> impl Iterator<Item = Object> {
    let documents = parsed.documents.iter().filter(|document| document.complete);
    let objects = documents.flat_map(|document| expand_list(&document.node)).filter_map(Object::new);
    objects.filter(|object| !object.name().is_empty())
}
