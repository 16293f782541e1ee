//! Markdown for job summaries and comments of pull requests.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::places::Shown;
use super::printable::one_line;
use super::result::Report;
use super::summary::counted;
use crate::base::finding::{Finding, Severity};

/// The limit of the text in bytes, since GitHub rejects a comment of more than 65,536 characters.
pub(super) const MAX_LEN: usize = 60_000;

/// Writes the summary and a list of the findings, each with its places, errors first.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(within(report, MAX_LEN).as_bytes())
}

/// Formats the summary and as many findings as the number of bytes permits, errors first.
pub fn within(report: &Report, max_len: usize) -> String {
    let mut text = format!("**fleetwright**: {}\n", report.summary);
    let mut findings: Vec<&Finding> = report.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    for (shown, finding) in findings.iter().enumerate() {
        let item = item(report, finding);
        let rest = counted(findings.len() - shown, "further finding");
        let end = format!("\n… and {rest}; `fleetwright lint` prints all of them\n");
        if text.len() + item.len() + end.len() > max_len {
            text.push_str(&end);
            return text;
        }
        if shown == 0 {
            text.push('\n');
        }
        text.push_str(&item);
    }
    text
}

fn item(report: &Report, finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Error => "❌",
        Severity::Warning => "⚠️",
        Severity::Pedantic => "ℹ️",
    };
    let shown = Shown::of(finding);
    let place = |label: &crate::base::finding::Label| {
        format!("{}:{}", report.display_path(label.span.file()), label.span.position().line)
    };
    let mut text =
        format!("- {severity} {} `{}`: {}\n", code(&place(&shown.at)), finding.rule, escape(&finding.message));
    for related in &shown.related {
        let _ = writeln!(text, "  - {}: {}", code(&place(related)), escape(&related.message));
    }
    if !finding.clusters.is_empty() {
        let names: Vec<String> = finding.clusters.iter().take(5).map(|name| code(name)).collect();
        let more = finding.clusters.len() - names.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let _ = writeln!(text, "  - on {}{more}", names.join(", "));
    }
    if let Some(help) = &finding.help {
        let _ = writeln!(text, "  - help: {}", escape(help));
    }
    text
}

/// Formats a text as code. A backtick in it must not end the code.
pub(super) fn code(text: &str) -> String {
    let text = one_line(text);
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// Escapes a message, except its code in backticks. A text of a repository must not become a link, an image or HTML.
pub(super) fn escape(text: &str) -> String {
    let text = one_line(text);
    let mut escaped = String::with_capacity(text.len());
    for (at, part) in text.split('`').enumerate() {
        if at > 0 {
            escaped.push('`');
        }
        for c in part.chars() {
            if at % 2 == 0 && matches!(c, '\\' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '!' | '~' | '&') {
                escaped.push('\\');
            }
            escaped.push(c);
            // GitHub notifies a user or a team that follows an `@`, escaped or not.
            if at % 2 == 0 && c == '@' {
                escaped.push('\u{200B}');
            }
        }
    }
    // An odd backtick would make the rest of the list code.
    if text.matches('`').count() % 2 == 1 {
        escaped.push('`');
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn markup_in_a_message_is_text() {
        assert_eq!(escape("a [link](x) of `a_b` <img>"), r"a \[link\](x) of `a_b` \<img\>");
        assert_eq!(escape("one ` tick @all"), "one ` tick @all`");
    }
}
