//! Changes as Markdown.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::document::{Cause, Document, FieldRow, danger_of, on_clusters, values};
use crate::base::finding::ObjectRef;
use crate::report::markdown::{MAX_LEN, code, escape};
use crate::report::printable::one_line;

/// The maximum number of lines of each sort below a change, so that one change does not fill the comment.
const MAX_LINES: usize = 20;

pub(super) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut sections: Vec<String> = Vec::new();
    sections.extend(document.gaps().iter().map(|gap| format!("- ❌ {}\n", escape(gap))));
    for (clusters, what) in [(&document.former_clusters, "removed"), (&document.new_clusters, "new")] {
        sections.extend(clusters.iter().map(|name| format!("- cluster {} is {what}\n", code(name))));
    }
    sections.extend(document.not_compared.iter().map(|applier| {
        let (name, clusters) = (name_of(&applier.applier), escape(&on_clusters(&applier.clusters)));
        format!(
            "- ❌ {}{clusters} is not compared, state {}: {}\n",
            code(&name),
            applier.state,
            escape(&applier.reason)
        )
    }));
    let [dangerous, others] = document.causes();
    sections.extend(dangerous.iter().map(object));
    for change in &document.rights {
        let mut text = format!("- ⚠️ rights of {}{}\n", code(&change.account), escape(&on_clusters(&change.clusters)));
        let _ = writeln!(text, "  - **danger**: {}", danger_of(change));
        add(&mut text, change.gained.iter().map(|line| format!("gains: {}", escape(line))));
        add(&mut text, change.lost.iter().map(|line| format!("loses: {}", escape(line))));
        sections.push(text);
    }
    sections.extend(others.iter().map(object));
    writeln!(out, "**fleetwright diff**: {}\n", document.summary_line())?;
    let mut len = 0;
    for (written, section) in sections.iter().enumerate() {
        len += section.len();
        if len > MAX_LEN {
            return writeln!(out, "\n… and {} more; `fleetwright diff` prints all of them", sections.len() - written);
        }
        write!(out, "{section}")?;
    }
    Ok(())
}

fn object(cause: &Cause<'_>) -> String {
    let change = cause.change;
    let sign = match change.change {
        _ if cause.is_dangerous => "⚠️",
        "added" => "🟢",
        "removed" => "🔴",
        _ => "🔵",
    };
    let name = code(&name_of(&change.object));
    let mut text = format!("- {sign} {name} {}{}\n", change.change, escape(&on_clusters(&change.clusters)));
    let former = change.former_applier.as_ref().map(|former| format!("from {} ", code(&name_of(former))));
    let place = code(&format!("{}:{}", change.path, change.line));
    let by = if former.is_some() { "to" } else { "by" };
    let _ = writeln!(text, "  - {}{by} {}, {place}", former.unwrap_or_default(), code(&name_of(&change.applier)));
    add(&mut text, change.dangers.iter().map(|danger| format!("**danger**: {}", escape(danger))));
    add(&mut text, change.fields.iter().map(field));
    add(&mut text, cause.following.iter().map(|line| escape(line)));
    add(&mut text, change.notes.iter().map(|note| escape(note)));
    text
}

/// Adds lines below a change, and the number of those that are too many.
fn add(text: &mut String, lines: impl ExactSizeIterator<Item = String>) {
    let omitted = lines.len().saturating_sub(MAX_LINES);
    for line in lines.take(MAX_LINES) {
        let _ = writeln!(text, "  - {line}");
    }
    if omitted > 0 {
        let _ = writeln!(text, "  - … and {omitted} more");
    }
}

fn field(row: &FieldRow) -> String {
    let change = match values(row) {
        (Some(before), Some(after)) => format!("{} → {}", code(before), code(after)),
        (None, Some(after)) => format!("set to {}", code(after)),
        (Some(before), None) => format!("was {}, is not set any more", code(before)),
        (None, None) => String::new(),
    };
    format!("{}: {change} ({})", code(&row.field), code(&format!("{}:{}", row.path, row.line)))
}

/// The kind and the name of an object, without the backticks of its usual form.
fn name_of(object: &ObjectRef) -> String {
    one_line(&object.to_string()).replace('`', "")
}
