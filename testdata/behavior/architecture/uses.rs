//! The uses between files: no detour through an import of a parent, and no item of the tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path as FilePath, PathBuf};

use super::modules::{Modules, Resolved};
use super::source::{Path, Place, Source};
use super::{Complaint, shown};

/// The items of one file that another file uses.
pub(super) struct Use {
    /// The module that names the items.
    pub(super) from: usize,
    /// The module that defines the items.
    pub(super) to: usize,
    /// The line of the first use.
    pub(super) line: usize,
    /// The items, in the order of their uses.
    pub(super) names: Vec<String>,
}

/// Every use of another file outside tests, by the files as they are shown.
pub(super) type Uses = BTreeMap<(String, String), Use>;

/// Finds the uses between files, and reports those that are not allowed whatever the order.
pub(super) fn uses(
    modules: &Modules,
    sources: &BTreeMap<Vec<String>, (PathBuf, Source)>,
    house: &FilePath,
) -> (Uses, Vec<Complaint>) {
    let mut uses = Uses::new();
    let mut complaints = Vec::new();
    for (names, (file, source)) in sources {
        let file = shown(file, house);
        let mut paths: Vec<&Path> = source.paths.iter().collect();
        paths.sort_by_key(|path| path.line);
        // The same complaint about later lines of a file adds nothing.
        let mut seen = BTreeSet::new();
        for path in paths {
            let Some(from) = modules.closest(&[names.as_slice(), &path.inside].concat()) else { continue };
            if path.test || modules.get(from).test {
                continue;
            }
            let resolved = modules.resolve(from, path);
            let complaint = match path.place {
                Place::Reexport => foreign_reexport(modules, from, &resolved),
                Place::Code | Place::Import => {
                    note(&mut uses, modules, from, path.line, &resolved, house);
                    test_item(modules, &resolved).or_else(|| facade(modules, from, path, &resolved, house))
                }
            };
            if let Some(complaint) = complaint.filter(|complaint| seen.insert(complaint.clone())) {
                complaints.push((file.clone(), path.line, complaint));
            }
        }
    }
    (uses, complaints)
}

fn note(uses: &mut Uses, modules: &Modules, from: usize, line: usize, resolved: &Resolved, house: &FilePath) {
    for definition in &resolved.definitions {
        let (file, target) = (&modules.get(from).file, &modules.get(definition.module).file);
        if file == target || modules.get(definition.module).test {
            continue;
        }
        let new = Use { from, to: definition.module, line, names: Vec::new() };
        let names = &mut uses.entry((shown(file, house), shown(target, house))).or_insert(new).names;
        if !names.contains(&definition.name) {
            names.push(definition.name.clone());
        }
    }
}

/// A `pub use` of an item that is not defined in the module itself or below it.
fn foreign_reexport(modules: &Modules, from: usize, resolved: &Resolved) -> Option<String> {
    let own = &modules.get(from).names;
    resolved.definitions.iter().find_map(|definition| {
        let theirs = &modules.get(definition.module).names;
        // Those of another top-level module are judged by the path as it is written.
        let foreign = !theirs.starts_with(own) && theirs.first() == own.first();
        let name = &definition.name;
        foreign.then(|| {
            let path = written(theirs);
            format!("`pub use` of `{name}` of `{path}` hides its users; import it from `{path}` where it is used")
        })
    })
}

fn test_item(modules: &Modules, resolved: &Resolved) -> Option<String> {
    let definition = resolved.definitions.iter().find(|definition| modules.get(definition.module).test)?;
    let name = &definition.name;
    Some(format!("`{name}` is defined in a test module; move it to a module that is always compiled"))
}

/// A path that goes through an import of a module around it.
fn facade(modules: &Modules, from: usize, path: &Path, resolved: &Resolved, house: &FilePath) -> Option<String> {
    let own = &modules.get(from).names;
    let facade = resolved.facades.iter().rfind(|facade| own.starts_with(&modules.get(facade.module).names))?;
    let root = shown(&modules.get(facade.module).file, house);
    let (found, better) = (path.segments.join("::"), &facade.path);
    Some(format!("`{found}` goes through an import of {root}, which hides the file that defines it; write `{better}`"))
}

fn written(names: &[String]) -> String {
    ["crate"].into_iter().chain(names.iter().map(String::as_str)).collect::<Vec<&str>>().join("::")
}
