//! Changes as text for terminals.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::document::{AccountChange, Cause, Document, danger_of, on_clusters, values};

const BOLD: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();
const DANGER: Style = AnsiColor::BrightRed.on_default().bold();
const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();

pub(super) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    for (clusters, what) in [(&document.former_clusters, "removed"), (&document.new_clusters, "new")] {
        for name in clusters {
            writeln!(out, "{BOLD}cluster {name}{BOLD:#} is {what}\n")?;
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
            applier.applier,
            on_clusters(&applier.clusters),
            applier.state,
            applier.reason
        )?;
    }
    for gap in document.gaps() {
        writeln!(out, "{DANGER}not complete{DANGER:#}: {gap}\n")?;
    }
    writeln!(out, "{}", document.summary_line())
}

fn rights(change: &AccountChange, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{BOLD}~ rights of {}{BOLD:#} changed{}", change.account, on_clusters(&change.clusters))?;
    writeln!(out, "  {DANGER}danger{DANGER:#}: {}", danger_of(change))?;
    for line in &change.lost {
        writeln!(out, "  {REMOVED}- {line}{REMOVED:#}")?;
    }
    for line in &change.gained {
        writeln!(out, "  {ADDED}+ {line}{ADDED:#}")?;
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
        Some(former) => format!("from {former} to {}", change.applier),
        None => format!("({})", change.applier),
    };
    writeln!(out, "{BOLD}{sign} {} {}{BOLD:#} {by}{}", change.object, change.change, on_clusters(&change.clusters))?;
    writeln!(out, "  {QUIET}{}:{}{QUIET:#}", change.path, change.line)?;
    for danger in &change.dangers {
        writeln!(out, "  {DANGER}danger{DANGER:#}: {danger}")?;
    }
    for row in &change.fields {
        writeln!(out, "  {} {QUIET}{}:{}{QUIET:#}", row.field, row.path, row.line)?;
        let (before, after) = values(row);
        if let Some(before) = before {
            writeln!(out, "    {REMOVED}- {before}{REMOVED:#}")?;
        }
        if let Some(after) = after {
            writeln!(out, "    {ADDED}+ {after}{ADDED:#}")?;
        }
    }
    for line in &cause.following {
        writeln!(out, "  {line}")?;
    }
    for note in &change.notes {
        writeln!(out, "  note: {note}")?;
    }
    writeln!(out)
}
