//! The lines of secret values. Each line is masked.

use std::collections::BTreeSet;

use arcstr::ArcStr;
use data_encoding::BASE64;

use super::nodes;
use super::public::{is_key, is_kind, is_name};
use crate::kube::is_encrypted_value;
use crate::lint::is_placeholder;
use crate::text::File;

/// The minimum length of a masked value in bytes. A shorter value occurs in unrelated texts.
pub(super) const MIN_LEN: usize = 6;

/// The maximum length of a value after a key that cannot be a secret, in bytes.
const MAX_SETTING: usize = 3;

/// The length in bytes of a part of a long value. Each part is masked.
const PART: usize = 256;

/// Words that say nothing about a secret.
const PUBLIC: [&str; 4] = ["Opaque", "default", "enabled", "disabled"];

/// Collects the lines of a value, and the lines of its decoded text.
pub(super) fn collect(value: &str, found: &mut BTreeSet<ArcStr>) {
    collect_lines(value, found);
    collect_inner(value, found);
    let encoded: String = value.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')).collect();
    if let Some(decoded) = BASE64.decode(encoded.as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok())
        && !decoded.chars().any(|c| c.is_control() && !c.is_whitespace())
    {
        collect_lines(&decoded, found);
        collect_inner(&decoded, found);
    }
}

/// Collects the secrets in a text of YAML or JSON, such as the password in the configuration of Docker.
fn collect_inner(text: &str, found: &mut BTreeSet<ArcStr>) {
    if text.contains('{') {
        let inner = File::new("", text);
        for range in nodes::secrets(&inner, 1) {
            collect_lines(text.get(range).unwrap_or_default(), found);
        }
    }
}

/// The signs around variables and templates.
const VARIABLES: [(&str, &str); 2] = [("${", "}"), ("<<", ">>")];

/// Returns whether a line consists of variables and templates, except for a text that is too short for a mask.
fn is_variable(line: &str) -> bool {
    let find = |sign: &str, from: usize| line.get(from..).and_then(|rest| rest.find(sign)).map(|at| from + at);
    let (mut done, mut written) = (0, 0);
    // A line may have many of one kind, so each search starts at the last result.
    let mut next = VARIABLES.map(|(start, _)| find(start, 0));
    while let Some((start, (_, end_sign))) =
        next.iter().zip(VARIABLES).filter_map(|(at, signs)| Some(((*at)?, signs))).min()
    {
        let Some(end) = find(end_sign, start) else { break };
        written += start - done;
        done = end + end_sign.len();
        for (at, (sign, _)) in next.iter_mut().zip(VARIABLES) {
            if at.is_some_and(|at| at < done) {
                *at = find(sign, done);
            }
        }
    }
    written + line.len() - done < MIN_LEN
}

/// Returns whether a line is a key without a value, or with a value that cannot be a secret, such as `interval: 5m` or
/// `namespace: shop`.
///
/// A Secret often contains a file of chart values or a manifest, and these lines also occur in other files.
fn is_setting(line: &str) -> bool {
    let Some((key, value)) = line.split_once(": ").or_else(|| Some((line.strip_suffix(':')?, ""))) else {
        return false;
    };
    let key = key.trim_start_matches("- ");
    let value = value.trim();
    let is_identity = match key {
        "name" | "namespace" => is_name(value),
        "kind" => is_kind(value),
        "apiVersion" => value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'-')),
        _ => false,
    };
    is_key(key) && (value.len() <= MAX_SETTING || matches!(value, "true" | "false" | "null") || is_identity)
}

/// Returns whether a line is a single word such as `PLACEHOLDER`, which is also an ordinary word of messages.
fn is_invented(line: &str) -> bool {
    line.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_')) && is_placeholder(line)
}

fn collect_lines(value: &str, found: &mut BTreeSet<ArcStr>) {
    let quotes = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',');
    // In a text of one line, a word before a colon is no key.
    let is_single = !value.trim_end().contains('\n');
    for line in value.lines().map(|line| line.trim_matches(quotes)) {
        if is_variable(line)
            || is_invented(line)
            || is_encrypted_value(line)
            || PUBLIC.contains(&line)
            || (is_setting(line) && !(is_single && line.ends_with(':')))
        {
            continue;
        }
        let mut rest = line;
        while rest.len() >= MIN_LEN {
            let end = (1..=PART.min(rest.len())).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
            let (part, more) = rest.split_at(end);
            if part.bytes().any(|byte| byte != b'*' && byte != b'-' && byte != b'.') {
                found.insert(part.into());
            }
            rest = more;
        }
    }
}
