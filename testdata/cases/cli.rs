//! Console sessions: the commands of `testdata/cli/*.md`, of `docs/` and of the README, with their output and exit code.
//!
//! `TRYCMD=overwrite` writes the output again.

use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use crate::support::{entries, testdata};
use crate::{Outcome, trials as trials_of};

const BINARY: &str = env!("CARGO_BIN_EXE_fleetwright");

pub(crate) fn trials() -> Vec<Trial> {
    let root = testdata("cli");
    let is_session = |path: &PathBuf| path.extension().is_some_and(|end| end == "md");
    let sessions = entries(&root).into_iter().filter(is_session).collect();
    let check: fn(&Path) -> Outcome = |case| {
        check(case);
        Ok(())
    };
    let mut trials = trials_of("cli", &root, sessions, check);
    let house = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages: Vec<PathBuf> = entries(&house.join("docs")).into_iter().filter(is_session).collect();
    pages.push(house.join("README.md"));
    trials.extend(trials_of("cli", house, pages, check));
    trials
}

fn check(case: &Path) {
    let cases = trycmd::TestCases::new();
    cases.register_bin("fleetwright", Path::new(BINARY)).register_bin("sh", Path::new("/bin/sh"));
    cases.env("FLEETWRIGHT", BINARY).env("LC_ALL", "C");
    cases.case(case).run();
}
