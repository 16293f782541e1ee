//! Markdown for job summaries and comments of pull requests.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::places::Shown;
use super::printable::{one_line, push_markdown};
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

/// Formats a text as code. The text must not end the code, so that the fence is longer than every run of backticks in it.
pub(super) fn code(text: &str) -> String {
    let text = one_line(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    if longest == 0 {
        return format!("`{text}`");
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence} {text} {fence}")
}

/// Escapes a message, except its code in backticks. A text of a repository must not become a link, an image or HTML.
///
/// In Markdown, a run of backticks starts code only if a run of the same length follows. The code of a message is between
/// single backticks, and each other backtick is escaped.
pub(super) fn escape(text: &str) -> String {
    let text = one_line(text);
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, run, after)) = next_run(rest) {
        push_markdown(before, &mut escaped);
        let end = (run == 1).then(|| end_of_code(after)).flatten();
        if let Some((code, behind)) = end.and_then(|end| Some((after.get(..end)?, after.get(end + 1..)?))) {
            escaped.extend(["`", code, "`"]);
            rest = behind;
        } else {
            escaped.extend(std::iter::repeat_n("\\`", run));
            rest = after;
        }
    }
    push_markdown(rest, &mut escaped);
    escaped
}

/// The text before the next run of backticks, the length of the run, and the text after it.
fn next_run(text: &str) -> Option<(&str, usize, &str)> {
    let (before, _) = text.split_once('`')?;
    let from = text.get(before.len()..)?;
    let after = from.trim_start_matches('`');
    Some((before, from.len() - after.len(), after))
}

/// The position of the next single backtick.
fn end_of_code(text: &str) -> Option<usize> {
    let mut rest = text;
    while let Some((before, run, after)) = next_run(rest) {
        if run == 1 {
            return Some(text.len() - rest.len() + before.len());
        }
        rest = after;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{code, escape};

    #[test]
    fn markup_in_a_message_is_text() {
        assert_eq!(escape("a [link](x) of `a_b` <img>"), r"a \[link\](x) of `a_b` \<img\>");
        assert_eq!(escape("one ` tick @all"), "one \\` tick @\u{200B}all");
        assert_eq!(escape("`a` <b> `c`"), r"`a` \<b\> `c`");
        // A run of three backticks has no end, so that the text after it is not code.
        assert_eq!(escape("Pod ```[l](x) <b>` is"), r"Pod \`\`\`\[l\](x) \<b\>\` is");
        assert_eq!(escape("Pod `a``[l](x)``` is"), r"Pod \`a\`\`\[l\](x)\`\`\` is");
        assert_eq!(escape("Pod `a``b` is"), "Pod `a``b` is");
    }

    #[test]
    fn code_does_not_end_in_its_text() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b"), "`` a`b ``");
        assert_eq!(code("a`` [l](x) ``` b"), "```` a`` [l](x) ``` b ````");
    }
}
