//! The private values of Secrets.

use std::collections::BTreeMap;

use super::encoding::{decoded, is_encrypted_file};
use super::guessable::{is_common_word, is_guessable, repeats};
use super::markers::without_token_prefix;
use super::placeholder::is_placeholder;
use super::private::{Evidence, Private};
use super::random::looks_random;
use super::{name, search, shape};
use crate::kube::Object;
use crate::kustomize::is_yaml;
use crate::yaml::{Entry, Node, Style, Value, decode_base64};

/// The private values of a Secret, in `stringData` and in the decoded `data`.
pub(crate) fn in_secret(object: &Object) -> Vec<Private> {
    // SOPS adds a field `sops` to the objects that it encrypts.
    if object.node.get("sops").is_some() {
        return Vec::new();
    }
    let entries = |field: &str| object.node.get(field).map(Node::entries).unwrap_or_default();
    // `key` is often a name beside the secret, such as the name of a client.
    let is_name = |entry: &Entry, text: Option<&str>| {
        text.is_some_and(|text| &*entry.key == "key" && object.name().split(['-', '.']).any(|word| word == text.trim()))
    };
    let known = Known { secret: object.name(), user: user_name(object) };
    let plain = entries("stringData").iter().filter(|entry| !is_name(entry, entry.node.text()));
    let plain = plain.flat_map(|entry| in_entry(entry, entry.node.text(), &known));
    let encoded = entries("data").iter().flat_map(|entry| {
        // A placeholder for a later value is not encoded.
        if entry.node.text().is_some_and(|text| text.is_empty() || is_placeholder(text)) {
            return Vec::new();
        }
        let text = entry.node.text();
        // A value that is not in Base64 is not encoded.
        let is_encoded = text.is_none_or(|text| decode_base64(text).is_some());
        let value = if is_encoded { text.and_then(decoded) } else { text.map(str::to_owned) };
        in_entry(entry, value.as_deref(), &known)
    });
    let mut found: Vec<Private> = plain.chain(encoded).collect();
    add_numbered(&mut found, [entries("data"), entries("stringData")]);
    found
}

/// Adds the other parts of a numbered series of private values, such as the shares of a key: `key1`, `key2` and `key3`. One
/// of them may not look random.
fn add_numbered(found: &mut Vec<Private>, fields: [&[Entry]; 2]) {
    let series = |key: &str| {
        let stem = key.trim_end_matches(|letter: char| letter.is_ascii_digit());
        (stem.len() < key.len()).then(|| stem.to_owned())
    };
    for entries in fields {
        let of_places: BTreeMap<(&str, _), Evidence> =
            found.iter().rev().map(|one| ((&*one.name, one.span.order()), one.evidence)).collect();
        let private = |entry: &Entry| of_places.get(&(&*entry.key, entry.node.span().order())).copied();
        // The reason for each series, by the start of the names and the length of the values.
        let known: BTreeMap<(String, usize), Evidence> = entries
            .iter()
            .filter_map(|entry| {
                let (series, evidence) = (series(&entry.key)?, private(entry)?);
                let is_whole = matches!(evidence, Evidence::Name | Evidence::Secret);
                is_whole.then_some(((series, entry.node.text()?.len()), evidence))
            })
            .collect();
        let others = entries.iter().filter(|entry| private(entry).is_none());
        let others = others.filter_map(|entry| {
            let evidence = known.get(&(series(&entry.key)?, entry.node.text()?.len()))?;
            Some(Private::new(&entry.node, &entry.key, *evidence))
        });
        let others: Vec<Private> = others.collect();
        found.extend(others);
    }
    found.sort_by(|one, other| one.span.order().cmp(&other.span.order()));
}

/// The extensions of files that contain private keys in a binary format.
const KEY_STORES: [&str; 6] = [".jks", ".p12", ".pfx", ".keystore", ".kdbx", ".key"];

/// The name of the user in a Secret. A password with this value is a default.
fn user_name(object: &Object) -> Option<String> {
    let field = |field: &str| object.text_at(&[field, "username"]);
    field("stringData").map(|user| user.trim().to_string()).or_else(|| decoded(field("data")?))
}

/// The first words of instructions. A passphrase is not an instruction.
const INSTRUCTIONS: [&str; 16] = [
    "add",
    "ask",
    "create",
    "created",
    "from",
    "generate",
    "generated",
    "get",
    "managed",
    "obtain",
    "provided",
    "read",
    "run",
    "see",
    "stored",
    "use",
];

/// The words that connect the parts of an instruction.
const CONNECTIVES: [&str; 14] =
    ["a", "an", "and", "at", "by", "for", "from", "in", "it", "of", "the", "this", "to", "with"];

/// Returns whether a value is a text for users, such as the description of the value that belongs there.
///
/// A passphrase also consists of words, but not of sentences.
fn is_instruction(key: &str, value: &str) -> bool {
    const MIN_WORDS: usize = 6;
    let words: Vec<&str> = value.split_whitespace().collect();
    let is_word = |word: &&&str| {
        let word = word.trim_matches(['.', ',', ':', ';', '(', ')', '"', '\'', '`']);
        !word.is_empty() && word.chars().all(|letter| letter.is_alphabetic() || matches!(letter, '-' | '\''))
    };
    let known = words.iter().filter(is_word).count();
    let has_sentence = words.iter().any(|word| word.ends_with(['.', ',', ':']));
    let is_text = words.len() >= MIN_WORDS
        && value.starts_with(char::is_uppercase)
        && has_sentence
        && known * 4 >= words.len() * 3;
    is_text || (words.len() > 1 && !words.iter().any(|word| looks_random(word)) && is_short_text(key, &words))
}

/// Returns whether some words are a short text for users, such as `see README.md`. A token has no spaces.
fn is_short_text(key: &str, words: &[&str]) -> bool {
    let first = words.first().map(|word| word.to_ascii_lowercase());
    let is_document = |word: &str| word.rsplit_once('.').is_some_and(|(name, end)| !name.is_empty() && end == "md");
    let connects = |word: &&str| is_document(word) || CONNECTIVES.contains(&word.to_ascii_lowercase().as_str());
    let is_token = name::words(key).last().is_some_and(|last| last == "token");
    is_token
        || (first.is_some_and(|first| INSTRUCTIONS.contains(&first.as_str())) && words.iter().skip(1).any(connects))
}

/// The names of which a password is a default.
struct Known<'a> {
    /// The name of the Secret.
    secret: &'a str,
    /// The name of the user in the Secret.
    user: Option<String>,
}

impl Known<'_> {
    fn repeats(&self, value: &str) -> bool {
        repeats(self.secret, value) || self.user.as_deref() == Some(value)
    }

    /// Returns whether the name of the Secret states that its values are credentials.
    fn holds_credentials(&self) -> bool {
        const WORDS: [&str; 5] = ["credential", "credentials", "token", "tokens", "unseal"];
        name::words(self.secret).iter().any(|word| WORDS.contains(&word.as_str()))
    }
}

/// The private parts of a value of a Secret. `text` is the decoded value; `None` if the value is not text.
fn in_entry(entry: &Entry, text: Option<&str>, known: &Known<'_>) -> Vec<Private> {
    let (key, node) = (&*entry.key, &entry.node);
    let has_private_name = name::of_secret(key);
    let private = |evidence: Evidence| vec![Private::new(node, key, evidence)];
    if matches!(node.value, Value::Scalar(_, Style::Unknown)) || key.starts_with("sops_") {
        return Vec::new();
    }
    let Some(text) = text else {
        let is_store = KEY_STORES.iter().any(|end| key.to_ascii_lowercase().ends_with(end));
        return if is_store || has_private_name { private(Evidence::Secret) } else { Vec::new() };
    };
    let value = text.trim();
    if is_encrypted_file(value) || shape::is_public(value) {
        return Vec::new();
    }
    if shape::is_password_hash(value) {
        return private(Evidence::Shape(shape::PASSWORD_HASH));
    }
    if is_instruction(key, value) && shape::find(value).is_none() {
        return Vec::new();
    }
    if search::is_structured(value) || (is_yaml(key) && search::is_mapping(value)) {
        let mut found = search::in_text(node, text);
        // The format of the value is unknown, but its key indicates a private value.
        let looks_random = || value.split_whitespace().any(looks_random);
        if found.is_empty() && has_private_name && !search::is_mapping(value) && looks_random() {
            found = private(Evidence::Secret);
        }
        let is_registry = matches!(key, ".dockerconfigjson" | ".dockercfg");
        for one in &mut found {
            if one.name.is_empty() {
                one.name = key.to_string();
            }
            // A file of a Secret is as private as a value of the Secret.
            if (is_registry || name::is_password(&one.name)) && one.evidence == Evidence::Name {
                one.evidence = Evidence::Secret;
            }
        }
        return found;
    }
    if let Some(shape) = shape::find(value) {
        return private(Evidence::Shape(shape.what));
    }
    if shape::has_known_password(value) {
        return private(Evidence::Guessable);
    }
    let is_switch = matches!(value, "true" | "false" | "yes" | "no" | "on" | "off");
    if is_placeholder(value)
        || name::is_public(key)
        || is_switch
        || shape::is_address(value)
        || shape::is_algorithm(value)
    {
        return Vec::new();
    }
    let is_example = || without_token_prefix(value).is_some_and(is_common_word);
    let is_default = is_guessable(value) || repeats(key, value) || known.repeats(value) || is_example();
    match (has_private_name, is_default) {
        (true, true) => private(Evidence::Guessable),
        (true, false) => private(Evidence::Secret),
        (false, _) if looks_random(value) && known.holds_credentials() => private(Evidence::Secret),
        (false, _) if looks_random(value) => private(Evidence::Name),
        (false, _) => Vec::new(),
    }
}
