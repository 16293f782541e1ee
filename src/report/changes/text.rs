//! Changes as text for terminals.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::document::{Document, ObjectChange, followers, on_clusters, values};

const BOLD: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();
const DANGER: Style = AnsiColor::BrightRed.on_default().bold();
const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();

pub(super) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    for (clusters, what) in [(&document.new_clusters, "new"), (&document.former_clusters, "removed")] {
        for name in clusters {
            writeln!(out, "{BOLD}cluster {name}{BOLD:#} is {what}\n")?;
        }
    }
    for (change, following) in document.causes() {
        object(change, &following, out)?;
    }
    for change in &document.rights {
        writeln!(out, "{BOLD}rights of {}{BOLD:#}{QUIET}{}{QUIET:#}", change.account, on_clusters(&change.clusters))?;
        for line in &change.lost {
            writeln!(out, "  {REMOVED}- {line}{REMOVED:#}")?;
        }
        for line in &change.gained {
            writeln!(out, "  {ADDED}+ {line}{ADDED:#}")?;
        }
        writeln!(out)?;
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
    writeln!(out, "{}", document.summary_line())
}

fn object(change: &ObjectChange, following: &[&ObjectChange], out: &mut dyn Write) -> io::Result<()> {
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
    for line in followers(following) {
        writeln!(out, "  {line}")?;
    }
    for note in &change.notes {
        writeln!(out, "  note: {note}")?;
    }
    writeln!(out)
}
