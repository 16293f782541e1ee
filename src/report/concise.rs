//! One line for each finding: `path:line:column: severity[rule]: message`.

use std::io::{self, Write};

use super::printable::one_line;
use super::result::Report;

/// Writes one line per finding.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for finding in &report.findings {
        let place = finding.at.span.position();
        let path = report.display_path(finding.at.span.file());
        let message = one_line(&finding.message);
        writeln!(
            out,
            "{}:{}:{}: {}[{}]: {message}",
            one_line(&path),
            place.line,
            place.column,
            finding.severity,
            finding.rule
        )?;
    }
    Ok(())
}
