//! Several missing paths in one kustomization.yaml.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::{FaultKind, Finding, Severity};

/// Gives the missing paths of one file the file as their cause, unless other files miss one of the same paths.
pub(super) fn join_lists(findings: &mut [Finding]) {
    // The causes in each file, and the files of each cause.
    let mut causes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for finding in findings.iter() {
        let Some(cause) = cause_of(finding) else { continue };
        let file = finding.at.span.file().path();
        causes.entry(file.to_owned()).or_default().insert(cause.to_owned());
        files.entry(cause.to_owned()).or_default().insert(file.to_owned());
    }
    let are_several = |file: &str| causes.get(file).is_some_and(|causes| causes.len() > 1);
    let is_alone = |cause: &str| files.get(cause).is_some_and(|files| files.len() == 1);
    for finding in findings.iter_mut() {
        let file = finding.at.span.file().path().to_owned();
        if !cause_of(finding).is_some_and(is_alone) || !are_several(&file) {
            continue;
        }
        let summary = format!(" paths in `{file}` do not exist");
        let help = "correct or remove the paths: kustomize does not build a directory with a missing path";
        *finding = finding.clone().caused_by(format!("in {file}"), "", summary).help_for_all(help);
    }
}

/// The cause of the finding of a missing path. A warning has a reason of its own, such as a file that Git ignores.
fn cause_of(finding: &Finding) -> Option<&str> {
    let is_error = finding.kind == Some(FaultKind::NoSuchFile) && finding.severity == Severity::Error;
    finding.cause.as_ref().filter(|_| is_error).map(|cause| cause.key.as_str())
}
