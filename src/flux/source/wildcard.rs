//! Wildcards within one segment of a path, as Go's `path.Match` reads them.
//!
//! `.sourceignore` files and the copies of ArtifactGenerators are read with these. Other globs differ in what `[!a]`, `**`
//! and an unclosed `[` mean, and in which mistakes are noticed before the end of a name.

/// A pattern that Go refuses, as far as it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadPattern;

/// Tells whether a pattern matches the whole of a name.
///
/// A mistake is one only where reading gets to it: what follows a part that does not match is not looked at.
pub(super) fn matches(pattern: &str, name: &str) -> Result<bool, BadPattern> {
    let (mut pattern, mut name) = (pattern.as_bytes(), name.as_bytes());
    while !pattern.is_empty() {
        let part = Part::first(pattern);
        pattern = part.rest;
        if part.star && part.chunk.is_empty() {
            return Ok(!name.contains(&b'/'));
        }
        match part.begins(name)? {
            // The last part has to reach the end of the name; a star before it may still give way.
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

/// A part of a pattern that has no star, but for one that may stand before it.
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

    /// Where the chunk matches behind one or more skipped bytes of a name, what is left of it.
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

    /// What is left of a name that begins as the chunk says; mistakes behind a difference are found too.
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

/// A class of characters: `[a-z]`, `[^x]`.
struct Class {
    negated: bool,
    ranges: Vec<(u32, u32)>,
}

impl Class {
    /// Reads a class from behind its `[`; gives what stands behind its `]`.
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

/// A character of a class; something has to stand behind it.
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

/// What Go reads where bytes are no UTF-8: one byte, as this character.
const REPLACEMENT: u32 = char::REPLACEMENT_CHARACTER as u32;

/// The first character of some bytes and what follows; skipping bytes after a star may begin within a character.
fn rune(bytes: &[u8]) -> (u32, &[u8]) {
    let longest = bytes.get(..4.min(bytes.len())).unwrap_or_default();
    let valid = longest.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    match valid.chars().next() {
        Some(first) => (u32::from(first), bytes.get(first.len_utf8()..).unwrap_or_default()),
        None => (REPLACEMENT, bytes.get(1..).unwrap_or_default()),
    }
}
