//! Parsing of all files of a tree, in parallel and with a maximum number of values.

use std::sync::Arc;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::base::finding::Finding;
use crate::text::{File, Index};
use crate::yaml::{INVALID_YAML, Parsed, parse};

/// The maximum number of values in all files. A fleet of a thousand clusters has a sixth of this number.
const MAX_VALUES: usize = 12_000_000;

/// The maximum size of the texts that are parsed before their values are counted, in bytes.
const CHUNK: usize = 16 << 20;

/// The least size of a text with anchors in a chunk, in bytes. Its aliases repeat values.
const WITH_ANCHORS: usize = 256 << 10;

/// The distinct texts of files. The directories of clusters have many copies of a file.
struct Texts<'a> {
    /// The first file with each text, with its path.
    first: Vec<(&'a str, &'a File)>,
    /// The number of the text of each file.
    of_files: Vec<usize>,
}

/// Parses files in the order of their paths. `known` returns the parsed form of a file if it is known.
///
/// The files after the first [`MAX_VALUES`] values are not read, and have a finding.
pub(super) fn parse_all(
    files: &[(&str, &File)],
    known: impl Fn(&str, &File) -> Option<Arc<Parsed>> + Sync,
) -> Vec<Arc<Parsed>> {
    let texts = Texts::of(files);
    let parsed = texts.parse(&known);
    let mut values = 0;
    let text_of = |text: usize| {
        let is_read = values <= MAX_VALUES;
        let (parsed, of_text) = parsed.get(text).filter(|_| is_read)?;
        values += of_text;
        Some(parsed)
    };
    let of_texts: Vec<Option<&Arc<Parsed>>> = texts.of_files.iter().copied().map(text_of).collect();
    let of_file = |((path, file), of_text): (&(&str, &File), Option<&Arc<Parsed>>)| match of_text {
        None => Arc::new(unread(file)),
        Some(parsed) if parsed.file == **file => Arc::clone(parsed),
        Some(parsed) => {
            known(path, file).unwrap_or_else(|| Arc::new(parsed.of_copy(file).unwrap_or_else(|| parse(file))))
        }
    };
    files.par_iter().zip(of_texts).map(of_file).collect()
}

impl<'a> Texts<'a> {
    fn of(files: &[(&'a str, &'a File)]) -> Self {
        let mut known: Index<&str, usize> = Index::default();
        let mut first = Vec::new();
        let number = |(path, file): &(&'a str, &'a File)| {
            let add = || {
                first.push((*path, *file));
                first.len() - 1
            };
            *known.entry_or(file.text(), add)
        };
        let of_files = files.iter().map(number).collect();
        Self { first, of_files }
    }

    /// Parses the texts until the files have too many values. Each text has the number of its values.
    fn parse(&self, known: impl Fn(&str, &File) -> Option<Arc<Parsed>> + Sync) -> Vec<(Arc<Parsed>, usize)> {
        let parse = |(path, file): &(&str, &File)| {
            let parsed = known(path, file).unwrap_or_else(|| Arc::new(parse(file)));
            let values = parsed.documents.iter().map(|document| document.node.size()).sum();
            (parsed, values)
        };
        let mut parsed: Vec<(Arc<Parsed>, usize)> = Vec::with_capacity(self.first.len());
        let mut values = 0;
        while values <= MAX_VALUES {
            let rest = self.first.get(parsed.len()..).unwrap_or_default();
            let Some(chunk) = rest.get(..chunk_len(rest)).filter(|chunk| !chunk.is_empty()) else { break };
            let of_chunk: Vec<(Arc<Parsed>, usize)> = chunk.par_iter().map(parse).collect();
            values += of_chunk.iter().map(|(_, values)| values).sum::<usize>();
            parsed.extend(of_chunk);
        }
        parsed
    }
}

/// The number of files to parse before their values are counted.
fn chunk_len(files: &[(&str, &File)]) -> usize {
    let mut bytes = 0;
    let fits = |(_, file): &&(&str, &File)| {
        let text = file.text();
        bytes += if text.contains('&') { text.len().max(WITH_ANCHORS) } else { text.len() };
        bytes <= CHUNK
    };
    files.iter().take_while(fits).count().max(usize::from(!files.is_empty()))
}

/// The result for a file of a repository with too many values.
fn unread(file: &File) -> Parsed {
    let message = format!("the files before this one have more than {MAX_VALUES} values; this file is not read");
    let finding = Finding::error(INVALID_YAML, file.first_line(), message).help("split the repository");
    let summary = " files are not read, because the files before them have too many values";
    let finding = finding.caused_by("values", "", summary);
    Parsed { file: file.clone(), documents: Vec::new(), findings: vec![finding], is_cut: true }
}
