//! Text output of findings: each with its source lines and labels, in the style of rustc.

use std::collections::BTreeMap;
use std::io::{self, Write};

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};

use super::mask::Masks;
use super::places::Shown;
use super::printable::printable;
use super::result::Report;
use super::summary::counted;
use crate::base::finding::{Finding, Label, Severity};
use crate::lint::PLAINTEXT_SECRET;
use crate::text::{File, Position};

/// The maximum number of listed clusters; other clusters are counted.
const CLUSTERS_SHOWN: usize = 5;
/// The maximum distance in lines between labels of one snippet.
const NEAR: u32 = 12;

/// The maximum number of shown findings. The other formats list all of them.
const MAX_SHOWN: usize = 1_000;
/// The maximum length of the output in bytes.
const MAX_BYTES: usize = 8 << 20;
/// The maximum length of a line in bytes. A longer line is not shown, but its position is.
const MAX_LINE: usize = 4_000;

/// Writes one block per finding, followed by an empty line.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut masks = report.masks.clone();
    // The rule may detect a secret that the masks of a file miss, as in a file of a generator.
    let secrets = report.findings.iter().filter(|finding| finding.rule == PLAINTEXT_SECRET);
    masks
        .hide(secrets.flat_map(|finding| std::iter::once(&finding.at).chain(finding.all_related())).map(|it| &it.span));
    let mut written = 0;
    for (at, finding) in report.findings.iter().enumerate() {
        if at >= MAX_SHOWN || written > MAX_BYTES {
            let others = counted(report.findings.len() - at, "further finding");
            return writeln!(out, "{others} not shown; use `--format json` for all of them\n");
        }
        let block = block(report, finding, &mut masks);
        written += block.len();
        writeln!(out, "{block}\n")?;
    }
    Ok(())
}

fn block(report: &Report, finding: &Finding, masks: &mut Masks) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Pedantic => Level::NOTE.with_name("pedantic"),
    };
    let title = level.primary_title(printable(&finding.message)).id(finding.rule);
    let mut group = Group::with_title(title);
    let shown = Shown::of(finding);
    for piece in pieces(&shown) {
        group = group.element(element(report, &piece, masks));
    }
    if let Some(clusters) = clusters(finding) {
        group = group.element(Level::NOTE.message(clusters));
    }
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(printable(help)));
    }
    Renderer::styled().decor_style(DecorStyle::Ascii).render(&[group])
}

fn clusters(finding: &Finding) -> Option<String> {
    let names: Vec<String> = finding.clusters.iter().map(|name| format!("`{}`", printable(name))).collect();
    let shown = names.get(..CLUSTERS_SHOWN.min(names.len()))?.join(", ");
    match names.len() {
        0 => None,
        1 => Some(format!("on cluster {shown}")),
        count if count > CLUSTERS_SHOWN => Some(format!("on clusters {shown} and {} more", count - CLUSTERS_SHOWN)),
        _ => Some(format!("on clusters {shown}")),
    }
}

/// A snippet: nearby labels of one file.
struct Piece<'a> {
    file: &'a File,
    marks: Vec<(AnnotationKind, &'a Label)>,
    first: u32,
    last: u32,
}

/// Groups the labels of a finding into snippets, the primary label first.
fn pieces(shown: &Shown) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let main = std::iter::once((AnnotationKind::Primary, &shown.at));
    for (kind, label) in main.chain(shown.related.iter().map(|label| (AnnotationKind::Context, label))) {
        let file = label.span.file();
        let line = label.span.position().line;
        let near = |piece: &&mut Piece<'_>| {
            piece.file == file && line + NEAR >= piece.first && line <= piece.last + NEAR && !file.text().is_empty()
        };
        if let Some(piece) = pieces.iter_mut().find(near) {
            piece.marks.push((kind, label));
            (piece.first, piece.last) = (piece.first.min(line), piece.last.max(line));
        } else {
            pieces.push(Piece { file, marks: vec![(kind, label)], first: line, last: line });
        }
    }
    pieces
}

fn element<'a>(report: &Report, piece: &Piece<'_>, masks: &mut Masks) -> Element<'a> {
    // A line break in a file name must not start a line of output.
    let path = report.display_path(piece.file).replace('\n', "\u{FFFD}");
    if piece.file.text().is_empty() {
        return Origin::path(path).into();
    }
    let is_long = |line| piece.file.line(line).is_some_and(|range| range.len() > MAX_LINE);
    if (piece.first..=piece.last).any(is_long) {
        let start = piece.marks.first().map(|(_, label)| label.span.position());
        let (line, column) = start.map_or((1, 1), |start| (start.line as usize, start.column as usize));
        return Origin::path(path).line(line).char_column(column).into();
    }
    let mask = masks.get(piece.file);
    let mut source = String::new();
    let mut starts = BTreeMap::new();
    for line in piece.first..=piece.last {
        starts.insert(line, source.len());
        source.push_str(mask.line(piece.file, line).unwrap_or_default().trim_start_matches('\u{FEFF}'));
        source.push('\n');
    }
    let annotations: Vec<_> = piece
        .marks
        .iter()
        .map(|(kind, label)| {
            let start = label.span.position();
            let end = label.span.end_position();
            let from = offset(&source, &starts, start);
            // Of a span over several lines, only the first line is shown.
            let to = if end.line == start.line { offset(&source, &starts, end) } else { line_end(&source, from) };
            let text = (!label.message.is_empty()).then(|| printable(&label.message).replace('\n', " "));
            kind.span(from..to.max(from)).label(text)
        })
        .collect();
    Snippet::source(source).path(path).line_start(piece.first as usize).annotations(annotations).into()
}

/// Returns the offset in `source` of a position in the file, where `starts` are the offsets of lines in `source`.
///
/// Masking changes bytes but not columns.
fn offset(source: &str, starts: &BTreeMap<u32, usize>, place: Position) -> usize {
    let start = starts.get(&place.line).copied().unwrap_or_default();
    let line = source.get(start..line_end(source, start)).unwrap_or_default();
    start + line.char_indices().nth(place.column as usize - 1).map_or(line.len(), |(at, _)| at)
}

fn line_end(source: &str, from: usize) -> usize {
    source.get(from..).and_then(|rest| rest.find('\n')).map_or(source.len(), |at| from + at)
}
