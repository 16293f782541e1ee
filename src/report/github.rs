//! Workflow commands for GitHub Actions, which a pull request shows as annotations.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::places::Shown;
use super::printable::printable;
use super::result::Report;
use super::summary::counted;
use crate::base::finding::{Finding, Severity};

/// The number of annotations of each level that GitHub shows for a step.
const MAX_SHOWN: usize = 10;

/// Writes one workflow command per finding. If a level has more findings than GitHub shows, the last shown annotation
/// has the number of the others.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for severity in [Severity::Error, Severity::Warning, Severity::Pedantic] {
        let findings: Vec<&Finding> = report.findings.iter().filter(|finding| finding.severity == severity).collect();
        let omitted = findings.len().saturating_sub(MAX_SHOWN);
        for (at, finding) in findings.iter().enumerate() {
            let more = if at + 1 == MAX_SHOWN { omitted } else { 0 };
            writeln!(out, "{}", command(report, finding, more))?;
        }
    }
    Ok(())
}

fn command(report: &Report, finding: &Finding, more: usize) -> String {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Pedantic => "notice",
    };
    let (start, end) = (finding.at.span.position(), finding.at.span.end_position());
    let mut message = finding.message.clone();
    let shown = Shown::of(finding);
    for related in &shown.related {
        let path = report.display_path(related.span.file());
        let _ = write!(message, "\n{path}:{}: {}", related.span.position().line, related.message);
    }
    if let Some(help) = &finding.help {
        let _ = write!(message, "\nhelp: {help}");
    }
    if more > 0 {
        let others = counted(more, &format!("further {}", finding.severity));
        let _ = write!(message, "\nGitHub does not show {others}; the job summary lists them");
    }
    let mut properties = format!(
        "file={},line={},endLine={}",
        property(&report.display_path(finding.at.span.file())),
        start.line,
        end.line
    );
    // GitHub accepts columns only if the annotation has a single line.
    if start.line == end.line {
        let _ = write!(properties, ",col={},endColumn={}", start.column, end.column.max(start.column));
    }
    format!("::{level} {properties},title={}::{}", property(finding.rule), data(&printable(&message)))
}

/// Escapes the message of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::summary::Coverage;
    use crate::text::File;

    #[test]
    fn separators_in_values_are_escaped() {
        let file = File::new("a,b.yaml", "kind: x\n");
        let finding = Finding::error("some-rule", file.span(6..7), "100% wrong\n::error::no").help("fix, it");
        let report = Report::new(vec![finding], Coverage::default(), "");
        assert_eq!(
            command(&report, &report.findings[0], 0),
            "::error file=a%2Cb.yaml,line=1,endLine=1,col=7,endColumn=8,title=some-rule::100%25 wrong%0A::error::no%0Ahelp: fix, it"
        );
    }
}
