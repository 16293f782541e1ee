//! Directories that other values of settings select: a path has a variable with a default value, or a replacement writes
//! one of its segments.

use crate::flux::{Repo, is_kustomization};
use crate::kube::groups;
use crate::lint::facts::paths::segment_runs;
use crate::lint::facts::reached::ReachedFiles;
use crate::text::{Index, normalize};
use crate::yaml::Node;

/// The paths of reached Kustomizations in which another value may replace a part of one segment.
#[derive(Default)]
pub(super) struct Variants {
    /// The ends of the paths and the Kustomizations, by the part of the path before the value.
    by_start: Index<String, Vec<(String, String)>>,
    is_empty: bool,
}

impl Variants {
    pub(super) fn of<'a>(repo: &'a Repo, reached: &ReachedFiles<'a>) -> Self {
        let mut variants = Self { is_empty: true, ..Self::default() };
        let written = replaced_segments(repo);
        for built in &repo.objects {
            let object = &built.object;
            let Some(path) = object.text_at(&["spec", "path"]).filter(|_| is_kustomization(object)) else { continue };
            let by_replacement = written.get(object.name()).into_iter().flatten().filter_map(|at| without(path, *at));
            let parts: Vec<(String, String)> = with_default(path).into_iter().chain(by_replacement).collect();
            if !parts.is_empty() && reached.receives(object) {
                variants.is_empty = false;
                for (start, end) in parts {
                    variants.by_start.entry_or(start, Vec::new).push((end, object.reference().to_string()));
                }
            }
        }
        variants
    }

    /// The Kustomization that applies a directory, or a directory above it, with another value of a setting.
    pub(super) fn by(&self, folder: &str) -> Option<&str> {
        if self.is_empty {
            return None;
        }
        segment_runs(folder).find_map(|run| {
            let starts = run.char_indices().filter_map(|(at, _)| run.get(..at));
            let mut variants = starts.filter_map(|start| Some((start.len(), self.by_start.get(start)?)));
            variants.find_map(|(start, ends)| {
                let rest = run.get(start..)?;
                let is_variant =
                    |end: &str| rest.strip_suffix(end).is_some_and(|value| !value.is_empty() && !value.contains('/'));
                ends.iter().find(|(end, _)| is_variant(end)).map(|(_, by)| by.as_str())
            })
        })
    }
}

/// The parts of a path before and after its variables, if a variable has a default value.
///
/// The author of such a path expects that clusters set other values.
fn with_default(path: &str) -> Option<(String, String)> {
    let (start, rest) = path.split_once("${")?;
    let (inner, end) = rest.rsplit_once('}')?;
    let operator = |variable: &str| {
        let after = variable.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        [":=", ":-", "=", "-"].iter().any(|operator| after.starts_with(operator))
    };
    let mut variables = inner.split("${");
    variables.any(operator).then(|| (known_start(start), end.trim_end_matches('/').to_owned()))
}

/// The start of a path, from the root of the source.
fn known_start(start: &str) -> String {
    let (above, name) = start.rsplit_once('/').unwrap_or(("", start));
    let above = normalize(above).filter(|above| !above.is_empty());
    above.map_or_else(|| name.to_owned(), |above| format!("{above}/{name}"))
}

/// The parts of a path before and after a segment.
fn without(path: &str, at: usize) -> Option<(String, String)> {
    let segments: Vec<&str> = path.split('/').collect();
    let (before, after) = (segments.get(..at)?, segments.get(at + 1..)?);
    let start = before.iter().fold(String::new(), |start, segment| format!("{start}{segment}/"));
    let end = after.iter().fold(String::new(), |end, segment| format!("{end}/{segment}"));
    Some((known_start(&start), end.trim_end_matches('/').to_owned()))
}

/// The segments of the paths of Kustomizations that replacements write, by the names of the Kustomizations.
fn replaced_segments(repo: &Repo) -> Index<&str, Vec<usize>> {
    let mut found: Index<&str, Vec<usize>> = Index::default();
    let entries = repo.patches.iter().flat_map(|document| items(&document.node, "replacements"));
    for target in entries.flat_map(|entry| items(entry, "targets")) {
        let text = |keys: &[&str]| target.at_keys(keys).and_then(Node::text);
        let is_of_flux = text(&["select", "group"]).is_none_or(|group| group == groups::KUSTOMIZE);
        let writes_path = items(target, "fieldPaths").any(|field| field.text() == Some("spec.path"));
        let delimiter = text(&["options", "delimiter"]);
        let index = text(&["options", "index"]).unwrap_or("0").parse().ok();
        if let (Some("Kustomization"), Some(name), Some("/"), Some(index)) =
            (text(&["select", "kind"]), text(&["select", "name"]), delimiter, index)
            && is_of_flux
            && writes_path
        {
            found.entry_or(name, Vec::new).push(index);
        }
    }
    found
}

fn items<'a>(node: &'a Node, key: &str) -> impl Iterator<Item = &'a Node> {
    node.get(key).map_or(&[][..], Node::items).iter()
}
