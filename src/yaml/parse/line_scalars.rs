//! The scalars of documents that consist of lines.
//!
//! A function returns `None` for a scalar that needs the event parser.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::ScalarStyle;
use memchr::{memchr, memchr3, memchr3_iter};

/// A scalar that may have several lines.
pub(super) struct LineScalar<'a> {
    pub(super) value: Cow<'a, str>,
    /// The end of its last character.
    pub(super) end: usize,
}

/// A block scalar.
pub(super) struct Block {
    pub(super) value: String,
    pub(super) style: ScalarStyle,
    /// The start of the line after its last line with content.
    pub(super) end: usize,
}

/// The number of bytes that are examined at once.
const CHUNK: usize = 64;

/// Returns whether all characters are printable. Only block scalars and comments may have tabs, which the other functions
/// reject.
pub(super) fn is_printable(text: &str) -> bool {
    let is_other = |byte: &u8| byte.wrapping_sub(b' ') > b'~' - b' ' && *byte != b'\n';
    let is_plain = |chunk: &&[u8]| !chunk.iter().fold(false, |found, byte| found | is_other(byte));
    let is_printable = |c: char| matches!(c, '\t' | '\n' | ' '..='~' | '\u{A0}'..='\u{FFFD}' | '\u{10000}'..);
    let is_break = |c: char| matches!(c, '\u{FEFF}' | '\u{2028}' | '\u{2029}');
    let mut rest = text;
    loop {
        let plain: usize = rest.as_bytes().chunks(CHUNK).take_while(is_plain).map(<[u8]>::len).sum();
        let (chunk, after) =
            rest.get(plain..).map_or(("", ""), |others| others.split_at(others.ceil_char_boundary(CHUNK)));
        if chunk.is_empty() {
            return true;
        }
        if !chunk.chars().all(|c| is_printable(c) && !is_break(c)) {
            return false;
        }
        rest = after;
    }
}

/// The line at an offset: its first character that is no space, and its end.
fn line_at(text: &str, at: usize) -> (usize, usize) {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    let end = memchr(b'\n', rest).unwrap_or(rest.len());
    let spaces = rest.iter().take(end).take_while(|byte| **byte == b' ').count();
    (at + spaces, at + end)
}

/// The next line with content after the end of a line, with the line breaks between both.
fn next_line(text: &str, end: usize) -> Option<(usize, usize, usize, usize)> {
    let mut start = end + 1;
    let mut breaks = 1;
    while start < text.len() {
        let (first, end) = line_at(text, start);
        if first < end {
            return Some((start, first, end, breaks));
        }
        (start, breaks) = (end + 1, breaks + 1);
    }
    None
}

/// Adds the line breaks between two lines of a scalar: a single one is a space.
fn fold(value: &mut String, breaks: usize) {
    match breaks {
        1 => value.push(' '),
        _ => value.extend(std::iter::repeat_n('\n', breaks - 1)),
    }
}

/// The plain scalar whose first line has a range, with its further lines of a minimum indentation.
pub(super) fn plain_lines(text: &str, first: Range<usize>, min_indent: usize) -> Option<LineScalar<'_>> {
    let line = text.get(first.clone())?.trim_end_matches(' ');
    let mut scalar = LineScalar { value: Cow::Borrowed(line), end: first.start + line.len() };
    let mut end = first.end;
    while let Some((start, at, line_end, breaks)) = next_line(text, end) {
        let bytes = text.as_bytes().get(at..line_end)?;
        if at - start < min_indent || bytes.first() == Some(&b'#') {
            break;
        }
        let is_indicator = matches!(bytes, [b'-' | b'?' | b':'] | [b'-' | b'?' | b':', b' ', ..]);
        (!is_indicator).then_some(())?;
        let mut comment = None;
        for sign in memchr3_iter(b':', b'#', b'\t', bytes) {
            match bytes.get(sign)? {
                b'\t' => return None,
                b':' if matches!(bytes.get(sign + 1), None | Some(b' ')) => return None,
                b'#' if sign > 0 && bytes.get(sign - 1) == Some(&b' ') => {
                    comment = Some(at + sign);
                    break;
                }
                _ => {}
            }
        }
        let line = text.get(at..comment.unwrap_or(line_end))?.trim_end_matches(' ');
        let value = scalar.value.to_mut();
        fold(value, breaks);
        value.push_str(line);
        scalar.end = at + line.len();
        if comment.is_some() {
            break;
        }
        end = line_end;
    }
    Some(scalar)
}

/// The quoted scalar at an offset, whose further lines have a minimum indentation.
pub(super) fn quoted(text: &str, at: usize, min_indent: usize) -> Option<LineScalar<'_>> {
    let bytes = text.as_bytes();
    let quote = *bytes.get(at)?;
    let escape = if quote == b'"' { b'\\' } else { quote };
    let mut owned: Option<String> = None;
    // The place from which the text is not yet in the value.
    let mut from = at + 1;
    loop {
        // A line may have many scalars, so the search does not read the rest of the line.
        let sign = from + memchr3(quote, escape, b'\n', bytes.get(from..)?)?;
        memchr(b'\t', bytes.get(from..sign)?).is_none().then_some(())?;
        let (escaped, len) = match (bytes.get(sign)?, bytes.get(sign + 1)) {
            (b'\n', _) => {
                // The scalar continues on the next line.
                let (first, breaks) = continuation(text, sign, min_indent)?;
                let value = owned.get_or_insert_default();
                let kept = text.get(from..sign)?.trim_end_matches(' ');
                // An escaped space at the end of a line is rare.
                (!kept.is_empty() || !value.ends_with(' ')).then_some(())?;
                value.push_str(kept);
                fold(value, breaks);
                from = first;
                continue;
            }
            (b'\'', Some(b'\'')) if quote == b'\'' => ('\'', 2),
            (b'\\', Some(b'\n')) => {
                let (first, breaks) = continuation(text, sign + 1, min_indent)?;
                (breaks == 1).then_some(())?;
                owned.get_or_insert_default().push_str(text.get(from..sign)?);
                from = first;
                continue;
            }
            (b'\\', _) => escaped(text.get(sign + 1..)?)?,
            _ => {
                let last = text.get(from..sign)?;
                let value = match owned {
                    Some(value) => Cow::Owned(value + last),
                    None => Cow::Borrowed(last),
                };
                return Some(LineScalar { value, end: sign + 1 });
            }
        };
        let value = owned.get_or_insert_default();
        value.push_str(text.get(from..sign)?);
        value.push(escaped);
        from = sign + len;
    }
}

/// The next line of a quoted scalar after the end of a line: its first character, and the line breaks before it.
fn continuation(text: &str, line_end: usize, min_indent: usize) -> Option<(usize, usize)> {
    let (start, first, _, breaks) = next_line(text, line_end)?;
    (first - start >= min_indent.max(1)).then_some((first, breaks))
}

/// The character of the escape sequence at the start of a text after its backslash, and the length of the whole sequence.
fn escaped(text: &str) -> Option<(char, usize)> {
    Some(match text.as_bytes().first()? {
        b'n' => ('\n', 2),
        b't' => ('\t', 2),
        b'r' => ('\r', 2),
        sign @ (b'"' | b'\\' | b' ') => (char::from(*sign), 2),
        b'u' => {
            let code = text.get(1..5).filter(|code| code.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
            let character = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
            (character >= ' ' && is_printable(character.encode_utf8(&mut [0; 4]))).then_some((character, 6))?
        }
        _ => return None,
    })
}

/// The header of a block scalar.
struct Header {
    style: ScalarStyle,
    /// The number that sets the indentation.
    indent: Option<usize>,
    /// `-` or `+`.
    chomping: Option<u8>,
}

impl Header {
    fn parse(header: &str) -> Option<Self> {
        let (sign, indicators) = header.as_bytes().split_first()?;
        let style = if *sign == b'|' { ScalarStyle::Literal } else { ScalarStyle::Folded };
        let (indent, chomping) = match indicators {
            [] => (None, None),
            [chomping @ (b'-' | b'+')] => (None, Some(*chomping)),
            [digit @ b'1'..=b'9'] => (Some(usize::from(*digit - b'0')), None),
            [digit @ b'1'..=b'9', chomping @ (b'-' | b'+')] => (Some(usize::from(*digit - b'0')), Some(*chomping)),
            _ => return None,
        };
        Some(Self { style, indent, chomping })
    }
}

/// The block scalar with its header at an offset, and content of a minimum indentation.
pub(super) fn block_scalar(text: &str, at: usize, min_indent: usize) -> Option<Block> {
    let (_, header_end) = line_at(text, at);
    let header = Header::parse(text.get(at..header_end)?.trim_end_matches(' '))?;
    let (start, first, _, breaks) = next_line(text, header_end)?;
    let indent = header.indent.map_or(first - start, |indent| min_indent - 1 + indent);
    // A blank line before the content may be longer than the indentation, which is an error.
    let blank = text.get(header_end..start)?;
    let is_valid = indent >= min_indent && first - start >= indent;
    (is_valid && !blank.split('\n').any(|line| line.len() > indent)).then_some(())?;
    let mut value = "\n".repeat(breaks - 1);
    let (mut start, mut end) = (start, start);
    // The lines since the last content: the number of their breaks, and whether one has blanks beyond the indentation.
    let (mut breaks, mut has_blanks) = (0, false);
    let mut was_deeper = false;
    while start < text.len() {
        let (content, line_end) = line_at(text, start);
        // The last line of a file may lack its line break, which readers treat in different ways.
        (line_end < text.len()).then_some(())?;
        let line = text.get(start + indent..line_end).unwrap_or_default();
        if content < line_end && content - start < indent {
            (text.as_bytes().get(content) != Some(&b'\t')).then_some(())?;
            break;
        }
        if line.trim_ascii().is_empty() {
            has_blanks |= !line.is_empty();
            breaks += 1;
        } else {
            let is_deeper = line.starts_with([' ', '\t']);
            match header.style {
                _ if has_blanks => {
                    (header.style == ScalarStyle::Literal).then_some(())?;
                    let blank = text.get(end..start)?;
                    value.push('\n');
                    blank.lines().for_each(|line| {
                        value.push_str(line.get(indent..).unwrap_or_default());
                        value.push('\n');
                    });
                }
                ScalarStyle::Folded if breaks > 0 && !is_deeper && !was_deeper => fold(&mut value, breaks),
                _ => value.extend(std::iter::repeat_n('\n', breaks)),
            }
            value.push_str(line);
            (breaks, has_blanks, was_deeper) = (1, false, is_deeper);
            end = line_end + 1;
        }
        start = line_end + 1;
    }
    // Blanks beyond the indentation are content, also at the end.
    (!has_blanks).then_some(())?;
    match header.chomping {
        Some(b'-') => {}
        None => value.push('\n'),
        Some(_) => {
            value.extend(std::iter::repeat_n('\n', breaks));
            end = start;
        }
    }
    Some(Block { value, style: header.style, end })
}
