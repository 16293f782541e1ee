//! The copies of an artifact, with the semantics of `cp`, confined to the directory of the artifact.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arcstr::ArcStr;

use super::exclude::{Exclude, Refused};
use super::fields::shown;
use super::globs;
use super::merge::Merged;
use super::output::Copy;
use super::paths::{clean, join, leads_out, name_of};
use super::stop::Stop;
use crate::flux::source::artifact::Artifact;
use crate::kustomize::Files;
use crate::text::folder_of;
use crate::yaml::Node;

/// The maximum number of files in an artifact.
const MAX_FILES: usize = 200_000;
/// The maximum number of files that one generator may read for its copies.
const MAX_LOOKED_AT: usize = 1_000_000;
/// The number of bytes of a merged file that cost as much as one copied file.
const BYTES_PER_FILE: usize = 1_000;

const TOO_LARGE: &str = "copy fewer files; the linter does not build a larger artifact";

/// The cost limit of one generator. If each artifact of a chain copies the previous artifact twice, the sizes double.
#[derive(Debug, Default)]
pub(super) struct Budget {
    looked_at: usize,
}

impl Budget {
    fn take(&mut self, files: usize, copy: &Copy) -> Result<(), Stop> {
        self.looked_at += files;
        if self.looked_at > MAX_LOOKED_AT {
            let message = format!("the copies of this ArtifactGenerator read more than {MAX_LOOKED_AT} files");
            return Err(Stop::failed(copy.node.span(), message, TOO_LARGE));
        }
        Ok(())
    }
}

/// The directory from which an artifact is packed.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    sources: &'a BTreeMap<String, Arc<Artifact>>,
    budget: &'a mut Budget,
    files: BTreeMap<String, Placed<'a>>,
    /// The created directories, some without files.
    folders: BTreeSet<String>,
}

/// A file of the stage.
#[derive(Debug, Clone)]
enum Placed<'a> {
    /// A file of a source.
    Of(&'a Files, String),
    /// The result of merging several files.
    Merged(Arc<Merged>),
}

/// A parsed copy.
struct Operation<'a, 'o> {
    copy: &'o Copy<'o>,
    files: &'a Files,
    alias: &'o str,
    exclude: Exclude,
    merges: bool,
    extracts: bool,
    /// The target path, from the root of the artifact.
    to: &'o str,
}

impl<'a> Stage<'a> {
    pub(super) fn new(sources: &'a BTreeMap<String, Arc<Artifact>>, budget: &'a mut Budget) -> Self {
        Self { sources, budget, files: BTreeMap::new(), folders: BTreeSet::new() }
    }

    /// Packs the files that `wanted` selects.
    pub(super) fn finish(self, wanted: impl Fn(&str) -> bool) -> Files {
        let (mut places, mut merged) = (Vec::new(), Vec::new());
        for (path, placed) in self.files.into_iter().filter(|(path, _)| wanted(path)) {
            match placed {
                Placed::Of(files, there) => places.push((ArcStr::from(path), files, ArcStr::from(there))),
                Placed::Merged(file) => merged.push((path, file)),
            }
        }
        let mut files = Files::select(places);
        for (path, file) in merged {
            files.insert(&path, Arc::new(file.parsed()));
        }
        files
    }

    /// Performs one copy.
    pub(super) fn apply(&mut self, copy: &Copy) -> Result<(), Stop> {
        let operation = self.read(copy)?;
        let from = copy.from.split_once('/').map_or("", |(_, from)| from);
        if globs::is_glob(from) { self.copy_found(&operation, from) } else { self.copy_one(&operation, from) }
    }

    fn read<'o>(&self, copy: &'o Copy<'o>) -> Result<Operation<'a, 'o>, Stop> {
        let (from, to) = (field(copy, "from"), field(copy, "to"));
        let alias = copy.from.strip_prefix('@').and_then(|rest| rest.split_once('/'));
        let (alias, _) = alias.ok_or_else(|| {
            let message = format!("`{}` is not a path in a source", copy.from);
            Stop::failed(from.span(), message, "use `@alias/path`, with an alias of `sources`")
        })?;
        let target = copy.to.strip_prefix("@artifact/").ok_or_else(|| {
            let message = format!("`{}` is not a path in the artifact", copy.to);
            Stop::failed(to.span(), message, "use `@artifact/path`")
        })?;
        let artifact = self.sources.get(alias).ok_or_else(|| {
            Stop::failed(from.span(), format!("no source has the alias `{alias}`"), "use the alias of one of `sources`")
        })?;
        let excluded = copy.node.get("exclude").map(Node::items).unwrap_or_default();
        let exclude = Exclude::new(excluded.iter().map(shown)).map_err(|refused| match refused {
            Refused::Invalid(at) => {
                let node = excluded.get(at).unwrap_or(copy.node);
                Stop::failed(
                    node.span(),
                    format!("`{}` is not a valid glob", shown(node)),
                    "close its brackets and braces",
                )
            }
            Refused::TooMany => Stop::failed(copy.node.span(), "the copy has too many `exclude` globs", TOO_LARGE),
        })?;
        let strategy = copy.node.get("strategy").and_then(Node::text).unwrap_or_default();
        if !matches!(strategy, "" | "Overwrite" | "Merge" | "Extract") {
            let why = format!("its ArtifactGenerator uses the unknown copy strategy `{strategy}`");
            return Err(Stop::Unknown(why.into()));
        }
        let (merges, extracts) = (strategy == "Merge", strategy == "Extract");
        Ok(Operation { copy, files: artifact.files(), alias, exclude, merges, extracts, to: target })
    }

    /// Copies the files and directories that a glob matches.
    fn copy_found(&mut self, operation: &Operation<'a, '_>, from: &str) -> Result<(), Stop> {
        if operation.extracts {
            return Err(extracts());
        }
        let (place, alias) = (field(operation.copy, "from"), operation.alias);
        self.budget.take(operation.files.tree().len(), operation.copy)?;
        let found = globs::find(operation.files.tree(), from).map_err(|_| {
            Stop::failed(
                place.span(),
                format!("`{from}` is not a valid glob"),
                "close its brackets, or escape them with `\\`",
            )
        })?;
        if found.is_empty() {
            let message = format!("no file of source `{alias}` matches `{from}`");
            return Err(Stop::failed(place.span(), message, help_for(from)));
        }
        let start = globs::literal_start(from);
        let kept: Vec<&String> = found.iter().filter(|path| !operation.exclude.has(path, &start)).collect();
        if kept.is_empty() {
            let message = format!("`exclude` matches every file of source `{alias}` that matches `{from}`");
            return Err(Stop::failed(
                place.span(),
                message,
                "exclude fewer files; the controller rejects an empty copy",
            ));
        }
        let stripped = from.strip_suffix("/**").map(|folder| format!("{folder}/"));
        for path in kept {
            let below = stripped.as_deref().and_then(|folder| path.strip_prefix(folder)).unwrap_or(path);
            let to = join(operation.to, below);
            if operation.files.tree().has_file(path) {
                self.copy_file(operation, path, to)?;
            } else {
                self.copy_folder(operation, path, &to, &start)?;
            }
        }
        Ok(())
    }

    /// Copies the file or directory at a path.
    fn copy_one(&mut self, operation: &Operation<'a, '_>, from: &str) -> Result<(), Stop> {
        let (place, alias) = (field(operation.copy, "from"), operation.alias);
        let path = clean(from);
        if leads_out(&path) {
            let message = format!("`{from}` leaves the source `{alias}`");
            return Err(Stop::failed(place.span(), message, "use a path inside the source"));
        }
        let tree = operation.files.tree();
        if tree.has_file(&path) {
            if operation.exclude.has(&path, "") {
                return Ok(());
            }
            if operation.extracts {
                return Err(if is_archive(&path) {
                    extracts()
                } else {
                    Stop::failed(place.span(), format!("`{path}` is not an archive"), "use a .tar.gz or .tgz file")
                });
            }
            let to = clean(operation.to);
            let into_folder = operation.to.ends_with('/') || self.is_folder(&to);
            let to = if into_folder { join(&to, name_of(&path)) } else { to };
            return self.copy_file(operation, &path, to);
        }
        if !tree.has_folder(&path) {
            let message = format!("the artifact of source `{alias}` has no `{from}`");
            return Err(Stop::failed(
                place.span(),
                message,
                "correct the path; the artifact does not contain ignored files",
            ));
        }
        if operation.extracts {
            let message = format!("`{from}` is a directory; only archives can be extracted");
            return Err(Stop::failed(place.span(), message, "use a .tar.gz or .tgz file"));
        }
        // Like `cp -r`, the controller copies the directory itself, not only the contents.
        let to = join(operation.to, name_of(&path));
        self.copy_folder(operation, &path, &to, &path)
    }

    fn copy_folder(&mut self, operation: &Operation<'a, '_>, from: &str, to: &str, copied: &str) -> Result<(), Stop> {
        refuse_outside(operation, to)?;
        self.make_folder(operation, to)?;
        let tree = operation.files.tree();
        let start = if from.is_empty() { 0 } else { from.len() + 1 };
        let mut excluded: BTreeMap<&str, bool> = BTreeMap::new();
        for path in tree.under(from) {
            self.budget.take(1, operation.copy)?;
            let Some(below) = path.get(start..) else { continue };
            let mut is_out = operation.exclude.has(path, copied);
            let mut folder = folder_of(path);
            while !is_out && folder.len() > from.len() {
                is_out = *excluded.entry(folder).or_insert_with(|| operation.exclude.has(folder, copied));
                folder = folder_of(folder);
            }
            if !is_out {
                self.place(operation, path, &join(to, below))?;
            }
        }
        Ok(())
    }

    fn copy_file(&mut self, operation: &Operation<'a, '_>, from: &str, to: String) -> Result<(), Stop> {
        refuse_outside(operation, &to)?;
        self.budget.take(1, operation.copy)?;
        if operation.merges && self.files.contains_key(&to) {
            return self.merge(operation, from, to);
        }
        self.place(operation, from, &to)
    }

    fn merge(&mut self, operation: &Operation<'a, '_>, from: &str, to: String) -> Result<(), Stop> {
        let place = field(operation.copy, "from");
        let unreadable = |path: &str| {
            let message = format!("`{path}` cannot be merged, because it is not a YAML mapping");
            Stop::failed(place.span(), message, "merge YAML files, or use the strategy `Overwrite`")
        };
        let base = match self.files.get(&to) {
            Some(Placed::Of(files, there)) => files.get(there).and_then(|parsed| Merged::of(&parsed)).map(Arc::new),
            Some(Placed::Merged(merged)) => Some(merged.clone()),
            None => None,
        };
        let base = base.ok_or_else(|| unreadable(&to))?;
        let parsed = operation.files.get(from).ok_or_else(|| unreadable(from))?;
        self.budget.take(parsed.file.text().len() / BYTES_PER_FILE, operation.copy)?;
        let merged = base.with(&Merged::of(&parsed).ok_or_else(|| unreadable(from))?);
        self.files.insert(to, Placed::Merged(Arc::new(merged)));
        Ok(())
    }

    /// Adds a file at a path, and replaces an existing file.
    fn place(&mut self, operation: &Operation<'a, '_>, from: &str, to: &str) -> Result<(), Stop> {
        if to.is_empty() || self.is_folder(to) {
            let message =
                format!("`{from}` cannot be copied to `{}`, which is a directory of the artifact", shown_path(to));
            return Err(Stop::failed(
                field(operation.copy, "to").span(),
                message,
                "append `/` to copy into the directory",
            ));
        }
        self.make_folder(operation, folder_of(to))?;
        self.files.insert(to.to_owned(), Placed::Of(operation.files, from.to_owned()));
        if self.files.len() > MAX_FILES {
            let message = format!("the artifact has more than {MAX_FILES} files");
            return Err(Stop::failed(operation.copy.node.span(), message, TOO_LARGE));
        }
        Ok(())
    }

    fn make_folder(&mut self, operation: &Operation<'a, '_>, folder: &str) -> Result<(), Stop> {
        let mut open = folder;
        while !open.is_empty() && !self.folders.contains(open) {
            if self.files.contains_key(open) {
                let message = format!("`{open}` is a file of the artifact, not a directory");
                return Err(Stop::failed(field(operation.copy, "to").span(), message, "copy to another directory"));
            }
            self.folders.insert(open.to_owned());
            open = folder_of(open);
        }
        Ok(())
    }

    fn is_folder(&self, path: &str) -> bool {
        path.is_empty() || self.folders.contains(path)
    }
}

fn refuse_outside(operation: &Operation, to: &str) -> Result<(), Stop> {
    if !leads_out(to) {
        return Ok(());
    }
    let message = format!("`{}` leaves the artifact", operation.copy.to);
    Err(Stop::failed(field(operation.copy, "to").span(), message, "use a path inside the artifact"))
}

fn field<'o>(copy: &Copy<'o>, name: &str) -> &'o Node {
    copy.node.get(name).unwrap_or(copy.node)
}

fn extracts() -> Stop {
    Stop::Unknown("its ArtifactGenerator extracts archives, which is not supported".into())
}

fn is_archive(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    [".tar.gz", ".tgz"].iter().any(|end| path.ends_with(end))
}

fn help_for(glob: &str) -> &'static str {
    let segments: Vec<&str> = glob.split('/').collect();
    match segments.iter().position(|segment| *segment == "**") {
        Some(at) if at + 1 < segments.len() => {
            "name each directory; in this position, `**` matches one directory, like `*`"
        }
        _ if segments.iter().any(|segment| matches!(*segment, "" | "." | "..")) => {
            "write the path without `./`, `//` and a trailing `/`"
        }
        _ => "correct the path; the artifact does not contain ignored files",
    }
}

fn shown_path(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}
