//! Masks the secrets of an object.

use std::ops::Range;

use super::nodes::secrets;
use super::quick_check::may_hold_secrets;
use super::{Masks, merged};
use crate::text::File;
use crate::yaml::{Node, Style, Value, parse, print};

/// The replacement of a secret value. It is not valid base64, so that the API server rejects it.
const HIDDEN: &str = "***";

/// Returns the object with each secret value replaced: values of Secrets, of patches on Secrets, and copies of these.
///
/// The result is for display: its positions may differ from those in the files.
pub fn mask_object(object: &Node, masks: &mut Masks) -> Node {
    let object = mask_copied(object, masks);
    let text = print(std::slice::from_ref(&object));
    if !may_hold_secrets(&text) {
        return object;
    }
    let file = File::new("", text);
    let ranges = merged(secrets(&file, 0));
    if ranges.is_empty() {
        return object;
    }
    let parsed = parse(&file);
    let mut tokens = Vec::new();
    parsed.documents.iter().for_each(|document| tokens_of(&document.node, &mut tokens));
    let hidden = mask_ranges(file.text(), &tokens, &ranges);
    parse(&File::new("", hidden)).documents.into_iter().next().map_or(object, |document| document.node)
}

/// Masks values that were copied from a Secret, which have a secret position.
fn mask_copied(node: &Node, masks: &mut Masks) -> Node {
    match &node.value {
        Value::Scalar(text, style) => {
            let places = [node.origin.span(), node.origin.written()];
            let known = *style != Style::Unknown && !text.is_empty();
            // A text that contains more than the secret is masked in parts by the caller.
            let secret = known && places.into_iter().any(|place| masks.get(place.file()).covers(place));
            if !secret {
                return node.clone();
            }
            Node { value: Value::Scalar(HIDDEN.into(), Style::Double), origin: node.origin.clone() }
        }
        Value::Seq(items) => {
            let items: Vec<Node> = items.iter().map(|item| mask_copied(item, masks)).collect();
            Node { value: Value::Seq(items.into()), origin: node.origin.clone() }
        }
        Value::Map(entries) => {
            let entries: Vec<_> =
                entries.iter().map(|entry| entry.with_node(mask_copied(&entry.node, masks))).collect();
            Node { value: Value::Map(entries.into()), origin: node.origin.clone() }
        }
    }
}

/// Masks the secret ranges of a text, which remains valid YAML. `tokens` are its scalars.
fn mask_ranges(text: &str, tokens: &[(Range<usize>, Style)], ranges: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (token, style) in tokens {
        let first = ranges.partition_point(|range| range.end <= token.start);
        let touching = ranges.get(first..).unwrap_or_default().iter().take_while(|range| range.start < token.end);
        let touching: Vec<&Range<usize>> = touching.collect();
        if touching.is_empty() || token.is_empty() || token.start < done {
            continue;
        }
        out.push_str(text.get(done..token.start).unwrap_or_default());
        done = token.end;
        let written = text.get(token.clone()).unwrap_or_default();
        if touching.iter().any(|range| range.start <= token.start && token.end <= range.end) {
            out.push_str("\"***\"");
            continue;
        }
        let quoted = matches!(style, Style::Single | Style::Double);
        let mut line_start = false;
        let mut touching = touching.into_iter().peekable();
        for (at, character) in written.char_indices() {
            let offset = token.start + at;
            let closing = quoted && offset + character.len_utf8() == token.end;
            let kept = closing || character == '\n' || (line_start && character == ' ');
            line_start = character == '\n' || (line_start && character == ' ');
            while touching.next_if(|range| range.end <= offset).is_some() {}
            let secret = touching.peek().is_some_and(|range| range.contains(&offset));
            out.push(if secret && !kept { '*' } else { character });
        }
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

fn tokens_of(node: &Node, tokens: &mut Vec<(Range<usize>, Style)>) {
    match &node.value {
        Value::Scalar(_, style) => tokens.push((node.span().range(), *style)),
        Value::Seq(items) => items.iter().for_each(|item| tokens_of(item, tokens)),
        Value::Map(entries) => entries.iter().for_each(|entry| tokens_of(&entry.node, tokens)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> String {
        let node = parse(&File::new("a.yaml", text)).documents.remove(0).node;
        let shown = print(&[mask_object(&node, &mut Masks::default())]);
        assert!(parse(&File::new("b.yaml", shown.as_str())).findings.is_empty(), "{shown}");
        shown
    }

    #[test]
    fn a_masked_secret_is_valid_yaml() {
        let text = "kind: Secret\nmetadata: {name: a}\ndata: {a: aHVudGVy, b: 'x y'}\nstringData:\n  c: |\n    hunter\n    two\n  d: 12\n  e: ''\ntype: x\n";
        let shown = masked(text);
        assert!(!shown.contains("hunter") && !shown.contains("aHVu") && !shown.contains("12"), "{shown}");
        assert!(shown.contains("name: a") && shown.contains("type: x") && shown.contains("a: \"***\""), "{shown}");
    }

    #[test]
    fn patches_on_secrets_and_generators_are_masked() {
        let text = "kind: Kustomization\nspec:\n  patches:\n  - target: {kind: Secret}\n    patch: |\n      - op: add\n        path: /stringData/a\n        value: hunter2\n  - patch: '{\"kind\": \"Secret\", \"data\": {\"a\": \"hunter3\"}}'\nsecretGenerator:\n- name: a\n  literals: ['key=hunter4: x', other=hunter5]\n";
        let shown = masked(text);
        assert!(!shown.contains("hunter"), "{shown}");
        assert!(shown.contains("path: /stringData/a") && shown.contains("key="), "{shown}");
    }

    #[test]
    fn other_objects_and_cipher_text_are_kept() {
        let text = "kind: Secret\nstringData:\n  a: ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]\n";
        assert!(masked(text).contains("ENC[AES256_GCM"));
        let text = "kind: ConfigMap\ndata:\n  a: open\n";
        assert!(masked(text).contains("a: open"));
    }
}
