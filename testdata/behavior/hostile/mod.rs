//! Hostile repositories: what they may print, how much they may cost, and what faults of the disk may break.
#![cfg(unix)]

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

mod bounds;
mod commands;
mod disk;
mod hidden;
mod injected_faults;
mod outputs;
mod products;
mod secrets;
mod system_calls;

const BINARY: &str = env!("CARGO_BIN_EXE_fleetwright");

/// A temporary directory with a repository of one cluster, `a`.
struct Repository {
    folder: tempfile::TempDir,
}

/// The output of a command.
#[derive(Debug)]
struct Answer {
    command: String,
    code: i32,
    out: String,
    err: String,
}

impl Answer {
    /// Both streams.
    fn text(&self) -> String {
        format!("{}\n--\n{}", self.out, self.err)
    }
}

impl Repository {
    /// A repository whose cluster applies `clusters/a`.
    fn new() -> Self {
        let repository = Self { folder: tempfile::tempdir().unwrap() };
        let sync = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n\
            metadata: {name: flux-system, namespace: flux-system}\n\
            spec: {interval: 1m, url: https://github.com/acme/fleet.git, ref: {branch: main}}\n---\n";
        repository.write(
            "clusters/a/flux-system/gotk-sync.yaml",
            &format!("{sync}{}", applier("flux-system", "./clusters/a", "")),
        );
        repository
    }

    /// The path of a rendered file.
    fn rendered(&self) -> PathBuf {
        let mut folders = vec![self.root()];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if path.file_name().is_some_and(|name| name != "fleet.yaml" && name != "kustomization.yaml")
                    && path.extension().is_some_and(|extension| extension == "yaml")
                {
                    return path;
                }
            }
        }
        panic!("nothing was rendered")
    }

    /// A repository whose cluster also applies the directory `apps`, with this kustomization.
    fn with_apps(kustomization: &str) -> Self {
        let repository = Self::new();
        repository.write("clusters/a/apps.yaml", &applier("apps", "./apps", ""));
        repository.write("apps/kustomization.yaml", kustomization);
        repository
    }

    /// The directory, which is in a directory of its own.
    fn root(&self) -> PathBuf {
        self.folder.path().join("fleet")
    }

    fn write(&self, path: &str, text: &str) {
        let full = self.root().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        fs::create_dir_all(self.folder.path().join("empty")).unwrap();
        let mut command = Command::new(BINARY);
        command.current_dir(self.root()).args(arguments).stdin(Stdio::null());
        command.env("NO_COLOR", "1").env("RUST_BACKTRACE", "0").env_remove("GITHUB_WORKSPACE");
        command
    }

    fn run(&self, arguments: &[&str]) -> Answer {
        answer(arguments, &self.command(arguments).output().unwrap())
    }
}

/// Whether tests may use `strace`. `.ci/run strace` installs it and sets `FLEETWRIGHT_STRACE`; otherwise, they are skipped.
#[expect(clippy::print_stderr, reason = "a skipped test states why")]
fn has_strace() -> bool {
    let is_set = std::env::var_os("FLEETWRIGHT_STRACE").is_some();
    if !is_set {
        eprintln!("skipped: run `.ci/run strace`");
    }
    is_set
}

fn answer(arguments: &[&str], output: &Output) -> Answer {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let code = output.status.code().unwrap_or_else(|| -output.status.signal().unwrap_or_default());
    Answer { command: arguments.join(" "), code, out, err }
}

/// A Kustomization of the repository, with further lines of its `spec`.
fn applier(name: &str, path: &str, rest: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
         metadata: {{name: {name}, namespace: flux-system}}\nspec:\n  interval: 10m\n  path: {path}\n  prune: true\n  \
         sourceRef: {{kind: GitRepository, name: flux-system}}\n{rest}"
    )
}

/// A ConfigMap with a `data` field in flow style.
fn config_map(name: &str, data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: default}}\ndata: {data}\n")
}

/// The texts of many numbers.
fn many(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect()
}
