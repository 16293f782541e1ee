//! The search for private values in nodes and texts, with the positions of the values.

use std::cell::OnceCell;
use std::ops::Range;

use super::encoding::{decoded, is_encrypted_file};
use super::guessable::is_guessable;
use super::markers::may_assign;
use super::name::{self, Name};
use super::placeholder::is_placeholder;
use super::private::{Evidence, Private};
use super::random::looks_random;
use super::shape;
use crate::text::{File, Span};
use crate::yaml::{Embedded, Node, Parsed, Reader, Scalar, Style, Value, parse};

/// The maximum depth of the search. Objects are not deeper.
const MAX_DEPTH: usize = 256;

/// The depth that a text in a scalar adds, since it is parsed again.
const TEXT_DEPTH: usize = 8;

/// The private values of a node and of the texts in it.
pub fn private_values(node: &Node) -> Vec<Private> {
    let mut search = Search { found: Vec::new() };
    search.node(node, 0);
    search.found
}

/// The private parts of the text of a scalar. The text may also be decoded, or come from a generator's file.
pub(super) fn in_text(scalar: &Node, text: &str) -> Vec<Private> {
    let mut search = Search { found: Vec::new() };
    search.text(&Place::of(scalar, text), text, 0);
    search.found
}

/// Returns whether a text has parts: several lines, or the fields of a JSON object or list.
pub(super) fn is_structured(text: &str) -> bool {
    let is_json = (text.starts_with('{') && text.ends_with('}')) || (text.starts_with("[{") && text.ends_with("}]"));
    text.contains('\n') || (is_json && text.contains('"'))
}

/// Returns whether a text is a YAML or JSON mapping.
pub(super) fn is_mapping(text: &str) -> bool {
    let parsed = parse(&File::new("", text));
    parsed.findings.is_empty() && parsed.documents.iter().all(|document| document.node.is_map())
}

/// The place of a text, from which the positions of its parts follow.
enum Place<'a> {
    /// The text is a file.
    File(File),
    /// The text is a scalar. Its lines are mapped to the file on demand.
    Scalar(&'a Node, OnceCell<Box<Embedded>>),
    /// The text is encoded, so its parts have no positions of their own.
    Whole(Span),
}

impl<'a> Place<'a> {
    fn of(scalar: &'a Node, text: &str) -> Self {
        let span = scalar.span();
        if span.file().text() == text {
            Self::File(span.file().clone())
        } else if scalar.text() == Some(text) {
            Self::Scalar(scalar, OnceCell::new())
        } else {
            Self::Whole(span.clone())
        }
    }

    fn embedded<'b>(scalar: &Node, embedded: &'b OnceCell<Box<Embedded>>) -> &'b Embedded {
        embedded.get_or_init(|| Box::new(Embedded::new(scalar)))
    }

    fn parse(&self, text: &str) -> Parsed {
        match self {
            Self::File(file) => parse(file),
            Self::Scalar(scalar, embedded) => Self::embedded(scalar, embedded).parse(),
            Self::Whole(_) => parse(&File::new("", text)),
        }
    }

    /// The position of a range of the text; `None` if only the position of the whole text is known.
    fn span(&self, range: Range<usize>) -> Option<Span> {
        match self {
            Self::File(file) => Some(file.span(range)),
            Self::Scalar(scalar, embedded) => Self::embedded(scalar, embedded).span(range),
            Self::Whole(_) => None,
        }
    }
}

struct Search {
    found: Vec<Private>,
}

impl Search {
    fn node(&mut self, node: &Node, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match &node.value {
            Value::Scalar(..) => self.scalar("", node, node, depth),
            Value::Seq(items) => items.iter().for_each(|item| self.node(item, depth + 1)),
            Value::Map(entries) => {
                // An environment variable: `name: PASSWORD` beside `value: …`.
                let variable = || node.get("name").and_then(Node::text).unwrap_or("value");
                for entry in entries.iter() {
                    let name = if &*entry.key == "value" { variable() } else { &entry.key };
                    match &entry.node.value {
                        Value::Scalar(..) => self.scalar(name, &entry.node, node, depth),
                        // The fields of a reference are names: `secretKeyRef: {name: …, key: …}`.
                        Value::Map(_) if is_key_reference(&entry.key) => {}
                        Value::Seq(_) | Value::Map(_) => self.node(&entry.node, depth + 1),
                    }
                }
            }
        }
    }

    fn scalar(&mut self, name: &str, scalar: &Node, among: &Node, depth: usize) {
        let Value::Scalar(text, style) = &scalar.value else { return };
        if *style == Style::Unknown || is_encrypted_file(text) {
            return;
        }
        let value = text.trim();
        if shape::is_password_hash(value) {
            self.found.push(Private::new(scalar, name, Evidence::Shape(shape::PASSWORD_HASH)));
            return;
        }
        if is_structured(value) {
            let before = self.found.len();
            self.text(&Place::of(scalar, text), text, depth + TEXT_DEPTH);
            for one in self.found.iter_mut().skip(before).filter(|one| one.name.is_empty()) {
                one.name = name.to_string();
            }
            return;
        }
        if let Some(evidence) = evidence(name, scalar, value, among) {
            self.found.push(Private::new(scalar, name, evidence));
        }
    }

    fn text(&mut self, place: &Place<'_>, text: &str, depth: usize) {
        if depth > MAX_DEPTH || is_encrypted_file(text) {
            return;
        }
        let before = self.found.len();
        let shape = shape::find(text);
        if shape.is_some() || may_assign(text, |name| name::of_value(name) != Name::Neutral) {
            let parsed = place.parse(text);
            let is_plain = |node: &Node| node.text().is_some();
            let is_known = parsed.findings.is_empty() && parsed.documents.iter().all(|document| document.complete);
            if is_known && !parsed.documents.iter().any(|document| is_plain(&document.node)) {
                parsed.documents.iter().for_each(|document| self.node(&document.node, depth + 1));
            } else {
                self.lines(place, text);
            }
        }
        let is_found = self.found.iter().skip(before).any(|one| matches!(one.evidence, Evidence::Shape(_)));
        if !is_found && let Some(shape) = shape {
            let span = place.span(shape.range);
            let span = span.unwrap_or_else(|| whole(place));
            let evidence = Evidence::Shape(shape.what);
            self.found.push(Private { span, name: String::new(), evidence, variable: None });
        }
        if let Place::Whole(span) = place {
            self.found.iter_mut().skip(before).for_each(|one| one.span = span.clone());
        }
    }

    /// Searches the lines `name = value` and `name: value` of a text in another format.
    ///
    /// The search accepts only random values, since programs also contain such lines.
    fn lines(&mut self, place: &Place<'_>, text: &str) {
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let at = start;
            start += line.len();
            if line.trim_start().starts_with(['#', ';']) || line.trim_start().starts_with("//") {
                continue;
            }
            let Some((name, value)) = line.split_once(['=', ':']) else { continue };
            let name = name.trim().rsplit(char::is_whitespace).next().unwrap_or_default();
            let value = value.trim().trim_end_matches([',', ';']).trim_matches(['"', '\'']);
            if name::of_value(name.trim_matches(['"', '\''])) == Name::Neutral
                || !looks_random(value)
                || is_placeholder(value)
                || shape::is_public(value)
                || shape::is_call(value)
            {
                continue;
            }
            let from = at + line.rfind(value).unwrap_or_default();
            let span = place.span(from..from + value.len()).unwrap_or_else(|| whole(place));
            let name = name.trim_matches(['"', '\'']).to_string();
            let named = if is_guessable(value) { Evidence::Guessable } else { Evidence::Name };
            let evidence = shape::of_named(&name, value).map_or(named, Evidence::Shape);
            self.found.push(Private { span, name, evidence, variable: None });
        }
    }
}

/// The position of a whole text.
fn whole(place: &Place<'_>) -> Span {
    match place {
        Place::File(file) => file.first_line(),
        Place::Scalar(scalar, embedded) => Place::embedded(scalar, embedded).outer().clone(),
        Place::Whole(span) => span.clone(),
    }
}

/// Returns whether a mapping assigns a value to a variable: `name: PASSWORD` beside `value: …`.
fn is_variable(name: &str, among: &Node) -> bool {
    among.get("name").and_then(Node::text) == Some(name) && among.get("value").is_some()
}

/// The reason why a value outside of a Secret is private; `None` if the value is not private.
fn evidence(name: &str, scalar: &Node, value: &str, among: &Node) -> Option<Evidence> {
    if let Some(shape) = shape::find(value) {
        return Some(Evidence::Shape(shape.what));
    }
    if shape::has_known_password(value) {
        return Some(Evidence::Guessable);
    }
    let is_string = || matches!(scalar.resolve(Reader::Kustomize), Some(Scalar::String(_)));
    let told = name::of_value(name);
    if told == Name::Neutral
        || is_query_id(name, among)
        || !is_string()
        || is_placeholder(value)
        || shape::is_public(value)
        || shape::is_address(value)
        || password_of(name, value).is_some_and(|password| is_placeholder(&password))
    {
        return None;
    }
    if let Some(what) = shape::of_named(name, value) {
        return Some(Evidence::Shape(what));
    }
    // Programs number their objects: `key: 12f354f0-…` of a dashboard.
    let is_name = shape::is_variable_name(value) || is_beside_its_name(name, among);
    if is_name || (told == Name::Ambiguous && shape::is_uuid(value)) {
        return None;
    }
    if looks_random(value) && !is_guessable(value) {
        return Some(Evidence::Name);
    }
    if told == Name::Ambiguous
        || shape::is_setting(value)
        || value.contains(char::is_whitespace)
        || is_key_of_secret(name, among)
    {
        return None;
    }
    if is_guessable(value) {
        return Some(Evidence::Guessable);
    }
    // A password may be any word, except a key of a Secret with several words, such as `password: admin-password`.
    // Other values may be names: `clientSecret: web-client`, `apiKey: unused`.
    let has_digit = value.contains(|letter: char| letter.is_ascii_digit());
    let is_private = if name::is_password(name) {
        let is_key = name::words(value).len() > 1 && name::of_value(value) != Name::Neutral;
        has_digit || !is_key || is_variable(name, among)
    } else {
        has_digit && !value.contains('-')
    };
    is_private.then_some(Evidence::Name)
}

/// The password in the credentials of a registry: `auth` is `USER:PASSWORD`, encoded.
fn password_of(name: &str, value: &str) -> Option<String> {
    let credentials = decoded(value).filter(|_| name == "auth")?;
    Some(credentials.split_once(':')?.1.to_owned())
}

/// Returns whether a field references a key of a Secret or ConfigMap.
fn is_key_reference(name: &str) -> bool {
    matches!(name, "valueFrom" | "secretKeyRef" | "configMapKeyRef")
}

/// Returns whether a value is the id of a query of a Grafana dashboard: `key: Q-…` beside `refId: A`.
fn is_query_id(name: &str, among: &Node) -> bool {
    name == "key" && among.get("refId").is_some()
}

/// Returns whether a field has the key of an object that a sibling field names: `loginKey` beside `loginName`.
fn is_beside_its_name(name: &str, among: &Node) -> bool {
    let object = name.strip_suffix("Key").filter(|object| !object.is_empty());
    object.and_then(|object| among.get(&format!("{object}Name"))).and_then(Node::text).is_some_and(|it| !it.is_empty())
}

/// Returns whether a value is a key of a Secret in a sibling field, such as `secretKey` beside `existingSecret`.
fn is_key_of_secret(name: &str, among: &Node) -> bool {
    let is_key = name.to_ascii_lowercase().ends_with("key");
    is_key
        && among.entries().iter().any(|entry| {
            let other = entry.key.to_ascii_lowercase();
            let is_named = entry.node.text().is_none_or(|text| !text.is_empty());
            *entry.key != *name
                && is_named
                && ["secret", "secretname", "secretref"].iter().any(|end| other.ends_with(end))
        })
}
