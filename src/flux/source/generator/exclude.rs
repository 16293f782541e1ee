//! The `exclude` globs of a copy: `**` matches any number of directories, and `{a,b}` matches one of several
//! alternatives.

use std::fmt::Write as _;

use regex::RegexSet;

use super::paths::name_of;

/// The maximum number of globs of one copy, after the alternatives are expanded.
const MAX_GLOBS: usize = 1_000;

/// The globs of a copy.
#[derive(Debug)]
pub(super) struct Exclude {
    /// The globs that are matched against paths.
    paths: RegexSet,
    /// The globs without `/`, which are also matched against names.
    names: RegexSet,
}

/// The reason why globs are rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// The controller rejects the glob at this index.
    Invalid(usize),
    /// The globs expand to too many globs.
    TooMany,
}

impl Exclude {
    pub(super) fn new<'a>(globs: impl Iterator<Item = &'a str>) -> Result<Self, Refused> {
        let (mut paths, mut names) = (Vec::new(), Vec::new());
        for (at, glob) in globs.enumerate() {
            let limit = MAX_GLOBS.saturating_sub(paths.len());
            for plain in expand(glob, limit).ok_or(Refused::TooMany)? {
                let plain: Vec<char> = plain.ok_or(Refused::Invalid(at))?;
                let regex = translate(&plain).ok_or(Refused::Invalid(at))?;
                if !glob.contains('/') {
                    names.push(regex.clone());
                }
                paths.push(regex);
            }
        }
        let set = |regexes: Vec<String>| RegexSet::new(regexes).map_err(|_| Refused::TooMany);
        Ok(Self { paths: set(paths)?, names: set(names)? })
    }

    /// Returns whether a path is excluded. The globs match paths from the root of the source and from the copied
    /// directory.
    pub(super) fn has(&self, path: &str, copied: &str) -> bool {
        let below = path.strip_prefix(copied).and_then(|rest| rest.strip_prefix('/')).filter(|_| !copied.is_empty());
        self.paths.is_match(path)
            || below.is_some_and(|below| self.paths.is_match(below))
            || self.names.is_match(name_of(path))
    }
}

#[cfg(test)]
impl Exclude {
    pub(super) fn has_path(&self, path: &str) -> bool {
        self.paths.is_match(path)
    }
}

/// Expands the alternatives of a glob; `None` for more than `limit` globs. An invalid glob is `None` in the list.
fn expand(glob: &str, limit: usize) -> Option<Vec<Option<Vec<char>>>> {
    let mut done = Vec::new();
    // Each glob, with the length of the prefix that contains no alternatives.
    let mut open = vec![(glob.chars().collect::<Vec<char>>(), 0)];
    while let Some((glob, known)) = open.pop() {
        if done.len() + open.len() >= limit {
            return None;
        }
        match next_alternatives(&glob, known) {
            Err(()) => done.push(None),
            Ok(None) => done.push(Some(glob)),
            Ok(Some((start, alternatives, end))) => {
                let splice =
                    |range: &std::ops::Range<usize>| [&glob[..start], &glob[range.clone()], &glob[end..]].concat();
                if done.len() + open.len() + alternatives.len() > limit {
                    return None;
                }
                open.extend(alternatives.iter().rev().map(|range| (splice(range), start)));
            }
        }
    }
    Some(done)
}

/// The start of the alternatives, the range of each alternative, and the end of the alternatives.
type Alternatives = (usize, Vec<std::ops::Range<usize>>, usize);

fn next_alternatives(glob: &[char], from: usize) -> Result<Option<Alternatives>, ()> {
    let mut at = from;
    while let Some(character) = glob.get(at) {
        match character {
            '\\' => at += 1,
            '[' => at = class_end(glob, at).ok_or(())?,
            '}' => return Err(()),
            '{' => {
                let (mut depth, mut start, mut ranges) = (0, at + 1, Vec::new());
                let mut end = at + 1;
                loop {
                    match glob.get(end).ok_or(())? {
                        '\\' => end += 1,
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => {
                            ranges.push(start..end);
                            start = end + 1;
                        }
                        _ => {}
                    }
                    end += 1;
                }
                ranges.push(start..end);
                return Ok(Some((at, ranges, end + 1)));
            }
            _ => {}
        }
        at += 1;
    }
    Ok(None)
}

/// The index of the `]` that ends a character class.
fn class_end(glob: &[char], open: usize) -> Option<usize> {
    let mut at = open + 1 + usize::from(matches!(glob.get(open + 1), Some('!' | '^')));
    if glob.get(at) == Some(&']') {
        return None;
    }
    loop {
        match glob.get(at)? {
            '\\' => at += 1,
            ']' => return Some(at),
            _ => {}
        }
        at += 1;
    }
}

/// Translates a glob without alternatives to a regular expression; `None` if the glob is invalid.
fn translate(glob: &[char]) -> Option<String> {
    let mut regex = String::from("(?s)^");
    let mut at = 0;
    let mut begins_segment = true;
    while let Some(character) = glob.get(at) {
        let rest = &glob[at..];
        match rest {
            // `x/**` also matches the directory `x` itself.
            ['/', '*', '*'] => {
                regex.push_str("(?:/.*)?");
                break;
            }
            ['/', '*', '*', '/'] => break,
            ['*', '*'] if begins_segment => {
                regex.push_str(".*");
                break;
            }
            ['*', '*', '/', ..] if begins_segment => {
                regex.push_str("(?:[^/]*/)*");
                at += 3;
                continue;
            }
            _ => {}
        }
        match character {
            '*' => regex.push_str("[^/]*"),
            '?' => regex.push_str("[^/]"),
            '[' => {
                let end = class_end(glob, at)?;
                class(&glob[at + 1..end], &mut regex);
                at = end;
            }
            '\\' => {
                at += 1;
                literal(*glob.get(at)?, &mut regex);
            }
            other => literal(*other, &mut regex),
        }
        begins_segment = glob.get(at) == Some(&'/');
        at += 1;
    }
    regex.push('$');
    Some(regex)
}

fn class(content: &[char], regex: &mut String) {
    let negated = matches!(content.first(), Some('!' | '^'));
    let mut left = content.get(usize::from(negated)..).unwrap_or_default();
    let mut ranges: Vec<(char, char)> = Vec::new();
    while let Some((low, rest)) = one(left) {
        left = rest;
        let high = match rest {
            ['-', after @ ..] => one(after),
            _ => None,
        };
        let Some((high, rest)) = high else {
            ranges.push((low, low));
            continue;
        };
        left = rest;
        // A reversed range matches its first character.
        ranges.push((low, high.max(low)));
    }
    regex.push_str(if negated { "[^" } else { "[" });
    for (low, high) in &ranges {
        literal(*low, regex);
        regex.push('-');
        literal(*high, regex);
    }
    regex.push(']');
}

/// The first character of a character class, which may be escaped.
fn one(content: &[char]) -> Option<(char, &[char])> {
    match content {
        ['\\', escaped, rest @ ..] => Some((*escaped, rest)),
        [first, rest @ ..] => Some((*first, rest)),
        [] => None,
    }
}

fn literal(character: char, regex: &mut String) {
    let _ = write!(regex, "\\x{{{:X}}}", u32::from(character));
}
