//! The copies of an artifact, as `cp` would make them, into a folder that nothing leads out of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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

/// The most files that an artifact is made of.
const MAX_FILES: usize = 200_000;
/// The most files that the artifacts of one generator are copied from.
const MAX_LOOKED_AT: usize = 1_000_000;
/// A file that is merged counts as one for so many bytes.
const BYTES_PER_FILE: usize = 1_000;

/// What one generator may cost: artifacts of artifacts can double with each line.
#[derive(Debug, Default)]
pub(super) struct Budget {
    looked_at: usize,
}

impl Budget {
    fn take(&mut self, files: usize) -> Result<(), Stop> {
        self.looked_at += files;
        if self.looked_at > MAX_LOOKED_AT {
            let why = format!("its ArtifactGenerator copies from more than {MAX_LOOKED_AT} files");
            return Err(Stop::Unknown(why.into()));
        }
        Ok(())
    }
}

/// The folder that an artifact is packed from.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    sources: &'a BTreeMap<String, Arc<Artifact>>,
    budget: &'a mut Budget,
    files: BTreeMap<String, Placed<'a>>,
    /// The folders that were made, some of them for no file.
    folders: BTreeSet<String>,
}

/// A file of the stage.
#[derive(Debug, Clone)]
enum Placed<'a> {
    /// That of a source.
    Of(&'a Files, String),
    /// One that several files were merged into.
    Merged(Arc<Merged>),
}

/// One copy, read.
struct Operation<'a, 'o> {
    copy: &'o Copy<'o>,
    files: &'a Files,
    alias: &'o str,
    exclude: Exclude,
    merges: bool,
    extracts: bool,
    /// Where it goes, from the root of the artifact.
    to: &'o str,
}

impl<'a> Stage<'a> {
    pub(super) fn new(sources: &'a BTreeMap<String, Arc<Artifact>>, budget: &'a mut Budget) -> Self {
        Self { sources, budget, files: BTreeMap::new(), folders: BTreeSet::new() }
    }

    /// The files, but for those that are left out.
    pub(super) fn finish(self, wanted: impl Fn(&str) -> bool) -> Files {
        let (mut places, mut merged) = (Vec::new(), Vec::new());
        for (path, placed) in self.files.into_iter().filter(|(path, _)| wanted(path)) {
            match placed {
                Placed::Of(files, there) => places.push((Arc::from(path), files, Arc::from(there))),
                Placed::Merged(file) => merged.push((path, file)),
            }
        }
        let mut files = Files::select(places);
        for (path, file) in merged {
            files.insert(&path, Arc::new(file.parsed()));
        }
        files
    }

    /// Makes one copy.
    pub(super) fn apply(&mut self, copy: &Copy) -> Result<(), Stop> {
        let operation = self.read(copy)?;
        let from = copy.from.split_once('/').map_or("", |(_, from)| from);
        if globs::is_glob(from) { self.copy_found(&operation, from) } else { self.copy_one(&operation, from) }
    }

    fn read<'o>(&self, copy: &'o Copy<'o>) -> Result<Operation<'a, 'o>, Stop> {
        let (from, to) = (field(copy, "from"), field(copy, "to"));
        let alias = copy.from.strip_prefix('@').and_then(|rest| rest.split_once('/'));
        let (alias, _) = alias.ok_or_else(|| {
            let message = format!("`{}` names no files of a source", copy.from);
            Stop::failed(from.span(), message, "say `@alias/path`, with an alias of `sources`")
        })?;
        let target = copy.to.strip_prefix("@artifact/").ok_or_else(|| {
            let message = format!("`{}` is no place in the artifact", copy.to);
            Stop::failed(to.span(), message, "say `@artifact/path`")
        })?;
        let artifact = self.sources.get(alias).ok_or_else(|| {
            Stop::failed(
                from.span(),
                format!("no source has the alias `{alias}`"),
                "name one of `sources` by its alias",
            )
        })?;
        let excluded = copy.node.get("exclude").map(Node::items).unwrap_or_default();
        let exclude = Exclude::new(excluded.iter().map(shown)).map_err(|refused| match refused {
            Refused::Invalid(at) => {
                let node = excluded.get(at).unwrap_or(copy.node);
                Stop::failed(node.span(), format!("`{}` is no glob", shown(node)), "close its brackets and braces")
            }
            Refused::TooMany => Stop::Unknown("its ArtifactGenerator excludes by more globs than are tried".into()),
        })?;
        let strategy = copy.node.get("strategy").and_then(Node::text).unwrap_or_default();
        if !matches!(strategy, "" | "Overwrite" | "Merge" | "Extract") {
            let why = format!("its ArtifactGenerator copies by the strategy `{strategy}`, which is not known here");
            return Err(Stop::Unknown(why.into()));
        }
        let (merges, extracts) = (strategy == "Merge", strategy == "Extract");
        Ok(Operation { copy, files: artifact.files(), alias, exclude, merges, extracts, to: target })
    }

    /// Copies what a glob finds.
    fn copy_found(&mut self, operation: &Operation<'a, '_>, from: &str) -> Result<(), Stop> {
        if operation.extracts {
            return Err(extracts());
        }
        let (place, alias) = (field(operation.copy, "from"), operation.alias);
        self.budget.take(operation.files.tree().len())?;
        let found = globs::find(operation.files.tree(), from).map_err(|_| {
            Stop::failed(place.span(), format!("`{from}` is no glob"), "close its brackets, or escape them with `\\`")
        })?;
        if found.is_empty() {
            let message = format!("nothing of source `{alias}` matches `{from}`");
            return Err(Stop::failed(place.span(), message, help_for(from)));
        }
        let start = globs::literal_start(from);
        let kept: Vec<&String> = found.iter().filter(|path| !operation.exclude.has(path, &start)).collect();
        if kept.is_empty() {
            let message = format!("everything of source `{alias}` that matches `{from}` is excluded");
            return Err(Stop::failed(place.span(), message, "exclude less: the controller makes no empty copy"));
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

    /// Copies the file or folder of a path.
    fn copy_one(&mut self, operation: &Operation<'a, '_>, from: &str) -> Result<(), Stop> {
        let (place, alias) = (field(operation.copy, "from"), operation.alias);
        let path = clean(from);
        if leads_out(&path) {
            let message = format!("`{from}` leads out of source `{alias}`");
            return Err(Stop::failed(place.span(), message, "name something inside of it"));
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
                    Stop::failed(place.span(), format!("`{path}` is no archive"), "name a .tar.gz or .tgz file")
                });
            }
            let to = clean(operation.to);
            let into_folder = operation.to.ends_with('/') || self.is_folder(&to);
            let to = if into_folder { join(&to, name_of(&path)) } else { to };
            return self.copy_file(operation, &path, to);
        }
        if !tree.has_folder(&path) {
            let message = format!("source `{alias}` hands out no `{from}`");
            return Err(Stop::failed(
                place.span(),
                message,
                "correct the path; what the source leaves out is not there",
            ));
        }
        if operation.extracts {
            let message = format!("`{from}` is a folder, and only archives are extracted");
            return Err(Stop::failed(place.span(), message, "name a .tar.gz or .tgz file"));
        }
        // As `cp -r` does: the folder itself is copied, not what is in it.
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
            self.budget.take(1)?;
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
        self.budget.take(1)?;
        if operation.merges && self.files.contains_key(&to) {
            return self.merge(operation, from, to);
        }
        self.place(operation, from, &to)
    }

    fn merge(&mut self, operation: &Operation<'a, '_>, from: &str, to: String) -> Result<(), Stop> {
        let place = field(operation.copy, "from");
        let unreadable = |path: &str| {
            let message = format!("`{path}` is no mapping in YAML, so it cannot be merged");
            Stop::failed(place.span(), message, "merge files of YAML, or copy with the strategy `Overwrite`")
        };
        let base = match self.files.get(&to) {
            Some(Placed::Of(files, there)) => files.get(there).and_then(|parsed| Merged::of(&parsed)).map(Arc::new),
            Some(Placed::Merged(merged)) => Some(merged.clone()),
            None => None,
        };
        let base = base.ok_or_else(|| unreadable(&to))?;
        let parsed = operation.files.get(from).ok_or_else(|| unreadable(from))?;
        self.budget.take(parsed.file.text().len() / BYTES_PER_FILE)?;
        let merged = base.with(&Merged::of(&parsed).ok_or_else(|| unreadable(from))?);
        self.files.insert(to, Placed::Merged(Arc::new(merged)));
        Ok(())
    }

    /// Puts a file at its place, over what stood there.
    fn place(&mut self, operation: &Operation<'a, '_>, from: &str, to: &str) -> Result<(), Stop> {
        if to.is_empty() || self.is_folder(to) {
            let message =
                format!("`{}` is a folder of the artifact, where `{from}` should become a file", shown_path(to));
            return Err(Stop::failed(field(operation.copy, "to").span(), message, "end it with `/` to copy into it"));
        }
        self.make_folder(operation, folder_of(to))?;
        self.files.insert(to.to_owned(), Placed::Of(operation.files, from.to_owned()));
        if self.files.len() > MAX_FILES {
            return Err(Stop::Unknown(format!("it has more than {MAX_FILES} files").into()));
        }
        Ok(())
    }

    fn make_folder(&mut self, operation: &Operation<'a, '_>, folder: &str) -> Result<(), Stop> {
        let mut open = folder;
        while !open.is_empty() && !self.folders.contains(open) {
            if self.files.contains_key(open) {
                let message = format!("`{open}` is a file of the artifact already, and no folder");
                return Err(Stop::failed(field(operation.copy, "to").span(), message, "copy to another folder"));
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
    let message = format!("`{}` leads out of the artifact", operation.copy.to);
    Err(Stop::failed(field(operation.copy, "to").span(), message, "name a place inside of it"))
}

fn field<'o>(copy: &Copy<'o>, name: &str) -> &'o Node {
    copy.node.get(name).unwrap_or(copy.node)
}

fn extracts() -> Stop {
    Stop::Unknown("its ArtifactGenerator extracts archives, which are not opened here".into())
}

fn is_archive(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    [".tar.gz", ".tgz"].iter().any(|end| path.ends_with(end))
}

fn help_for(glob: &str) -> &'static str {
    let segments: Vec<&str> = glob.split('/').collect();
    match segments.iter().position(|segment| *segment == "**") {
        Some(at) if at + 1 < segments.len() => "`**` stands for one folder here, like `*`: name the folders between",
        _ if segments.iter().any(|segment| matches!(*segment, "" | "." | "..")) => {
            "write the path plainly, without `./`, `//` and `/` at its end"
        }
        _ => "correct the path; what the source leaves out is not there",
    }
}

fn shown_path(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}
