//! Reads files on its own.

use std::env;
use std::process::ExitCode;

fn run() -> ExitCode {
    std::fs::read("fleet.yaml");
    tempfile::tempdir();
}
