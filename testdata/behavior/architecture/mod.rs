//! The house rules of `src/`, which reviews would otherwise have to remember.
//!
//! `src/lib.rs` lists the modules in order and a module uses only those above it; each door to the world belongs to
//! one module; nothing lies in `src/` that is not compiled.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use source::{Place, Source};

mod source;

/// Paths that only one module may use, or none; and what the others do instead.
const DOORS: &[(&[&str], Option<&str>, &str)] = &[
    (&["std", "fs"], Some("disk"), "take a `Tree`, and let `disk` read and write it"),
    (&["std", "os", "*", "fs"], Some("disk"), "take a `Tree`, and let `disk` read and write it"),
    (&["ignore"], Some("disk"), "take a `Tree`, and let `disk` walk directories"),
    (&["tempfile"], Some("disk"), "return what is to be written, and let `disk` write it"),
    (&["std", "process"], Some("disk"), "no program is run but by `disk`"),
    (&["std", "os", "*", "process"], Some("disk"), "no program is run but by `disk`"),
    (&["std", "env"], Some("cli"), "take the value as an argument that `cli` fills"),
    (&["std", "net"], None, "nothing opens a connection"),
    (&["std", "os", "*", "net"], None, "nothing opens a connection"),
];

/// Parts of a guarded path that open no door: an exit code starts no program.
const HARMLESS: &[&[&str]] = &[&["std", "process", "ExitCode"], &["std", "process", "Termination"]];

#[test]
fn every_module_uses_only_those_above_it_and_no_door_but_its_own() {
    let complaints = complaints(Path::new(env!("CARGO_MANIFEST_DIR")));
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn what_the_house_forbids_is_refused_with_its_place_and_what_to_do() {
    let house = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/architecture/refused");
    let found = complaints(&house).join("\n") + "\n";
    snapbox::assert_data_eq!(found, snapbox::Data::read_from(&house.join("complaints.txt"), None).raw());
}

#[test]
fn what_the_house_allows_is_not_accused() {
    let house = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/architecture/allowed");
    assert_eq!(complaints(&house), Vec::<String>::new());
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

/// Everything that the sources below `house/src` do against the rules, as `path:line: what; what to do`.
fn complaints(house: &Path) -> Vec<String> {
    let src = house.join("src");
    let order = read(&src.join("lib.rs"), house).map(|lib| top_level(&lib)).unwrap_or_default();
    let mut complaints = BTreeSet::new();
    let mut reached = BTreeSet::new();
    let mut waiting = vec![(src.join("lib.rs"), Vec::new()), (src.join("main.rs"), vec!["main".to_owned()])];
    while let Some((file, module)) = waiting.pop() {
        if !file.is_file() || !reached.insert(file.clone()) {
            continue;
        }
        let shown = shown(&file, house);
        let source = match read(&file, house) {
            Ok(source) => source,
            Err(message) => {
                complaints.insert((shown, 0, message));
                continue;
            }
        };
        for path in &source.paths {
            if let Some(complaint) = judge(path, &module, &order) {
                complaints.insert((shown.clone(), path.line, complaint));
            }
        }
        waiting.extend(source.children.iter().map(|child| child_file(&file, &module, child)));
    }
    for file in rust_files(&src) {
        if !reached.contains(&file) {
            let complaint = "no `mod` reaches this file, so nobody compiles it; declare it or delete it";
            complaints.insert((shown(&file, house), 1, complaint.to_owned()));
        }
    }
    complaints.into_iter().map(|(file, line, complaint)| format!("{file}:{line}: {complaint}")).collect()
}

/// What is wrong with a path in a module; `main` stands for the binary, the empty list for lib.rs.
fn judge(path: &source::Path, module: &[String], order: &[String]) -> Option<String> {
    let segments: Vec<&str> = path.segments.iter().map(String::as_str).collect();
    match segments.as_slice() {
        ["crate"] if path.place != Place::Code => Some("gives the crate another name; write `crate::x`".to_owned()),
        ["crate", "{", ..] => {
            Some("`use crate::{…}` hides which modules are used; write one `use` for each".to_owned())
        }
        ["crate", "*", ..] => Some("`use crate::*` hides which modules are used; name them".to_owned()),
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
        return Some(format!("`crate::{target}` is no module of lib.rs; name it by the module it lies in"));
    };
    if place == Place::Reexport {
        return Some(format!("`pub use` of `crate::{target}` hides who uses it; let its users name it there"));
    }
    let below = position(own).is_none_or(|ours| theirs > ours);
    below.then(|| {
        format!(
            "`{own}` uses `{target}`, which lib.rs lists below it; \
             move what both need further up, or pass it in as an argument"
        )
    })
}

/// `super` may walk within a top-level module, not out of it: that would be an edge nobody sees.
fn judge_climb(segments: &[&str], path: &source::Path, module: &[String]) -> Option<String> {
    let climbed = segments.iter().skip_while(|name| **name == "self").take_while(|name| **name == "super").count();
    let names_something = segments.iter().any(|name| !matches!(*name, "self" | "super"));
    let depth = module.len() + path.inside.len();
    (climbed > 0 && names_something && climbed >= depth)
        .then(|| format!("`{}` leaves the module; write `crate::…`, so that the edge is seen", segments.join("::")))
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
    let only = owner.map_or("nobody may use it".to_owned(), |owner| format!("only `{owner}` may use it"));
    Some(format!("`{}`: {only}; {advice}", segments[..door.len()].join("::")))
}

/// The modules that lib.rs declares, in order.
fn top_level(lib: &Source) -> Vec<String> {
    lib.children.iter().filter_map(|child| child.first().cloned()).collect()
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

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .expect("the sources can be listed")
        .map(|entry| entry.expect("an entry can be read").path());
    let files = entries.flat_map(|path| match path.is_dir() {
        true => rust_files(&path),
        false if path.extension().is_some_and(|extension| extension == "rs") => vec![path],
        false => Vec::new(),
    });
    files.collect()
}

fn shown(file: &Path, house: &Path) -> String {
    file.strip_prefix(house).unwrap_or(file).to_string_lossy().replace('\\', "/")
}
