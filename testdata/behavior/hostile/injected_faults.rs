//! Each system call of a render that changes the disk, in turn: the process is killed before it, or the call fails.
//! `strace` injects these faults.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use rayon::prelude::*;

use super::disk::{assert_old_or_new, files};
use super::{Answer, Repository, answer, has_strace};
use crate::support::testdata;

/// The calls that change the disk, with the error of a failure. The names differ between architectures.
const CALLS: &[(&str, &str)] = &[
    ("?mkdir,mkdirat", "ENOSPC"),
    ("write", "ENOSPC"),
    ("?chmod,fchmodat", "EPERM"),
    ("?rename,?renameat,renameat2", "EROFS"),
    ("?unlink,?rmdir,unlinkat", "EROFS"),
];

/// The number of calls of one kind that a render of the test makes at most.
const MAX_CALLS: usize = 60;

/// The quickstart before a change in fleet.yaml that adds, changes and removes files, and the files of both states.
struct Change {
    before: Repository,
    edited: String,
    old: BTreeMap<String, String>,
    new: BTreeMap<String, String>,
    /// The text of the lock after a render.
    lock: String,
}

impl Change {
    fn new() -> Self {
        let text = fs::read_to_string(testdata("fleets/quickstart/fleet.yaml")).unwrap();
        let edited = text.replace("acme", "umbrella").replace("prod-us", "prod-ap");
        let [before, after] = [&text, &edited].map(|text| {
            let repository = Repository { folder: tempfile::tempdir().unwrap() };
            repository.write("fleet.yaml", text);
            assert_eq!(repository.run(&["render"]).code, 0);
            repository
        });
        let [old, new] = [&before, &after].map(|repository| files(&repository.root()));
        assert!(old.keys().any(|path| !new.contains_key(path)) && new.keys().any(|path| !old.contains_key(path)));
        Self { lock: lock(&after), before, edited, old, new }
    }

    /// Renders a copy of the repository under `strace` with a fault, and then again without one. Returns the answer of
    /// the first render, and whether the fault occurred.
    fn render_with(&self, calls: &str, fault: &str, number: usize) -> (Answer, bool) {
        let at = format!("{fault} at {calls} number {number}");
        let repository = Repository { folder: tempfile::tempdir().unwrap() };
        copy(&self.before.root(), &repository.root());
        repository.write("fleet.yaml", &self.edited);
        let log = repository.folder.path().join("log");
        let mut traced = std::process::Command::new("strace");
        traced.args(["-f", "-qq", "-o"]).arg(&log).args(["-e", &format!("trace={calls}")]);
        traced.args(["-e", &format!("inject={calls}:{fault}:when={number}"), super::BINARY, "render"]);
        traced.current_dir(repository.root()).env("RAYON_NUM_THREADS", "1").stdin(Stdio::null());
        let answer = answer(&["render"], &traced.output().unwrap());
        // The signal may also end the process that reports the end of the other one.
        let is_killed = fault.contains("KILL") && answer.code == -9;
        assert!(is_killed || (0..=2).contains(&answer.code), "{at}: {answer:?}");
        assert!(!answer.err.contains("panicked"), "{at}: {answer:?}");
        assert_old_or_new(&repository, &self.old, &self.new, &at);
        let log = fs::read_to_string(log).unwrap();
        let occurred = log.contains("(INJECTED)") || log.contains("killed by SIGKILL");
        let again = repository.run(&["render"]);
        assert_eq!(again.code, 0, "{at}: {}", again.text());
        assert_eq!(files(&repository.root()), self.new, "{at}");
        assert_eq!(lock(&repository), self.lock, "{at}");
        assert!(!repository.root().join(".fleetwright.tmp").exists(), "{at}");
        (answer, occurred)
    }
}

/// The text of the lock file.
fn lock(repository: &Repository) -> String {
    fs::read_to_string(repository.root().join(".fleetwright.lock")).unwrap()
}

/// Copies a directory.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Calls a function with the number of each call of a kind, until the fault no longer occurs. Returns the number of calls.
fn step(render: impl Fn(usize) -> bool) -> usize {
    let calls = (1..=MAX_CALLS).take_while(|number| render(*number)).count();
    assert!((1..MAX_CALLS).contains(&calls), "{calls} faults occurred");
    calls
}

#[test]
fn a_render_that_is_killed_at_any_write_leaves_whole_files_and_the_next_render_completes() {
    if !has_strace() {
        return;
    }
    let change = Change::new();
    CALLS.par_iter().for_each(|(calls, _)| {
        step(|number| change.render_with(calls, "signal=SIGKILL", number).1);
    });
}

#[test]
fn a_render_whose_write_fails_leaves_whole_files_and_names_the_path() {
    if !has_strace() {
        return;
    }
    let change = Change::new();
    CALLS.par_iter().for_each(|(calls, error)| {
        step(|number| {
            let (answer, occurred) = change.render_with(calls, &format!("error={error}"), number);
            // The last writes are the messages of the command, which do not fail with it.
            let is_message = calls == &"write" && answer.code == 0;
            if occurred && !is_message {
                assert_eq!(answer.code, 2, "{calls} {number}: {answer:?}");
                assert!(
                    answer.err.contains("error: cannot ") && answer.err.contains('`'),
                    "{calls} {number}: {answer:?}"
                );
            }
            occurred
        });
    });
}

/// A file that the directory lists, but that no longer exists or cannot be read when its turn comes.
#[test]
fn a_file_that_vanishes_before_it_is_read_is_named() {
    if !has_strace() {
        return;
    }
    let repository = Repository::with_apps("resources: [x.yaml]\n");
    repository.write("apps/x.yaml", &super::config_map("x", "{}"));
    for error in ["ENOENT", "EACCES", "EIO"] {
        let mut traced = std::process::Command::new("strace");
        // `strace` compares this path with the argument of the call, which is relative to the open directory.
        traced.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=openat2", "-P", "apps/x.yaml"]);
        traced.args(["-e", &format!("inject=openat2:error={error}"), super::BINARY, "lint"]);
        let output = traced.current_dir(repository.root()).stdin(Stdio::null()).output().unwrap();
        let answer = answer(&["lint"], &output);
        assert_eq!(answer.code, 2, "{error}: {answer:?}");
        assert!(answer.err.contains("cannot read `apps/x.yaml`"), "{error}: {answer:?}");
    }
}
