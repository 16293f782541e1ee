//! Named formats.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::arguments::text;
use super::function::{ALWAYS, Function};
use crate::cel::failure::Failure;
use crate::cel::notation::{Timestamp, Url};
use crate::cel::value::Value;

/// A format: its name, and the check of a text, which returns the faults.
type Format = (&'static str, fn(&str) -> Vec<String>);

const FORMATS: &[Format] = &[
    ("dns1123Label", |text| dns1123_label(text)),
    ("dns1123Subdomain", |text| dns1123_subdomain(text)),
    ("dns1035Label", |text| dns1035_label(text)),
    ("qualifiedName", |text| qualified_name(text)),
    ("dns1123LabelPrefix", |text| dns1123_label(&without_dash(text))),
    ("dns1123SubdomainPrefix", |text| dns1123_subdomain(&without_dash(text))),
    ("dns1035LabelPrefix", |text| dns1035_label(&without_dash(text))),
    ("labelValue", |text| label_value(text)),
    ("uri", |text| Url::parse(text).err().filter(|_| !Url::is_valid(text)).into_iter().collect()),
    ("uuid", |text| fault(is_uuid(text), "does not match the UUID format")),
    ("byte", |text| fault(is_base64(text), "invalid base64")),
    ("date", |text| fault(Timestamp::parse(&format!("{text}T00:00:00Z")).is_some(), "invalid date")),
    ("datetime", |text| fault(is_datetime(text), "invalid datetime")),
];

macro_rules! named {
    ($($name:literal),*) => {
        &[
            Function::new("format.named", ALWAYS, &["(string) optional(format)"], |arguments, budget| {
                let name = text(arguments, 0, budget)?;
                let known = FORMATS.iter().find(|(own, _)| *own == name);
                Ok(Value::Optional(known.map(|(name, _)| Value::Format(name).into())))
            }),
            Function::new("validate", ALWAYS, &["format.(string) optional(list(string))"], |arguments, budget| {
                let [Value::Format(name), _] = arguments else { return Err(Failure::no_overload()) };
                let text = text(arguments, 1, budget)?;
                let check = FORMATS.iter().find(|(own, _)| own == name).map(|(_, check)| check);
                let faults = check.map(|check| check(text)).unwrap_or_default();
                let faults = (!faults.is_empty()).then(|| Value::list(faults.into_iter().map(Value::text)));
                Ok(Value::Optional(faults.map(Into::into)))
            }),
            $(Function::new(concat!("format.", $name), ALWAYS, &["() format"], |_, _| Ok(Value::Format($name))),)*
        ]
    };
}

pub(super) const FUNCTIONS: &[Function] = named!(
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime"
);

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const DNS_1035: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const NAME: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";

fn fault(valid: bool, message: &str) -> Vec<String> {
    if valid { Vec::new() } else { vec![message.into()] }
}

/// Returns whether a whole text matches a pattern.
fn is_match(pattern: &str, text: &str) -> bool {
    static PATTERNS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
        let compile = |pattern| {
            let regex = Regex::new(&format!("^(?:{pattern})$")).expect("the expression is constant");
            (pattern, regex)
        };
        [LABEL, SUBDOMAIN, DNS_1035, NAME, LABEL_VALUE].map(compile).into()
    });
    PATTERNS.iter().any(|(own, regex)| *own == pattern && regex.is_match(text))
}

/// Checks the length and the pattern of a text.
fn check(text: &str, maximum: usize, pattern: &str, rule: &str, examples: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if text.len() > maximum {
        faults.push(format!("must be no more than {maximum} characters"));
    }
    if !is_match(pattern, text) {
        faults.push(format!("{rule} (e.g. {examples}, regex used for validation is '{pattern}')"));
    }
    faults
}

fn dns1123_label(text: &str) -> Vec<String> {
    let rule = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
    let mut faults = check(text, 63, LABEL, rule, "'my-name',  or '123-abc'");
    if !is_match(LABEL, text)
        && is_match(SUBDOMAIN, text)
        && let Some(last) = faults.last_mut()
    {
        *last = "must not contain dots".into();
    }
    faults
}

fn dns1123_subdomain(text: &str) -> Vec<String> {
    let rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
    check(text, 253, SUBDOMAIN, rule, "'example.com'")
}

fn dns1035_label(text: &str) -> Vec<String> {
    let rule = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
    check(text, 63, DNS_1035, rule, "'my-name',  or 'abc-123'")
}

fn label_value(text: &str) -> Vec<String> {
    let rule = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    check(text, 63, LABEL_VALUE, rule, "'MyValue',  or 'my_value',  or '12345'")
}

fn qualified_name(text: &str) -> Vec<String> {
    let rule = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    let examples = "'MyName',  or 'my.name',  or '123-abc'";
    let (prefix, name) = text.split_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    if name.contains('/') {
        let hint = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
        return vec![format!(
            "a qualified name {rule} (e.g. {examples}, regex used for validation is '{NAME}') {hint}"
        )];
    }
    let mut faults = Vec::new();
    match prefix {
        Some("") => faults.push("prefix part must be non-empty".into()),
        Some(prefix) => {
            faults.extend(dns1123_subdomain(prefix).into_iter().map(|fault| format!("prefix part {fault}")));
        }
        None => {}
    }
    if name.is_empty() {
        faults.push("name part must be non-empty".into());
    } else {
        faults.extend(check(name, 63, NAME, rule, examples).into_iter().map(|fault| format!("name part {fault}")));
    }
    faults
}

/// The text of a prefix without its last dash, as the API server checks a prefix.
fn without_dash(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => format!("{rest}a"),
        _ => text.into(),
    }
}

fn is_uuid(text: &str) -> bool {
    let mut rest = text;
    for (group, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if group > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some((digits, after)) = rest.split_at_checked(length) else { return false };
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

fn is_base64(text: &str) -> bool {
    let data = text.trim_end_matches('=');
    let is_alphabet = data.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    !text.is_empty() && is_alphabet && text.len().is_multiple_of(4) && text.len() - data.len() <= 2
}

fn is_datetime(text: &str) -> bool {
    let text = text.to_ascii_uppercase();
    Timestamp::parse(&text).is_some()
}
