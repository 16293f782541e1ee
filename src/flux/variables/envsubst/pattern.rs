//! `${x#pattern}`: the patterns of file names, in which a star also matches slashes.

use std::borrow::Cow;
use std::cell::Cell;

use super::fault::FaultKind;

/// How many comparisons all patterns of an object may take together.
pub(super) const MAX_STEPS: usize = 50_000_000;

/// Which end is cut off, and how much of it.
#[derive(Clone, Copy)]
pub(super) struct Trim {
    pub(super) suffix: bool,
    pub(super) longest: bool,
}

/// Why a pattern does not match: it is none.
struct Invalid;

/// Cuts off what a pattern matches.
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
    // The real program turns both around; a class in brackets is none any more then.
    let reverse = |text: &str| text.chars().rev().collect::<String>();
    let turned = reverse(value);
    let len = matched(turned.as_bytes(), reverse(pattern).as_bytes(), trim.longest, steps)?;
    let rest = String::from_utf8_lossy(turned.as_bytes().get(len..).unwrap_or_default());
    Ok(Cow::Owned(reverse(&rest)))
}

/// How many bytes at the start of a text a pattern matches; none where it is invalid.
fn matched(text: &[u8], pattern: &[u8], longest: bool, steps: &Cell<usize>) -> Result<usize, FaultKind> {
    let chunks = chunks(pattern);
    // Whether a pattern is valid shows only on the way: with one that is, the first match upwards is the shortest.
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

/// What stands between stars, and whether a star stands before it.
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

/// Tells whether a pattern matches a whole text.
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

/// What follows a match of a chunk at the start of a text.
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

/// Tells whether a character is in a class, and what follows the class.
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

/// One character of a class, and what follows it, which cannot be nothing.
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

/// The first character of a text that may be cut, and its length; a byte that begins none stands for itself.
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
