//! Cases of what the action shows and of its limits.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::{FLEET, Runner, render, write_by_hand};

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(folder).args(["-c", "user.name=fleet", "-c", "user.email=fleet@example.com"]).args(arguments);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let done = git.output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// A checkout whose last commit changes the rendered files.
fn two_commits(runner: &Runner) {
    let workspace = runner.workspace();
    render(&workspace);
    git(&workspace, &["init", "--quiet"]);
    for (index, branch) in ["production", "release"].iter().enumerate() {
        let fleet = FLEET.replace("sourceBranch: production", &format!("sourceBranch: {branch}"));
        fs::write(workspace.join("fleet.yaml"), fleet).unwrap();
        let done =
            Command::new(env!("CARGO_BIN_EXE_fleetwright")).arg("render").current_dir(&workspace).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        git(&workspace, &["add", "--all"]);
        git(&workspace, &["commit", "--quiet", "--message", &index.to_string()]);
    }
}

#[test]
fn the_differences_from_a_revision_are_in_the_summary_and_in_a_file() {
    let runner = Runner::new().input("diff", "HEAD^1");
    two_commits(&runner);
    let run = runner.run();
    assert_eq!(run.code, 0, "{run:#?}");
    assert!(run.summary.contains("**fleetwright diff**: objects: "), "{}", run.summary);
    let file = fs::read_to_string(&run.outputs["diff.file"]).unwrap();
    assert!(run.summary.contains(&file) && file.contains("release"), "{file}");
}

#[test]
fn a_revision_that_the_checkout_lacks_is_explained_and_fails_nothing() {
    let runner = Runner::new().input("diff", "origin/main");
    two_commits(&runner);
    let run = runner.run();
    assert_eq!(run.code, 0, "{run:#?}");
    assert!(run.summary.contains("could **not** be compared with the revision"), "{}", run.summary);
    assert!(run.summary.contains("origin/main"), "{}", run.summary);
    for revision in ["-o", "main..HEAD", "a b", "$(touch pwned)"] {
        let refused = Runner::new().input("diff", revision).run();
        assert_eq!(refused.code, 2, "{refused:#?}");
    }
}

#[test]
fn changes_and_the_reason_of_a_failure_fit_in_a_comment() {
    let version = env!("CARGO_PKG_VERSION");
    let runner = Runner::new().input("render", "false").input("diff", "HEAD^1");
    let program = format!(
        "#!/bin/sh\ncase $1 in\n--version) echo 'fleetwright {version}' ;;\n\
         diff) yes '* a change' | head -c 60000; yes 'error: a reason' | head -c 50000 >&2; exit 2 ;;\nesac\n"
    );
    runner.program("fleetwright", &program);
    let run = runner.run();
    assert_eq!(run.code, 0, "{}", run.log);
    let file = fs::read_to_string(&run.outputs["diff.file"]).unwrap();
    assert!(file.contains("could **not** be compared") && file.contains("    error: a reason"));
    assert!(file.len() < 65_536, "{}", file.len());
}

#[test]
fn the_findings_are_a_file_for_code_scanning() {
    let runner = Runner::new().input("render", "false");
    write_by_hand(&runner.workspace());
    let run = runner.run();
    let sarif: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&run.outputs["lint.sarif"]).unwrap()).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert!(results.iter().any(|result| result["ruleId"] == "duplicate-key"), "{sarif:#}");
}

#[test]
fn thousands_of_findings_stay_below_the_limits_of_github() {
    let runner = Runner::new().input("render", "false");
    let folder = runner.workspace().join("clusters/home");
    fs::create_dir_all(&folder).unwrap();
    for file in 0..100 {
        let mut text = String::new();
        for object in 0..100 {
            let name = format!("a-rather-long-name-of-an-object-{file}-{object}");
            let _ = write!(
                text,
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: x\n  name: {name}\n"
            );
        }
        fs::write(folder.join(format!("a-rather-long-name-of-a-file-{file}.yaml")), text).unwrap();
    }
    let run = runner.run();
    assert_eq!(run.code, 1, "{}", run.log);
    assert!(run.summary.len() <= 1 << 20 && run.summary.len() > 900_000, "{}", run.summary.len());
    assert!(run.summary.contains("further findings; `fleetwright lint` prints all of them"));
    assert!(run.log.len() < 2_000_000 && run.log.lines().count() < 1_100, "{}", run.log.len());
    assert!(run.log.contains("GitHub does not show 9990 further errors"));
    let sarif: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&run.outputs["lint.sarif"]).unwrap()).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 5_000);
}

#[test]
fn a_command_that_exceeds_a_limit_fails_the_check() {
    let version = env!("CARGO_PKG_VERSION");
    let runner = Runner::new().input("render", "false").input("timeout", "1");
    let slow = format!("#!/bin/sh\ncase $1 in --version) echo 'fleetwright {version}' ;; *) exec sleep 60 ;; esac\n");
    runner.program("fleetwright", &slow);
    let run = runner.run();
    assert_eq!(run.code, 2, "{run:#?}");
    assert!(run.summary.contains("did not end within 1 seconds"), "{run:#?}");
    // Only Linux limits the address space.
    if cfg!(target_os = "linux") {
        let runner = Runner::new().input("render", "false").input("memory", "40");
        write_by_hand(&runner.workspace());
        let run = runner.run();
        assert_eq!(run.code, 2, "{run:#?}");
        assert!(run.summary.contains("the limit of 40 MiB of memory"), "{run:#?}");
    }
}
