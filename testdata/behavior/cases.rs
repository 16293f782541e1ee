//! The target of the cases.

use std::path::Path;

use super::support::{entries, testdata};

/// That target has a `main` of its own, so a test function in it would never run.
#[test]
fn the_target_of_the_cases_has_no_test_function() {
    fn check(path: &Path) {
        if path.is_dir() {
            for path in entries(path) {
                check(&path);
            }
        } else {
            let text = std::fs::read_to_string(path).unwrap();
            let has_test = text.lines().any(|line| line.trim_start().starts_with("#[test]"));
            assert!(!has_test, "{}: move the test to `testdata/behavior/`", path.display());
        }
    }
    check(&testdata("cases"));
}
