//! Cases of action.yml: its steps are run with bash, as GitHub's runner runs them.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use fleetwright::yaml::Node;
use runner::Runner;

mod install;
mod outputs;
mod runner;

const FLEET: &str = include_str!("../../action/fleet.yaml");

/// Renders the fleet of `testdata/action` into a folder of the checkout.
fn render(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("fleet.yaml"), FLEET).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_fleetwright")).arg("render").current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// The first rendered file below a folder.
fn rendered_file(folder: &Path) -> std::path::PathBuf {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let first = entries.into_iter().next().unwrap();
    if first.is_dir() { rendered_file(&first) } else { first }
}

fn write_by_hand(folder: &Path) {
    fs::create_dir_all(folder.join("clusters/home")).unwrap();
    let text = include_str!("../../action/by-hand/clusters/home/apps.yaml");
    fs::write(folder.join("clusters/home/apps.yaml"), text).unwrap();
}

#[test]
fn no_expression_reaches_a_shell_and_no_other_action_is_used() {
    let runner = Runner::new();
    for step in Runner::steps(runner.action()) {
        let script = step.get("run").and_then(Node::text).expect("every step is a script");
        assert!(!script.contains("${{"), "inputs are passed by `env`:\n{script}");
        assert!(step.get("uses").is_none(), "no other action is trusted");
        assert_eq!(step.get("shell").and_then(Node::text), Some("bash"));
    }
    let text = include_str!("../../../action.yml");
    for word in ["secrets.", "github.token", "GITHUB_TOKEN", "GITHUB_ENV", "GITHUB_PATH"] {
        assert!(!text.contains(word), "`{word}` needs rights that a fork has not, or hands its own on");
    }
}

#[test]
fn a_current_fleet_passes_and_the_summary_says_so() {
    let runner = Runner::new();
    render(&runner.workspace());
    let run = runner.run();
    assert_eq!(run.code, 0, "{run:#?}");
    assert_eq!(run.outputs["result.exit-code"], "0");
    assert!(run.summary.contains("The tree is what fleet.yaml renders."), "{}", run.summary);
    assert!(run.summary.contains("**fleetwright**: no findings"), "{}", run.summary);
    assert!(!run.log.contains("::error"), "{}", run.log);
}

#[test]
fn a_stale_tree_fails_after_it_was_linted_and_the_summary_has_the_diff() {
    let runner = Runner::new();
    render(&runner.workspace());
    let fleet = FLEET.replace("sourceBranch: production", "sourceBranch: release");
    fs::write(runner.workspace().join("fleet.yaml"), fleet).unwrap();
    let run = runner.run();
    assert_eq!(run.code, 1, "{run:#?}");
    assert_eq!((&*run.outputs["render.status"], &*run.outputs["lint.status"]), ("1", "0"), "{run:#?}");
    assert!(run.log.contains("::error title=fleetwright render::"), "{}", run.log);
    assert!(run.summary.contains("    +  GIT_BRANCH: release"), "{}", run.summary);
}

#[test]
fn a_finding_fails_a_tree_written_by_hand_and_is_annotated() {
    let runner = Runner::new().input("render", "false");
    write_by_hand(&runner.workspace());
    let run = runner.run();
    assert_eq!(run.code, 1, "{run:#?}");
    assert!(run.log.contains("::error file=clusters/home/apps.yaml,line=10"), "{}", run.log);
    assert!(run.summary.contains("`clusters/home/apps.yaml:10` `duplicate-key`"), "{}", run.summary);
    assert!(run.summary.contains("The tree was not compared"), "{}", run.summary);
}

#[test]
fn fail_on_never_shows_the_finding_and_passes() {
    let runner = Runner::new().input("render", "false").input("fail-on", "never");
    write_by_hand(&runner.workspace());
    let run = runner.run();
    assert_eq!(run.code, 0, "{run:#?}");
    assert!(run.summary.contains("`clusters/home/apps.yaml:10` `duplicate-key`"), "{}", run.summary);
}

#[test]
fn arguments_are_split_at_white_space() {
    let runner = Runner::new().input("render", "false").input("args", "  --only\n missing-service-account ");
    write_by_hand(&runner.workspace());
    let run = runner.run();
    assert!(!run.summary.contains("duplicate-key"), "{}", run.summary);
    assert_ne!(run.code, 2, "{run:#?}");
}

#[test]
fn folders_and_files_may_be_called_anything() {
    let name = "it's \"our\" fleet; $(touch pwned) `touch pwned` * ${HOME}";
    let runner = Runner::new().input("path", name).input("fleet", &format!("{name}/fleet.yaml"));
    render(&runner.workspace().join(name));
    let run = runner.run();
    assert_eq!(run.code, 0, "{run:#?}");
    assert!(!runner.workspace().join("pwned").exists());
}

#[test]
fn hostile_inputs_are_refused_and_never_run() {
    let hostile = "error; touch pwned $(touch pwned) `touch pwned`\n::error::made up\n' touch pwned \"";
    for input in ["path", "fleet", "render", "diff", "fail-on", "args", "timeout", "memory", "version", "build"] {
        let runner = Runner::new().input(input, hostile);
        render(&runner.workspace());
        let run = runner.run();
        assert_eq!(run.code, 2, "`{input}`: {run:#?}");
        assert!(!runner.workspace().join("pwned").exists(), "`{input}` was run");
    }
}

#[test]
fn an_option_is_no_folder() {
    let runner = Runner::new().input("render", "false").input("path", "--help");
    assert_eq!(runner.run().code, 2);
}

#[test]
fn a_link_out_of_the_checkout_is_not_judged() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("private.yaml"), "apiVersion: v1\nkind: Private\nkind: Twice\n").unwrap();
    let runner = Runner::new().input("render", "false").input("path", "fleet/production");
    std::os::unix::fs::symlink(outside.path(), runner.workspace().join("fleet")).unwrap();
    fs::create_dir(outside.path().join("production")).unwrap();
    let run = runner.run();
    assert_eq!(run.code, 2, "{run:#?}");
    assert!(run.log.contains("leads out of the checkout") && !run.summary.contains("Private"), "{run:#?}");
    fs::remove_file(runner.workspace().join("fleet")).unwrap();
    fs::create_dir_all(runner.workspace().join("real/production")).unwrap();
    std::os::unix::fs::symlink("real", runner.workspace().join("fleet")).unwrap();
    assert_eq!(runner.run().code, 0, "a link inside is a folder like any other");
}

#[test]
fn the_configuration_of_a_pull_request_is_not_trusted() {
    assert!(!include_str!("../../../action.yml").contains("lint --trust-config"));
    for arguments in ["--trust-config", "--pedantic\n--trust-config --verbose", "--trust-config=true"] {
        let runner = Runner::new().input("render", "false").input("args", arguments);
        write_by_hand(&runner.workspace());
        let run = runner.run();
        assert_eq!(run.code, 2, "{run:#?}");
        assert!(run.log.contains("--source URL=DIR") && run.summary.is_empty(), "{run:#?}");
    }
}

#[test]
fn a_copy_that_a_pull_request_names_is_not_read() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("credentials"), "canary").unwrap();
    let runner = Runner::new();
    render(&runner.workspace());
    std::os::unix::fs::symlink(outside.path(), runner.workspace().join("link")).unwrap();
    for path in ["link", "../temp", ".git", "a/../.git"] {
        let config = format!(
            "apiVersion: fleetwright.dev/v1alpha1\nkind: Config\nsources:\n  - {{url: https://example.com/a.git, path: {path}}}\n"
        );
        fs::write(runner.workspace().join(".fleetwright.yaml"), config).unwrap();
        let run = runner.run();
        assert_eq!((run.code, &*run.outputs["render.status"], &*run.outputs["lint.status"]), (2, "2", "2"), "{run:#?}");
        assert!(run.summary.contains(".fleetwright.yaml:4:") && run.summary.contains("--source"), "{run:#?}");
        assert!(!run.log.contains("canary") && !run.summary.contains("canary"), "{run:#?}");
    }
}

#[test]
fn a_line_of_the_repository_is_no_command_to_the_runner() {
    let runner = Runner::new();
    render(&runner.workspace());
    let file = rendered_file(&runner.workspace().join("clusters"));
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}\n::error file=x::made up\n  ::add-mask::e\n")).unwrap();
    let run = runner.run();
    assert_ne!(run.code, 0, "{run:#?}");
    let mut stopped: Option<&str> = None;
    for line in run.log.lines() {
        match (stopped, line.trim_start().strip_prefix("::")) {
            (None, Some(command)) => stopped = command.strip_prefix("stop-commands::"),
            (Some(token), Some(command)) if command.strip_suffix("::") == Some(token) => stopped = None,
            _ => {}
        }
        assert!(stopped.is_some() || !line.contains("made up"), "{line}");
    }
    assert_eq!(stopped, None, "commands are read again after the diff");
}

#[test]
fn both_checks_run_when_neither_can() {
    let run = Runner::new().input("path", "nowhere").run();
    assert_eq!(run.code, 2, "{run:#?}");
    assert!(run.summary.contains("could **not** be compared"), "{}", run.summary);
    assert!(run.summary.contains("could **not** be linted"), "{}", run.summary);
}
