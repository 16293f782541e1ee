//! Changes as Markdown.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::document::{Document, ObjectChange, followers, on_clusters, values};
use crate::base::finding::ObjectRef;
use crate::report::markdown::{MAX_LEN, code, escape};
use crate::report::printable::one_line;

pub(super) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut sections: Vec<String> = Vec::new();
    for (clusters, what) in [(&document.new_clusters, "new"), (&document.former_clusters, "removed")] {
        sections.extend(clusters.iter().map(|name| format!("- cluster {} is {what}\n", code(name))));
    }
    sections.extend(document.not_compared.iter().map(|applier| {
        let (name, clusters) = (name_of(&applier.applier), escape(&on_clusters(&applier.clusters)));
        format!(
            "- ❌ {} {clusters} is not compared, state {}: {}\n",
            code(&name),
            applier.state,
            escape(&applier.reason)
        )
    }));
    sections.extend(document.causes().iter().map(|(change, following)| object(change, following)));
    for change in &document.rights {
        let mut text = format!("- 🔑 rights of {} {}\n", code(&change.account), escape(&on_clusters(&change.clusters)));
        change.gained.iter().for_each(|line| _ = writeln!(text, "  - gains: {}", escape(line)));
        change.lost.iter().for_each(|line| _ = writeln!(text, "  - loses: {}", escape(line)));
        sections.push(text);
    }
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

fn object(change: &ObjectChange, following: &[&ObjectChange]) -> String {
    let sign = match change.change {
        _ if !change.dangers.is_empty() => "⚠️",
        "added" => "🟢",
        "removed" => "🔴",
        _ => "🔵",
    };
    let name = code(&name_of(&change.object));
    let mut text = format!("- {sign} {name} {} {}\n", change.change, escape(&on_clusters(&change.clusters)));
    let former = change.former_applier.as_ref().map(|former| format!("from {} ", code(&name_of(former))));
    let place = code(&format!("{}:{}", change.path, change.line));
    let by = if former.is_some() { "to" } else { "by" };
    let _ = writeln!(text, "  - {}{by} {}, {place}", former.unwrap_or_default(), code(&name_of(&change.applier)));
    for danger in &change.dangers {
        let _ = writeln!(text, "  - **danger**: {}", escape(danger));
    }
    for row in &change.fields {
        let place = code(&format!("{}:{}", row.path, row.line));
        let change = match values(row) {
            (Some(before), Some(after)) => format!("{} → {}", code(before), code(after)),
            (None, Some(after)) => format!("set to {}", code(after)),
            (Some(before), None) => format!("was {}, is not set any more", code(before)),
            (None, None) => String::new(),
        };
        let _ = writeln!(text, "  - {}: {change} ({place})", code(&row.field));
    }
    for line in followers(following) {
        let _ = writeln!(text, "  - {}", escape(&line));
    }
    for note in &change.notes {
        let _ = writeln!(text, "  - {}", escape(note));
    }
    text
}

/// The kind and the name of an object, without the backticks of its usual form.
fn name_of(object: &ObjectRef) -> String {
    one_line(&object.to_string()).replace('`', "")
}
