//! The private values in assignments and arguments, in a text of any format.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

use super::markers::may_name_secrets;
use super::name::{Name, of_value};

/// Matches the value after `NAME =`.
static ASSIGNED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"^\s?=\s?["']?([^\s"',;)}\]=]+)"#).expect("the expression is constant"));

/// Matches the value after `--NAME`, also as the next item of a list.
static ARGUMENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^(?:["']?,\s*|["']?\s+-\s+|[ \t]+)["']?([^\s"',;)}\]-][^\s"',;)}\]]*)"#)
        .expect("the expression is constant")
});

/// Matches the short flags of clients for a password, with the name of the client before them: `mysql -pVALUE`, where a
/// word in lower case or a path is another flag, and `sshpass -p VALUE`.
static SHORT_FLAG: LazyLock<Regex> = LazyLock::new(|| {
    let between = r#"(?:["']?,\s*|["']?\s+-\s+|[ \t]+)?["']?"#;
    Regex::new(&format!(
        r#"(?:^|[\s"'\[,])-(?:p([^\s"',;)}}\]=$<{{-][^\s"',;)}}\]]{{3,}})|[pa]{between}([^\s"',;)}}\]$<{{-][^\s"',;)}}\]]{{3,}}))"#
    ))
    .expect("the expression is constant")
});

/// Matches the flags of curl for a user with a password, as one or two words.
static USER_FLAG: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?:^|[\s"'\[,])(?:-[uU]|--user|--proxy-user)(?:=|["']?,\s*|["']?\s+-\s+|[ \t]+)?["']?[^\s"':,$-][^\s"':,]*:([^\s"',$<{][^\s"',]*)"#,
    )
    .expect("the expression is constant")
});

/// Matches the credentials in the header `Authorization`.
static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:bearer|basic)\s+([a-z0-9][a-z0-9._~+/=-]{7,})").expect("the expression is constant")
});

/// The mark of a flag whose value may be the next word.
const FLAG: &str = "--";

/// A part of the texts with credentials of clients or requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Client {
    /// A client whose flag `-p` has its value in the same word.
    Joining,
    /// Another client whose flag `-p` or `-a` is a password.
    Other,
    /// The client whose flags [`USER_FLAG`] matches.
    Curl,
    /// The part of a scheme of the header `Authorization` whose case does not vary within the part.
    Scheme,
}

/// The parts of the texts with credentials of clients or requests. None of them overlaps another.
const CLIENTS: [(&str, Client); 9] = [
    ("mysql", Client::Joining),
    ("mariadb", Client::Joining),
    ("sshpass", Client::Other),
    ("redis-cli", Client::Other),
    ("curl", Client::Curl),
    ("earer ", Client::Scheme),
    ("EARER ", Client::Scheme),
    ("asic ", Client::Scheme),
    ("ASIC ", Client::Scheme),
];

/// The kinds of clients in a text. Most texts contain none.
fn clients_in(text: &str) -> Vec<Client> {
    static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let words = CLIENTS.iter().map(|(word, _)| word);
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(words);
        finder.expect("the words are few and short")
    });
    let mut found = Vec::new();
    for (_, client) in FINDER.find_iter(text).filter_map(|found| CLIENTS.get(found.pattern().as_usize())) {
        if !found.contains(client) {
            found.push(*client);
        }
    }
    found
}

/// The ranges of the passwords in the short flags of clients.
fn values_of_clients(text: &str, clients: &[Client]) -> Vec<Range<usize>> {
    let is_other = clients.contains(&Client::Other);
    if !is_other && !clients.contains(&Client::Joining) {
        return Vec::new();
    }
    let found = SHORT_FLAG.captures_iter(text).filter_map(|found| {
        let is_password = |value: &str| {
            !value.contains('/') && value.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        };
        let joined = found.get(1).filter(|value| is_password(value.as_str()));
        joined.or_else(|| found.get(2).filter(|_| is_other)).map(|value| value.range())
    });
    found.collect()
}

/// The ranges of the credentials in requests: the flags of curl, and headers. A word of a sentence has only small letters.
fn values_of_requests(text: &str, clients: &[Client]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    if clients.contains(&Client::Curl) {
        found.extend(USER_FLAG.captures_iter(text).filter_map(|found| found.get(1)).map(|value| value.range()));
    }
    if clients.contains(&Client::Scheme) {
        let is_word = |value: &str| {
            let is_of_word = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'.' | b'/');
            value.bytes().skip(1).all(is_of_word)
        };
        let values = HEADER.captures_iter(text).filter_map(|found| found.get(1));
        found.extend(values.filter(|value| !is_word(value.as_str())).map(|value| value.range()));
    }
    found
}

/// The ranges of values that a text assigns to names that denote secrets, such as `--password=…` or `password = …`.
///
/// This finds too much rather than too little, since it is for masks. References such as `$(PASSWORD)` are not values.
pub fn assigned_values(text: &str) -> Vec<Range<usize>> {
    let clients = clients_in(text);
    let of_clients = values_of_clients(text, &clients).into_iter().chain(values_of_requests(text, &clients));
    let found = assigned_words(text).filter_map(|word| {
        if !may_name_secrets(text.get(word.clone())?) {
            return None;
        }
        let value = value_after(text, &word)?;
        let name = text.get(word)?.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        let is_private = match of_value(name) {
            Name::Private => true,
            Name::Ambiguous => text.get(value.clone())?.bytes().any(|byte| byte.is_ascii_digit()),
            Name::Neutral => false,
        };
        (is_private && !text.get(value.clone())?.starts_with(['$', '<', '{'])).then_some(value)
    });
    of_clients.chain(found).collect()
}

/// The ranges of the words before a `=`, and of the flags.
fn assigned_words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let before = |end: usize| {
        let start = bytes.get(..end).unwrap_or_default().iter().rposition(|byte| !is_of_word(*byte));
        start.map_or(0, |at| at + 1)..end
    };
    let names = memchr::memchr_iter(b'=', bytes).filter_map(move |at| {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let before_space = at.checked_sub(1).filter(|space| bytes.get(*space).is_some_and(is_space));
        Some(before(before_space.unwrap_or(at))).filter(|word| !is_flag(text, word))
    });
    let mut next = 0;
    let flags = memchr::memmem::find_iter(bytes, FLAG).filter_map(move |at| {
        // A word with several marks is one flag.
        let rest = bytes.get(at..).filter(|_| at >= next)?;
        next = at + rest.iter().position(|byte| !is_of_word(*byte)).unwrap_or(rest.len());
        Some(before(next))
    });
    names.chain(flags)
}

/// Returns whether a word has the mark of a flag.
fn is_flag(text: &str, word: &Range<usize>) -> bool {
    text.get(word.clone()).is_some_and(|word| word.contains(FLAG))
}

/// Returns whether a byte belongs to a word: letters, digits, `_`, `-` and `.`.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// The range of the value that a text gives to the name in a word: `NAME=VALUE`, or `--NAME VALUE`.
fn value_after(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(word.end..)?;
    let argument = || is_flag(text, word).then(|| ARGUMENT.captures(rest)).flatten();
    let found = ASSIGNED.captures(rest).or_else(argument)?;
    found.get(1).map(|value| word.end + value.start()..word.end + value.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_in_each_notation() {
        let found = |text| -> Vec<&str> {
            assigned_values(text).into_iter().filter_map(|range| str::get(text, range)).collect()
        };
        for text in [
            "--password=hunter2",
            "user = bob\npassword = hunter2\n",
            "[--api-key, hunter2]",
            r#"["--db-password", "hunter2"]"#,
            "- --token\n- hunter2\n",
            "export DB_PASSWORD=hunter2; run",
            "run --api-key hunter2 --verbose",
            "mysql -u root -phunter2 -port -e select",
            r#"[mysqldump, "-phunter2"]"#,
            "sshpass -p hunter2 ssh a",
            "- redis-cli\n- -a\n- hunter2\n",
            "curl -u bob:hunter2 https://a.example",
            "[curl, --user, \"bob:hunter2\"]",
        ] {
            assert_eq!(found(text), ["hunter2"], "{text}");
        }
        assert_eq!(found("{name: Authorization, value: Bearer hunter22}"), ["hunter22"]);
        for text in [
            "curl -u $USER:$PASSWORD",
            "curl -u \"$USER:hunter2\"",
            "the Basic authentication, and a Bearer token-review",
            "--password=$(PASSWORD)",
            "--password-file=/run/a",
            "[--password, --user]",
            "key = value",
            "a --token b",
            "mysql -p db",
            "run -phunter2",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
