//! Text files, and ranges of their text.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arcstr::ArcStr;

use super::index::Index;

/// A text file: its path in the tree (segments separated by `/`, no leading `/`) and its text. A clone is cheap.
#[derive(Clone)]
pub struct File(Arc<Inner>);

struct Inner {
    path: ArcStr,
    root: Option<ArcStr>,
    text: ArcStr,
    /// Whether the bytes of the file are UTF-16.
    is_utf16: bool,
    line_starts: OnceLock<Box<[u32]>>,
    /// The number of characters before each block of [`BLOCK`] bytes.
    characters: OnceLock<Box<[u32]>>,
}

/// The bytes after which the number of characters is stored, since a file may have a single line.
const BLOCK: usize = 4_096;

/// The reason why a file is not text that a YAML reader accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes are neither UTF-8 nor UTF-16 with a byte order mark.
    #[error("it is not text: neither UTF-8 nor UTF-16 with a byte order mark")]
    NotText,
    /// The file is larger than [`File::MAX_LEN`].
    #[error("it is larger than {} MiB", File::MAX_LEN >> 20)]
    TooLarge,
}

/// A position, as editors show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// The distinct texts of files. The directories of clusters have many copies of a file.
#[derive(Debug, Default)]
pub struct SharedTexts(Mutex<Index<ArcStr, ()>>);

impl SharedTexts {
    fn share(&self, text: String) -> ArcStr {
        // Each entry is inserted in one step, so a panic leaves no partial entry.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, ())) = known.get_with_key(text.as_str()) {
            return known.clone();
        }
        let text: ArcStr = text.into();
        known.insert(text.clone(), ());
        text
    }
}

impl File {
    /// The maximum size of a file, in bytes.
    pub const MAX_LEN: usize = 64 << 20;

    /// Creates a file. A text that is longer than [`File::MAX_LEN`] is truncated at a character boundary.
    ///
    /// Files with equal texts can share the text.
    pub fn new(path: impl Into<ArcStr>, text: impl Into<ArcStr>) -> Self {
        let mut text: ArcStr = text.into();
        if text.len() > Self::MAX_LEN {
            text = text[..text.floor_char_boundary(Self::MAX_LEN)].into();
        }
        Self(Arc::new(Inner {
            path: path.into(),
            root: None,
            text,
            is_utf16: false,
            line_starts: OnceLock::new(),
            characters: OnceLock::new(),
        }))
    }

    /// Decodes bytes as YAML readers do: UTF-8, or UTF-16 with a byte order mark.
    ///
    /// A UTF-8 byte order mark stays in the text, so that offsets are offsets of the file. For a UTF-16 file, offsets
    /// are offsets of its text in UTF-8. Lines and columns are the same in both encodings.
    pub fn decode(path: impl Into<ArcStr>, bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let is_utf16 = is_utf16(&bytes);
        Ok(Self::new(path, decode(bytes)?).with_encoding(is_utf16))
    }

    /// Decodes bytes as [`File::decode`] does. Files with equal texts share the text.
    pub fn decode_shared(path: impl Into<ArcStr>, bytes: Vec<u8>, texts: &SharedTexts) -> Result<Self, DecodeError> {
        let is_utf16 = is_utf16(&bytes);
        Ok(Self::new(path, texts.share(decode(bytes)?)).with_encoding(is_utf16))
    }

    fn with_encoding(mut self, is_utf16: bool) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.is_utf16 = is_utf16;
        }
        self
    }

    /// Returns whether the bytes of the file are its text.
    pub fn is_utf8(&self) -> bool {
        !self.0.is_utf16
    }

    /// Moves the file from the linted tree to another tree. `root` is the directory of that tree, as the user typed it.
    #[must_use]
    pub fn in_root(self, root: ArcStr) -> Self {
        let mut inner = Arc::try_unwrap(self.0).unwrap_or_else(|shared| Inner {
            path: shared.path.clone(),
            root: None,
            text: shared.text.clone(),
            is_utf16: shared.is_utf16,
            line_starts: OnceLock::new(),
            characters: OnceLock::new(),
        });
        inner.root = Some(root);
        Self(Arc::new(inner))
    }

    /// The path from the root of the tree.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The path from the root of the tree. Collections of files can share it.
    pub fn shared_path(&self) -> &ArcStr {
        &self.0.path
    }

    /// The directory of the file's tree, as the user typed it; `None` for the linted tree.
    pub fn root(&self) -> Option<&ArcStr> {
        self.0.root.as_ref()
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The whole text. Files that share it were created with the same text.
    pub fn shared_text(&self) -> &ArcStr {
        &self.0.text
    }

    /// A span of this file. A range outside the text or inside a character is clamped to character boundaries.
    pub fn span(&self, range: Range<usize>) -> Span {
        let text = self.text();
        let start = text.floor_char_boundary(range.start.min(text.len()));
        let end = text.floor_char_boundary(range.end.clamp(start, text.len()));
        let narrow = |offset: usize| u32::try_from(offset).expect("a file is shorter than MAX_LEN");
        Span { file: self.clone(), start: narrow(start), len: narrow(end - start) }
    }

    /// The span of the first line, for findings about the whole file.
    pub fn first_line(&self) -> Span {
        self.span(0..self.text().find('\n').unwrap_or(self.text().len()))
    }

    /// The line and column of a byte offset.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.text().floor_char_boundary(offset.min(self.text().len()));
        let starts = self.line_starts();
        let line = starts.partition_point(|start| *start as usize <= offset).max(1);
        let start = starts[line - 1] as usize;
        let column = if offset - start < 2 * BLOCK {
            count_characters(&self.text()[start..offset]) + 1
        } else {
            self.characters_before(offset) - self.characters_before(start) + 1
        };
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Position { line: narrow(line), column: narrow(column) }
    }

    /// The number of characters before a byte offset.
    fn characters_before(&self, offset: usize) -> usize {
        let text = self.text();
        let start_of = |block: usize| text.floor_char_boundary(block * BLOCK);
        let before = self.0.characters.get_or_init(|| {
            let counts = (0..=text.len() / BLOCK).scan(0, |count: &mut u32, block| {
                if block > 0 {
                    let counted = count_characters(&text[start_of(block - 1)..start_of(block)]);
                    *count += u32::try_from(counted).expect("a file is shorter than MAX_LEN");
                }
                Some(*count)
            });
            counts.collect()
        });
        let mut block = offset / BLOCK;
        // A character may extend over the start of a block.
        if start_of(block) > offset {
            block -= 1;
        }
        before[block] as usize + count_characters(&text[start_of(block)..offset])
    }

    /// The line (from 1) of a byte offset. A line may be as long as the file, so the search does not visit its characters.
    pub fn line_at(&self, offset: usize) -> u32 {
        let line = self.line_starts().partition_point(|start| *start as usize <= offset).max(1);
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// The byte range of a line (from 1) without its line break; `None` past the end.
    pub fn line(&self, line: u32) -> Option<Range<usize>> {
        let index = (line as usize).checked_sub(1)?;
        let starts = self.line_starts();
        let start = *starts.get(index)? as usize;
        let end = starts.get(index + 1).map_or(self.text().len(), |next| *next as usize);
        let kept = self.text()[start..end].trim_end_matches(['\n', '\r']).len();
        Some(start..start + kept)
    }

    fn line_starts(&self) -> &[u32] {
        self.0.line_starts.get_or_init(|| {
            let breaks = memchr::memchr_iter(b'\n', self.text().as_bytes());
            let starts = breaks.map(|at| u32::try_from(at + 1).expect("a file is shorter than MAX_LEN"));
            std::iter::once(0).chain(starts).collect()
        })
    }
}

/// The text of bytes as YAML readers decode them.
fn decode(bytes: Vec<u8>) -> Result<String, DecodeError> {
    if bytes.len() > File::MAX_LEN {
        return Err(DecodeError::TooLarge);
    }
    let utf16 = |decode: fn([u8; 2]) -> u16| {
        let (units, rest) = bytes[2..].as_chunks::<2>();
        if !rest.is_empty() {
            return Err(DecodeError::NotText);
        }
        let units: Vec<u16> = units.iter().map(|unit| decode(*unit)).collect();
        String::from_utf16(&units).map_err(|_| DecodeError::NotText)
    };
    let text = match bytes.as_slice() {
        [0xFF, 0xFE, ..] => utf16(u16::from_le_bytes)?,
        [0xFE, 0xFF, ..] => utf16(u16::from_be_bytes)?,
        _ => String::from_utf8(bytes).map_err(|_| DecodeError::NotText)?,
    };
    if text.contains('\0') {
        return Err(DecodeError::NotText);
    }
    Ok(text)
}

impl File {
    /// Returns whether both are clones of one file, so that no text is compared.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl PartialEq for File {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
            || (self.path() == other.path() && self.root() == other.root() && self.text() == other.text())
    }
}

impl Eq for File {}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "File({:?}, {} bytes)", self.path(), self.text().len())
    }
}

/// A byte range of a file, on character boundaries.
#[derive(Clone, PartialEq, Eq)]
pub struct Span {
    file: File,
    start: u32,
    len: u32,
}

impl Span {
    /// The file that contains the span.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The same range of another file with the same text.
    #[must_use]
    pub fn of_copy(&self, file: &File) -> Self {
        Self { file: file.clone(), start: self.start, len: self.len }
    }

    /// The byte range in the file's text.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }

    /// The text of the range.
    pub fn text(&self) -> &str {
        &self.file.text()[self.range()]
    }

    /// The line and column of the first character.
    pub fn position(&self) -> Position {
        self.file.position(self.start as usize)
    }

    /// The line and column after the last character.
    pub fn end_position(&self) -> Position {
        self.file.position(self.range().end)
    }

    /// The sort key of findings in one tree: path, then offset, then length.
    pub fn order(&self) -> (&str, u32, u32) {
        (self.file.path(), self.start, self.len)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, column } = self.position();
        write!(f, "{}:{line}:{column} {:?}", self.file.path(), self.text())
    }
}

/// Returns whether bytes start with a byte order mark of UTF-16.
fn is_utf16(bytes: &[u8]) -> bool {
    matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..])
}

/// Returns the number of characters of a text. A byte order mark does not count.
fn count_characters(text: &str) -> usize {
    text.chars().filter(|c| *c != '\u{FEFF}').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let file = File::new("a.yaml", "é: 1\r\nb: 2\n");
        assert_eq!(file.span(7..8).position(), Position { line: 2, column: 1 });
        assert_eq!(file.position(4), Position { line: 1, column: 4 });
        assert_eq!(file.line(1), Some(0..5));
        assert_eq!(file.line(3), Some(12..12));
        assert_eq!(file.line(4), None);
    }

    #[test]
    fn the_columns_of_a_long_line_count_characters() {
        let text = "a: 1\n".to_owned() + &"é€x".repeat(10_000) + "\nb: 2\n";
        let file = File::new("a.yaml", text.as_str());
        let mut column = 0;
        for (at, c) in text.char_indices() {
            column = if file.position(at).column == 1 { 1 } else { column + 1 };
            assert_eq!(file.position(at).column, column, "{at} {c}");
        }
        assert_eq!(column, 5);
    }

    #[test]
    fn a_byte_order_mark_does_not_count_as_a_column() {
        let file = File::decode("a.yaml", b"\xEF\xBB\xBFkey: 1".to_vec()).unwrap();
        assert_eq!(file.position(3), Position { line: 1, column: 1 });
    }

    #[test]
    fn utf_16_is_decoded_and_binary_is_rejected() {
        let bytes: Vec<u8> = "\u{FEFF}a: 1".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let file = File::decode("a.yaml", bytes).unwrap();
        assert_eq!((file.text(), file.is_utf8()), ("a: 1", false));
        assert_eq!(File::decode("a.yaml", vec![0x1F, 0x8B, 0x08]), Err(DecodeError::NotText));
        assert_eq!(File::decode("a.yaml", b"a\0b".to_vec()), Err(DecodeError::NotText));
    }

    #[test]
    fn files_with_the_same_path_in_two_roots_differ() {
        let ours = File::new("a.yaml", "a: 1");
        let theirs = ours.clone().in_root("../theirs".into());
        assert_eq!(
            (theirs.path(), theirs.text(), theirs.root().map(|root| &**root)),
            ("a.yaml", "a: 1", Some("../theirs"))
        );
        assert!(ours != theirs && ours.root().is_none());
    }

    #[test]
    fn a_span_never_splits_a_character() {
        let file = File::new("a.yaml", "é");
        assert_eq!(file.span(1..9).text(), "é");
    }
}
