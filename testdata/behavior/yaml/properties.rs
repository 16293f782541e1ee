//! What holds for every document.

use fleetwright::text::{File, Span};
use fleetwright::yaml::{Node, Style, Value, from_json, parse};
use proptest::prelude::{ProptestConfig, Strategy, any, prop, proptest};

use super::generate::{Made, Want, documents};
use super::targets;

fn made() -> impl Strategy<Value = Made> {
    prop::collection::vec(any::<u8>(), 0..400).prop_map(|bytes| documents(&bytes))
}

fn says(node: &Node, want: &Want) -> bool {
    match (&node.value, want) {
        (Value::Scalar(text, style), Want::Scalar(wanted, plain)) => {
            **text == **wanted && (*style == Style::Plain) == *plain
        }
        (Value::Seq(items), Want::Seq(wanted)) => {
            items.len() == wanted.len() && items.iter().zip(wanted).all(|(item, want)| says(item, want))
        }
        (Value::Map(entries), Want::Map(wanted)) => {
            entries.len() == wanted.len()
                && entries.iter().zip(wanted).all(|(entry, (key, want))| *entry.key == **key && says(&entry.node, want))
        }
        _ => false,
    }
}

/// Reads a slice of a document on its own: it must say the same. `column` is where it stood, so that lines below keep
/// their distance.
fn alone(slice: &str, column: usize) -> Option<Node> {
    let text = format!("{}{slice}\n", " ".repeat(column));
    let parsed = parse(&File::new("slice.yaml", text));
    match (parsed.documents.len(), parsed.findings.is_empty()) {
        (1, true) => parsed.documents.into_iter().next().map(|document| document.node),
        _ => None,
    }
}

fn before(span: &Span) -> &str {
    span.file().text().get(..span.range().start).unwrap_or_default()
}

/// Checks that each span of a tree slices the text to the token that it names.
fn check_tokens(node: &Node) {
    let span = node.span();
    let slice = span.text();
    if slice.starts_with('*') {
        assert!(slice.chars().skip(1).all(|c| c.is_ascii_alphanumeric()), "an alias is {slice:?}");
        return;
    }
    let column = span.position().column as usize - 1;
    match &node.value {
        Value::Scalar(text, Style::Plain) if text.is_empty() => {
            assert_eq!(slice, "");
            let token = before(span).chars().next_back();
            assert!(token.is_some_and(|c| !c.is_whitespace()), "an empty value stands after {token:?}");
        }
        Value::Scalar(text, _) if text.is_empty() && slice.is_empty() => {}
        Value::Scalar(..) => {
            // An indentation that is written out counts from the parent.
            if slice.starts_with(['|', '>'])
                && slice.lines().next().is_some_and(|header| header.contains(|c: char| c.is_ascii_digit()))
            {
                return;
            }
            let again = alone(&format!("- {slice}"), 0)
                .unwrap_or_else(|| panic!("{slice:?} is no scalar in\n{}", span.file().text()));
            let again = &again.items()[0];
            assert_eq!(again.text(), node.text(), "of {slice:?}");
            let tagged = before(span).trim_end().ends_with("!!str");
            assert!(tagged || again == node, "{slice:?} has another style");
        }
        Value::Seq(_) | Value::Map(_) => {
            let overruns = slice.ends_with(char::is_whitespace) && !ends_in_breaks(node);
            assert!(!overruns, "{slice:?} in\n{}", span.file().text());
            if !slice.contains(['*', '&']) {
                let again = alone(slice, column)
                    .unwrap_or_else(|| panic!("{slice:?} at {column} is no collection in\n{}", span.file().text()));
                assert!(again == *node, "{slice:?} says something else in\n{}", span.file().text());
            }
        }
    }
    node.items().iter().for_each(check_tokens);
    for entry in node.entries() {
        let (key, outer) = (entry.key_span(), span.range());
        if outer.contains(&key.range().start) {
            let again = alone(&format!("{}: x", key.text()), 0).unwrap_or_else(|| panic!("{key:?} is no key"));
            assert_eq!(again.entries()[0].key, entry.key);
            check_tokens(&entry.node);
        }
    }
}

/// Tells whether the last thing in a block collection is a text that keeps its empty lines.
fn ends_in_breaks(node: &Node) -> bool {
    let slice = node.span().text();
    let last = node.items().last().or_else(|| {
        let own = node.entries().iter().filter(|entry| node.span().range().contains(&entry.key_span().range().start));
        own.map(|entry| &entry.node).max_by_key(|node| node.span().range().end)
    });
    match last {
        Some(last) if !slice.starts_with(['[', '{', '*']) => ends_in_breaks(last),
        _ => slice.starts_with(['|', '>']) && slice.ends_with(['\n', '\r']),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_span_slices_the_source_to_its_token(made in made()) {
        let parsed = parse(&File::new("a.yaml", made.text.as_str()));
        assert!(parsed.findings.is_empty(), "{:?}\n{}", parsed.findings, made.text);
        assert_eq!(parsed.documents.len(), made.documents.len(), "{}", made.text);
        for (document, want) in parsed.documents.iter().zip(&made.documents) {
            assert!(says(&document.node, want), "{:#?}\nis not\n{want:#?}\n{}", document.node, made.text);
            targets::check_places(&document.node);
            check_tokens(&document.node);
        }
    }

    #[test]
    fn printing_and_reading_again_is_the_identity(made in made()) {
        targets::print(made.text.as_bytes());
    }

    #[test]
    fn damaged_documents_are_read_without_a_panic_and_printed(
        made in made(),
        damage in prop::collection::vec((any::<u16>(), 0_usize..4, "[\t\n\r -:?#&*!|>'\"%@`{}\\[\\],.<a1é\u{85}\u{feff}]{0,3}"), 1..6),
    ) {
        let mut text: Vec<char> = made.text.chars().collect();
        for (at, length, with) in damage {
            let start = usize::from(at) % (text.len() + 1);
            let end = (start + length).min(text.len());
            text.splice(start..end, with.chars());
        }
        let text: String = text.into_iter().collect();
        targets::parse(text.as_bytes());
        targets::print(text.as_bytes());
    }

    #[test]
    fn any_text_is_read_without_a_panic_and_printed(text in "[\t\n\r -:?#&*!|>'\"%@`{}\\[\\],.<ab1~é\u{85}\u{2028}\u{feff}]{0,60}") {
        targets::parse(text.as_bytes());
        targets::print(text.as_bytes());
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        targets::parse(&bytes);
    }

    #[test]
    fn any_string_survives_printing(texts in prop::collection::vec(strings(), 1..5), wrap in 0_usize..4) {
        let value = match wrap {
            0 => serde_json::json!(texts),
            1 => serde_json::json!({"a": [texts]}),
            2 => serde_json::json!({"a": texts.iter().map(|text| (text.clone(), text.clone())).collect::<std::collections::BTreeMap<_, _>>()}),
            _ => serde_json::json!(texts[0]),
        };
        let node = from_json(&value, &File::new("a.json", "").span(0..0));
        targets::check_print(&[node]);
    }
}

fn strings() -> impl Strategy<Value = String> {
    proptest::prop_oneof![
        ".{0,12}",
        any::<String>(),
        "[ \t\n|>a#:é-]{0,12}",
        "[0-9+._:xobeTZ-]{1,10}",
        "(yes|No|on|~|null|true|=|<<|---|\\.\\.\\.|\\.inf|2001-01-01|0o7|1_0|\\$\\{A\\})[ :#]{0,2}",
    ]
}
