//! `policy test`: runs the tests of policies.

use std::path::Path;

use crate::cel::Budget;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::linter::print_findings;
use crate::cli::source::{display_prefix, folder_of};
use crate::cli::streams::Streams;
use crate::disk;
use crate::kustomize::is_yaml;
use crate::policy::TestFile;
use crate::report::mask::SecretValues;
use crate::report::{counted, display_path, printable};

pub(super) fn run(path: &Path, streams: &mut Streams) -> Result<Exit, Error> {
    let is_file = disk::is_file(path);
    let folder = if is_file { folder_of(path) } else { path.to_owned() };
    // The tests of a single file may read policies beside it.
    let tree = disk::read(&folder)?;
    let prefix = display_prefix(&folder);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let is_wanted = |path: &str| is_yaml(path) && (!is_file || path == name);
    let paths: Vec<String> = tree.entries().map(|(path, _)| path.to_owned()).filter(|path| is_wanted(path)).collect();
    let (mut passed, mut failed, mut is_invalid) = (0, 0, false);
    let mut steps = Budget::of_run();
    let mut secrets = SecretValues::of(&tree, None);
    streams.hide(&secrets)?;
    for path in paths {
        let Ok(file) = tree.file(&path) else { continue };
        let Some(read) = TestFile::read(&file, &tree) else { continue };
        let of_tests =
            read.as_ref().map_or_else(|_| SecretValues::default(), |tests| SecretValues::of_objects(tests.objects()));
        let outcomes = match read.and_then(|tests| tests.run(&mut steps)) {
            Ok(outcomes) => outcomes,
            Err(findings) => {
                print_findings(findings, &prefix, streams)?;
                is_invalid = true;
                continue;
            }
        };
        if outcomes.iter().any(|outcome| outcome.failure.is_some()) {
            secrets.extend(of_tests);
            streams.hide(&secrets)?;
        }
        for outcome in outcomes {
            let name = printable(&outcome.name).into_owned();
            match outcome.failure {
                None => passed += 1,
                Some(failure) => {
                    failed += 1;
                    let place = display_path(&prefix, outcome.at.file());
                    let line = outcome.at.position().line;
                    writeln!(streams.out(), "{place}:{line}: {name}: {}", printable(&failure).replace('\n', " "))?;
                }
            }
        }
    }
    if is_invalid {
        return Err(Error::Printed("a test of policies is invalid".to_owned()));
    }
    if passed + failed == 0 {
        let message = format!("`{}` contains no policy test", path.display());
        return Err(Error::with_help(message, "write a file with `kind: PolicyTest`; docs/policies.md has an example"));
    }
    writeln!(streams.out(), "{}, {failed} failed", counted(passed + failed, "test"))?;
    Ok(if failed == 0 { Exit::Clean } else { Exit::Found })
}
