//! Variables, against what kustomize-controller's libraries made of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use fleetwright::flux::variables::envsubst::{Expansion, Fault, FaultKind, Lookup, Template};
use fleetwright::flux::{Variable, Variables, reads, substitute};
use fleetwright::kube::Object;
use fleetwright::text::File;
use fleetwright::yaml::{Node, Origin, Style, Value, go, parse};
use serde::Deserialize;

/// What `testdata/oracles/flux/expansions` recorded.
#[derive(Deserialize)]
struct Expansions {
    values: BTreeMap<String, String>,
    answers: Vec<Expanded>,
}

#[derive(Deserialize)]
struct Expanded {
    text: String,
    lax: Answer,
    strict: Answer,
}

#[derive(Deserialize, Debug)]
struct Answer {
    expanded: Option<String>,
    #[serde(default)]
    error: String,
}

/// What `testdata/oracles/flux/substitutions` recorded: objects as printed afterwards, `None` for an error.
#[derive(Deserialize)]
struct Substitutions {
    values: BTreeMap<String, String>,
    answers: Vec<Substituted>,
}

#[derive(Deserialize)]
struct Substituted {
    object: String,
    strict: bool,
    result: Option<String>,
}

/// Whether we mean the same as the real parser's words.
fn is_kind(kind: FaultKind, error: &str) -> bool {
    match error {
        "unable to parse variable name" => kind == FaultKind::NoName,
        "missing closing brace" => kind == FaultKind::NotClosed,
        "unable to parse substitution within function" => kind == FaultKind::NoArgument,
        "bad substitution" => matches!(kind, FaultKind::Malformed | FaultKind::NoName),
        "not set" => kind == FaultKind::NotSet,
        "panic" => kind == FaultKind::Backwards,
        _ => false,
    }
}

fn agree(ours: &Result<Expansion, Fault>, theirs: &Answer) -> bool {
    match (ours, &theirs.expanded) {
        (Ok(ours), Some(theirs)) => ours.text == *theirs,
        (Err(fault), None) => is_kind(fault.kind, &theirs.error),
        // Half a character is no text; the record has a replacement for it.
        (Err(fault), Some(theirs)) => fault.kind == FaultKind::CutCharacter && theirs.contains('\u{FFFD}'),
        (Ok(_), None) => false,
    }
}

#[test]
fn texts_expand_as_flux_expands_them() {
    let recorded: Expansions = serde_json::from_str(include_str!("../oracles/flux/expansions.json")).unwrap();
    let mut differences = String::new();
    for Expanded { text, lax, strict } in &recorded.answers {
        for (is_strict, theirs) in [(false, lax), (true, strict)] {
            let lookup = |name: &str| match recorded.values.get(name) {
                Some(value) => Lookup::Known(value),
                None if is_strict => Lookup::NotSet,
                None => Lookup::Known(""),
            };
            let ours = Template::parse(text).and_then(|template| template.expand(lookup));
            if !agree(&ours, theirs) {
                let ours = ours.map(|expansion| expansion.text);
                let _ = writeln!(differences, "{text:?}, strict {is_strict}\nours   {ours:?}\ntheirs {theirs:?}\n");
            }
            let Ok(expansion) = Template::parse(text).and_then(|template| template.expand(lookup)) else { continue };
            assert_complete(text, &expansion);
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

/// The pieces of an expansion cover it, and those of the template are as they were.
fn assert_complete(text: &str, expansion: &Expansion) {
    let mut end = 0;
    for piece in &expansion.pieces {
        assert_eq!(piece.output.start, end, "{text:?}");
        end = piece.output.end;
        if piece.variable.is_none() {
            assert_eq!(expansion.text.get(piece.output.clone()), text.get(piece.source.clone()), "{text:?}");
        }
    }
    assert_eq!(end, expansion.text.len(), "{text:?}");
}

fn read(text: &str) -> Option<Object> {
    let parsed = parse(&File::new("a.yaml", text));
    let node = parsed.documents.first().filter(|_| parsed.findings.is_empty())?.node.clone();
    Some(Object { node })
}

fn variables<'a>(values: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Variables {
    let place = File::new("variables.yaml", "").span(0..0);
    let variable = |value: Option<&str>| Variable { value: value.map(Into::into), place: place.clone(), from: None };
    Variables {
        values: values.into_iter().map(|(name, value)| (name.into(), variable(value))).collect(),
        ..Variables::default()
    }
}

#[test]
fn objects_are_after_substitution_what_flux_makes_of_them() {
    let recorded: Substitutions = serde_json::from_str(include_str!("../oracles/flux/substitutions.json")).unwrap();
    let values: BTreeMap<&str, String> =
        recorded.values.iter().map(|(name, value)| (&**name, value.replace('\n', ""))).collect();
    let variables = variables(values.iter().map(|(name, value)| (*name, Some(&**value))));
    let mut differences = String::new();
    for answer in &recorded.answers {
        let Some(object) = read(&answer.object) else { continue };
        if object.text_at(&["metadata", "annotations", "kustomize.toolkit.fluxcd.io/substitute"]).is_some() {
            continue;
        }
        let ours = substitute(&object, &variables, answer.strict);
        let ours = ours.ok().filter(|object| go::print_error(&object.node).is_none());
        if let Some(object) = &ours {
            assert_placed(&object.node);
        }
        let ours = ours.map(|object| go::print(&object.node));
        if ours != answer.result {
            let _ = writeln!(differences, "{:?}\nours   {ours:?}\ntheirs {:?}\n", answer.object, answer.result);
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

/// Every node has a place, and the pieces of a scalar are ranges of it.
fn assert_placed(node: &Node) {
    let _ = node.span().position();
    match &node.value {
        Value::Scalar(text, _) => {
            if let Origin::Via(step) = &node.origin {
                for (range, _) in &step.pieces {
                    assert!(text.get(range.start as usize..range.end as usize).is_some(), "{text:?} {range:?}");
                }
            }
        }
        Value::Seq(items) => items.iter().for_each(assert_placed),
        Value::Map(entries) => entries.iter().for_each(|entry| {
            let _ = entry.key_span().position();
            assert_placed(&entry.node);
        }),
    }
}

const OBJECT: &str = "\
kind: ConfigMap
metadata:
  name: a-${NAME}
data:
  port: \"${PORT}\"
  url: https://${HOST}:${PORT}/x
  list: ${LIST}
  same: [1, 2]
";

fn pieces(node: &Node) -> Vec<(Range<u32>, String)> {
    let Origin::Via(step) = &node.origin else { return Vec::new() };
    step.pieces.iter().map(|(range, name)| (range.clone(), name.to_string())).collect()
}

#[test]
fn what_a_variable_changed_knows_it_and_its_place() {
    let object = read(OBJECT).unwrap();
    let variables =
        variables([("NAME", Some("b")), ("PORT", Some("80")), ("HOST", None), ("LIST", Some("[x, {k: z}]"))]);
    let substituted = substitute(&object, &variables, true).unwrap();
    let at = |keys: &[&str]| substituted.node.at_keys(keys).unwrap();
    assert_eq!(at(&["metadata", "name"]).text(), Some("a-b"));
    assert_eq!(pieces(at(&["metadata", "name"])), [(2..3, "NAME".to_string())]);
    assert_eq!(at(&["metadata", "name"]).span().text(), "a-${NAME}");
    // The quotes are gone, so it is a number now.
    assert_eq!(
        at(&["data", "port"]).resolve(fleetwright::yaml::Reader::Kubernetes),
        Some(fleetwright::yaml::Scalar::Int(80))
    );
    assert!(
        matches!(&at(&["data", "url"]).value, Value::Scalar(text, Style::Unknown) if &**text == "https://${HOST}:80/x")
    );
    assert_eq!(pieces(at(&["data", "url"])), [(8..15, "HOST".to_string()), (16..18, "PORT".to_string())]);
    let made = at(&["data", "list"]).items()[1].get("k").unwrap();
    assert_eq!((made.text(), made.span().text()), (Some("z"), "${LIST}"));
    // What no variable touches is shared.
    let (same, before) = (at(&["data", "same"]), object.node.at_keys(&["data", "same"]).unwrap());
    assert!(matches!((&same.value, &before.value), (Value::Seq(a), Value::Seq(b)) if a.is_same(b)));
    let names: Vec<String> = reads(&object).iter().map(ToString::to_string).collect();
    assert_eq!(names, ["HOST", "LIST", "NAME", "PORT"]);
}

#[test]
fn a_fault_is_named_at_its_line() {
    let text = "kind: ConfigMap\ndata:\n  a: ${NONE}\n  script: |\n    one\n    two ${x-y}\n  b: ${NAMES}\n";
    let object = read(text).unwrap();
    let said = |variables: &Variables| {
        let findings = substitute(&object, variables, true).unwrap_err();
        let said = |finding: &fleetwright::base::finding::Finding| {
            (finding.at.span.position().line, finding.at.span.text().to_string())
        };
        findings.iter().map(said).collect::<Vec<_>>()
    };
    assert_eq!(said(&variables([])), [(6, "${x-y}".to_string())]);
    let object = read(&text.replace("${x-y}", "")).unwrap();
    let findings = substitute(&object, &variables([("NAME", Some("x"))]), true).unwrap_err();
    let messages: Vec<&str> = findings.iter().map(|finding| &*finding.message).collect();
    assert_eq!(messages, ["variable `NONE` is not defined", "variable `NAMES` is not defined"]);
    assert!(findings[1].help.as_deref().unwrap().contains("`NAME`"));
}

#[test]
fn an_object_with_a_doubled_dollar_depends_on_substitution() {
    let names = |text: &str| reads(&read(text).unwrap()).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names("a: $${B}\n"), [""]);
    assert_eq!(names("a: $B\n"), [""; 0]);
    assert_eq!(names("a: 9007199254740993\n"), [""]);
}
