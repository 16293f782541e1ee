//! Roots of Flux Operator whose synced path contains a variable: clusters share the file, and each has its own value.

use super::candidate::{RootCandidate, base_of};
use crate::flux::classify::objects;
use crate::flux::object::kustomization_path::clamp;
use crate::flux::object::synthetic_node::{entry, text};
use crate::kube::Object;
use crate::kustomize::Builder;
use crate::text::is_inside;
use crate::yaml::Node;

/// Replaces each candidate whose path contains a variable by one candidate for each directory that sets the variable to
/// a path which leads to the directory itself. If no directory does, the synced directory is that of the cluster which
/// contains the candidate.
pub(super) fn expand(builder: &Builder, candidates: Vec<RootCandidate>) -> Vec<RootCandidate> {
    let mut expanded = Vec::with_capacity(candidates.len());
    for one in candidates {
        let variable = variable(&one.path).filter(|_| one.is_of_operator());
        let mut paths = variable
            .map_or_else(Vec::new, |(start, name, end)| values(builder, name, |value| format!("{start}{value}{end}")));
        if let Some((start, _, end)) = variable.filter(|_| paths.is_empty()) {
            paths.extend(
                own_folder(&one.home).filter(|folder| fits(folder, start, end)).map(|folder| format!("./{folder}")),
            );
        }
        if paths.is_empty() {
            expanded.push(one);
        } else {
            expanded.extend(paths.iter().map(|path| at(&one, path)));
        }
    }
    expanded
}

/// The directory below `clusters` that contains a directory.
fn own_folder(home: &str) -> Option<&str> {
    let base = base_of(home)?;
    let start = if base.is_empty() { 0 } else { base.len() + 1 };
    let end = home.get(start..)?.find('/').map_or(home.len(), |end| start + end);
    home.get(..end)
}

/// Returns whether a directory fits a path with a variable, from the text before and after the variable.
fn fits(folder: &str, start: &str, end: &str) -> bool {
    let (start, end) = (clamp(start), clamp(end));
    let rest = if start.is_empty() { Some(folder) } else { folder.strip_prefix(&start) };
    rest.is_some_and(|rest| rest.len() > end.len() && rest.ends_with(&end))
}

/// The only variable of a path, with the text before and after it.
fn variable(path: &str) -> Option<(&str, &str, &str)> {
    let (start, rest) = path.split_once("${")?;
    let (name, end) = rest.split_once('}')?;
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_plain && !end.contains('$')).then_some((start, name, end))
}

/// The paths with the values of a variable in the ConfigMaps of the tree. The directory of the path contains the
/// ConfigMap.
fn values(builder: &Builder, name: &str, path: impl Fn(&str) -> String) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (file, parsed) in builder.files().parsed() {
        for object in objects(parsed).filter(|object| object.is("", "ConfigMap")) {
            let Some(path) = object.text_at(&["data", name]).map(&path) else { continue };
            let folder = clamp(&path);
            let is_own = !folder.is_empty() && is_inside(file, &folder) && builder.files().tree().has_folder(&folder);
            if is_own && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

/// The candidate with another path.
fn at(one: &RootCandidate, path: &str) -> RootCandidate {
    let mut objects = one.objects.clone();
    if let Some(instance) = objects.last_mut()
        && let Some(changed) = with_path(instance, path)
    {
        *instance = Object { node: changed };
    }
    RootCandidate { home: one.home.clone(), ..RootCandidate::new(one.kind, &one.file, objects, path) }
}

fn with_path(instance: &Object, path: &str) -> Option<Node> {
    let spec = instance.node.get("spec")?;
    let sync = spec.get("sync")?;
    let place = sync.get("path")?.span();
    let sync = sync.with(entry("path", text(path, place)));
    Some(instance.node.with(entry("spec", spec.with(entry("sync", sync)))))
}
