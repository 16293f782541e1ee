//! The rules for the modules of `src/`.
//!
//! `src/lib.rs` and every `mod.rs` list their modules in order, and a module uses only those above it; files do not
//! form cycles; each access to the world belongs to one module; every file in `src/` is compiled.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use modules::Modules;
use source::{Place, Source};
use uses::uses;

mod modules;
mod order;
mod source;
mod uses;

/// A file, a line, and what is wrong there.
type Complaint = (String, usize, String);

/// The most Rust files that a directory may contain.
const MAX_FILES: usize = 20;

/// Directories that are lists: every file has the same shape, and its name is looked up.
const LARGE_DIRECTORIES: &[&str] = &["src/lint/rules"];

/// Paths that only one module may use, or none, and the alternative for the other modules.
const DOORS: &[(&[&str], Option<&str>, &str)] = &[
    (&["std", "fs"], Some("disk"), "take a `Tree`, and let `disk` read and write it"),
    (&["std", "os", "*", "fs"], Some("disk"), "take a `Tree`, and let `disk` read and write it"),
    (&["ignore"], Some("disk"), "take a `Tree`, and let `disk` walk directories"),
    (&["rustix"], Some("disk"), "take a `Tree`, and let `disk` read and write it"),
    (&["same_file"], Some("disk"), "take a `Tree`, and let `disk` read and write it"),
    (&["tempfile"], Some("disk"), "return what is to be written, and let `disk` write it"),
    (&["std", "process"], Some("disk"), "run no program outside `disk`"),
    (&["std", "os", "*", "process"], Some("disk"), "run no program outside `disk`"),
    (&["std", "env"], Some("cli"), "take the value as an argument that `cli` fills"),
    (&["std", "net"], None, "open no network connection"),
    (&["std", "os", "*", "net"], None, "open no network connection"),
];

/// Parts of a restricted path that are allowed: an exit code starts no program.
const HARMLESS: &[&[&str]] = &[&["std", "process", "ExitCode"], &["std", "process", "Termination"]];

#[test]
fn modules_follow_their_order_and_use_only_their_own_access() {
    let complaints = complaints(Path::new(env!("CARGO_MANIFEST_DIR")));
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn each_offence_is_reported_with_its_place_and_a_remedy() {
    let house = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/architecture/refused");
    let found = complaints(&house).join("\n") + "\n";
    snapbox::assert_data_eq!(found, snapbox::Data::read_from(&house.join("complaints.txt"), None).raw());
}

#[test]
fn allowed_uses_are_not_reported() {
    let house = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/architecture/allowed");
    assert_eq!(complaints(&house), Vec::<String>::new());
}

#[test]
fn a_directory_has_at_most_twenty_files() {
    let house = tempfile::tempdir().unwrap();
    let folder = house.path().join("src/many");
    fs::create_dir_all(&folder).unwrap();
    let names: Vec<String> = (0..MAX_FILES).map(|number| format!("file_{number}")).collect();
    let list: Vec<String> = names.iter().map(|name| format!("mod {name};")).collect();
    fs::write(house.path().join("src/lib.rs"), "mod many;\n").unwrap();
    fs::write(folder.join("mod.rs"), list.join("\n")).unwrap();
    for name in &names {
        fs::write(folder.join(name).with_extension("rs"), "").unwrap();
    }
    let expected = "src/many/mod.rs:1: the directory has 21 Rust files, and the limit is 20; divide it into submodules";
    assert_eq!(complaints(house.path()), [expected]);
}

#[test]
fn every_dependency_says_what_it_is_for() {
    let manifest = include_str!("../../../Cargo.toml");
    let mut in_dependencies = false;
    let mut explained = false;
    for (number, line) in manifest.lines().enumerate() {
        match line.trim() {
            "" => explained = false,
            header if header.starts_with('[') => {
                in_dependencies = header.contains("dependencies");
                explained = false;
            }
            comment if comment.starts_with('#') => explained = true,
            entry if in_dependencies => {
                assert!(explained, "Cargo.toml:{}: `{entry}` has no comment above it that says why", number + 1);
            }
            _ => {}
        }
    }
}

/// Every offence in the sources below `house/src`, as `path:line: what; what to do`.
fn complaints(house: &Path) -> Vec<String> {
    let src = house.join("src");
    let mut complaints = BTreeSet::new();
    let mut sources = BTreeMap::new();
    let mut reached = BTreeSet::new();
    let mut waiting = vec![(src.join("lib.rs"), Vec::new()), (src.join("main.rs"), vec!["main".to_owned()])];
    while let Some((file, module)) = waiting.pop() {
        if !file.is_file() || !reached.insert(file.clone()) {
            continue;
        }
        match read(&file, house) {
            Ok(source) => {
                let children = source.modules.iter().filter(|declared| !declared.has_body);
                waiting.extend(children.map(|child| child_file(&file, &module, &child.names)));
                sources.insert(module, (file, source));
            }
            Err(message) => {
                complaints.insert((shown(&file, house), 1, message));
            }
        }
    }
    let top_order = sources.get(&[][..]).map(|(_, lib)| top_level(lib)).unwrap_or_default();
    for (module, (file, source)) in &sources {
        for path in &source.paths {
            if let Some(complaint) = judge(path, module, &top_order) {
                complaints.insert((shown(file, house), path.line, complaint));
            }
        }
    }
    for file in rust_files(&src) {
        if !reached.contains(&file) {
            let complaint = "no `mod` declares this file, so it is not compiled; declare it or delete it";
            complaints.insert((shown(&file, house), 1, complaint.to_owned()));
        }
    }
    let modules = Modules::new(&sources);
    let (uses, detours) = uses(&modules, &sources, house);
    complaints.extend(detours);
    complaints.extend(order::misplaced(&modules, &uses, house));
    complaints.extend(order::cycles(&uses));
    complaints.extend(full_directories(&src, house));
    complaints.into_iter().map(|(file, line, complaint)| format!("{file}:{line}: {complaint}")).collect()
}

/// The directories with more sources than a reader can survey.
fn full_directories(folder: &Path, house: &Path) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let entries = entries(folder);
    let files = entries.iter().filter(|path| is_rust(path)).count();
    let name = shown(folder, house);
    if files > MAX_FILES && !LARGE_DIRECTORIES.contains(&name.as_str()) {
        let root = if folder.join("mod.rs").is_file() { "mod.rs" } else { "lib.rs" };
        let complaint =
            format!("the directory has {files} Rust files, and the limit is {MAX_FILES}; divide it into submodules");
        complaints.push((format!("{name}/{root}"), 1, complaint));
    }
    for path in entries.iter().filter(|path| path.is_dir()) {
        complaints.extend(full_directories(path, house));
    }
    complaints
}

/// What is wrong with a path in a module; `main` stands for the binary, the empty list for lib.rs.
fn judge(path: &source::Path, module: &[String], order: &[String]) -> Option<String> {
    let segments: Vec<&str> = path.segments.iter().map(String::as_str).collect();
    match segments.as_slice() {
        ["crate"] if path.place != Place::Code => Some("gives the crate another name; write `crate::x`".to_owned()),
        ["crate", "{", ..] => {
            Some("`use crate::{…}` hides which modules are used; write one `use` for each".to_owned())
        }
        ["crate", "*", ..] => {
            Some("`use crate::*` hides which modules are used; write one `use` for each name".to_owned())
        }
        ["crate", target, ..] => judge_edge(target, path.place, module, order),
        ["super" | "self", ..] => judge_climb(&segments, path, module),
        ["fleetwright", "cli", ..] if module == ["main"] => None,
        ["fleetwright", ..] if module == ["main"] => {
            Some("the binary calls `cli::run` and nothing else; move this to `cli`".to_owned())
        }
        _ => judge_door(&segments, module),
    }
}

fn judge_edge(target: &str, place: Place, module: &[String], order: &[String]) -> Option<String> {
    let own = module.first()?;
    if own == target {
        return None;
    }
    let position = |name: &str| order.iter().position(|module| module == name);
    let Some(theirs) = position(target) else {
        return Some(format!(
            "`crate::{target}` is not a module of lib.rs; write the path of the module that defines it"
        ));
    };
    if place == Place::Reexport {
        return Some(format!(
            "`pub use` of `crate::{target}` hides its users; import it from `crate::{target}` where it is used"
        ));
    }
    let below = position(own).is_none_or(|ours| theirs > ours);
    below.then(|| {
        format!(
            "`{own}` uses `{target}`, which lib.rs lists below it; \
             move the shared item to a module above both, or pass the value as an argument"
        )
    })
}

/// `super` may not leave a top-level module: the path would not show the module that it uses.
fn judge_climb(segments: &[&str], path: &source::Path, module: &[String]) -> Option<String> {
    let climbed = segments.iter().skip_while(|name| **name == "self").take_while(|name| **name == "super").count();
    let names_something = segments.iter().any(|name| !matches!(*name, "self" | "super"));
    let depth = module.len() + path.inside.len();
    (climbed > 0 && names_something && climbed >= depth).then(|| {
        format!(
            "`{}` leaves the top-level module; write `crate::…`, so that the dependency is visible",
            segments.join("::")
        )
    })
}

fn judge_door(segments: &[&str], module: &[String]) -> Option<String> {
    // A name alone is a variable or a field that happens to be called like a crate.
    let opens = |door: &[&str]| {
        segments.len() >= door.len().max(2)
            && door.iter().zip(segments).all(|(name, segment)| *name == "*" || name == segment)
    };
    let (door, owner, advice) = DOORS.iter().find(|(door, ..)| opens(door))?;
    if HARMLESS.iter().any(|path| opens(path)) || module.first().map(String::as_str) == *owner && owner.is_some() {
        return None;
    }
    let only = owner.map_or("no module may use it".to_owned(), |owner| format!("only `{owner}` may use it"));
    Some(format!("`{}`: {only}; {advice}", segments[..door.len()].join("::")))
}

/// The modules that lib.rs declares, in order.
fn top_level(lib: &Source) -> Vec<String> {
    let modules = lib.modules.iter().filter(|declared| !declared.has_body);
    modules.filter_map(|declared| declared.names.first().cloned()).collect()
}

fn read(file: &Path, house: &Path) -> Result<Source, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", shown(file, house)))?;
    Source::read(&text)
}

/// Where a module declared in `file` lies, and its name from the crate down.
fn child_file(file: &Path, module: &[String], child: &[String]) -> (PathBuf, Vec<String>) {
    let folder = file.parent().expect("a source lies in a folder");
    let stem = file.file_stem().and_then(|stem| stem.to_str()).expect("a source has a name");
    let is_root = matches!(stem, "lib" | "main" | "mod");
    let mut path = if is_root { folder.to_owned() } else { folder.join(stem) };
    path.extend(child);
    let flat = path.with_extension("rs");
    let names = module.iter().chain(child).cloned().collect();
    (if flat.is_file() { flat } else { path.join("mod.rs") }, names)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the sources can be listed");
    entries.map(|entry| entry.expect("an entry can be read").path()).collect()
}

fn is_rust(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|extension| extension == "rs")
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let files = entries(folder).into_iter().flat_map(|path| match path.is_dir() {
        true => rust_files(&path),
        false if is_rust(&path) => vec![path],
        false => Vec::new(),
    });
    files.collect()
}

fn shown(file: &Path, house: &Path) -> String {
    file.strip_prefix(house).unwrap_or(file).to_string_lossy().replace('\\', "/")
}
