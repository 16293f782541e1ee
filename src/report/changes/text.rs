//! Changes as text for terminals.

use std::fmt::Display;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::document::{AccountChange, Cause, Document, danger_of, on_clusters, values};
use crate::report::printable::one_line;

const BOLD: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();
const DANGER: Style = AnsiColor::BrightRed.on_default().bold();
const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();

pub(super) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    for (clusters, what) in [(&document.former_clusters, "removed"), (&document.new_clusters, "new")] {
        for name in clusters {
            writeln!(out, "{BOLD}cluster {}{BOLD:#} is {what}\n", one_line(name))?;
        }
    }
    let [dangerous, others] = document.causes();
    for cause in &dangerous {
        object(cause, out)?;
    }
    for change in &document.rights {
        rights(change, out)?;
    }
    for cause in &others {
        object(cause, out)?;
    }
    for applier in &document.not_compared {
        let label = if applier.failed { "error" } else { "not compared" };
        writeln!(
            out,
            "{DANGER}{label}{DANGER:#}: {}{} in the state {}: {}\n",
            line(&applier.applier),
            line(on_clusters(&applier.clusters)),
            applier.state,
            one_line(&applier.reason)
        )?;
    }
    for gap in document.gaps() {
        writeln!(out, "{DANGER}not complete{DANGER:#}: {gap}\n")?;
    }
    writeln!(out, "{}", document.summary_line())
}

/// A text of a change as one line: a name that the author selects could otherwise add lines to the report.
fn line(text: impl Display) -> String {
    one_line(&text.to_string())
}

fn rights(change: &AccountChange, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{BOLD}~ rights of {}{BOLD:#} changed{}",
        line(&change.account),
        line(on_clusters(&change.clusters))
    )?;
    writeln!(out, "  {DANGER}danger{DANGER:#}: {}", danger_of(change))?;
    for lost in &change.lost {
        writeln!(out, "  {REMOVED}- {}{REMOVED:#}", line(lost))?;
    }
    for gained in &change.gained {
        writeln!(out, "  {ADDED}+ {}{ADDED:#}", line(gained))?;
    }
    writeln!(out)
}

fn object(cause: &Cause<'_>, out: &mut dyn Write) -> io::Result<()> {
    let change = cause.change;
    let sign = match change.change {
        "added" => "+",
        "removed" => "-",
        _ => "~",
    };
    let by = match &change.former_applier {
        Some(former) => format!("from {} to {}", line(former), line(&change.applier)),
        None => format!("({})", line(&change.applier)),
    };
    writeln!(
        out,
        "{BOLD}{sign} {} {}{BOLD:#} {by}{}",
        line(&change.object),
        change.change,
        line(on_clusters(&change.clusters))
    )?;
    writeln!(out, "  {QUIET}{}:{}{QUIET:#}", one_line(&change.path), change.line)?;
    for danger in &change.dangers {
        writeln!(out, "  {DANGER}danger{DANGER:#}: {}", line(danger))?;
    }
    for row in &change.fields {
        writeln!(out, "  {} {QUIET}{}:{}{QUIET:#}", line(&row.field), one_line(&row.path), row.line)?;
        let (before, after) = values(row);
        if let Some(before) = before {
            writeln!(out, "    {REMOVED}- {before}{REMOVED:#}")?;
        }
        if let Some(after) = after {
            writeln!(out, "    {ADDED}+ {after}{ADDED:#}")?;
        }
    }
    for following in &cause.following {
        writeln!(out, "  {}", line(following))?;
    }
    for note in &change.notes {
        writeln!(out, "  note: {}", line(note))?;
    }
    writeln!(out)
}
