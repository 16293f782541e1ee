//! Fingerprints of findings, which stay the same if lines move.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::finding::{Finding, ObjectRef, Part};
use crate::text::Span;

/// The number of hexadecimal digits of a fingerprint.
const DIGITS: usize = 32;

/// Returns the fingerprint of each finding in a list. For a finding with parts, it is that of the first part.
pub fn fingerprints(findings: &[Finding]) -> Vec<String> {
    fingerprints_of_parts(findings).into_iter().filter_map(|parts| parts.into_iter().next()).collect()
}

/// Returns the fingerprints of each finding in a list: one for each part, or one for a finding without parts.
///
/// A fingerprint depends on the rule, the file, the object and the fault, but not on the position or the clusters.
/// Faults that are equal in all of these are numbered in the order of their positions.
pub fn fingerprints_of_parts(findings: &[Finding]) -> Vec<Vec<String>> {
    fingerprints_before(findings, &Renames::new())
}

/// The earlier paths of renamed files, by path.
pub type Renames = BTreeMap<String, String>;

/// Returns the fingerprints of each finding as if files still had their earlier paths.
pub fn fingerprints_before(findings: &[Finding], renames: &Renames) -> Vec<Vec<String>> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut numbered = |base: String| {
        let count = seen.entry(base.clone()).or_default();
        *count += 1;
        if *count == 1 { base } else { digest(&[&base, &count.to_string()]) }
    };
    let mut of = |finding: &Finding| -> Vec<String> {
        let whole = (&finding.at.span, finding.object.as_ref());
        match finding.parts() {
            [] => {
                let fault = match &finding.cause {
                    Some(cause) => cause.key.clone(),
                    None => without_numbers(&finding.message),
                };
                vec![numbered(fingerprint(finding.rule, whole, &fault, renames))]
            }
            parts => {
                let of_part =
                    |part: &Part| fingerprint(finding.rule, (&part.span, part.object.as_ref()), &part.fault, renames);
                parts.iter().map(|part| numbered(of_part(part))).collect()
            }
        }
    };
    findings.iter().map(&mut of).collect()
}

fn fingerprint(rule: &str, (span, object): (&Span, Option<&ObjectRef>), fault: &str, renames: &Renames) -> String {
    let file = span.file();
    let path = renames.get(file.path()).map_or(file.path(), String::as_str);
    let namespace = object.and_then(|object| object.namespace.as_deref()).unwrap_or_default();
    digest(&[
        rule,
        file.root().map_or("", |root| root),
        path,
        object.map_or("", ObjectRef::group),
        object.map_or("", |object| &object.kind),
        namespace,
        object.map_or("", |object| &object.name),
        fault,
    ])
}

/// Replaces the numbers of a message, which may count places, name a line, or be the index of an item. Other numbers in
/// backquotes are parts of names, such as `team1/flux`.
fn without_numbers(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    let (mut is_quoted, mut is_index) = (false, false);
    for c in message.chars() {
        match c {
            '`' => (is_quoted, is_index) = (!is_quoted, false),
            '[' => is_index = true,
            ']' => is_index = false,
            _ => {}
        }
        match c.is_ascii_digit() && (!is_quoted || is_index) {
            false => text.push(c),
            true if text.ends_with('#') => {}
            true => text.push('#'),
        }
    }
    text
}

fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    let mut text = data_encoding::HEXLOWER.encode(&hash.finalize());
    text.truncate(DIGITS);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;

    fn fingerprints_of(text: &str, messages: &[&str]) -> Vec<String> {
        let file = File::new("a.yaml", text);
        let at = text.find("kind").unwrap_or_default();
        let findings: Vec<Finding> =
            messages.iter().map(|message| Finding::error("rule", file.span(at..at + 4), *message)).collect();
        fingerprints(&findings)
    }

    #[test]
    fn a_moved_line_keeps_the_fingerprint() {
        let before = fingerprints_of("kind: x\n", &["wrong in 3 places"]);
        assert_eq!(before, fingerprints_of("# a comment\n\nkind: x\n", &["wrong in 12 places"]));
        assert_ne!(before, fingerprints_of("kind: x\n", &["another fault"]));
    }

    #[test]
    fn another_name_has_another_fingerprint() {
        let before = fingerprints_of("kind: x\n", &["`team1/flux` has `spec.items[0]` in 2 places"]);
        assert_eq!(before, fingerprints_of("kind: x\n", &["`team1/flux` has `spec.items[1]` in 3 places"]));
        assert_ne!(before, fingerprints_of("kind: x\n", &["`team2/flux` has `spec.items[0]` in 2 places"]));
    }

    #[test]
    fn equal_findings_have_different_fingerprints() {
        let file = File::new("a.yaml", "a: 1\nb: 2\n");
        let findings =
            vec![Finding::error("rule", file.span(0..1), "wrong"), Finding::error("rule", file.span(5..6), "wrong")];
        let two = fingerprints(&findings);
        assert_eq!(two.len(), 2);
        assert_ne!(two[0], two[1]);
    }
}
