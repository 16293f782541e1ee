//! Paths and URLs in kustomizations: the files that they refer to, and the restrictions on these files.

use std::sync::Arc;

use super::definition::Definition;
use super::files::{Files, Reading, copy_of};
use super::remote::Remote;
use super::remote::copy_folder;
use crate::base::finding::{FaultKind, Finding, Safety};
use crate::base::similar_names::{MAX_CANDIDATES, did_you_mean};
use crate::kustomize::rule_ids::{FAILED_BUILD, MISSING_RESOURCE};
use crate::text::{PathKind, Span, folder_of, is_inside, join};
use crate::yaml::fix;
use crate::yaml::{Node, Parsed};

/// The meaning of a path in a kustomization.
#[derive(Debug)]
pub(crate) enum Located {
    /// A file, with its path in the tree.
    File(String),
    /// A directory, with its path in the tree.
    Folder(String),
    /// A remote resource without a copy; the finding reports it.
    NotFetched(Box<Finding>),
}

impl Files {
    /// The path in the tree of a file that a kustomization in `folder` references with the scalar `node`.
    pub(crate) fn locate(&self, folder: &str, node: &Node) -> Result<String, Finding> {
        self.locate_text(folder, node.text().unwrap_or_default(), node.span())
    }

    /// Parses the file that a kustomization in `folder` references with the scalar `node`.
    pub(crate) fn read_named(&self, folder: &str, node: &Node) -> Result<Arc<Parsed>, Finding> {
        let path = self.locate(folder, node)?;
        self.get(&path).ok_or_else(|| {
            let message = format!("`{}` is not a readable text file", node.text().unwrap_or_default());
            Finding::error(FAILED_BUILD, node.span().clone(), message)
        })
    }

    /// The path in the tree of a file that a kustomization in `folder` references with `text` at `span`.
    pub(super) fn locate_text(&self, folder: &str, text: &str, span: &Span) -> Result<String, Finding> {
        match self.find(folder, text, span)? {
            Located::File(path) => Ok(path),
            Located::NotFetched(finding) => Err(*finding),
            Located::Folder(_) => {
                let message = format!("`{text}` is a directory, but a file is expected");
                Err(Finding::error(FAILED_BUILD, span.clone(), message).help("reference a file in it"))
            }
        }
    }

    /// Resolves `text` at `span`, a reference of a kustomization in `folder`.
    pub(crate) fn find(&self, folder: &str, text: &str, span: &Span) -> Result<Located, Finding> {
        self.resolve(folder, text, span, None)
    }

    /// Resolves a reference as [`Files::find`] does, but never suggests a path that `including` already includes.
    fn resolve(
        &self,
        folder: &str,
        text: &str,
        span: &Span,
        including: Option<&Definition>,
    ) -> Result<Located, Finding> {
        if text.is_empty() {
            let message = "the path is empty; kustomize rejects it";
            return Err(
                Finding::error(FAILED_BUILD, span.clone(), message).help("set it to the path of a file or directory")
            );
        }
        if let Some(remote) = Remote::parse(text) {
            return self.find_remote(&remote, text, span);
        }
        if text.starts_with('/') {
            let message = format!("`{text}` is an absolute path, which kustomize rejects");
            return Err(Finding::error(FAILED_BUILD, span.clone(), message)
                .help("use a path relative to the directory of this file"));
        }
        let inside = join(folder, text).filter(|path| copy_of(path) == copy_of(folder));
        let Some(path) = inside else { return Err(self.outside(folder, text, span)) };
        match self.tree().path_kind(&path) {
            PathKind::File(own) => {
                if self.is_restricted(folder) && !is_inside(folder_of(&own), folder) {
                    return Err(self.restricted(folder, text, span));
                }
                Ok(Located::File(path))
            }
            PathKind::Directory(own) if copy_of(&own) == copy_of(folder) => Ok(Located::Folder(own)),
            PathKind::Directory(_) => Err(self.outside(folder, text, span)),
            PathKind::Missing => Err(self.missing(folder, text, &path, span, including)),
        }
    }

    fn find_remote(&self, remote: &Remote, text: &str, span: &Span) -> Result<Located, Finding> {
        let Some((copy, path)) = remote.find(self.copies()) else {
            let message = format!("`{text}` is remote and was not fetched");
            let help = "pass a local copy with `--source URL=DIR`";
            return Ok(Located::NotFetched(Box::new(Finding::error(FAILED_BUILD, span.clone(), message).help(help))));
        };
        let copy_root = copy_folder(copy);
        let whole = if path.is_empty() { copy_root.clone() } else { format!("{copy_root}/{path}") };
        match self.tree().path_kind(&whole) {
            PathKind::File(_) => Ok(Located::File(whole)),
            PathKind::Directory(own) => Ok(Located::Folder(own)),
            PathKind::Missing => {
                let copy = self.tree().display_path(&copy_root);
                let message = format!("the copy in `{copy}` has no `{path}`, which `{text}` references");
                Err(Finding::error(MISSING_RESOURCE, span.clone(), message))
            }
        }
    }

    /// Returns whether a path is a file that a kustomization in a directory may read.
    pub(crate) fn has(&self, folder: &str, path: &str) -> bool {
        match self.tree().path_kind(path) {
            PathKind::File(own) => !self.is_restricted(folder) || is_inside(folder_of(&own), folder),
            PathKind::Directory(_) | PathKind::Missing => false,
        }
    }

    /// Returns whether a kustomization in a directory may only reference files in or below that directory.
    ///
    /// kustomize always restricts clones, regardless of the load restrictor.
    fn is_restricted(&self, folder: &str) -> bool {
        self.reading() == Reading::Kustomize || copy_of(folder).is_some()
    }

    fn restricted(&self, folder: &str, text: &str, span: &Span) -> Finding {
        let message = format!("file `{text}` is not in or below `{}`", self.tree().display_path(folder));
        let help = if copy_of(folder).is_none() {
            "use `--load-restrictor LoadRestrictionsNone` to build as Flux does; kustomize only reads files in or \
             below the directory of the kustomization"
        } else {
            "correct the path; in a copy, kustomize only reads files in or below the directory of the kustomization"
        };
        Finding::error(FAILED_BUILD, span.clone(), message).help(help)
    }

    fn outside(&self, folder: &str, text: &str, span: &Span) -> Finding {
        let root = self.tree().display_path(copy_of(folder).unwrap_or_default());
        let message = if root.is_empty() {
            format!("`{text}` is outside of the repository")
        } else {
            format!("`{text}` is outside of `{root}`, and references cannot leave that directory")
        };
        Finding::error(MISSING_RESOURCE, span.clone(), message).help("use a path inside it")
    }

    /// Reports a missing path. The suggestion replaces the first segment that does not exist.
    fn missing(&self, folder: &str, text: &str, path: &str, span: &Span, including: Option<&Definition>) -> Finding {
        let message = format!("file or directory `{text}` does not exist");
        let mut ancestor = folder_of(path);
        while !ancestor.is_empty() && !self.tree().has_folder(ancestor) {
            ancestor = folder_of(ancestor);
        }
        let rest = path.strip_prefix(ancestor).unwrap_or(path).trim_start_matches('/');
        let (segment, below) = rest.split_once('/').unwrap_or((rest, ""));
        // A kustomization may list many missing files of a large directory.
        let names = self.tree().names_up_to(ancestor, MAX_CANDIDATES).unwrap_or_default();
        let start = text.strip_suffix(rest).unwrap_or_default();
        let with =
            |name: &str| if below.is_empty() { format!("{start}{name}") } else { format!("{start}{name}/{below}") };
        let is_free = |text: &str| {
            including
                .is_none_or(|definition| join(&definition.folder, text).is_none_or(|path| !definition.includes(&path)))
        };
        let exists =
            |text: &str| join(folder, text).is_some_and(|path| self.tree().path_kind(&path) != PathKind::Missing);
        let by_name = || {
            let free = names.iter().map(String::as_str).filter(|name| is_free(&with(name)));
            did_you_mean(segment, free).map(|name| (exists(&with(name)), with(name)))
        };
        let suggestion = self.at_other_level(folder, text).filter(|text| is_free(text)).map(|text| (true, text));
        let suggestion = suggestion.or_else(by_name);
        let fix = suggestion.as_ref().filter(|(exists, _)| *exists);
        let fix = fix.and_then(|(_, suggestion)| fix::retype(span, text, suggestion, Safety::Unsafe));
        // Copies of a kustomization list the same names.
        let is_beside = ancestor == folder && below.is_empty() && suggestion.is_none();
        let is_joined = span.text().lines().skip(1).any(|line| line.trim_start().starts_with("- "));
        let finding = Finding::error(MISSING_RESOURCE, span.clone(), message).fixed_by(fix);
        let finding = match suggestion {
            _ if is_joined => finding.help(
                "indent the next line like this one: YAML reads a line that is indented further as a part of this item",
            ),
            Some((true, suggestion)) => finding
                .help(format!("did you mean `{suggestion}`? kustomize does not build a directory with a missing path")),
            _ => finding
                .of_kind(FaultKind::NoSuchFile)
                .help("correct or remove the path; otherwise kustomize does not build the directory"),
        };
        let lost = if ancestor.is_empty() { segment.to_owned() } else { format!("{ancestor}/{segment}") };
        if is_beside {
            let summary = format!(" kustomizations list `{segment}`, which does not exist in their directories");
            return finding.caused_by(format!("beside {segment}"), "", summary);
        }
        let summary = format!(" paths lead to `{lost}`, which does not exist");
        finding.caused_by(lost, "", summary)
    }

    /// The path that leads to the same place with one `../` more or less, if it exists.
    fn at_other_level(&self, folder: &str, text: &str) -> Option<String> {
        let higher = text.contains('/').then(|| format!("../{}", text.trim_start_matches("./")));
        let lower = text.strip_prefix("../").map(str::to_owned);
        let is_other = |text: &String| {
            join(folder, text).is_some_and(|path| {
                !path.is_empty() && !is_inside(folder, &path) && self.tree().path_kind(&path) != PathKind::Missing
            })
        };
        higher.into_iter().chain(lower).find(is_other)
    }
}

impl Definition {
    /// Resolves the scalar `node`, a reference of this kustomization.
    pub(crate) fn find(&self, files: &Files, node: &Node) -> Result<Located, Finding> {
        files.resolve(&self.folder, node.text().unwrap_or_default(), node.span(), Some(self))
    }
}
