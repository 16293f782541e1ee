//! A code quality report of GitLab, which a merge request shows.
//!
//! Source: <https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format>

use std::io::{self, Write};

use serde::Serialize;

use super::printable::one_line;
use super::result::Report;
use crate::base::finding::{Finding, Severity};
use crate::base::fingerprint::fingerprints;

#[derive(Serialize)]
struct Issue<'a> {
    description: String,
    check_name: &'a str,
    fingerprint: &'a str,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
    end: u32,
}

/// Writes the list of issues.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let fingerprints = fingerprints(&report.findings);
    let issues = report.findings.iter().zip(&fingerprints).map(|(finding, fingerprint)| Issue {
        description: description(finding),
        check_name: finding.rule,
        fingerprint,
        severity: match finding.severity {
            Severity::Error => "major",
            Severity::Warning => "minor",
            Severity::Pedantic => "info",
        },
        location: Location {
            path: report.display_path(finding.at.span.file()),
            lines: Lines { begin: finding.at.span.position().line, end: finding.at.span.end_position().line },
        },
    });
    serde_json::to_writer_pretty(&mut *out, &issues.collect::<Vec<_>>())?;
    writeln!(out)
}

fn description(finding: &Finding) -> String {
    match &finding.help {
        Some(help) => format!("{} ({})", one_line(&finding.message), one_line(help)),
        None => one_line(&finding.message),
    }
}
