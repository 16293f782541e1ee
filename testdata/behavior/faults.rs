//! Faults of the file system: full disks, files that change during a run, and files of another kind.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use fleetwright::lint::{Options, run};
use fleetwright::text::{Entry, LoadError};

use super::support::{testdata, tree_of};

const BINARY: &str = env!("CARGO_BIN_EXE_fleetwright");

fn fleetwright(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(BINARY).current_dir(folder).args(arguments).output().unwrap()
}

/// Returns the exit code and the messages. A panic, an abort or a signal fails the test.
fn outcome(output: &Output) -> (i32, String) {
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!messages.contains("panicked"), "{messages}");
    let code = output.status.code().unwrap_or_else(|| panic!("{}: {messages}", output.status));
    assert!((0..=2).contains(&code), "exit code {code}: {messages}");
    (code, messages)
}

/// Creates a directory with the fleet of the README.
fn fleet() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(testdata("fleets/quickstart/fleet.yaml"), folder.path().join("fleet.yaml")).unwrap();
    folder
}

/// Returns the files below a directory with their text, without fleet.yaml and the lock.
fn files(root: &Path) -> BTreeMap<String, String> {
    let tree = tree_of(root);
    let shown = |path: &str| path != "fleet.yaml" && !path.starts_with(".fleetwright");
    tree.files().filter(|file| shown(file.path())).map(|file| (file.path().into(), file.text().into())).collect()
}

/// Each size of the disk interrupts a render at another file.
#[test]
fn a_full_disk_leaves_old_or_new_files_and_the_next_render_completes() {
    let folder = fleet();
    let root = folder.path();
    assert_eq!(outcome(&fleetwright(root, &["render"])).0, 0);
    let old = files(root);
    let fleet_yaml = fs::read_to_string(root.join("fleet.yaml")).unwrap();
    let changed = fleet_yaml.replace("cpu: 8", "cpu: 16").replace("eu.acme.example", "eu.acme.test");
    fs::write(root.join("fleet.yaml"), changed + "# a comment\n").unwrap();
    let mut failures = 0;
    for blocks in [1, 2, 4, 8] {
        // The shell ignores the signal, so that a write beyond the limit fails as on a full disk.
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" render");
        let output = Command::new("sh").args(["-c", &script, BINARY]).current_dir(root).output().unwrap();
        let (code, messages) = outcome(&output);
        if code != 0 {
            failures += 1;
            assert_eq!(code, 2, "{messages}");
            assert!(messages.contains("File too large") || messages.contains("file too large"), "{messages}");
            assert_eq!(files(root), old, "{messages}");
            assert!(!root.join(".fleetwright.tmp").exists(), "{messages}");
        }
    }
    assert!(failures > 0, "no limit was met");
    assert_eq!(outcome(&fleetwright(root, &["render"])).0, 0);
    assert_ne!(files(root), old);
    assert_eq!(outcome(&fleetwright(root, &["render", "--check"])).0, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_output_is_an_error() {
    let folder = fleet();
    let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    for arguments in [&["render", "--check"][..], &["schema", "fleet"], &["lint", "--format", "json"]] {
        let mut command = Command::new(BINARY);
        command.args(arguments).current_dir(folder.path()).stdout(full()).stderr(Stdio::piped());
        let (code, messages) = outcome(&command.spawn().unwrap().wait_with_output().unwrap());
        assert_eq!(code, 2, "{arguments:?}: {messages}");
        assert!(messages.contains("No space left on device") || messages.contains("no space left"), "{messages}");
    }
    let (code, messages) = outcome(&fleetwright(folder.path(), &["lint", "--format", "sarif=/dev/full"]));
    assert!(code == 2 && messages.contains("/dev/full"), "{messages}");
}

#[test]
fn files_that_change_during_a_run_are_findings_or_errors() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let write = |round: usize| {
        for at in 0..40 {
            let path = root.join(format!("apps/app-{at}.yaml"));
            let text =
                format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: app-{at}}}\ndata: {{round: '{round}'}}\n");
            let _ = match (at + round) % 5 {
                0 => fs::remove_file(&path),
                1 => fs::create_dir(&path),
                2 => fs::remove_dir(&path).and_then(|()| fs::write(&path, &text)),
                3 => fs::write(&path, text.as_bytes().split_at(text.len() - round % 30).0),
                _ => fs::write(&path, &text),
            };
        }
        let names: Vec<String> = (0..40).map(|at| format!("app-{at}.yaml")).collect();
        let _ = fs::write(root.join("apps/kustomization.yaml"), format!("resources: [{}]\n", names.join(", ")));
    };
    fs::create_dir(root.join("apps")).unwrap();
    fs::copy(testdata("fleets/quickstart/fleet.yaml"), root.join("fleet.yaml")).unwrap();
    write(0);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut round = 0;
            while !is_done.load(Ordering::Relaxed) {
                round += 1;
                write(round);
            }
        });
        for _ in 0..4 {
            let commands: [&[&str]; 4] = [&["lint"], &["render", "--check"], &["kustomize", "apps"], &["lint", "apps"]];
            for arguments in commands {
                // Only the absence of panics is certain: each file has one of its states.
                outcome(&fleetwright(root, arguments));
            }
        }
        is_done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_directory_in_the_place_of_a_file_is_named() {
    for (path, arguments) in [
        ("fleet.yaml", &["render"][..]),
        (".fleetwright.yaml", &["lint"]),
        (".fleetwright.lock", &["render"]),
        ("clusters/staging/runtime-info.yaml", &["render"]),
        ("report.sarif", &["lint", "--format", "sarif=report.sarif"]),
        ("baseline.json", &["lint", "--baseline", "baseline.json"]),
        ("baseline.json", &["lint", "--baseline", "baseline.json", "--write-baseline"]),
    ] {
        let folder = fleet();
        let target = folder.path().join(path);
        let _ = fs::remove_file(&target);
        fs::create_dir_all(target.join("inside")).unwrap();
        let (code, messages) = outcome(&fleetwright(folder.path(), arguments));
        assert!(code > 0 && messages.contains(path), "{arguments:?} with a directory {path}: {code} {messages}");
    }
    let folder = fleet();
    let (code, messages) = outcome(&fleetwright(folder.path(), &["render", "-o", "fleet.yaml"]));
    assert!(code == 2 && messages.contains("fleet.yaml"), "{messages}");
}

/// The path of a Kustomization is not wrong because this user may not read its directory.
#[test]
fn a_directory_that_cannot_be_read_is_not_a_missing_path() {
    let folder = fleet();
    assert_eq!(outcome(&fleetwright(folder.path(), &["render"])).0, 0);
    let mut tree = tree_of(folder.path());
    let unreadable = "tenants/payments";
    let below: Vec<String> = tree.under(unreadable).map(str::to_owned).collect();
    assert!(!below.is_empty());
    for path in below {
        tree.remove(&path);
    }
    tree.insert_entry(unreadable, Entry::Opaque(LoadError::Unreadable("permission denied".into())));
    let report = run(&tree, &Options::default());
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}
