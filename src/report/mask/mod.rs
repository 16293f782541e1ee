//! Masks secrets in files. Every printed source line and every diff passes through this module.

mod copies;
mod credentials;
mod quick_check;
mod scan;
mod nodes;
mod object;
mod notation;
mod prefixes;
mod contained;
mod public;
mod lines;
mod masked_yaml;
mod redactor;
mod own_words;
mod printed;
mod generators;
mod values;

pub use object::mask_object;
pub use printed::Printed;
pub use redactor::Redactor;
pub use values::{SecretValues, TooManySecrets};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::printable::printable;
use crate::text::{File, Span};

/// The secret ranges of a file.
#[derive(Debug, Clone, Default)]
pub struct Mask {
    /// The ranges, sorted and without overlap.
    ranges: Vec<Range<usize>>,
}

impl Mask {
    /// Finds the secrets of a file: values of Secrets, of patches on Secrets and of secret generators, and chart values
    /// whose key indicates a secret.
    pub fn new(file: &File) -> Self {
        Self { ranges: merged(nodes::secrets(file, 0)) }
    }

    /// Returns whether a range contains a secret.
    pub fn hides(&self, place: Range<usize>) -> bool {
        let first = self.ranges.partition_point(|secret| secret.end <= place.start);
        self.ranges.get(first).is_some_and(|secret| secret.start < place.end)
    }

    /// Returns whether a scalar is secret as a whole. The header of a block scalar is never secret.
    pub fn covers(&self, scalar: &Span) -> bool {
        let mut place = scalar.range();
        if scalar.text().starts_with(['|', '>']) {
            place.start += scalar.text().find('\n').unwrap_or_default();
        }
        let first = self.ranges.partition_point(|secret| secret.end <= place.start);
        self.ranges.get(first).is_some_and(|secret| secret.start <= place.start && place.end <= secret.end)
    }

    /// Returns a line (from 1) with each secret character replaced by `*`, or `None` past the end. Keeps columns.
    pub fn line<'a>(&self, file: &'a File, line: u32) -> Option<Cow<'a, str>> {
        let range = file.line(line)?;
        let text = file.text().get(range.clone()).unwrap_or_default();
        let first = self.ranges.partition_point(|secret| secret.end <= range.start);
        let mut secrets = self.ranges.get(first..).unwrap_or_default();
        if secrets.first().is_none_or(|secret| secret.start >= range.end) {
            return Some(Cow::Borrowed(text));
        }
        let indent = text.len() - text.trim_start().len();
        let masked = text.char_indices().map(|(at, character)| {
            let offset = range.start + at;
            while secrets.first().is_some_and(|secret| secret.end <= offset) {
                secrets = secrets.get(1..).unwrap_or_default();
            }
            let secret = secrets.first().is_some_and(|secret| secret.contains(&offset));
            if secret && at >= indent { '*' } else { character }
        });
        Some(Cow::Owned(masked.collect()))
    }
}

/// A cache of the masks of files. The states of a file in two revisions have the same path.
#[derive(Debug, Clone, Default)]
pub struct Masks(BTreeMap<String, Vec<(File, Mask)>>);

impl Masks {
    /// Returns the mask of a file.
    pub fn get(&mut self, file: &File) -> &Mask {
        self.entry(file)
    }

    fn entry(&mut self, file: &File) -> &mut Mask {
        let states = self.0.entry(file.path().to_owned()).or_default();
        // The states may differ only at their ends, so a comparison of the texts for each value would be quadratic.
        let same = states.iter().position(|(known, _)| known.is_same(file));
        let at = same.or_else(|| states.iter().position(|(known, _)| known == file)).unwrap_or_else(|| {
            states.push((file.clone(), Mask::new(file)));
            states.len() - 1
        });
        &mut states[at].1
    }

    /// Masks values that are known to be secret.
    pub fn hide<'a>(&mut self, values: impl Iterator<Item = &'a Span>) {
        for value in values {
            self.entry(value.file()).ranges.push(nodes::content(value));
        }
        for (_, mask) in self.0.values_mut().flatten() {
            mask.ranges = merged(std::mem::take(&mut mask.ranges));
        }
    }

    /// Returns the first line of a span, trimmed, masked and escaped for terminals.
    pub fn source_line(&mut self, place: &Span) -> String {
        let line = self.get(place.file()).line(place.file(), place.position().line).unwrap_or_default();
        printable(line.trim_start_matches('\u{FEFF}').trim()).into_owned()
    }
}

fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> String {
        let file = File::new("a.yaml", text);
        let mask = Mask::new(&file);
        let lines: Vec<_> = (1..).map_while(|line| mask.line(&file, line)).collect();
        lines.join("\n")
    }

    #[test]
    fn values_of_a_secret_are_masked_but_not_keys() {
        let text = "kind: Secret\ndata:\n  token: aHVudGVy # was: b2xk\n  # gone: eHl6\ntype: x\n";
        let expected = "kind: Secret\ndata:\n  token: ******** #**********\n  #***********\ntype: x\n";
        assert_eq!(masked(text), expected);
    }

    #[test]
    fn the_name_of_a_variable_is_not_masked_but_its_default_is() {
        let text = "kind: ConfigMap\ndata:\n  a: ${SECRET_HOST}:8082\n  b: ${API_TOKEN:=hunter2}:1\n";
        let expected = "kind: ConfigMap\ndata:\n  a: ${SECRET_HOST}:8082\n  b: ${API_TOKEN:=*******}:1\n";
        assert_eq!(masked(text), expected);
    }

    #[test]
    fn every_line_of_a_value_is_masked() {
        let text = "kind: Secret\nstringData:\n  key: |\n    one: 1\n\n    two\n  other: \"a\n    b\"\n";
        let expected = "kind: Secret\nstringData:\n  key: |\n    ******\n\n    ***\n  other: **\n    **\n";
        assert_eq!(masked(text), expected);
    }

    #[test]
    fn a_secret_is_recognized_at_any_depth() {
        let text =
            "kind: List\nitems:\n- kind: ConfigMap\n  data: {a: open}\n- kind: Secret\n  stringData: {a: shut}\n";
        assert!(masked(text).contains("{a: open}") && masked(text).contains("{a: ****}"));
    }

    #[test]
    fn chart_values_with_secret_keys_are_masked() {
        let text = "kind: HelmRelease\nspec:\n  values:\n    adminPassword: hunter2\n    replicas: 2\n";
        let expected = "kind: HelmRelease\nspec:\n  values:\n    adminPassword: *******\n    replicas: 2\n";
        assert_eq!(masked(text), expected);
    }

    #[test]
    fn the_name_of_a_key_of_an_external_secret_is_not_masked() {
        let text = "kind: ExternalSecret\nspec:\n  data:\n  - secretKey: adminPassword\n    remoteRef: {key: a}\n";
        assert_eq!(masked(text), text);
    }

    #[test]
    fn encrypted_values_are_kept() {
        let text = "kind: Secret\nstringData:\n  a: ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]\n  b: ENC[no\n";
        assert!(masked(text).contains("a: ENC[AES256_GCM") && masked(text).contains("b: ******"));
    }

    #[test]
    fn patches_on_secrets_are_masked() {
        let inline = "patches:\n- patch: |\n    kind: Secret\n    stringData:\n      a: hunter2\n";
        assert!(
            masked(inline).ends_with("    kind: Secret\n    stringData:\n      a: *******\n"),
            "{}",
            masked(inline)
        );
        let operations = "patches:\n- target: {kind: Secret}\n  patch: |-\n    - op: add\n      path: /stringData/a\n      value: hunter2\n";
        assert!(masked(operations).contains("value: *******"), "{}", masked(operations));
        let quoted = "patches:\n- patch: '{\"kind\": \"Secret\", \"stringData\": {\"a\": \"hunter2\"}}'\n";
        assert!(!masked(quoted).contains("hunter2"), "{}", masked(quoted));
        let other = "patches:\n- target: {kind: ConfigMap}\n  patch: |-\n    - op: add\n      path: /data/a\n      value: open\n";
        assert!(masked(other).contains("open"), "{}", masked(other));
        let structured = "patches:\n- target: {kind: Secret}\n  patch:\n    data: {a: hunter2}\n";
        assert!(!masked(structured).contains("hunter2"));
    }

    #[test]
    fn literals_of_a_generator_are_masked() {
        let text = "secretGenerator:\n- name: a\n  literals:\n  - user=me\n  - 'key=a b'\n";
        assert_eq!(masked(text), "secretGenerator:\n- name: a\n  literals:\n  - user=**\n  - 'key=****\n");
    }

    #[test]
    fn the_anchor_of_a_secret_alias_is_masked() {
        let text = "kind: Secret\nmetadata: {annotations: {a: &a hunter2}}\nstringData: {a: *a}\n";
        assert!(!masked(text).contains("hunter2"), "{}", masked(text));
    }

    #[test]
    fn secrets_in_invalid_yaml_are_masked() {
        let twice = "kind: Secret\nstringData:\n  a: hunter1\n  a: hunter2\n";
        assert!(!masked(twice).contains("hunter"), "{}", masked(twice));
        let tab = "kind: Secret\nstringData:\n\ta: hunter2\nmetadata: {name: b}\n";
        assert!(!masked(tab).contains("hunter2") && masked(tab).contains("name: b"), "{}", masked(tab));
        let flow = "{kind: Secret, stringData: {a: hunter1,\n b: hunter2\n";
        assert!(!masked(flow).contains("hunter"), "{}", masked(flow));
        let template = "kind: Secret\nstringData:\n  a: {{ .Values.a }}\n  b: hunter2\nspec:\n  path: open\n";
        assert!(
            !masked(template).contains("hunter") && masked(template).contains("path: open"),
            "{}",
            masked(template)
        );
        let block = "kind: Secret\nstringData:\n  a: |\n    hunter: 1\n   hunter2\nx: [\n";
        assert!(!masked(block).contains("hunter"), "{}", masked(block));
    }
}
