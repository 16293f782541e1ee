//! The packing of an artifact from the files of its source.

use std::collections::BTreeSet;

use super::artifact::Packed;
use super::ignore::Ignore;
use super::include::{self, Include};
use super::origin::known;
use super::sparse;
use crate::base::finding::Finding;
use crate::flux::object::kustomization_path::clamp;
use crate::kube::Object;
use crate::kustomize::Files;
use crate::text::{Span, Tree, folder_of, is_inside};
use crate::yaml::Node;

/// The maximum product of the wildcard patterns and the length of all paths.
const MAX_STEPS: usize = 400_000_000;

/// The fields of a source that determine how source-controller packs the artifact.
#[derive(Debug)]
pub(super) struct Recipe<'a> {
    kind: Kind<'a>,
    /// `spec.ignore`.
    ignore: Option<&'a str>,
    /// The position of the source.
    at: &'a Span,
}

#[derive(Debug)]
enum Kind<'a> {
    Git {
        sparse: &'a [Node],
        /// Whether the source fetches submodules.
        submodules: bool,
    },
    Oci {
        /// Whether the artifact is the unchanged layer.
        copied: bool,
    },
    Bucket {
        prefix: &'a str,
    },
}

impl<'a> Recipe<'a> {
    /// Reads a source; `None` for other kinds, or if a relevant value is unknown.
    pub(super) fn of(source: &'a Object) -> Option<Self> {
        let spec = |keys: &[&str]| source.node.at_keys(keys).filter(|node| !node.is_null());
        let ignore = match spec(&["spec", "ignore"]) {
            Some(node) => Some(known(node)?),
            None => None,
        };
        let kind = match source.kind() {
            "GitRepository" => {
                let sparse = spec(&["spec", "sparseCheckout"]).map(Node::items).unwrap_or_default();
                let submodules = spec(&["spec", "recurseSubmodules"]).and_then(Node::text) == Some("true");
                sparse.iter().all(|folder| known(folder).is_some()).then_some(Kind::Git { sparse, submodules })?
            }
            "OCIRepository" => {
                let copied = spec(&["spec", "layerSelector", "operation"]).and_then(Node::text) == Some("copy");
                Kind::Oci { copied }
            }
            "Bucket" => Kind::Bucket { prefix: spec(&["spec", "prefix"]).map_or(Some(""), known)? },
            _ => return None,
        };
        Some(Self { kind, ignore, at: source.span() })
    }

    /// A key that is equal for sources that pack the same files in the same way.
    pub(super) fn key(&self) -> String {
        let kind = match &self.kind {
            Kind::Git { sparse, submodules } => format!("git {submodules} {:?}", texts(sparse)),
            Kind::Oci { copied } => format!("oci {copied}"),
            Kind::Bucket { prefix } => format!("bucket {prefix:?}"),
        };
        format!("{kind} {:?}", self.ignore)
    }

    /// Packs the artifact from the fetched files.
    pub(super) fn pack(&self, fetched: &Files, includes: &[Include]) -> Result<Packed, Vec<Finding>> {
        match &self.kind {
            Kind::Git { sparse, submodules } => {
                let cloned = if *submodules { fetched.clone() } else { without_submodules(fetched) };
                let checked_out = check_out(&cloned, sparse)?;
                let complete = include::add(&checked_out, includes)?;
                let ignore = self.affordable(Ignore::of_tree(complete.tree(), self.ignore), &complete)?;
                Ok(select(&complete, &ignore))
            }
            Kind::Oci { copied: true } => Ok(select_files(fetched, |_| true).into()),
            Kind::Oci { copied: false } => {
                let ignore = self.affordable(Ignore::of_tree(fetched.tree(), self.ignore), fetched)?;
                Ok(select(fetched, &ignore))
            }
            Kind::Bucket { prefix } => {
                let ignore = self.affordable(Ignore::of_bucket(fetched.tree(), self.ignore), fetched)?;
                // The controller fetches only the files of a bucket, so no directory is without files.
                Ok(select_files(fetched, |path| path.starts_with(prefix) && !ignore.leaves_out(path)).into())
            }
        }
    }
}

impl Recipe<'_> {
    /// Returns the patterns, or an error if matching them against all paths takes too many steps.
    fn affordable(&self, ignore: Ignore, files: &Files) -> Result<Ignore, Vec<Finding>> {
        let length: usize = files.tree().entries().map(|(path, _)| path.len()).sum();
        if ignore.wildcards().saturating_mul(length) <= MAX_STEPS {
            return Ok(ignore);
        }
        let message = format!("the {} ignore patterns with wildcards are too many for the files", ignore.wildcards());
        let help = "use fewer patterns in `spec.ignore` and `.sourceignore`; the linter does not pack the artifact";
        Err(vec![Finding::error(crate::kustomize::FAILED_BUILD, self.at.clone(), message).help(help)])
    }
}

fn texts(nodes: &[Node]) -> Vec<&str> {
    nodes.iter().filter_map(Node::text).collect()
}

/// Selects the files and directories that are not ignored.
pub(super) fn select(files: &Files, ignore: &Ignore) -> Packed {
    let selected = select_files(files, |path| !ignore.leaves_out(path));
    let mut without_files: BTreeSet<&str> = BTreeSet::new();
    for (path, _) in files.tree().entries() {
        let folders = std::iter::successors(Some(folder_of(path)), |folder| Some(folder_of(folder)));
        let missing = folders.take_while(|folder| !selected.tree().has_folder(folder));
        missing.take_while(|folder| without_files.insert(folder)).for_each(drop);
    }
    let emptied = without_files.into_iter().filter(|folder| !ignore.leaves_out_folder(folder)).map(str::to_owned);
    Packed { emptied: emptied.collect(), files: selected }
}

/// Selects files. An artifact contains no links.
fn select_files(files: &Files, wanted: impl Fn(&str) -> bool) -> Files {
    let tree = files.tree();
    files.filtered(|path| !tree.is_link(path) && wanted(path))
}

/// The files without the files of submodules. A working tree also contains the files of submodules.
fn without_submodules(files: &Files) -> Files {
    let folders = submodules(files.tree());
    if folders.is_empty() {
        return files.clone();
    }
    files.filtered(|path| !folders.iter().any(|folder| is_inside(path, folder)))
}

/// The directories of the submodules of a repository.
pub(in crate::flux) fn submodules(tree: &Tree) -> Vec<String> {
    let Ok(modules) = tree.file(".gitmodules") else { return Vec::new() };
    let value =
        |line: &str| line.trim().strip_prefix("path")?.trim_start().strip_prefix('=').map(|path| clamp(path.trim()));
    modules.text().lines().filter_map(value).filter(|folder| !folder.is_empty()).collect()
}

/// The files of a sparse checkout. The controller rejects a checkout that lacks a requested directory.
fn check_out(fetched: &Files, wanted: &[Node]) -> Result<Files, Vec<Finding>> {
    if wanted.is_empty() {
        return Ok(fetched.clone());
    }
    let folders = texts(wanted);
    let checked_out = fetched.filtered(|path| sparse::has(&folders, path));
    let lacks = |node: &&Node| {
        let path = clamp(node.text().unwrap_or_default());
        !checked_out.tree().has_file(&path) && !checked_out.tree().has_folder(&path)
    };
    let findings: Vec<Finding> = wanted.iter().filter(lacks).map(no_such_folder).collect();
    if findings.is_empty() { Ok(checked_out) } else { Err(findings) }
}

fn no_such_folder(wanted: &Node) -> Finding {
    let text = wanted.text().unwrap_or_default();
    let message = format!("the repository has no `{text}`, so this source has no artifact");
    let help = if text.starts_with('/') {
        "set the path from the root of the repository, without a leading `/`"
    } else {
        "set a directory that exists in the repository"
    };
    Finding::error(crate::kustomize::FAILED_BUILD, wanted.span().clone(), message).help(help)
}
