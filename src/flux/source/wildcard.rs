//! Wildcards in one segment of a path, as Go's `path.Match` matches them.
//!
//! `.sourceignore` files and the copies of ArtifactGenerators use these wildcards. Other globs differ in the meaning of
//! `[!a]`, `**` and an unclosed `[`, and in the syntax errors that they detect before the end of a name.

/// The error of a pattern that Go rejects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadPattern;

/// Returns whether a pattern matches a whole name.
///
/// Syntax errors after the first mismatching part are not detected.
pub(super) fn matches(pattern: &str, name: &str) -> Result<bool, BadPattern> {
    let (mut pattern, mut name) = (pattern.as_bytes(), name.as_bytes());
    while !pattern.is_empty() {
        let part = Part::first(pattern);
        pattern = part.rest;
        if part.star && part.chunk.is_empty() {
            return Ok(!name.contains(&b'/'));
        }
        match part.begins(name)? {
            // The last part must match the end of the name; a star before the last part may match more.
            Some(rest) if rest.is_empty() || !pattern.is_empty() => name = rest,
            _ if part.star => match part.skip_to(name, pattern.is_empty())? {
                Some(rest) => name = rest,
                None => return Ok(false),
            },
            _ => return Ok(false),
        }
    }
    Ok(name.is_empty())
}

/// A part of a pattern: an optional star, and the chunk up to the next star.
struct Part<'a> {
    star: bool,
    chunk: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Part<'a> {
    fn first(pattern: &'a [u8]) -> Self {
        let stars = pattern.iter().take_while(|byte| **byte == b'*').count();
        let (_, after) = pattern.split_at(stars);
        let mut in_class = false;
        let mut at = 0;
        while let Some(byte) = after.get(at) {
            match byte {
                b'\\' if at + 1 < after.len() => at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'*' if !in_class => break,
                _ => {}
            }
            at += 1;
        }
        let (chunk, rest) = after.split_at(at.min(after.len()));
        Self { star: stars > 0, chunk, rest }
    }

    /// Skips one or more bytes of a name until the chunk matches, and returns the rest.
    fn skip_to<'n>(&self, name: &'n [u8], is_last: bool) -> Result<Option<&'n [u8]>, BadPattern> {
        let mut left = name;
        while let Some((first, rest)) = left.split_first().filter(|(first, _)| **first != b'/') {
            let _ = first;
            left = rest;
            if let Some(end) = self.begins(left)?.filter(|end| !is_last || end.is_empty()) {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Matches the start of a name and returns the rest. Also detects syntax errors after a mismatch.
    fn begins<'n>(&self, name: &'n [u8]) -> Result<Option<&'n [u8]>, BadPattern> {
        let (mut chunk, mut left) = (self.chunk, name);
        let mut differs = false;
        while let Some((first, rest)) = chunk.split_first() {
            differs |= left.is_empty();
            match first {
                b'[' => {
                    let (seen, after) = rune(left);
                    let (class, behind) = Class::read(rest)?;
                    if !differs {
                        left = after;
                        differs = !class.has(seen);
                    }
                    chunk = behind;
                    continue;
                }
                b'?' => {
                    if !differs {
                        differs = left.first() == Some(&b'/');
                        left = rune(left).1;
                    }
                    chunk = rest;
                    continue;
                }
                _ => {}
            }
            let (literal, behind) = match first {
                b'\\' => rest.split_first().ok_or(BadPattern)?,
                literal => (literal, rest),
            };
            if !differs {
                differs = left.first() != Some(literal);
                left = left.get(1..).unwrap_or_default();
            }
            chunk = behind;
        }
        Ok((!differs).then_some(left))
    }
}

/// A character class: `[a-z]`, `[^x]`.
struct Class {
    negated: bool,
    ranges: Vec<(u32, u32)>,
}

impl Class {
    /// Parses a character class after the `[`, and returns the text after the `]`.
    fn read(chunk: &[u8]) -> Result<(Self, &[u8]), BadPattern> {
        let negated = chunk.first() == Some(&b'^');
        let mut left = chunk.get(usize::from(negated)..).unwrap_or_default();
        let mut ranges = Vec::new();
        loop {
            if left.first() == Some(&b']') && !ranges.is_empty() {
                return Ok((Self { negated, ranges }, left.get(1..).unwrap_or_default()));
            }
            let (low, behind) = character(left)?;
            let (high, behind) = match behind.split_first() {
                Some((b'-', rest)) => character(rest)?,
                _ => (low, behind),
            };
            ranges.push((low, high));
            left = behind;
        }
    }

    fn has(&self, character: u32) -> bool {
        self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&character)) != self.negated
    }
}

/// A character of a character class, which must not be the last character of the pattern.
fn character(chunk: &[u8]) -> Result<(u32, &[u8]), BadPattern> {
    let escaped = match chunk.first() {
        None | Some(b'-' | b']') => return Err(BadPattern),
        Some(b'\\') => chunk.get(1..).unwrap_or_default(),
        Some(_) => chunk,
    };
    let (character, rest) = rune(escaped);
    if escaped.is_empty() || rest.is_empty() || (character == REPLACEMENT && escaped.len() - rest.len() == 1) {
        return Err(BadPattern);
    }
    Ok((character, rest))
}

/// The character to which Go decodes an invalid UTF-8 byte.
const REPLACEMENT: u32 = char::REPLACEMENT_CHARACTER as u32;

/// The first character of some bytes, and the rest. The bytes that a star skips may end inside a character.
fn rune(bytes: &[u8]) -> (u32, &[u8]) {
    let longest = bytes.get(..4.min(bytes.len())).unwrap_or_default();
    let valid = longest.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    match valid.chars().next() {
        Some(first) => (u32::from(first), bytes.get(first.len_utf8()..).unwrap_or_default()),
        None => (REPLACEMENT, bytes.get(1..).unwrap_or_default()),
    }
}
