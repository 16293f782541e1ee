//! Faults of the disk and of the process during a render: a file is old or new, and the next render completes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::{BINARY, Repository};
use crate::support::testdata;

/// The number of times at which a render is killed.
const STEPS: u32 = 12;

/// The quickstart, rendered once, with a change in fleet.yaml that another render applies.
fn changed() -> (Repository, BTreeMap<String, String>, BTreeMap<String, String>) {
    let repository = Repository { folder: tempfile::tempdir().unwrap() };
    let fleet = fs::read_to_string(testdata("fleets/quickstart").join("fleet.yaml")).unwrap();
    repository.write("fleet.yaml", &fleet);
    assert_eq!(repository.run(&["render"]).code, 0);
    let old = files(&repository.root());
    let edited = fleet.replace("acme", "umbrella");
    assert_ne!(edited, fleet);
    let other = Repository { folder: tempfile::tempdir().unwrap() };
    other.write("fleet.yaml", &edited);
    assert_eq!(other.run(&["render"]).code, 0);
    repository.write("fleet.yaml", &edited);
    (repository, old, files(&other.root()))
}

/// The rendered files, without the lock file, fleet.yaml and files that are not yet renamed.
pub(super) fn files(root: &Path) -> BTreeMap<String, String> {
    fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let relative = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                if relative != ".fleetwright.tmp" {
                    collect(root, &path, found);
                }
            } else if relative != "fleet.yaml" && !relative.contains("lock") {
                found.insert(relative, fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(root, root, &mut found);
    found
}

pub(super) fn assert_old_or_new(
    repository: &Repository,
    old: &BTreeMap<String, String>,
    new: &BTreeMap<String, String>,
    at: &str,
) {
    for (path, text) in files(&repository.root()) {
        let is_whole = [old.get(&path), new.get(&path)].contains(&Some(&text));
        assert!(is_whole, "{at}: `{path}` is neither the old nor the new file:\n{text}");
    }
}

/// Ends a render with SIGKILL after a growing time, until a render completes. `injected_faults` steps through the writes.
#[test]
fn a_killed_render_leaves_whole_files_and_the_next_render_completes() {
    let (repository, old, new) = changed();
    let whole = {
        let start = Instant::now();
        assert_eq!(repository.run(&["render", "--check"]).code, 1);
        start.elapsed()
    };
    for step in 0..STEPS {
        for (path, text) in &old {
            repository.write(path, text);
        }
        let mut running = repository.command(&["render"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole * (step + 4) / STEPS);
        running.kill().unwrap();
        running.wait().unwrap();
        assert_old_or_new(&repository, &old, &new, &format!("killed at step {step}"));
    }
    // A killed supervisor ends its worker, which may hold the lock for another moment.
    let deadline = Instant::now() + Duration::from_secs(20);
    while repository.run(&["render", "--force"]).code != 0 {
        assert!(Instant::now() < deadline, "{}", repository.run(&["render", "--force"]).text());
    }
    assert_eq!(files(&repository.root()), new);
    assert_eq!(repository.run(&["render", "--check"]).code, 0);
}

/// Sends the signal of Ctrl-C to a command and its worker after some time, as a terminal does, and waits for the end of
/// both.
fn interrupt(repository: &Repository, arguments: &[&str], after: Duration) {
    use std::os::unix::process::CommandExt as _;
    let mut command = repository.command(arguments);
    let running = command.process_group(0).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(after);
    // The command may have ended already.
    let _ = rustix::process::kill_process_group(Pid::from_child(&running), Signal::INT);
    // The pipe ends when both processes have ended.
    running.wait_with_output().unwrap();
}

#[test]
fn an_interrupted_render_leaves_whole_files() {
    let (repository, old, new) = changed();
    let start = Instant::now();
    assert_eq!(repository.run(&["render", "--check"]).code, 1);
    let whole = start.elapsed();
    for step in 0..STEPS {
        for (path, text) in &old {
            repository.write(path, text);
        }
        interrupt(&repository, &["render", "--force"], whole * (step + 2) / STEPS);
        assert_old_or_new(&repository, &old, &new, &format!("interrupted at step {step}"));
    }
    assert_eq!(repository.run(&["render", "--force"]).code, 0);
    assert_eq!(files(&repository.root()), new);
    assert!(!repository.root().join(".fleetwright.tmp").exists());
}

#[test]
fn interrupted_fixes_leave_whole_files() {
    let repository = Repository::new();
    for number in 0..40 {
        let source = format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n\
             metadata: {{name: apps-{number}, namespace: flux-system}}\n\
             spec: {{interval: 1m, url: \"git@github.com:acme/apps.git\", secretRef: {{name: apps}}}}\n"
        );
        repository.write(&format!("clusters/a/apps-{number}.yaml"), &source);
    }
    let old = files(&repository.root());
    let start = Instant::now();
    repository.run(&["lint", "--fix"]);
    let (whole, new) = (start.elapsed(), files(&repository.root()));
    assert!(old.keys().filter(|path| old.get(*path) != new.get(*path)).count() >= 40);
    for step in 0..STEPS {
        for (path, text) in &old {
            repository.write(path, text);
        }
        interrupt(&repository, &["lint", "--fix"], whole * (step + 2) / STEPS);
        for (path, text) in files(&repository.root()) {
            // A file that is not renamed yet has another name.
            let is_whole = [old.get(&path), new.get(&path)].contains(&Some(&text));
            assert!(is_whole || !old.contains_key(&path), "step {step}: `{path}`:\n{text}");
        }
    }
}

#[test]
fn two_renders_at_once_leave_the_new_files() {
    let (repository, _, new) = changed();
    let start = || repository.command(&["render"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut running = [start(), start(), start()];
    for render in &mut running {
        assert_eq!(render.wait().unwrap().code(), Some(0));
    }
    assert_eq!(files(&repository.root()), new);
}

#[test]
fn a_directory_in_the_place_of_a_file_is_reported_before_any_write() {
    let (repository, old, new) = changed();
    let path = new.keys().find(|path| old.get(*path) != new.get(*path)).unwrap();
    fs::remove_file(repository.root().join(path)).unwrap();
    repository.write(&format!("{path}/x"), "mine");
    let answer = repository.run(&["render"]);
    assert!(answer.code == 1 || answer.code == 2, "{}", answer.text());
    assert!(answer.text().contains(path.as_str()), "{}", answer.text());
    let others: BTreeMap<_, _> =
        files(&repository.root()).into_iter().filter(|(known, _)| !known.starts_with(path)).collect();
    assert!(others.iter().all(|(known, text)| old.get(known) == Some(text)), "a file was changed");
}

/// Without permissions, as on a file system that is read-only. The superuser may write anyway.
#[test]
fn a_read_only_directory_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let (repository, old, _) = changed();
    let folder = repository.root();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let is_superuser = fs::write(folder.join("probe"), "").is_ok();
    if is_superuser {
        fs::remove_file(folder.join("probe")).unwrap();
    } else {
        let answer = repository.run(&["render"]);
        assert_eq!(answer.code, 2, "{}", answer.text());
        assert!(answer.err.contains("cannot write"), "{}", answer.text());
        assert_eq!(files(&folder), old);
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A limit on the size of files has the same effect as a full disk: a write ends in the middle of a file.
#[test]
fn a_full_disk_leaves_whole_files() {
    let (repository, old, new) = changed();
    for limit in [0, 1, 2] {
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" render");
        let mut shell = Command::new("sh");
        shell.current_dir(repository.root()).args(["-c", &script, BINARY]).stdin(Stdio::null());
        let output = shell.output().unwrap();
        assert!(output.status.code().is_some_and(|code| code <= 2), "{output:?}");
        assert_old_or_new(&repository, &old, &new, &format!("limit {limit}"));
    }
    assert_eq!(repository.run(&["render"]).code, 0);
    assert_eq!(files(&repository.root()), new);
}

#[test]
fn a_full_output_is_an_error() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let (repository, ..) = changed();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = repository.command(&["render", "--check"]).stdout(full).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn a_pipe_in_git_does_not_hang() {
    let repository = Repository::new();
    let git = |arguments: &[&str]| {
        let done = Command::new("git").arg("-C").arg(repository.root()).args(arguments).output();
        done.is_ok_and(|output| output.status.success())
    };
    if !git(&["init", "-q"]) {
        return;
    }
    repository.write(".gitignore", "x\n");
    let index = repository.root().join(".git/index");
    let _ = fs::remove_file(&index);
    assert!(Command::new("mkfifo").arg(&index).status().unwrap().success());
    let answer = repository.run(&["lint"]);
    assert_eq!(answer.code, 2, "{}", answer.text());
    assert!(answer.err.contains("`git` did not end"), "{}", answer.text());
}
