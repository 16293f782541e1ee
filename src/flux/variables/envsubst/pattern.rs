//! The patterns of `${x#pattern}`: glob patterns in which `*` also matches slashes.

use std::borrow::Cow;
use std::cell::Cell;

use super::fault::FaultKind;

/// The end to trim, and whether to remove the longest match.
#[derive(Clone, Copy)]
pub(super) struct Trim {
    pub(super) suffix: bool,
    pub(super) longest: bool,
}

/// The error of an invalid pattern.
struct Invalid;

/// Removes the match of a pattern from a value.
pub(super) fn trim<'v>(
    value: &'v str,
    pattern: &str,
    trim: Trim,
    steps: &Cell<usize>,
) -> Result<Cow<'v, str>, FaultKind> {
    if !trim.suffix {
        let len = matched(value.as_bytes(), pattern.as_bytes(), trim.longest, steps)?;
        return value.get(len..).map(Cow::Borrowed).ok_or(FaultKind::CutCharacter);
    }
    // Flux reverses the value and the pattern, after which a character class in brackets is no longer a character
    // class.
    let reverse = |text: &str| text.chars().rev().collect::<String>();
    let turned = reverse(value);
    let len = matched(turned.as_bytes(), reverse(pattern).as_bytes(), trim.longest, steps)?;
    let rest = String::from_utf8_lossy(turned.as_bytes().get(len..).unwrap_or_default());
    Ok(Cow::Owned(reverse(&rest)))
}

/// The number of bytes that a pattern matches at the start of a text; 0 if the pattern is invalid.
fn matched(text: &[u8], pattern: &[u8], longest: bool, steps: &Cell<usize>) -> Result<usize, FaultKind> {
    let chunks = chunks(pattern);
    // An invalid pattern is detected only during matching. For a valid pattern, the first match of a search from short
    // to long is the shortest match.
    let upwards = !longest && !pattern.iter().any(|byte| matches!(byte, b'[' | b'\\'));
    let mut shortest = 0;
    for count in 1..=text.len() {
        let len = if upwards { count } else { text.len() + 1 - count };
        match matches(&chunks, text.get(..len).unwrap_or_default(), steps) {
            Ok(false) => {}
            Ok(true) if longest || upwards => return Ok(len),
            Ok(true) => shortest = len,
            Err(Invalid) => return Ok(0),
        }
        if steps.get() == 0 {
            return Err(FaultKind::TooSlow);
        }
    }
    Ok(shortest)
}

/// The chunks between stars, and whether a star precedes each chunk.
fn chunks(mut pattern: &[u8]) -> Vec<(bool, &[u8])> {
    let mut chunks = Vec::new();
    while !pattern.is_empty() {
        let stars = pattern.iter().take_while(|byte| **byte == b'*').count();
        let rest = pattern.get(stars..).unwrap_or_default();
        let (mut end, mut in_class) = (0, false);
        while let Some(byte) = rest.get(end) {
            match byte {
                b'\\' if end + 1 < rest.len() => end += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'*' if !in_class => break,
                _ => {}
            }
            end += 1;
        }
        let (chunk, rest) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        chunks.push((stars > 0, chunk));
        pattern = rest;
    }
    chunks
}

/// Returns whether a pattern matches a whole text.
fn matches(chunks: &[(bool, &[u8])], mut text: &[u8], steps: &Cell<usize>) -> Result<bool, Invalid> {
    'chunks: for (at, (star, chunk)) in chunks.iter().enumerate() {
        if *star && chunk.is_empty() {
            return Ok(true);
        }
        let last = at + 1 == chunks.len();
        let from = if *star { text.len() } else { 0 };
        for skipped in 0..=from {
            let Some(tried) = text.get(skipped..) else { break };
            steps.set(steps.get().saturating_sub(chunk.len() + 1));
            if steps.get() == 0 {
                return Ok(false);
            }
            if let Some(rest) = after(chunk, tried)?
                && (!last || rest.is_empty())
            {
                text = rest;
                continue 'chunks;
            }
        }
        return Ok(false);
    }
    Ok(text.is_empty())
}

/// The rest after a match of a chunk at the start of a text; `None` without a match.
fn after<'t>(mut chunk: &[u8], mut text: &'t [u8]) -> Result<Option<&'t [u8]>, Invalid> {
    while let Some((first, rest)) = chunk.split_first() {
        let Some((byte, others)) = text.split_first() else { return Ok(None) };
        match first {
            b'[' => {
                let (c, len) = character(text);
                text = text.get(len..).unwrap_or_default();
                let (is_in, rest) = class(rest, c)?;
                if !is_in {
                    return Ok(None);
                }
                chunk = rest;
                continue;
            }
            b'?' => {
                text = text.get(character(text).1..).unwrap_or_default();
                chunk = rest;
                continue;
            }
            _ => {}
        }
        let (literal, rest) = match first {
            b'\\' => rest.split_first().ok_or(Invalid)?,
            other => (other, rest),
        };
        if literal != byte {
            return Ok(None);
        }
        (chunk, text) = (rest, others);
    }
    Ok(Some(text))
}

/// Returns whether a character is in a character class, and the rest after the character class.
fn class(mut class: &[u8], c: u32) -> Result<(bool, &[u8]), Invalid> {
    let negated = class.first() == Some(&b'^');
    if negated {
        class = class.get(1..).unwrap_or_default();
    }
    let (mut is_in, mut first) = (false, true);
    loop {
        if let Some((b']', rest)) = class.split_first()
            && !first
        {
            return Ok((is_in != negated, rest));
        }
        let (low, rest) = member(class)?;
        let (high, rest) = match rest.split_first() {
            Some((b'-', rest)) => member(rest)?,
            _ => (low, rest),
        };
        is_in |= (low..=high).contains(&c);
        (class, first) = (rest, false);
    }
}

/// One character of a character class, and the rest, which must not be empty.
fn member(class: &[u8]) -> Result<(u32, &[u8]), Invalid> {
    let class = match class.split_first() {
        None | Some((b'-' | b']', _)) => return Err(Invalid),
        Some((b'\\', rest)) => rest,
        Some(_) => class,
    };
    if class.is_empty() {
        return Err(Invalid);
    }
    let (c, len) = character(class);
    match class.get(len..) {
        Some(rest) if !rest.is_empty() => Ok((c, rest)),
        _ => Err(Invalid),
    }
}

/// The first character of a text that may be truncated, and its length. An invalid byte has length 1.
fn character(text: &[u8]) -> (u32, usize) {
    let len = match text.first() {
        Some(0xC2..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF4) => 4,
        _ => 1,
    };
    let c = text.get(..len).and_then(|bytes| std::str::from_utf8(bytes).ok()).and_then(|text| text.chars().next());
    c.map_or((0xFFFD, 1), |c| (u32::from(c), len))
}
