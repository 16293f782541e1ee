//! The search for secret values in output.

use std::borrow::Cow;
use std::ops::Range;

use data_encoding::BASE64;

use super::lines::MIN_LEN;
use super::masked_yaml::valid_entry;
use super::prefixes::prefixes;
use crate::lint::is_common_word;
use crate::report::printable::{one_line, push_markdown, sarif_text};
use crate::text::Index;

/// The number of bytes at the start of a notation that decide whether a text may contain the notation. No value is shorter.
pub(super) const START: usize = MIN_LEN;

/// The marks of texts that a format cuts.
const CUTS: [&str; 2] = ["...", "\u{2026}"];

/// The start of a color.
const COLOR: &str = "\u{1B}[";

/// The maximum length of the numbers of a color in bytes.
const MAX_COLOR: usize = 20;

/// The maximum length of the rest of a notation beside a cut, in bytes.
const MAX_REST: usize = 400;

/// Masks values in the notations of all output formats.
#[derive(Debug)]
pub struct Redactor {
    /// The values that are masked in any text.
    anywhere: Search,
    /// The common words, such as `postgres`. A mask of a part of another word, such as `postgresql`, would hide no secret,
    /// and would destroy the word.
    words: Search,
}

/// A search for notations in texts.
#[derive(Debug)]
struct Search {
    /// The notations, sorted.
    notations: Vec<String>,
    /// For each notation, the position of the longest other notation with which it starts.
    prefixes: Vec<Option<usize>>,
    /// The positions of the notations with each start.
    starts: Index<[u8; START], Range<usize>>,
    /// The positions of the notations in the order of their reversed texts.
    reversed: Vec<usize>,
    /// The ends of the notations.
    ends: Index<[u8; START], ()>,
}

impl Search {
    fn new(mut notations: Vec<String>) -> Self {
        notations.sort_unstable();
        notations.dedup();
        let mut starts: Index<[u8; START], Range<usize>> = Index::default();
        for (at, notation) in notations.iter().enumerate() {
            if let Some(start) = notation.as_bytes().first_chunk() {
                starts.entry_or(*start, || at..at).end = at + 1;
            }
        }
        let ends = notations.iter().filter_map(|notation| Some((*notation.as_bytes().last_chunk()?, ()))).collect();
        let prefixes = prefixes(&notations);
        let mut reversed: Vec<usize> = (0..notations.len()).collect();
        let backwards = |at: usize| notations.get(at).into_iter().flat_map(|notation| notation.bytes().rev());
        reversed.sort_unstable_by(|one, other| backwards(*one).cmp(backwards(*other)));
        Self { notations, prefixes, starts, reversed, ends }
    }

    /// The places of the notations in a text: at each place the longest one, and none within another. Most output contains
    /// none.
    fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(rest) = text.as_bytes().get(at..).filter(|rest| !rest.is_empty()) {
            let len = self.longest(rest).map_or(0, str::len);
            found.extend((len > 0).then_some(at..at + len));
            at += len.max(1);
        }
        found
    }

    /// The longest notation at the start of a text.
    fn longest(&self, text: &[u8]) -> Option<&str> {
        let of_start = self.starts.get(text.first_chunk::<START>()?)?;
        let candidates = self.notations.get(of_start.clone())?;
        let after = of_start.start + candidates.partition_point(|notation| notation.as_bytes() <= text);
        // Every notation at the start of the text is this one, or a prefix of it.
        let mut at = after.checked_sub(1).filter(|at| of_start.contains(at))?;
        let common = self.notations.get(at)?.bytes().zip(text).take_while(|(a, b)| a == *b).count();
        loop {
            let notation = self.notations.get(at)?;
            if notation.len() <= common {
                return Some(notation);
            }
            at = (*self.prefixes.get(at)?)?;
        }
    }

    /// Returns whether a notation starts with a text.
    fn has_start(&self, text: &str) -> bool {
        let Some(of_start) = text.as_bytes().first_chunk().and_then(|start: &[u8; START]| self.starts.get(start))
        else {
            return false;
        };
        let candidates = self.notations.get(of_start.clone()).unwrap_or_default();
        let first = candidates.partition_point(|notation| &**notation < text);
        candidates.get(first).is_some_and(|notation| notation.starts_with(text))
    }

    /// Returns whether a notation ends with a text.
    fn has_end(&self, text: &str) -> bool {
        if !text.as_bytes().last_chunk().is_some_and(|end| self.ends.contains(end)) {
            return false;
        }
        let notation = |at: &usize| self.notations.get(*at).map(String::as_str).unwrap_or_default();
        let first = self.reversed.partition_point(|at| notation(at).bytes().rev().lt(text.bytes().rev()));
        self.reversed.get(first).is_some_and(|at| notation(at).ends_with(text))
    }

    /// The places of the rests of notations before and after the cuts of lines.
    fn rests(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for (cut, mark) in CUTS.iter().flat_map(|mark| text.match_indices(mark)) {
            let end = without_colors_at_end(text.get(..cut).unwrap_or_default()).len();
            let before = end.saturating_sub(MAX_REST)..end.saturating_sub(START - 1);
            let place = before
                .map(|start| start..end)
                .find(|place| text.get(place.clone()).is_some_and(|rest| self.has_start(rest)));
            found.extend(place);
            let rest = text.get(cut + mark.len()..).unwrap_or_default();
            let start = text.len() - without_colors_at_start(rest).len();
            let after = start + START..=text.len().min(start + MAX_REST);
            let place = after
                .rev()
                .map(|end| start..end)
                .find(|place| text.get(place.clone()).is_some_and(|rest| self.has_end(rest)));
            found.extend(place);
        }
        found
    }
}

/// A text without the colors at its end.
fn without_colors_at_end(text: &str) -> &str {
    let mut text = text;
    while let Some(start) = text.strip_suffix('m').and_then(|colored| colored.rfind(COLOR)) {
        if !text.get(start + COLOR.len()..text.len() - 1).is_some_and(is_color) {
            break;
        }
        text = text.get(..start).unwrap_or_default();
    }
    text
}

/// A text without the colors at its start.
fn without_colors_at_start(text: &str) -> &str {
    let mut text = text;
    while let Some((color, rest)) = text.strip_prefix(COLOR).and_then(|colored| colored.split_once('m')) {
        if !is_color(color) {
            break;
        }
        text = rest;
    }
    text
}

/// Returns whether a text consists of the numbers of colors.
fn is_color(text: &str) -> bool {
    text.len() <= MAX_COLOR && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b';')
}

impl Redactor {
    /// Creates a redactor; `None` without values.
    pub(super) fn new<'a>(values: impl Iterator<Item = &'a str>) -> Option<Self> {
        let (mut anywhere, mut words) = (Vec::new(), Vec::new());
        for value in values {
            let mut notations = notations(value);
            if is_common_word(value) {
                words.extend(notations.extract_if(.., |notation| notation == value));
            }
            anywhere.extend(notations);
        }
        (!anywhere.is_empty() || !words.is_empty())
            .then(|| Self { anywhere: Search::new(anywhere), words: Search::new(words) })
    }

    /// Returns the text with each character of a secret value replaced by `*`. Keeps columns.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let words = self.words.places(text).into_iter().filter(|place| is_whole_word(text, place));
        let mut places: Vec<Range<usize>> = self.anywhere.places(text).into_iter().chain(words).collect();
        places.extend(self.anywhere.rests(text));
        if places.is_empty() {
            return Cow::Borrowed(text);
        }
        places.sort_unstable_by_key(|place| (place.start, place.end));
        let mut out = String::new();
        let mut done = 0;
        for place in places {
            let start = place.start.max(done);
            out.push_str(text.get(done..start).unwrap_or_default());
            out.extend(text.get(start..place.end).unwrap_or_default().chars().map(|_| '*'));
            done = place.end.max(start);
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// Masks secret values in a line of YAML, which stays valid.
    pub fn redact_yaml<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let Cow::Owned(masked) = self.redact(line) else { return Cow::Borrowed(line) };
        let mut start = masked.len() - masked.trim_start().len();
        while let Some(rest) = masked.get(start..).and_then(|rest| rest.strip_prefix("- ")) {
            start = masked.len() - rest.trim_start().len();
        }
        let (before, rest) = masked.split_at_checked(start).unwrap_or_default();
        let content = rest.trim_end();
        let end = rest.strip_prefix(content).unwrap_or_default();
        Cow::Owned(format!("{before}{}{end}", valid_entry(content)))
    }

    /// Masks the strings of JSON. A secret may contain quotes, so a mask of the whole text could destroy the syntax.
    pub fn redact_json<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, string)) = rest.split_once('"') {
            let end = end_of_string(string);
            out.push_str(before);
            out.push('"');
            out.push_str(&self.redact_string(string.get(..end).unwrap_or_default()));
            rest = string.get(end..).unwrap_or_default();
            if let Some(after) = rest.strip_prefix('"') {
                out.push('"');
                rest = after;
            }
        }
        out.push_str(rest);
        if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
    }

    /// Masks a JSON string without its quotes. A secret may start inside of an escape sequence.
    fn redact_string<'a>(&self, string: &'a str) -> Cow<'a, str> {
        let decoded =
            if string.contains('\\') { serde_json::from_str::<String>(&format!("\"{string}\"")).ok() } else { None };
        let Some(decoded) = decoded else { return self.redact(string) };
        match self.redact(&decoded) {
            Cow::Borrowed(_) => Cow::Borrowed(string),
            Cow::Owned(masked) => Cow::Owned(json(&masked)),
        }
    }

    /// Masks the texts and the values of attributes of XML, but no markup.
    pub fn redact_xml<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let (content, markup) = rest.split_at_checked(rest.find('<').unwrap_or(rest.len())).unwrap_or((rest, ""));
            out.push_str(&self.redact_escaped(content));
            let end = markup.find('>').map_or(markup.len(), |end| end + 1);
            let (tag, after) = markup.split_at_checked(end).unwrap_or((markup, ""));
            for (at, part) in tag.split('"').enumerate() {
                if at > 0 {
                    out.push('"');
                }
                out.push_str(&if at % 2 == 1 { self.redact_escaped(part) } else { Cow::Borrowed(part) });
            }
            rest = after;
        }
        if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
    }

    /// Masks the messages and the values of the properties of workflow commands, but not the commands themselves.
    pub fn redact_commands<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let masked: String = text.split_inclusive('\n').map(|line| self.redact_command(line)).collect();
        if masked == text { Cow::Borrowed(text) } else { Cow::Owned(masked) }
    }

    fn redact_command<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let parts = || {
            let (level, rest) = line.strip_prefix("::")?.split_once(' ')?;
            let (properties, message) = rest.split_once("::")?;
            Some((level, properties, message))
        };
        let Some((level, properties, message)) = parts() else { return self.redact(line) };
        let properties = properties.split(',').map(|property| match property.split_once('=') {
            Some((key, value)) => format!("{key}={}", self.redact(value)),
            None => self.redact(property).into_owned(),
        });
        let properties: Vec<String> = properties.collect();
        Cow::Owned(format!("::{level} {}::{}", properties.join(","), self.redact(message)))
    }

    /// Masks a text of XML. A secret may start inside of an entity.
    fn redact_escaped<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let plain = ENTITIES.iter().rev().fold(Cow::Borrowed(text), |text, (character, entity)| match text {
            text if text.contains(entity) => Cow::Owned(text.replace(entity, character)),
            text => text,
        });
        match self.redact(&plain) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(masked) => {
                Cow::Owned(ENTITIES.iter().fold(masked, |text, (character, entity)| text.replace(character, entity)))
            }
        }
    }
}

/// Returns whether no letter, digit, or sign of a name precedes or follows a place.
fn is_whole_word(text: &str, place: &Range<usize>) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let (before, after) = (text.get(..place.start).unwrap_or_default(), text.get(place.end..).unwrap_or_default());
    // A full stop may end a sentence.
    let continues = after.strip_prefix('.').unwrap_or(after).starts_with(is_part) || after.starts_with(['-', '_']);
    !before.ends_with(is_part) && !continues
}

/// The characters that XML escapes, in the order in which they are escaped.
const ENTITIES: [(&str, &str); 4] = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;")];

/// A text as a JSON string, without its quotes.
fn json(text: &str) -> String {
    let string = serde_json::to_string(text).unwrap_or_default();
    string.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default().to_owned()
}

/// The offset of the quote that ends a JSON string, or the length of the text.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.unwrap_or(text.len())
}

/// The notations of a value: as it is, in JSON, in XML, in HTML, in a workflow command, in quotes of YAML, in Markdown, in a message of
/// SARIF, in one line, and in Base64.
pub(super) fn notations(value: &str) -> Vec<String> {
    let is_same_in_all = |byte: u8| byte.is_ascii_alphanumeric() || b" -.:=+,".contains(&byte);
    if !value.is_empty() && value.bytes().all(is_same_in_all) {
        return vec![value.to_owned(), BASE64.encode(value.as_bytes())];
    }
    let xml = |quote| value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', quote);
    let html = xml("&quot;").replace('\'', "&#x27;").replace('/', "&#x2f;");
    let command = value.replace('%', "%25");
    let mut markdown = String::new();
    push_markdown(value, &mut markdown);
    let mut all = vec![
        value.to_owned(),
        json(value),
        xml("\""),
        xml("&quot;"),
        html,
        command,
        value.replace('\'', "''"),
        markdown.replace('`', "\\`"),
        markdown,
        sarif_text(value),
        one_line(value),
        BASE64.encode(value.as_bytes()),
    ];
    all.retain(|text| !text.is_empty());
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor(value: &str) -> Redactor {
        Redactor::new(std::iter::once(value)).unwrap()
    }

    #[test]
    fn a_mask_keeps_the_syntax_of_json() {
        for (value, line) in [
            ("nabcdef", "{\"a\": \"x\\nabcdef\"}"),
            ("x\"abcdef", "{\"a\": \"x\\\"abcdef\"}"),
            ("\": \"abc", "{\"a\": \"abc\"}"),
            ("abcdef\\", "{\"a\": \"abcdef\\\\\"}"),
        ] {
            let masked = redactor(value).redact_json(line).into_owned();
            let read: serde_json::Value = serde_json::from_str(&masked).unwrap();
            assert!(!read.get("a").unwrap().as_str().unwrap().contains(value), "{masked}");
        }
        assert_eq!(redactor("x\"abcdef").redact_json("{\"a\": \"x\\\"abcdef\"}"), "{\"a\": \"********\"}");
    }

    #[test]
    fn a_masked_quote_of_yaml_hides_no_further_line() {
        for (value, line, masked) in [
            ("hunter2\"", "a: \"x hunter2\"", "a: '\"x ********'"),
            ("nhunter2", "a: \"x\\nhunter2\"", "a: '\"x\\********\"'"),
            ("key\": hunter2", "\"x key\": hunter2", "'\"x *************'"),
            ("hunter2", "a: \"x hunter2\"", "a: \"x *******\""),
            ("hunter2", "\"a\": \"hunter2\",", "\"a\": \"*******\","),
        ] {
            assert_eq!(redactor(value).redact_yaml(line), masked);
        }
    }

    #[test]
    fn a_value_is_masked_in_the_notation_of_each_format() {
        for (value, text) in [
            ("it's Hunter2", "it''s Hunter2"),
            ("[Hunter2and]", r"\[Hunter2and\]"),
            ("`Hunter2and`", r"\`Hunter2and\`"),
            ("Hunter2\tand", "Hunter2 and"),
            ("Hunter2/it's", "Hunter2&#x2f;it&#x27;s"),
        ] {
            assert!(!redactor(value).redact(text).contains("unter"), "{text}");
        }
    }

    #[test]
    fn a_rest_beside_a_colored_cut_is_masked() {
        let text = "name: Hunter2-an\u{1B}[1m\u{1B}[94m...\u{1B}[0m";
        assert_eq!(redactor("Hunter2-and-more").redact(text), text.replace("Hunter2-an", "**********"));
        let text = "\u{1B}[94m...\u{1B}[0mnd-more, x";
        assert_eq!(redactor("Hunter2-and-more").redact(text), text.replace("nd-more", "*******"));
        assert_eq!(redactor("Hunter2-and-more").redact("Hunter2-an…"), "**********…");
    }

    #[test]
    fn a_masked_scalar_of_yaml_is_quoted() {
        let redactor = redactor("Europe/Oslo");
        for (line, masked) in [
            ("  value: Europe/Oslo\n", "  value: '***********'\n"),
            ("- Europe/Oslo it's\n", "- '*********** it''s'\n"),
            ("- - Europe/Oslo: a\n", "- - '***********': a\n"),
            ("Europe/Oslo:\n", "'***********':\n"),
            ("a: \"Europe/Oslo\"\n", "a: \"***********\"\n"),
            ("a: in Europe/Oslo\n", "a: in ***********\n"),
            ("a: open\n", "a: open\n"),
        ] {
            assert_eq!(redactor.redact_yaml(line), masked);
        }
    }

    #[test]
    fn a_common_word_is_masked_as_a_whole_word() {
        let redactor = Redactor::new(["postgres", "gresql.hunter2"].into_iter()).unwrap();
        let text = "postgres, `postgres`, postgresql, postgres-main, a:postgres@b, cG9zdGdyZXM=";
        let masked = "********, `********`, postgresql, postgres-main, a:********@b, ************";
        assert_eq!(redactor.redact(text), masked);
        assert_eq!(redactor.redact("postgresql.hunter2"), "post**************");
        assert_eq!(redactor.redact("is postgres. postgres.io"), "is ********. postgres.io");
    }

    #[test]
    fn a_mask_keeps_the_syntax_of_workflow_commands() {
        let line = "::error file=a/hunter2.yaml,line=1,title=x::a hunter2 b";
        for value in ["::error file=", "error", "file=a", ",line=1", ",title=x::", "::"] {
            assert_eq!(redactor(value).redact_command(line), line, "{value}");
        }
        let masked = "::error file=a/*******.yaml,line=1,title=x::a ******* b";
        assert_eq!(redactor("hunter2").redact_command(line), masked);
        assert_eq!(redactor("hunter2").redact_command("2 hunter2"), "2 *******");
    }

    #[test]
    fn a_mask_keeps_the_syntax_of_xml() {
        let line = "<case name=\"a &amp;lt; b\"><failure>x&lt;hunter2</failure></case>";
        for value in ["amp;lt;", "<failure>", "</failure></case>", "\"><failure>x", "e name="] {
            assert_eq!(redactor(value).redact_xml(line), line, "{value}");
        }
        let masked = "<case name=\"a &amp;lt; b\"><failure>*********</failure></case>";
        assert_eq!(redactor("x<hunter2").redact_xml(line), masked);
        assert_eq!(
            redactor("a &lt; b").redact_xml(line),
            "<case name=\"********\"><failure>x&lt;hunter2</failure></case>"
        );
    }
}
