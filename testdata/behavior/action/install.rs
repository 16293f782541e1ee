//! Cases of the binary that the action runs: installed, downloaded or built.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Runner, render};

const BINARY: &str = env!("CARGO_BIN_EXE_fleetwright");
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Puts a `curl` on the path that copies the files of a release, and records their addresses.
fn publish(runner: &Runner, checksum: impl Fn(&str) -> String) {
    let release = runner.temp().join("release");
    let name = format!("fleetwright-{VERSION}-x86_64-unknown-linux-musl");
    fs::create_dir_all(release.join(&name)).unwrap();
    std::os::unix::fs::symlink(BINARY, release.join(&name).join("fleetwright")).unwrap();
    let script = format!("tar -czf {name}.tar.gz {name} && sha256sum {name}.tar.gz");
    let done = Command::new("sh").args(["-c", &script]).current_dir(&release).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    fs::write(release.join("SHA256SUMS"), checksum(&String::from_utf8(done.stdout).unwrap())).unwrap();
    let curl = "#!/bin/bash\nfor last; do :; done\necho \"$last\" >> \"$RUNNER_TEMP/addresses\"\n\
                while [[ $1 != --output ]]; do shift; done\ncp \"$RUNNER_TEMP/release/${last##*/}\" \"$2\"\n";
    runner.program("curl", curl);
}

/// Puts a `cargo` on the path that must not run.
fn forbid_build(runner: &Runner) {
    runner.program("cargo", "#!/bin/sh\necho 'it was built'\nexit 9\n");
}

#[test]
fn the_binary_of_the_release_is_downloaded_and_verified() {
    let runner = Runner::new().input("version", "").of_repository("acme/fleetwright");
    publish(&runner, str::to_owned);
    forbid_build(&runner);
    render(&runner.workspace());
    let run = runner.run();
    assert_eq!(run.code, 0, "{run:#?}");
    let folder = runner.temp().join(format!("fleetwright/fleetwright-{VERSION}-x86_64-unknown-linux-musl"));
    assert_eq!(Path::new(&run.outputs["install.binary"]), folder.join("fleetwright"));
    let base = format!("https://github.com/acme/fleetwright/releases/download/v{VERSION}");
    let archive = format!("fleetwright-{VERSION}-x86_64-unknown-linux-musl.tar.gz");
    let addresses = fs::read_to_string(runner.temp().join("addresses")).unwrap();
    assert_eq!(addresses, format!("{base}/SHA256SUMS\n{base}/{archive}\n"));
}

#[test]
fn a_download_with_another_checksum_is_not_run() {
    let zeros = "0".repeat(64);
    for sums in [format!("{zeros}  fleetwright-{VERSION}-x86_64-unknown-linux-musl.tar.gz\n"), String::new()] {
        let runner = Runner::new().input("version", "").of_repository("acme/fleetwright");
        publish(&runner, |_| sums.clone());
        forbid_build(&runner);
        let run = runner.run();
        assert_eq!(run.code, 2, "{run:#?}");
        assert!(run.log.contains("the checksum of") && !run.log.contains("it was built"), "{}", run.log);
        assert!(!run.outputs.contains_key("install.binary"));
    }
}

#[test]
fn without_a_release_its_own_commit_is_built_and_on_request_too() {
    for (build, repository) in [("false", "acme/fleetwright"), ("true", "acme/fleetwright"), ("false", "")] {
        let runner = Runner::new().input("version", "").input("build", build).of_repository(repository);
        if build == "false" {
            runner.program("curl", "#!/bin/sh\nexit 22\n");
        } else {
            publish(&runner, str::to_owned);
        }
        forbid_build(&runner);
        let run = runner.run();
        assert_eq!(run.code, 9, "{run:#?}");
        assert!(run.log.contains("building it") && run.log.contains("it was built"), "{}", run.log);
        assert!(!runner.temp().join("addresses").exists());
    }
}

#[test]
fn without_an_installed_version_its_own_commit_is_built_away_from_the_checkout() {
    let runner = Runner::new().input("version", "");
    let cargo = format!(
        "#!/bin/sh\npwd > \"$RUNNER_TEMP/built-in\"\nprintf '%s\\n' \"$@\" > \"$RUNNER_TEMP/cargo-arguments\"\n\
         mkdir -p \"$RUNNER_TEMP/fleetwright/bin\" && ln -s '{BINARY}' \"$RUNNER_TEMP/fleetwright/bin/fleetwright\"\n"
    );
    runner.program("cargo", &cargo);
    render(&runner.workspace());
    let run = runner.run();
    assert_eq!(run.code, 0, "{run:#?}");
    let built_in = fs::read_to_string(runner.temp().join("built-in")).unwrap();
    assert_eq!(
        Path::new(built_in.trim()),
        Path::new(env!("CARGO_MANIFEST_DIR")),
        "cargo reads no file of the checkout"
    );
    let arguments = fs::read_to_string(runner.temp().join("cargo-arguments")).unwrap();
    assert!(arguments.starts_with("install\n--quiet\n--locked\n--path\n.\n"), "{arguments}");
}

#[test]
fn another_version_than_the_one_asked_for_is_refused() {
    let runner = Runner::new().input("version", "999.0.0\n::error::made up");
    let cargo = format!(
        "#!/bin/sh\nmkdir -p \"$RUNNER_TEMP/fleetwright/bin\"\n\
         ln -s '{BINARY}' \"$RUNNER_TEMP/fleetwright/bin/fleetwright\"\n"
    );
    runner.program("cargo", &cargo);
    let run = runner.run();
    assert_eq!(run.code, 2, "{run:#?}");
    assert!(run.log.contains("was asked for"), "{}", run.log);
    assert!(!run.log.lines().any(|line| line.starts_with("::error::made up")), "{}", run.log);
}
