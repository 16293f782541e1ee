//! The directories that other programs apply with Kustomizations that no cluster reaches.

use std::collections::BTreeSet;

use crate::lint::facts::distinct::written_position;
use crate::lint::view::View;
use crate::text::{folder_of, is_inside};

/// The maximum number of these directories.
const MAX_FOLDERS: usize = 100;

/// The directories that other programs apply to a cluster, each with the file of the program: the paths of the
/// Kustomizations that a program applies, and of the Kustomizations in these directories.
pub(super) struct ProgramFolders<'a>(Vec<(String, &'a str)>);

impl<'a> ProgramFolders<'a> {
    pub(super) fn on(view: &View<'a>) -> Self {
        let programs = view.before_flux.programs;
        let unreached = view.written.unreached_kustomizations();
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let mut found: Vec<(&str, &'a str)> = Vec::new();
        for (object, path) in unreached {
            let file = written_position(object).1;
            let program = programs.applier_of_file(file).or_else(|| programs.applier(folder_of(file)));
            found.extend(program.filter(|_| known.insert(path)).map(|program| (path.as_str(), program)));
        }
        let mut at = 0;
        while let Some((folder, program)) = found.get(at).copied().filter(|_| at < MAX_FOLDERS) {
            let below = unreached.iter().filter(|(object, _)| is_inside(folder_of(written_position(object).1), folder));
            found.extend(below.filter(|(_, path)| known.insert(path)).map(|(_, path)| (path.as_str(), program)));
            at += 1;
        }
        Self(found.into_iter().map(|(path, program)| (path.to_owned(), program)).collect())
    }

    /// The program that applies a directory.
    pub(super) fn program_of(&self, folder: &str) -> Option<&'a str> {
        self.0.iter().find(|(path, _)| is_inside(folder, path)).map(|(_, program)| *program)
    }
}
