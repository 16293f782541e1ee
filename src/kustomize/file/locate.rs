//! Where the files and folders lie that a kustomization names, and which of them it may have.

use std::sync::Arc;

use super::definition::Definition;
use super::files::{Files, Reading, copy_of, place_of_copy};
use super::remote::Remote;
use crate::base::finding::{Finding, did_you_mean};
use crate::kustomize::rule_ids::{FAILED_BUILD, MISSING_RESOURCE};
use crate::text::{Span, Stands, folder_of, is_inside, join};
use crate::yaml::{Node, Parsed};

/// What a kustomization means by a path.
#[derive(Debug)]
pub(crate) enum Located {
    /// A file, by its path in the tree.
    File(String),
    /// A folder, by its path in the tree.
    Folder(String),
    /// Something elsewhere that there is no copy of; the finding says so.
    NotFetched(Finding),
}

impl Files {
    /// The path in the tree of the file that a kustomization in `folder` names by the scalar `node`.
    pub(crate) fn locate(&self, folder: &str, node: &Node) -> Result<String, Finding> {
        self.locate_text(folder, node.text().unwrap_or_default(), node.span())
    }

    /// What the file says that a kustomization in `folder` names by the scalar `node`.
    pub(crate) fn read_named(&self, folder: &str, node: &Node) -> Result<Arc<Parsed>, Finding> {
        let path = self.locate(folder, node)?;
        self.get(&path).ok_or_else(|| {
            let message = format!("`{}` is no text that can be read", node.text().unwrap_or_default());
            Finding::error(FAILED_BUILD, node.span().clone(), message)
        })
    }

    /// The path in the tree of the file that a kustomization in `folder` names by `text`, which stands at `at`.
    pub(super) fn locate_text(&self, folder: &str, text: &str, span: &Span) -> Result<String, Finding> {
        match self.find(folder, text, span)? {
            Located::File(path) => Ok(path),
            Located::NotFetched(finding) => Err(finding),
            Located::Folder(_) => {
                let message = format!("`{text}` is a folder, and a file is wanted");
                Err(Finding::error(FAILED_BUILD, span.clone(), message).help("name a file in it"))
            }
        }
    }

    /// What a kustomization in `folder` means by `text`, which stands at `at`.
    pub(crate) fn find(&self, folder: &str, text: &str, span: &Span) -> Result<Located, Finding> {
        if text.is_empty() {
            let message = "a path is empty, and kustomize refuses that";
            return Err(Finding::error(FAILED_BUILD, span.clone(), message).help("name a file or folder"));
        }
        if let Some(remote) = Remote::parse(text) {
            return self.find_remote(&remote, text, span);
        }
        if text.starts_with('/') {
            let message = format!("`{text}` is an absolute path, which leads out of what is built");
            return Err(
                Finding::error(FAILED_BUILD, span.clone(), message).help("give the path from this file's folder")
            );
        }
        let inside = join(folder, text).filter(|path| copy_of(path) == copy_of(folder));
        let Some(path) = inside else { return Err(self.outside(folder, text, span)) };
        match self.tree().look(&path) {
            Stands::File(own) => {
                if self.is_restricted(folder) && !is_inside(folder_of(&own), folder) {
                    return Err(self.restricted(folder, text, span));
                }
                Ok(Located::File(path))
            }
            Stands::Folder(own) if copy_of(&own) == copy_of(folder) => Ok(Located::Folder(own)),
            Stands::Folder(_) => Err(self.outside(folder, text, span)),
            Stands::Nothing => Err(self.missing(folder, text, &path, span)),
        }
    }

    fn find_remote(&self, remote: &Remote, text: &str, span: &Span) -> Result<Located, Finding> {
        let Some((copy, path)) = remote.find(self.copies()) else {
            let message = format!("`{text}` lies elsewhere, and nothing was fetched");
            let help = "say where a copy lies with `--source URL=DIR`";
            return Ok(Located::NotFetched(Finding::error(FAILED_BUILD, span.clone(), message).help(help)));
        };
        let place = place_of_copy(copy);
        let whole = if path.is_empty() { place.clone() } else { format!("{place}/{path}") };
        match self.tree().look(&whole) {
            Stands::File(_) => Ok(Located::File(whole)),
            Stands::Folder(own) => Ok(Located::Folder(own)),
            Stands::Nothing => {
                let copy = self.tree().called(&place);
                let message = format!("the copy in `{copy}` has no `{path}`, which `{text}` names");
                Err(Finding::error(MISSING_RESOURCE, span.clone(), message))
            }
        }
    }

    /// Tells whether a file stands at a path that a kustomization in a folder may read.
    pub(crate) fn has(&self, folder: &str, path: &str) -> bool {
        match self.tree().look(path) {
            Stands::File(own) => !self.is_restricted(folder) || is_inside(folder_of(&own), folder),
            Stands::Folder(_) | Stands::Nothing => false,
        }
    }

    /// Tells whether a kustomization in a folder may only name files below it. kustomize lets no clone out, whatever it
    /// was told.
    fn is_restricted(&self, folder: &str) -> bool {
        self.reading() == Reading::Kustomize || copy_of(folder).is_some()
    }

    fn restricted(&self, folder: &str, text: &str, span: &Span) -> Finding {
        let message = format!("file `{text}` does not lie in or below `{}`", self.tree().called(folder));
        let help = if copy_of(folder).is_none() {
            "kustomize takes files from the kustomization's own folder only; Flux takes others too, and \
             `--load-restrictor LoadRestrictionsNone` builds as Flux does"
        } else {
            "kustomize takes files from the kustomization's own folder only where it is a copy of another repository"
        };
        Finding::error(FAILED_BUILD, span.clone(), message).help(help)
    }

    fn outside(&self, folder: &str, text: &str, span: &Span) -> Finding {
        let root = self.tree().called(copy_of(folder).unwrap_or_default());
        let message = if root.is_empty() {
            format!("`{text}` leads out of the repository")
        } else {
            format!("`{text}` leads out of `{root}`, beyond which nothing is read")
        };
        Finding::error(MISSING_RESOURCE, span.clone(), message).help("name something inside it")
    }

    /// Nothing stands at a path: what is nearest to the name, at the place where the path ends to exist?
    fn missing(&self, folder: &str, text: &str, path: &str, span: &Span) -> Finding {
        let message = format!("there is no file or folder `{text}`");
        let mut existing = folder_of(path);
        while !existing.is_empty() && !self.tree().has_folder(existing) {
            existing = folder_of(existing);
        }
        let rest = path.strip_prefix(existing).unwrap_or(path).trim_start_matches('/');
        let (wanted, below) = rest.split_once('/').unwrap_or((rest, ""));
        let names = self.tree().names(existing);
        let meant = did_you_mean(wanted, names.iter().map(String::as_str)).map(|name| {
            let start = text.strip_suffix(rest).unwrap_or_default();
            let meant = if below.is_empty() { format!("{start}{name}") } else { format!("{start}{name}/{below}") };
            (join(folder, &meant).is_some_and(|path| self.tree().look(&path) != Stands::Nothing), meant)
        });
        let help = match meant {
            Some((true, suggestion)) => {
                format!(
                    "did you mean `{suggestion}`? kustomize refuses to build a folder with a path that is not there"
                )
            }
            _ => "correct the path or remove the line: kustomize refuses to build the folder".to_owned(),
        };
        Finding::error(MISSING_RESOURCE, span.clone(), message).help(help)
    }
}

impl Definition {
    /// What this kustomization means by the scalar `node`.
    pub(crate) fn find(&self, files: &Files, node: &Node) -> Result<Located, Finding> {
        files.find(&self.folder, node.text().unwrap_or_default(), node.span())
    }
}
