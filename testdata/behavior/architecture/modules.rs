//! The modules of a crate as a tree, and the files in which the names of a path are defined.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path as FilePath, PathBuf};

use super::source::{Path, Place, Source};

/// Every module of a crate.
pub(super) struct Modules {
    modules: Vec<Module>,
    /// The index of each module by its names from the crate down.
    by_names: BTreeMap<Vec<String>, usize>,
}

/// One module, in a file of its own or with a body in the file of another.
pub(super) struct Module {
    /// Its names from the crate down.
    pub(super) names: Vec<String>,
    /// The file that contains it.
    pub(super) file: PathBuf,
    /// Whether only tests are compiled with it.
    pub(super) test: bool,
    /// The modules that it declares, in order.
    pub(super) children: Vec<String>,
    bindings: BTreeMap<String, Vec<Binding>>,
    globs: Vec<Vec<String>>,
}

/// The meaning of a name in a module.
#[derive(Clone)]
enum Binding {
    Module(usize),
    Item,
    Macro,
    Import(Vec<String>),
}

/// An item and the module that defines it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Definition {
    /// The module that contains the item.
    pub(super) module: usize,
    /// The item's name.
    pub(super) name: String,
}

/// A name that was found in an import of a module, instead of in the file that defines it.
pub(super) struct Facade {
    /// The module that contains the import.
    pub(super) module: usize,
    /// The imported path, from `crate` down.
    pub(super) path: String,
}

/// The definitions that a path leads to.
#[derive(Default)]
pub(super) struct Resolved {
    /// More than one where a function and a type share a name.
    pub(super) definitions: Vec<Definition>,
    /// The imports of other files that the path goes through, in order.
    pub(super) facades: Vec<Facade>,
}

#[derive(Clone, PartialEq, Eq)]
enum Target {
    Module(usize),
    Item(Definition),
}

/// The state of one search: the file that it starts from, and the names that it is looking up.
struct Search<'a> {
    file: &'a FilePath,
    facades: Vec<Facade>,
    open: BTreeSet<(usize, String)>,
}

impl Modules {
    /// Makes the tree from the sources, each with its file and the names of its module; parents come before children.
    pub(super) fn new(sources: &BTreeMap<Vec<String>, (PathBuf, Source)>) -> Self {
        let mut tree = Self { modules: Vec::new(), by_names: BTreeMap::new() };
        let mut tests = BTreeSet::new();
        for (names, (file, source)) in sources {
            let test = tests.iter().any(|test: &Vec<String>| names.starts_with(test));
            tree.module(names, file, test);
            for declared in &source.modules {
                let child = [names.as_slice(), &declared.names].concat();
                if declared.test {
                    tests.insert(child.clone());
                }
                if declared.has_body {
                    tree.module(&child, file, test || declared.test);
                }
            }
        }
        for (names, (_, source)) in sources {
            tree.bind(names, source);
        }
        tree
    }

    pub(super) fn get(&self, module: usize) -> &Module {
        &self.modules[module]
    }

    /// The module with these names, or the closest one around it.
    pub(super) fn closest(&self, names: &[String]) -> Option<usize> {
        (0..=names.len()).rev().find_map(|length| self.by_names.get(&names[..length]).copied())
    }

    /// The definitions that a path in a module leads to; none for those of other crates.
    pub(super) fn resolve(&self, module: usize, path: &Path) -> Resolved {
        let mut search = Search { file: &self.modules[module].file, facades: Vec::new(), open: BTreeSet::new() };
        let targets = match path.segments.as_slice() {
            [name] if path.place == Place::Code => self.single(module, name, path, &mut search),
            segments => self.targets(module, segments, &mut search),
        };
        let definitions = targets.into_iter().filter_map(|target| match target {
            Target::Item(definition) => Some(definition),
            Target::Module(_) => None,
        });
        Resolved { definitions: definitions.collect(), facades: search.facades }
    }

    fn module(&mut self, names: &[String], file: &FilePath, test: bool) {
        if self.by_names.contains_key(names) {
            return;
        }
        self.by_names.insert(names.to_vec(), self.modules.len());
        self.modules.push(Module {
            names: names.to_vec(),
            file: file.to_owned(),
            test,
            children: Vec::new(),
            bindings: BTreeMap::new(),
            globs: Vec::new(),
        });
    }

    fn bind(&mut self, names: &[String], source: &Source) {
        let inner = |inside: &[String]| [names, inside].concat();
        for declared in &source.modules {
            let Some((name, around)) = declared.names.split_last() else { continue };
            let Some(parent) = self.closest(&inner(around)) else { continue };
            self.modules[parent].children.push(name.clone());
            if let Some(&child) = self.by_names.get(&inner(&declared.names)) {
                self.add(parent, name, Binding::Module(child));
            }
        }
        for item in &source.items {
            let Some(module) = self.closest(&inner(&item.inside)) else { continue };
            self.add(module, &item.name, if item.is_macro { Binding::Macro } else { Binding::Item });
        }
        for path in source.paths.iter().filter(|path| path.place != Place::Code) {
            let Some(module) = self.closest(&inner(&path.inside)) else { continue };
            let segments = without_self(&path.segments);
            match (segments.last().map(String::as_str), &path.alias) {
                (Some("*"), _) => self.modules[module].globs.push(segments[..segments.len() - 1].to_vec()),
                // `use serde;` and the `pub(super) use name;` of a macro bind a name to itself.
                (Some(last), alias) if segments.len() > 1 || alias.is_some() => {
                    let name = alias.clone().unwrap_or_else(|| last.to_owned());
                    self.add(module, &name, Binding::Import(segments.to_vec()));
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, module: usize, name: &str, binding: Binding) {
        self.modules[module].bindings.entry(name.to_owned()).or_default().push(binding);
    }

    /// A name alone: only a macro of a module around it, or a name that the same file re-exports, reaches another file.
    fn single(&self, module: usize, name: &str, path: &Path, search: &mut Search) -> Vec<Target> {
        let bound = self.modules[module].bindings.contains_key(name);
        if path.is_macro && !bound {
            return self.macro_around(module, name).into_iter().collect();
        }
        if bound && path.is_item { self.known(module, name, search).unwrap_or_default() } else { Vec::new() }
    }

    fn macro_around(&self, module: usize, name: &str) -> Option<Target> {
        let mut around = Some(module);
        while let Some(module) = around {
            let bindings = self.modules[module].bindings.get(name);
            if bindings.is_some_and(|bindings| bindings.iter().any(|binding| matches!(binding, Binding::Macro))) {
                return Some(Target::Item(Definition { module, name: name.to_owned() }));
            }
            around = self.parent(module);
        }
        None
    }

    fn parent(&self, module: usize) -> Option<usize> {
        let (_, names) = self.modules[module].names.split_last()?;
        self.closest(names)
    }

    fn targets(&self, module: usize, segments: &[String], search: &mut Search) -> Vec<Target> {
        let segments = without_self(segments);
        let (mut targets, rest) = match segments {
            [first, rest @ ..] if first == "crate" => (self.crate_root(module), rest),
            [first, ..] if first == "self" || first == "super" => {
                let climbed = segments.iter().take_while(|name| *name == "self" || *name == "super").count();
                let ups = segments[..climbed].iter().filter(|name| *name == "super").count();
                let ancestor = (0..ups).try_fold(module, |module, _| self.parent(module));
                (ancestor.map(Target::Module).into_iter().collect(), &segments[climbed..])
            }
            [first, rest @ ..] => match self.known(module, first, search) {
                Some(targets) => (targets, rest),
                None => return Vec::new(),
            },
            [] => return Vec::new(),
        };
        for name in rest {
            // A function can share the name of a module, and has nothing below it.
            let modules: Vec<usize> = targets.iter().filter_map(Target::module).collect();
            if modules.is_empty() {
                break;
            }
            targets = modules.into_iter().flat_map(|module| self.qualified(module, name, search)).collect();
        }
        targets
    }

    fn crate_root(&self, module: usize) -> Vec<Target> {
        let is_binary = self.modules[module].names.first().is_some_and(|name| name == "main");
        let root = if is_binary { self.by_names.get(&["main".to_owned()][..]) } else { self.by_names.get(&[][..]) };
        root.map(|&root| Target::Module(root)).into_iter().collect()
    }

    /// A name below a module; one that is not seen there is an item that a macro makes.
    fn qualified(&self, module: usize, name: &str, search: &mut Search) -> Vec<Target> {
        self.known(module, name, search)
            .unwrap_or_else(|| vec![Target::Item(Definition { module, name: name.to_owned() })])
    }

    /// The targets of a name in a module; `None` when the module does not contain it.
    fn known(&self, module: usize, name: &str, search: &mut Search) -> Option<Vec<Target>> {
        if !search.open.insert((module, name.to_owned())) {
            return None;
        }
        let here = &self.modules[module];
        let found = match here.bindings.get(name) {
            Some(bindings) => {
                let mark = search.facades.len();
                let bound = bindings.iter().flat_map(|binding| match binding {
                    Binding::Module(child) => vec![Target::Module(*child)],
                    Binding::Item | Binding::Macro => {
                        vec![Target::Item(Definition { module, name: name.to_owned() })]
                    }
                    Binding::Import(path) => self.imported(module, path, search),
                });
                let mut targets = Vec::new();
                for target in bound {
                    if !targets.contains(&target) {
                        targets.push(target);
                    }
                }
                if bindings.iter().any(|binding| matches!(binding, Binding::Module(_))) {
                    // The path means the module; an import that shares its name is no detour.
                    search.facades.truncate(mark);
                }
                Some(targets)
            }
            None => here.globs.iter().find_map(|glob| {
                let mark = search.facades.len();
                let path = [glob.as_slice(), &[name.to_owned()]].concat();
                let modules = self.targets(module, glob, search);
                let found = modules.iter().filter_map(Target::module).find_map(|it| self.known(it, name, search))?;
                self.note(module, mark, &path, search);
                Some(found)
            }),
        };
        search.open.remove(&(module, name.to_owned()));
        found
    }

    fn imported(&self, module: usize, path: &[String], search: &mut Search) -> Vec<Target> {
        let mark = search.facades.len();
        self.note(module, mark, path, search);
        let targets = self.targets(module, path, search);
        if self.modules[module].file == search.file {
            // The `use` in the same file is judged by itself.
            search.facades.truncate(mark);
        }
        targets
    }

    /// Keeps an import of another file among those that the search goes through.
    fn note(&self, module: usize, mark: usize, path: &[String], search: &mut Search) {
        if self.modules[module].file == search.file {
            search.facades.truncate(mark);
        } else {
            search.facades.insert(mark, Facade { module, path: self.absolute(module, path, 0) });
        }
    }

    /// A path as it reads from `crate` down.
    fn absolute(&self, module: usize, path: &[String], depth: usize) -> String {
        let joined = |names: &[String], rest: &[String]| {
            let all = ["crate".to_owned()].into_iter().chain(names.iter().chain(rest).cloned());
            all.collect::<Vec<String>>().join("::")
        };
        match path {
            [first, ..] if first == "crate" => path.join("::"),
            [first, rest @ ..] if first == "self" => self.absolute(module, rest, depth),
            [first, rest @ ..] if first == "super" => {
                let parent = self.parent(module).unwrap_or(module);
                match rest.first().map(String::as_str) {
                    Some("super") => self.absolute(parent, rest, depth),
                    _ => joined(&self.modules[parent].names, rest),
                }
            }
            [first, rest @ ..] => match self.modules[module].bindings.get(first).map(Vec::as_slice) {
                Some([Binding::Import(import), ..]) if depth < 8 && import.as_slice() != path => {
                    let start = self.absolute(module, import, depth + 1);
                    [start].into_iter().chain(rest.iter().cloned()).collect::<Vec<String>>().join("::")
                }
                Some(_) => joined(&self.modules[module].names, path),
                None => path.join("::"),
            },
            [] => joined(&self.modules[module].names, &[]),
        }
    }
}

impl Target {
    fn module(&self) -> Option<usize> {
        match self {
            Self::Module(module) => Some(*module),
            Self::Item(_) => None,
        }
    }
}

/// A path without the `self` at the end of a group's member.
fn without_self(segments: &[String]) -> &[String] {
    match segments {
        [rest @ .., last] if last == "self" && !rest.is_empty() => rest,
        _ => segments,
    }
}
