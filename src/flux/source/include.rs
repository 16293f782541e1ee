//! `spec.include`: the artifacts of other GitRepositories in directories of a GitRepository.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::artifact::Artifact;
use crate::base::finding::Finding;
use crate::flux::object::kustomization_path::clamp;
use crate::kustomize::{FAILED_BUILD, Files};
use crate::text::is_inside;
use crate::yaml::Node;

/// A resolved item of `spec.include`.
#[derive(Debug)]
pub(super) struct Include<'a> {
    /// The item.
    pub(super) node: &'a Node,
    /// The artifact of the referenced GitRepository.
    pub(super) artifact: Arc<Artifact>,
}

impl Include<'_> {
    /// The digest input: everything that determines the included files.
    pub(super) fn key(&self) -> String {
        format!("{} {:?} {:?}", self.artifact.id, self.from(), self.to())
    }

    fn from(&self) -> String {
        clamp(self.node.get("fromPath").and_then(Node::text).unwrap_or_default())
    }

    fn to(&self) -> String {
        let said = self.node.get("toPath").and_then(Node::text).filter(|text| !text.is_empty());
        let name = || self.node.at_keys(&["repository", "name"]).and_then(Node::text);
        clamp(said.or_else(name).unwrap_or_default())
    }

    fn refuse(&self, field: &str, message: String, help: &str) -> Vec<Finding> {
        let node = self.node.get(field).unwrap_or(self.node);
        vec![Finding::error(FAILED_BUILD, node.span().clone(), message).help(help)]
    }
}

/// Adds the files of the includes. The controller moves each directory to a target path, which must not exist.
pub(super) fn add(files: &Files, includes: &[Include]) -> Result<Files, Vec<Finding>> {
    if includes.is_empty() {
        return Ok(files.clone());
    }
    let paths = files.tree().entries().map(|(path, _)| path);
    let mut places: BTreeMap<String, (&Files, String)> =
        paths.map(|path| (path.to_owned(), (files, path.to_owned()))).collect();
    for include in includes {
        let (from, to) = (include.from(), include.to());
        let stands =
            |path: &str| places.range(format!("{path}/")..).next().is_some_and(|(next, _)| is_inside(next, path));
        if to.is_empty() || stands(&to) {
            let message = format!("an artifact cannot be included at `{}`, because the directory exists", shown(&to));
            return Err(include.refuse("toPath", message, "set a directory that does not exist in the repository"));
        }
        let blocking = std::iter::successors(to.rsplit_once('/'), |(folder, _)| folder.rsplit_once('/'));
        if let Some((file, _)) = blocking.into_iter().find(|(folder, _)| places.contains_key(*folder)) {
            let message = format!("an artifact cannot be included at `{to}`, because `{file}` is a file");
            return Err(include.refuse("toPath", message, "set a directory that does not exist in the repository"));
        }
        let others = include.artifact.files();
        if others.tree().has_file(&from) {
            places.insert(to, (others, from));
            continue;
        }
        if !others.tree().has_folder(&from) || places.contains_key(&to) {
            let message = format!("the artifact of the included repository has no `{}`", shown(&from));
            return Err(include.refuse("fromPath", message, "set a directory of the repository that is not ignored"));
        }
        let start = if from.is_empty() { 0 } else { from.len() + 1 };
        for path in others.tree().under(&from) {
            let Some(below) = path.get(start..) else { continue };
            places.insert(format!("{to}/{below}"), (others, path.to_owned()));
        }
    }
    Ok(Files::select(places.into_iter().map(|(path, (files, there))| (path.into(), files, there.into()))))
}

fn shown(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}
