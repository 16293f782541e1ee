//! A checkout of a pull request, the files around it that it must not read, and every command over it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const BINARY: &str = env!("CARGO_BIN_EXE_fleetwright");

/// The text that no output may have, in every file that lies outside the checkout or in `.git`.
pub(super) const CANARY: &str = "canary";

/// Every command that reads a repository, in every format.
pub(super) const READERS: &[&[&str]] = &[
    &["lint", "--verbose", "--pedantic"],
    &["lint", "--format", "json"],
    &["lint", "--format", "github"],
    &["build", "--show-secrets"],
    &["build", "--show-secrets", "--format", "json"],
    &["graph"],
    &["graph", "--format", "json"],
    &["trace", "ConfigMap/flux-system/carrier"],
    &["trace", "ConfigMap/flux-system/carrier", "--format", "json"],
    &["access", "flux-system"],
    &["access", "flux-system", "--format", "json"],
];

/// The part of a list that the case with a number uses. The cases of a table run the same code behind different
/// commands, so each case runs a part of the commands, and the table runs all of them.
pub(super) fn part<T: Copy>(all: &[T], number: usize, parts: usize) -> Vec<T> {
    all.iter().enumerate().filter(|(at, _)| (at + number).is_multiple_of(parts)).map(|(_, item)| *item).collect()
}

/// A temporary directory with `repo`, the checkout, and `outside`, which is not part of it.
pub(super) struct Checkout {
    folder: tempfile::TempDir,
}

impl Checkout {
    /// A checkout without files of its own.
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let checkout = Self { folder };
        fs::create_dir(checkout.outside()).unwrap();
        let config = format!("[http]\n\textraheader = {CANARY}\n");
        for (path, text) in [
            (".git/HEAD", "ref: refs/heads/main\n"),
            (".git/config", &config),
            (".git/objects/x", ""),
            (".git/refs/x", ""),
        ] {
            checkout.write(path, text);
        }
        checkout
    }

    /// The root of the repository that is judged.
    pub(super) fn root(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// The directory beside it, with what belongs to the runner.
    pub(super) fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    /// Writes a file of the checkout.
    pub(super) fn write(&self, path: &str, text: &str) {
        write(&self.root().join(path), text);
    }

    /// Makes a symbolic link in the checkout.
    pub(super) fn link(&self, path: &str, target: impl AsRef<Path>) {
        let full = self.root().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        symlink(target, full).unwrap();
    }

    /// Runs the program in the root of the checkout.
    pub(super) fn run(&self, arguments: &[&str]) -> Answer {
        let mut command = Command::new(BINARY);
        command.current_dir(self.root()).args(arguments).env("NO_COLOR", "1").env("RUST_BACKTRACE", "0");
        Answer::new(arguments, &command.output().unwrap())
    }

    /// The answers to commands.
    pub(super) fn answers(&self, commands: &[&[&str]]) -> Vec<Answer> {
        commands.iter().map(|arguments| self.run(arguments)).collect()
    }

    /// Fails if a regular file of the checkout has the canary, other than those in `.git`.
    pub(super) fn assert_nothing_was_copied(&self, name: &str) {
        for path in regular_files(&self.root()) {
            let inside = path.strip_prefix(self.root()).unwrap();
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            assert!(
                inside.starts_with(".git") || !text.contains(CANARY),
                "{name}: {} has it:\n{text}",
                inside.display()
            );
        }
    }
}

/// What a command printed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// What was typed.
    pub(super) command: String,
    /// The exit code.
    pub(super) code: Option<i32>,
    /// Both streams.
    pub(super) text: String,
}

impl Answer {
    fn new(arguments: &[&str], output: &Output) -> Self {
        let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).join("\n--\n");
        Self { command: arguments.join(" "), code: output.status.code(), text }
    }

    /// Fails if the answer has the canary, or if the program did not end by itself.
    pub(super) fn assert_clean(&self, name: &str) {
        let Self { command, code, text } = self;
        assert!(!text.contains(CANARY), "{name}: `{command}` prints a file that it must not read:\n{text}");
        assert!(code.is_some_and(|code| code <= 2), "{name}: `{command}` ends with {code:?}:\n{text}");
    }
}

/// Fails if two runs of the same commands differ.
pub(super) fn assert_same(missing: &[Answer], present: &[Answer], name: &str) {
    for (missing, present) in missing.iter().zip(present) {
        let is_same = missing == present;
        assert!(is_same, "{name}: `{}` tells that a file exists:\n{}\n{}", missing.command, missing.text, present.text);
    }
}

/// Writes a file and the directories that it lies in.
pub(super) fn write(full: &Path, text: &str) {
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    fs::write(full, text).unwrap();
}

/// Every regular file below a directory; links are not followed.
fn regular_files(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| match fs::symlink_metadata(&path).unwrap() {
        metadata if metadata.is_dir() => regular_files(&path),
        metadata if metadata.is_file() => BTreeSet::from([path]),
        _ => BTreeSet::new(),
    });
    files.collect()
}
