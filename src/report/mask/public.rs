//! Values of secrets that are public elsewhere in the repository: names, keys, parts of paths, and whole lines.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use arcstr::ArcStr;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::contained::Contained;
use crate::lint::may_name_secrets;
use crate::text::{File, Index, Tree};

/// The quotes around keys and values.
const QUOTES: [char; 2] = ['"', '\''];

/// The places of the secrets of a repository.
#[derive(Debug, Default)]
pub(super) struct SecretPlaces {
    /// The secret ranges of each file, sorted.
    pub(super) ranges: BTreeMap<String, Vec<Range<usize>>>,
    /// The files that generators of Secrets read.
    pub(super) sources: BTreeSet<String>,
}

impl SecretPlaces {
    fn contains(&self, file: &File, start: usize) -> bool {
        let is_in_range = |ranges: &Vec<Range<usize>>| {
            let after = ranges.partition_point(|range| range.start <= start);
            after.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|range| start < range.end)
        };
        self.sources.contains(file.path()) || self.ranges.get(file.path()).is_some_and(is_in_range)
    }
}

/// The values that are also names, keys or parts of paths, and the lines of manifests that files contain outside of
/// secrets. For example, the name of a user of a database is often the name of the database.
///
/// `copies` are the YAML files of the tree with each text.
pub(super) fn public_values(
    secrets: &BTreeSet<ArcStr>,
    tree: &Tree,
    copies: &[Vec<&File>],
    places: &SecretPlaces,
) -> BTreeSet<ArcStr> {
    let mut seen: Index<&str, ()> = Index::default();
    let parts = tree.entries().flat_map(|(path, _)| path.split(['/', '.']));
    let parts = parts.filter(|part| seen.insert(*part, ()).is_none());
    let references: Vec<(ArcStr, Vec<ArcStr>)> =
        secrets.iter().filter_map(|value| Some((value.clone(), reference(value)?))).collect();
    let is_candidate = |value: &&ArcStr| is_name(value) || is_kind(value) || is_line(value) || is_file_name(value);
    let mut values: BTreeSet<ArcStr> = secrets.iter().filter(is_candidate).cloned().collect();
    values.extend(references.iter().flat_map(|(_, parts)| parts).cloned());
    let mut public: BTreeSet<ArcStr> =
        parts.filter_map(|part| secrets.get(part).or_else(|| values.get(part)).cloned()).collect();
    let candidates: Vec<&ArcStr> = values.iter().collect();
    // A mask of a part of a path would make the path useless, and every tool shows paths.
    let mut in_paths = Contained::new(&candidates);
    tree.entries().for_each(|(path, _)| in_paths.search(path));
    public.extend(in_paths.found());
    let search = Candidates::of(&candidates);
    if !candidates.is_empty() {
        let of_copies = |files: &Vec<&File>| {
            // Copies differ only in whether a generator of a Secret reads them.
            let outside = files.iter().find(|file| !places.sources.contains(file.path()));
            outside.or(files.first()).map(|file| search.in_file(file, places)).unwrap_or_default()
        };
        public.extend(copies.par_iter().flat_map_iter(of_copies).collect::<BTreeSet<_>>());
    }
    // Messages contain references of a namespace and a name.
    let is_public = |parts: &[ArcStr]| parts.iter().all(|part| public.contains(part));
    let references: Vec<ArcStr> =
        references.into_iter().filter(|(_, parts)| is_public(parts)).map(|(value, _)| value).collect();
    public.extend(references);
    public
}

/// The maximum number of values for which a search of all files at once is the fastest one.
const MAX_FEW: usize = 32;

/// The values that may be public.
struct Candidates<'a> {
    values: Index<&'a str, &'a ArcStr>,
    /// The length of the longest value.
    max_len: usize,
    /// Finds the files with a value, if there are few values: it examines many bytes at once.
    any: Option<AhoCorasick>,
    value_ends: Ends,
    /// The values that may be whole lines.
    lines: Index<&'a str, &'a ArcStr>,
    line_ends: Ends,
}

impl<'a> Candidates<'a> {
    fn of(values: &[&'a ArcStr]) -> Self {
        let lines = || values.iter().filter(|value| is_line(value));
        Self {
            values: values.iter().map(|value| (&***value, *value)).collect(),
            max_len: values.iter().map(|value| value.len()).max().unwrap_or_default(),
            any: (values.len() <= MAX_FEW)
                .then(|| {
                    AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(values.iter().map(|it| &***it))
                })
                .and_then(Result::ok),
            value_ends: Ends::of(values.iter().map(|value| &***value)),
            lines: lines().map(|value| (&***value, *value)).collect(),
            line_ends: Ends::of(lines().map(|value| &***value)),
        }
    }

    /// The values that are keys or values of names in a file, and the lines that are whole lines outside of secrets.
    fn in_file(&self, file: &File, places: &SecretPlaces) -> Vec<ArcStr> {
        let text = file.text();
        let mut found = Vec::new();
        if self.any.as_ref().is_some_and(|any| !any.is_match(text)) {
            return found;
        }
        let mut start = 0;
        for sign in memchr::memchr2_iter(b':', b'\n', text.as_bytes()).chain([text.len()]) {
            let Some(before) = text.get(start..sign) else { continue };
            if text.as_bytes().get(sign) == Some(&b':') {
                let rest = || text.get(sign + 1..).unwrap_or_default();
                let key = Some(before).filter(|before| self.value_ends.may_end(without_quotes(before)));
                let key = key.and_then(|before| key_at_end(before, self.max_len));
                let words = [key, named(before, rest)].into_iter().flatten();
                found.extend(words.filter_map(|word| self.values.get(word)).map(|value| (*value).clone()));
                continue;
            }
            if self.line_ends.may_end(before.trim_ascii_end()) {
                let item = before.trim_ascii_start();
                for line in [Some(item), item.strip_prefix("- ")].into_iter().flatten() {
                    let value = self.lines.get(line.trim_ascii_end());
                    let value = value.filter(|_| !places.contains(file, sign - line.len()));
                    found.extend(value.map(|value| (*value).clone()));
                }
            }
            start = sign + 1;
        }
        found
    }
}

/// The last bytes of some texts, which exclude most other texts without a lookup.
struct Ends {
    /// The numbers of the ends.
    known: Box<[bool]>,
    /// Whether a text is shorter than an end.
    has_short: bool,
}

impl Ends {
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut ends = Self { known: vec![false; 1 << 16].into(), has_short: false };
        for text in texts {
            match Self::number(text).and_then(|number| ends.known.get_mut(number)) {
                Some(known) => *known = true,
                None => ends.has_short = true,
            }
        }
        ends
    }

    /// A number of 16 bits for the last four bytes of a text.
    fn number(text: &str) -> Option<usize> {
        let end = text.as_bytes().last_chunk().map(|end| u32::from_le_bytes(*end))?;
        Some((end.wrapping_mul(0x9E37_79B1) >> 16) as usize)
    }

    /// Returns whether a text may end with one of the texts.
    fn may_end(&self, text: &str) -> bool {
        self.has_short || Self::number(text).and_then(|number| self.known.get(number)).is_some_and(|known| *known)
    }
}

/// A text without the quotes at its end.
fn without_quotes(text: &str) -> &str {
    let quotes = text.bytes().rev().take_while(|byte| matches!(byte, b'"' | b'\'')).count();
    text.get(..text.len() - quotes).unwrap_or_default()
}

/// The key at the end of a text before a colon, if it is not longer than a maximum. A line may have many colons.
fn key_at_end(before: &str, max_len: usize) -> Option<&str> {
    let key = without_quotes(before);
    let is_before_key = |byte: &u8| matches!(byte, b' ' | b'{' | b',' | b'"' | b'\'');
    let from = key.len().saturating_sub(max_len + 1);
    let start = key.as_bytes().get(from..)?.iter().rposition(is_before_key).map(|at| from + at + 1);
    let start = start.or((from == 0).then_some(0))?;
    let (outside, key) = key.split_at_checked(start)?;
    let outside = outside.trim_end_matches(QUOTES);
    (outside.is_empty() || outside.ends_with([' ', '{', ','])).then_some(key)
}

/// The value of a name, between the texts before and after its colon.
fn named<'a>(before: &str, after: impl Fn() -> &'a str) -> Option<&'a str> {
    // Most keys end in another letter.
    let is_named =
        before.ends_with(['d', 'e']) && ["name", "namespace", "kind"].iter().any(|key| before.ends_with(key));
    if !is_named {
        return None;
    }
    let after = after().strip_prefix(' ')?.trim_start_matches(QUOTES);
    let end = after.find(['"', '\'', '\r', '\n', ',', '}', ' ']).unwrap_or(after.len());
    let (value, rest) = after.split_at_checked(end)?;
    let rest = rest.trim_start_matches(QUOTES);
    (rest.is_empty() || rest.starts_with(['\r', '\n', ',', '}', ' '])).then_some(value)
}

/// The parts of a value that may be a reference such as `shop/web`, or a path such as `shop/`.
fn reference(value: &str) -> Option<Vec<ArcStr>> {
    let parts: Vec<&str> = value.split('/').filter(|part| !part.is_empty()).collect();
    (value.contains('/') && !parts.is_empty() && parts.iter().all(|part| is_name(part)))
        .then(|| parts.into_iter().map(ArcStr::from).collect())
}

/// Returns whether a value may be a public line of a manifest: a key with a value, or an item of a list that is a word. The
/// value of a key such as `password` is never public.
fn is_line(value: &str) -> bool {
    let is_item = |item: &str| item.bytes().all(|byte| byte.is_ascii_alphabetic() || b"-_./:".contains(&byte));
    match value.split_once(": ") {
        Some((key, _)) => is_key(key.trim_start_matches("- ")) && !may_name_secrets(key),
        None => value.strip_prefix("- ").is_some_and(is_item),
    }
}

/// Returns whether a value may be the name of a file, which is often a key of a Secret.
fn is_file_name(value: &str) -> bool {
    let extension = value.rsplit_once('.').map_or("", |(_, extension)| extension);
    is_key(value)
        && !value.contains('/')
        && (1..=4).contains(&extension.len())
        && extension.bytes().all(|b| b.is_ascii_lowercase())
}

/// Returns whether a text is the key of an entry in YAML.
pub(super) fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
}

/// Returns whether a value may be the name of an object.
pub(super) fn is_name(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'_'))
}

/// Returns whether a value may be the kind of an object. A generator may read a file of objects.
pub(super) fn is_kind(value: &str) -> bool {
    value.starts_with(|first: char| first.is_ascii_uppercase())
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
