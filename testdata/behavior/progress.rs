//! The progress of long runs: a line on a terminal, and nothing in a pipe.
#![cfg(unix)]

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

const BINARY: &str = env!("CARGO_BIN_EXE_fleetwright");

/// Erases the line of the cursor.
const ERASE: &str = "\r\x1b[K";

/// A repository whose lint waits: `git` reads a pipe as its index until [`end_wait`].
fn waiting_repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let initialized = Command::new("git").arg("-C").arg(root).args(["init", "-q"]).env_remove("GIT_DIR").status();
    assert!(initialized.unwrap().success());
    fs::write(root.join(".gitignore"), "*.local.yaml\n").unwrap();
    fs::write(root.join("a.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: a}\n").unwrap();
    assert!(Command::new("mkfifo").arg(root.join(".git/index")).status().unwrap().success());
    folder
}

fn end_wait(root: &Path) {
    drop(File::options().write(true).open(root.join(".git/index")).unwrap());
}

/// Creates a terminal: the side of the user, and the side of a program.
fn terminal() -> (File, File) {
    let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&user).unwrap();
    unlockpt(&user).unwrap();
    let name = ptsname(&user, Vec::new()).unwrap();
    let program = rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    (user.into(), program.into())
}

fn lint(root: &Path) -> Command {
    let mut command = Command::new(BINARY);
    command.current_dir(root).arg("lint").stdin(Stdio::null()).stdout(Stdio::piped());
    command.env("TERM", "xterm").env_remove("NO_COLOR").env_remove("CLICOLOR");
    command
}

#[test]
fn a_long_run_shows_its_activity_on_a_terminal_and_erases_it() {
    let folder = waiting_repository();
    let (mut user, program) = terminal();
    let mut command = lint(folder.path());
    let mut running = command.stderr(program).spawn().unwrap();
    // The command has a copy of the side of the program, which would keep the terminal open.
    drop(command);
    let (mut shown, mut bytes) = (String::new(), [0; 4096]);
    while !shown.contains(" s)") {
        let count = user.read(&mut bytes).unwrap();
        shown.push_str(std::str::from_utf8(bytes.get(..count).unwrap()).unwrap());
    }
    assert!(shown.starts_with(&format!("{ERASE}reading files (")), "{shown:?}");
    end_wait(folder.path());
    // At the end, a read of the terminal is an error on Linux.
    while let Ok(count @ 1..) = user.read(&mut bytes) {
        shown.push_str(&String::from_utf8_lossy(bytes.get(..count).unwrap()));
    }
    assert_eq!(running.wait().unwrap().code(), Some(0));
    let (_, last) = shown.rsplit_once(ERASE).unwrap();
    assert!(!last.contains(" s)") && last.contains("most rules do not apply"), "{shown:?}");
}

#[test]
fn a_long_run_is_silent_in_a_pipe() {
    let folder = waiting_repository();
    let running = lint(folder.path()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1200));
    end_wait(folder.path());
    let output = running.wait_with_output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    assert!(!messages.contains(['\r', '\x1b']) && !messages.contains("reading files"), "{messages:?}");
}
