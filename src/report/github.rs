//! For GitHub Actions: workflow commands, which a pull request shows as annotations.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::printable::printable;
use super::result::Report;
use crate::base::finding::{Finding, Severity};

/// Writes one workflow command per finding.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for finding in &report.findings {
        writeln!(out, "{}", command(report, finding))?;
    }
    Ok(())
}

fn command(report: &Report, finding: &Finding) -> String {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Pedantic => "notice",
    };
    let (start, end) = (finding.at.span.position(), finding.at.span.end_position());
    let mut message = finding.message.clone();
    for related in &finding.related {
        let path = report.shown(related.span.file());
        let _ = write!(message, "\n{path}:{}: {}", related.span.position().line, related.message);
    }
    if let Some(help) = &finding.help {
        let _ = write!(message, "\nhelp: {help}");
    }
    let mut properties =
        format!("file={},line={},endLine={}", property(&report.shown(finding.at.span.file())), start.line, end.line);
    // GitHub takes columns for a single line only.
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
    use crate::report::summary::Judged;
    use crate::text::File;

    #[test]
    fn what_would_end_a_command_is_escaped() {
        let file = File::new("a,b.yaml", "kind: x\n");
        let finding = Finding::error("some-rule", file.span(6..7), "100% wrong\n::error::no").help("fix, it");
        let report = Report::new(vec![finding], Judged::default(), "");
        assert_eq!(
            command(&report, &report.findings[0]),
            "::error file=a%2Cb.yaml,line=1,endLine=1,col=7,endColumn=8,title=some-rule::100%25 wrong%0A::error::no%0Ahelp: fix, it"
        );
    }
}
