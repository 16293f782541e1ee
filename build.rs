//! Computes the digest of the sources, and rebuilds the binary if a built-in layout or `policies/` gains or loses a file.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

/// The files and directories that determine the program.
const SOURCES: [&str; 7] = ["Cargo.lock", "Cargo.toml", "build.rs", "policies", "schemas", "src", "templates"];

fn main() {
    let mut digest = DefaultHasher::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        let mut files = BTreeSet::new();
        collect(Path::new(source), &mut files);
        for file in files {
            (&file, fs::read(&file).unwrap_or_default()).hash(&mut digest);
        }
    }
    println!("cargo::rustc-env=FLEETWRIGHT_SOURCES={:016x}", digest.finish());
}

fn collect(path: &Path, files: &mut BTreeSet<PathBuf>) {
    if !path.is_dir() {
        files.insert(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        collect(&entry.path(), files);
    }
}
