//! Every folder of other people's repositories against the real program:
//! `TREE=path KUSTOMIZE=program cargo test --test behavior kustomize::repositories -- --ignored --nocapture`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use fleetwright::disk;
use fleetwright::kustomize::{FILE_NAMES, Reading};

use crate::support::{kustomize, printed};

/// The folders below one that have a kustomization.
fn folders(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    if entries.iter().any(|path| path.is_file() && FILE_NAMES.iter().any(|name| path.ends_with(name))) {
        found.push(folder.to_owned());
    }
    let is_folder = |path: &&PathBuf| path.is_dir() && !path.is_symlink() && !path.ends_with(".git");
    entries.iter().filter(is_folder).for_each(|folder| folders(folder, found));
}

/// How both did, in a few words.
fn compared(program: &str, folder: &Path, reading: Reading) -> &'static str {
    let mut real = Command::new(program);
    real.arg("build").arg(folder);
    if reading == Reading::Unrestricted {
        real.args(["--load-restrictor", "LoadRestrictionsNone"]);
    }
    let opened = disk::open(folder).unwrap();
    let ours = kustomize(&opened.tree, &opened.folder, reading);
    if !ours.not_done.is_empty() {
        return if ours.not_done.keys().any(|omission| omission.to_string().contains("<url>")) {
            "remote"
        } else {
            "needs a program"
        };
    }
    let real = real.output().unwrap();
    match (real.status.success(), ours.findings.is_empty()) {
        (true, true) if real.stdout == printed(&ours).as_bytes() => "equal",
        (true, true) => "DIFFERENT",
        (false, false) => "refused by both",
        (true, false) => "REFUSED BY US ALONE",
        (false, true) => "REFUSED BY THE REAL PROGRAM ALONE",
    }
}

#[test]
#[ignore = "compares with the program that KUSTOMIZE names on the folder that TREE names"]
fn folders_build_to_what_the_real_program_builds() {
    let (Ok(root), Ok(program)) = (std::env::var("TREE"), std::env::var("KUSTOMIZE")) else { return };
    let mut found = Vec::new();
    folders(Path::new(&root), &mut found);
    let mut failed = false;
    for reading in [Reading::Kustomize, Reading::Unrestricted] {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for folder in &found {
            let how = compared(&program, folder, reading);
            *counts.entry(how).or_default() += 1;
            if how.starts_with(char::is_uppercase) {
                println!("{how}: {}", folder.display());
                failed = true;
            }
        }
        println!("{reading:?}: {counts:?}");
    }
    assert!(!failed);
}
