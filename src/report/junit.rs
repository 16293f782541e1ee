//! `JUnit` XML, which most CI systems show: a test suite for each rule, with a failed test case for each finding.
//!
//! The document is valid for the schema of Apache Ant and for that of Jenkins' xUnit plugin. Hence the attributes and elements
//! without content, and no attribute with the file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use super::printable::{one_line, printable};
use super::result::Report;
use crate::base::finding::{Finding, Severity};

/// The suite of a report without findings.
const NO_FINDINGS: &str = "lint";

/// Writes the document. Without findings, one test case passes, since some systems reject an empty document.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut by_rule: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in &report.findings {
        by_rule.entry(finding.rule).or_default().push(finding);
    }
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>")?;
    for (id, (rule, findings)) in by_rule.into_iter().enumerate() {
        let failures = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        open(out, rule, id, findings.len(), failures)?;
        findings.into_iter().try_for_each(|finding| case(report, finding, out))?;
        close(out)?;
    }
    if report.findings.is_empty() {
        open(out, NO_FINDINGS, 0, 1, 0)?;
        let name = escape(&report.summary.to_string());
        writeln!(out, "    <testcase name=\"{name}\" classname=\"{NO_FINDINGS}\" time=\"0\"/>")?;
        close(out)?;
    }
    writeln!(out, "</testsuites>")
}

/// Writes the start of a suite. The time is fixed, so that equal findings are equal documents.
fn open(out: &mut dyn Write, rule: &str, id: usize, tests: usize, failures: usize) -> io::Result<()> {
    let skipped = if rule == NO_FINDINGS { 0 } else { tests - failures };
    write!(out, "  <testsuite name=\"{rule}\" id=\"{id}\" package=\"fleetwright\" hostname=\"localhost\"")?;
    write!(out, " timestamp=\"1970-01-01T00:00:00\" time=\"0\"")?;
    writeln!(out, " tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">\n    <properties/>")
}

fn close(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "    <system-out/>\n    <system-err/>\n  </testsuite>")
}

/// Writes the test case of a finding. A finding that is not an error does not fail by default, so it counts as skipped.
fn case(report: &Report, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let path = report.display_path(finding.at.span.file());
    let line = finding.at.span.position().line;
    let mut details = format!("{path}:{line}: {}", finding.message);
    for related in finding.all_related().take(20) {
        let path = report.display_path(related.span.file());
        let _ = write!(details, "\n{path}:{}: {}", related.span.position().line, related.message);
    }
    if let Some(help) = &finding.help {
        let _ = write!(details, "\nhelp: {help}");
    }
    let (message, details) = (escape(&one_line(&finding.message)), escape(&printable(&details)));
    let (name, rule) = (escape(&format!("{}:{line}", one_line(&path))), finding.rule);
    writeln!(out, "    <testcase name=\"{name}\" classname=\"{rule}\" time=\"0\">")?;
    match finding.severity {
        Severity::Error => writeln!(out, "      <failure message=\"{message}\" type=\"error\">{details}</failure>")?,
        severity => writeln!(out, "      <skipped message=\"{severity}: {message}\">{details}</skipped>")?,
    }
    writeln!(out, "    </testcase>")
}

/// Escapes a text for XML, which has no representation of some characters.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::summary::Coverage;

    #[test]
    fn a_report_without_findings_has_one_case_that_passes() {
        let mut document = Vec::new();
        write(&Report::new(Vec::new(), Coverage::default(), ""), &mut document).unwrap();
        let document = String::from_utf8(document).unwrap();
        assert!(document.contains("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\""), "{document}");
        assert_eq!(document.matches("<testcase ").count(), 1);
    }

    #[test]
    fn texts_cannot_leave_their_attribute() {
        assert_eq!(escape("a\"<b>&\u{FFFF}"), "a&quot;&lt;b&gt;&amp;\u{FFFD}");
    }
}
