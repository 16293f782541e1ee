//! `JUnit` XML, which most CI systems show: a test suite for each rule, with a failed test case for each finding.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report as Document, TestCase, TestCaseStatus, TestSuite};

use super::printable::{one_line, printable};
use super::result::Report;
use crate::base::finding::{Finding, Severity};

/// Writes the document. Without findings, one test case passes, since some systems reject an empty document.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut document = Document::new("fleetwright");
    let mut by_rule: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in &report.findings {
        by_rule.entry(finding.rule).or_default().push(finding);
    }
    for (rule, findings) in by_rule {
        let mut suite = TestSuite::new(rule);
        suite.add_test_cases(findings.into_iter().map(|finding| case(report, finding)));
        document.add_test_suite(suite);
    }
    if report.findings.is_empty() {
        let mut suite = TestSuite::new("lint");
        suite.add_test_case(TestCase::new(report.summary.to_string(), TestCaseStatus::success()));
        document.add_test_suite(suite);
    }
    document.serialize(&mut *out).map_err(io::Error::other)
}

/// Returns the test case of a finding. A finding that is not an error does not fail by default, so it counts as skipped.
fn case(report: &Report, finding: &Finding) -> TestCase {
    let path = report.display_path(finding.at.span.file());
    let line = finding.at.span.position().line;
    let mut status = match finding.severity {
        Severity::Error => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Severity::Warning | Severity::Pedantic => TestCaseStatus::skipped(),
    };
    status.set_message(one_line(&finding.message)).set_type(finding.severity.to_string());
    let mut details = format!("{path}:{line}: {}", finding.message);
    for related in finding.all_related().take(20) {
        let path = report.display_path(related.span.file());
        let _ = write!(details, "\n{path}:{}: {}", related.span.position().line, related.message);
    }
    if let Some(help) = &finding.help {
        let _ = write!(details, "\nhelp: {help}");
    }
    status.set_description(printable(&details).into_owned());
    let mut case = TestCase::new(format!("{}:{line}", one_line(&path)), status);
    case.set_classname(finding.rule);
    case.extra.insert("file".into(), one_line(&path).into());
    case.extra.insert("line".into(), line.to_string().into());
    case
}
