//! No file that Flux reads is hidden from `lint`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::{Repository, applier};

/// A repository whose `clusters/a/hidden/evil.yaml` has an error.
fn evil() -> Repository {
    let repository = Repository::new();
    let evil = applier("evil", "./missing", "").replace("name: flux-system}\n", "name: nothing}\n");
    repository.write("clusters/a/hidden/evil.yaml", &evil);
    repository
}

/// Runs `git` in a repository.
pub(super) fn git(repository: &Repository, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(repository.root()).args(["-c", "user.name=a", "-c", "user.email=a@example.com"]).args(arguments);
    assert!(git.output().unwrap().status.success(), "{arguments:?}");
}

fn track_all(repository: &Repository) {
    git(repository, &["init", "-q"]);
    git(repository, &["add", "-A", "-f"]);
}

#[test]
fn a_tracked_file_is_linted_whatever_a_gitignore_matches() {
    let cases = [
        ("clusters/a/.gitignore", "hidden/\n"),
        // The .gitignore matches itself, so that no list of files has it.
        ("clusters/a/.gitignore", ".gitignore\nhidden/\n"),
        (".gitignore", "*\n"),
        // Git reads braces as they are.
        (".gitignore", "{evil,other}.yaml\n"),
        (".gitignore", "clusters/**/{hidden,x}\n"),
        ("clusters/a/hidden/.gitignore", "{evil,other}.yaml\n"),
    ];
    for (path, text) in cases {
        let repository = evil();
        repository.write(path, text);
        track_all(&repository);
        let answer = repository.run(&["lint", "--format", "concise"]);
        assert_eq!(answer.code, 1, "{path}: {text}\n{}", answer.text());
        assert!(answer.out.contains("dangling-source"), "{path}: {text}\n{}", answer.text());
    }
}

#[test]
fn without_git_ignored_files_are_linted() {
    let repository = evil();
    repository.write("clusters/a/.gitignore", "hidden/\n");
    track_all(&repository);
    let answer = repository.command(&["lint", "--format", "concise"]).env("PATH", "/nonexistent").output().unwrap();
    assert_eq!(answer.status.code(), Some(1), "{answer:?}");
    // Git refuses a repository of another user, and a damaged one.
    fs::write(repository.root().join(".git/index"), "damaged").unwrap();
    assert_eq!(repository.run(&["lint"]).code, 1);
}

#[test]
fn an_ignored_file_that_git_does_not_track_is_not_linted() {
    let repository = evil();
    repository.write("clusters/a/.gitignore", "hidden/\n");
    git(&repository, &["init", "-q"]);
    git(&repository, &["add", "-A"]);
    assert_eq!(repository.run(&["lint"]).code, 0);
}

#[test]
fn the_directory_of_an_interrupted_render_is_linted() {
    let repository = evil();
    let root = repository.root();
    let sync = fs::read_to_string(root.join("clusters/a/flux-system/gotk-sync.yaml")).unwrap();
    repository.write("flux-system/gotk-sync.yaml", &sync.replace("./clusters/a", "./"));
    fs::create_dir(root.join(".fleetwright.tmp")).unwrap();
    fs::rename(root.join("clusters/a/hidden/evil.yaml"), root.join(".fleetwright.tmp/evil.yaml")).unwrap();
    fs::remove_dir_all(root.join("clusters")).unwrap();
    let answer = repository.run(&["lint"]);
    assert_eq!(answer.code, 1, "{}", answer.text());
}

#[test]
fn a_name_like_that_of_the_git_directory_is_an_error() {
    for name in [".g\u{200c}it", "git~1", ".git.", ".GIT"] {
        for is_tracked in [false, true] {
            let repository = evil();
            let root = repository.root();
            fs::rename(root.join("clusters/a/hidden"), root.join("clusters/a").join(name)).unwrap();
            if is_tracked {
                git(&repository, &["init", "-q"]);
            }
            let answer = repository.run(&["lint"]);
            assert_eq!(answer.code, 2, "{name}: {}", answer.text());
            assert!(answer.err.contains("a file system may treat its name as `.git`"), "{name}: {}", answer.text());
        }
    }
}

#[test]
fn a_tracked_name_that_is_not_text_is_not_dropped() {
    let repository = evil();
    let hidden = repository.root().join("clusters/a/hidden");
    fs::rename(hidden.join("evil.yaml"), hidden.join(OsStr::from_bytes(b"evil\xff.yaml"))).unwrap();
    let before = repository.run(&["lint", "--verbose"]);
    repository.write("clusters/a/.gitignore", "hidden/\n");
    track_all(&repository);
    let answer = repository.run(&["lint", "--verbose"]);
    assert_eq!((answer.code, answer.text()), (before.code, before.text()));
    assert!(answer.text().contains("evil"), "{}", answer.text());
}

#[test]
fn each_command_names_a_directory_that_it_cannot_read() {
    let repository = Repository::with_apps("resources: [o.yaml]\n");
    repository.write("apps/o.yaml", &super::config_map("x", "{}"));
    repository.write("clusters/a/more/o.yaml", &super::config_map("y", "{}"));
    let folder = repository.root().join("clusters/a/more");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
    let is_readable = fs::read_dir(&folder).is_ok();
    let commands: [&[&str]; 6] = [
        &["lint"],
        &["build"],
        &["graph"],
        &["access", "flux-system"],
        &["trace", "ConfigMap/default/x"],
        &["diff", ".", "."],
    ];
    for command in commands.into_iter().filter(|_| !is_readable) {
        let answer = repository.run(command);
        assert_eq!(answer.code, 2, "{}", answer.text());
        assert!(answer.err.contains("cannot read `clusters/a/more`"), "{}", answer.text());
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}
