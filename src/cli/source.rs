//! Where a fleet.yaml is, and what of its folder has to be read.

use std::path::{Path, PathBuf};

use super::error::Error;
use crate::disk;
use crate::fleet::{self, Loaded};
use crate::text::{File, Tree};
use crate::yaml::{Node, parse};

/// The name of the file that describes a fleet.
pub(super) const FLEET: &str = "fleet.yaml";

/// A fleet.yaml that was read.
pub(super) struct Source {
    /// The folder that it lies in, as the user would type it; empty for this one.
    pub folder: String,
    /// What it says, and what is wrong with it.
    pub loaded: Loaded,
}

impl Source {
    /// A place of the fleet's files as the user would type it; a built-in layout's files lie nowhere.
    pub(super) fn shown(&self, place: &str) -> String {
        let built_in = self.loaded.layout.as_ref().is_none_or(|layout| !layout.name.starts_with("./"));
        let is_input =
            self.loaded.inputs.iter().any(|input| place.strip_prefix(input).is_some_and(|rest| rest.starts_with(':')));
        if self.folder.is_empty() || (built_in && !is_input) {
            return place.to_owned();
        }
        format!("{}/{place}", self.folder.trim_end_matches('/'))
    }
}

/// Reads a fleet.yaml and what it includes.
pub(super) fn load(path: &Path) -> Result<Source, Error> {
    if path == Path::new(FLEET) && disk::read_some(Path::new("."), [FLEET])?.is_empty() {
        let help = "`fleetwright init` writes one to start from; `-f FILE` names another";
        return Err(Error::said(format!("there is no `{FLEET}` in this folder"), help));
    }
    if !disk::is_file(path) {
        let (what, help) = match disk::read_some(path, [FLEET]) {
            Ok(inside) if !inside.is_empty() => ("is a folder", format!("say `{}`", path.join(FLEET).display())),
            _ => ("is no file", "`fleetwright init DIR` writes a fleet.yaml to start from".to_owned()),
        };
        return Err(Error::said(format!("`{}` {what}", path.display()), help));
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // It may be a link of somebody's pull request: what lies elsewhere is not read, and no line of it shown.
    let alone = disk::read_some(or_here(&folder_of(path)), [name.as_str()])?;
    let file = alone.file(&name).map_err(|error| {
        Error::said(format!("cannot read `{}`: {error}", path.display()), "`-f FILE` names a fleet.yaml")
    })?;
    let folder = folder_of(path);
    let mut tree = if names_other_files(&file) { disk::list(or_here(&folder))? } else { Tree::default() };
    // Whatever a .gitignore says: this file was asked for.
    tree.insert(file);
    Ok(Source { folder: shown(&folder), loaded: fleet::load(&tree, &name) })
}

/// Tells whether a fleet.yaml needs more of its folder than itself: a folder may be large.
fn names_other_files(file: &File) -> bool {
    let documents = parse(file).documents;
    documents.iter().map(|document| &document.node).any(|root| {
        root.get("include").is_some_and(|include| !include.is_null())
            || root.get("layout").and_then(Node::text).is_some_and(|layout| layout.contains(['/', '.']))
    })
}

/// The folder that a path lies in; the empty path for this one.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    path.parent().map(Path::to_owned).unwrap_or_default()
}

/// A folder as it stands before paths: as it was typed, and nothing for this one.
pub(super) fn shown(folder: &Path) -> String {
    let typed = folder.to_string_lossy();
    let typed = typed.strip_prefix("./").unwrap_or(&typed);
    if typed == "." { String::new() } else { typed.to_owned() }
}

/// A folder as the file system takes it: the empty path is this one.
pub(super) fn or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}
