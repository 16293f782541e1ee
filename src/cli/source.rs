//! Loading of fleet.yaml and the files that it references.

use std::path::{Path, PathBuf};

use super::error::Error;
use crate::disk;
use crate::fleet::{self, Loaded};
use crate::text::{File, Tree, join};
use crate::yaml::{Node, parse};

/// The name of the file that describes a fleet.
pub(super) const FLEET: &str = "fleet.yaml";

/// A loaded fleet.yaml.
pub(super) struct Source {
    /// The directory of the file, as the user would type it; empty for the current directory.
    pub folder: String,
    /// The fleet and the findings.
    pub loaded: Loaded,
    /// The fleet.yaml and the files that it includes.
    pub inputs: Tree,
}

impl Source {
    /// Returns a place in a file of the fleet as the user would type it. Files of a built-in layout have no directory.
    pub(super) fn display_place(&self, place: &str) -> String {
        let built_in = self.loaded.layout.as_ref().is_none_or(|layout| !layout.name.starts_with("./"));
        let is_input =
            self.loaded.inputs.iter().any(|input| place.strip_prefix(input).is_some_and(|rest| rest.starts_with(':')));
        if self.folder.is_empty() || (built_in && !is_input) {
            return place.to_owned();
        }
        format!("{}/{place}", self.folder.trim_end_matches('/'))
    }
}

/// Reads a fleet.yaml and the files that it includes.
pub(super) fn load(path: &Path) -> Result<Source, Error> {
    if path == Path::new(FLEET) && disk::read_some(Path::new("."), [FLEET])?.is_empty() {
        let help = "create one with `fleetwright init`, or pass another file with `-f FILE`";
        return Err(Error::with_help(format!("there is no `{FLEET}` in this directory"), help));
    }
    if !disk::is_file(path) {
        let (what, help) = match disk::read_some(path, [FLEET]) {
            Ok(inside) if !inside.is_empty() => ("is a directory", format!("pass `{}`", path.join(FLEET).display())),
            _ => ("is not a file", "create a fleet.yaml with `fleetwright init DIR`".to_owned()),
        };
        return Err(Error::with_help(format!("`{}` {what}", path.display()), help));
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // A pull request may replace the file with a link. `read_some` does not follow a link out of the directory.
    let alone = disk::read_some(or_current(&folder_of(path)), [name.as_str()])?;
    let file = alone.file(&name).map_err(|error| {
        Error::with_help(format!("cannot read `{}`: {error}", path.display()), "pass a fleet.yaml with `-f FILE`")
    })?;
    let folder = folder_of(path);
    let mut tree = if names_other_files(&file) { disk::list(or_current(&folder))? } else { Tree::default() };
    // The user requested this file, so it is read even if a .gitignore matches its path.
    tree.insert(file);
    let loaded = fleet::load(&tree, &name);
    let inputs = loaded.inputs.iter().filter_map(|path| tree.file(path).ok()).collect();
    Ok(Source { folder: display_prefix(&folder), loaded, inputs })
}

/// Returns the fleet.yaml of the directory, unless it is a file of another tool, such as Rancher's Fleet.
pub(super) fn governing_fleet(dir: &Path, tree: &Tree, folder: &Path) -> Result<Option<Source>, Error> {
    if is_governed(dir, tree) { load(&folder.join(FLEET)).map(Some) } else { Ok(None) }
}

/// Reads a directory, and beside it the fleet.yaml that governs it: `fleet`, or the fleet.yaml of the directory.
pub(super) fn read_governed(fleet: Option<&Path>, dir: &Path) -> Result<(Tree, Option<Source>), Error> {
    let load = || {
        let own = dir.join(FLEET);
        let is_ours = || disk::read_some(dir, [FLEET]).is_ok_and(|tree| is_governed(dir, &tree));
        let file = fleet.or_else(|| (disk::is_file(&own) && is_ours()).then_some(&*own));
        file.map(load)
    };
    let (tree, source) = rayon::join(|| disk::read(dir), load);
    let tree = tree?;
    // The directory does not contain a fleet.yaml that Git ignores.
    let source = source.filter(|_| fleet.is_some() || is_governed(dir, &tree)).transpose()?;
    Ok((tree, source))
}

/// Returns whether a directory has a fleet.yaml of fleetwright.
fn is_governed(dir: &Path, tree: &Tree) -> bool {
    !disk::is_file(dir) && tree.file(FLEET).is_ok_and(|file| file.text().contains("fleetwright.dev/"))
}

/// Removes the templates of a layout in the repository, since they are not manifests.
pub(super) fn remove_templates(tree: &mut Tree, source: &Source) {
    let Some(layout) = source.loaded.layout.as_ref().filter(|layout| layout.name.starts_with("./")) else { return };
    let Some(folder) = join("", &layout.name) else { return };
    let templates: Vec<String> = tree.under(&folder).map(str::to_owned).collect();
    for path in &templates {
        tree.remove(path);
    }
}

/// Returns whether a fleet.yaml references other files. Without such references, the directory is not listed, since it
/// may be large.
fn names_other_files(file: &File) -> bool {
    let documents = parse(file).documents;
    documents.iter().map(|document| &document.node).any(|root| {
        root.get("include").is_some_and(|include| !include.is_null())
            || root.get("layout").and_then(Node::text).is_some_and(|layout| layout.contains(['/', '.']))
    })
}

/// Returns the directory of a path; empty for the current directory.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    path.parent().map(Path::to_owned).unwrap_or_default()
}

/// Returns a directory as the prefix of displayed paths: as it was typed, or empty for the current directory.
pub(super) fn display_prefix(folder: &Path) -> String {
    let typed = folder.to_string_lossy();
    let typed = typed.strip_prefix("./").unwrap_or(&typed);
    if typed == "." { String::new() } else { typed.to_owned() }
}

/// Returns a directory for file system calls: replaces the empty path with `.`.
pub(super) fn or_current(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}
