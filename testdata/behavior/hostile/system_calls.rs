//! Under `strace`, no command opens a connection, and none runs a program but `git` and this program itself.

use std::fs;
use std::process::Command;

use super::{Repository, config_map, has_strace};
use crate::support::testdata;

const COMMANDS: &[&[&str]] = &[
    &["lint", "--verbose"],
    &["build"],
    &["graph"],
    &["access", "flux-system"],
    &["kustomize", "apps"],
    &["upgrade", "--flux-version", "2.8"],
    &["trace", "ConfigMap/default/x"],
    &["diff"],
    &["diff", "HEAD", "--format", "json"],
    &["schema", "list"],
    &["policy", "list"],
    &["rule"],
    &["render", "--file", "source/fleet.yaml", "--output", "out"],
    &["render", "--file", "source/fleet.yaml", "--output", "out", "--check"],
];

#[test]
fn no_command_opens_a_connection_or_runs_another_program() {
    if !has_strace() {
        return;
    }
    let repository = Repository::with_apps(
        "resources: [x.yaml, https://example.com/base, https://example.com/file.yaml]\n\
         helmCharts: [{name: a, repo: https://example.com}]\ngenerators: [exec.yaml]\n",
    );
    repository.write("apps/x.yaml", &config_map("x", "{}"));
    let exec = "metadata:\n  name: x\n  annotations: {config.kubernetes.io/function: 'exec: {path: ./run}'}\n";
    repository.write("apps/exec.yaml", &format!("apiVersion: example.com/v1\nkind: Exec\n{exec}"));
    repository.write(".gitignore", "ignored\n");
    let fleet = fs::read_to_string(testdata("fleets/quickstart").join("fleet.yaml")).unwrap();
    repository.write("source/fleet.yaml", &fleet);
    repository.write("out/.gitkeep", "");
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(repository.root()).args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
        assert!(git.args(arguments).status().unwrap().success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "first"]);
    let log = tempfile::NamedTempFile::new().unwrap();
    for arguments in COMMANDS {
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "-e", "trace=execve,execveat,socket,connect,bind,sendto", "-o"]).arg(log.path());
        traced.arg(super::BINARY).args(*arguments).current_dir(repository.root());
        let output = traced.output().unwrap();
        assert!(output.status.code().is_some_and(|code| code <= 2), "{output:?}");
        let calls = fs::read_to_string(log.path()).unwrap();
        assert!(calls.contains("execve("), "strace recorded nothing: {output:?}");
        for call in calls.lines() {
            let is_network = ["socket(", "connect(", "bind(", "sendto("].iter().any(|name| call.contains(name));
            // The C library of `git` asks a local service for the name of the user.
            let is_network = is_network && !call.contains("AF_UNIX");
            assert!(!is_network, "`{}` opens a connection: {call}", arguments.join(" "));
            // A failed search for `git` in a directory of PATH is also a call.
            let program = call.split("execve(\"").nth(1).and_then(|rest| rest.split('"').next());
            let is_known = program.is_none_or(|program| program == super::BINARY || program.ends_with("/git"));
            assert!(is_known && !call.contains("execveat("), "`{}` runs a program: {call}", arguments.join(" "));
        }
    }
}
