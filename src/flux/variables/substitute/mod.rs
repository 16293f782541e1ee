//! Substitution of `${…}` in an object.
//!
//! Flux prints the object, expands the text and parses it again. This process drops quotes, may change the type of a
//! value, and turns a value that looks like YAML into structure. In nearly all cases, expanding each scalar alone has
//! the same result. `scalars` expands each scalar alone if the result is certain. Otherwise, `whole` repeats the
//! steps of Flux.

mod canonical;
mod owner;
pub(crate) mod rule_ids;
mod values;
mod fault;
mod origin;
mod partial;
pub(super) mod shared_scalars;
mod scalars;
pub(crate) mod undefined;
mod whole;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::finding::Finding;
use crate::flux::model::variables::Variables;
use crate::flux::variables::envsubst::template::Template;
use crate::kube::Object;
use crate::yaml::{Name, go};
use shared_scalars::SharedScalars;
use values::Values;

/// Substitutes variables in an object, or returns the findings of a failure.
///
/// The caller checks whether Flux substitutes in the object. An unknown value leaves `${NAME}` in a scalar of
/// [`Style::Unknown`](crate::yaml::Style::Unknown). Changed nodes record the variable and the place of the original
/// text.
pub fn substitute(object: &Object, variables: &Variables, strict: bool) -> Result<Object, Vec<Finding>> {
    substitute_shared(object, variables, strict, &SharedScalars::default()).0
}

/// Substitutes variables in an object, and returns the number of steps of its patterns too. `shared` has the scalars of
/// objects that are in memory as long as `shared`.
pub(super) fn substitute_shared(
    object: &Object,
    variables: &Variables,
    strict: bool,
    shared: &SharedScalars,
) -> (Result<Object, Vec<Finding>>, usize) {
    let values = Values::new(variables, strict);
    if let Some(node) = scalars::substitute(&object.node, &values, shared) {
        return (Ok(Object { node: node.unwrap_or_else(|| object.node.clone()) }), values.steps_taken());
    }
    let of_scalars = values.steps_taken();
    let values = Values::new(variables, strict);
    let whole = whole::substitute(object, &values).map(|node| Object { node });
    (whole, of_scalars + values.steps_taken())
}

/// Substitutes the known variables in an object for which [`substitute`] fails.
pub(crate) fn substitute_known(object: &Object, variables: &Variables, strict: bool) -> Object {
    Object { node: partial::substitute(&object.node, &Values::new(variables, strict)) }
}

/// The sorted names of the variables that an object depends on; empty if substitution changes nothing.
///
/// The empty name represents changes without a variable: `$$` becomes `$`, and long numbers are rounded.
pub fn reads(object: &Object) -> Arc<[Name]> {
    let mut names = BTreeSet::new();
    if !scalars::reads(&object.node, &mut names) {
        names.insert(Name::from(""));
        let text = go::print(&object.node);
        // A text that cannot be parsed fails regardless of the variables.
        if let Ok(template) = Template::parse(&text) {
            names.extend(template.names().into_iter().map(Name::from));
        }
    }
    names.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flux::model::variables::Variable;
    use crate::text::File;
    use crate::yaml::Entry;
    use crate::yaml::Node;
    use crate::yaml::Origin;
    use crate::yaml::Piece;
    use crate::yaml::Style;
    use crate::yaml::Value;
    use proptest::prelude::*;

    const FRAGMENTS: [&str; 30] = [
        "text",
        "text",
        " ",
        " ",
        "a b ",
        "-",
        ": ",
        ":",
        "/",
        "\n",
        "\n",
        "  ",
        "#",
        " #",
        "'",
        "\"",
        "\\",
        "{",
        "[",
        ".",
        "1",
        "é",
        "\t",
        "$",
        "$$",
        "some longer text of several words ",
        "|",
        "*",
        "&",
        "!",
    ];
    const CALLS: [&str; 8] = ["${A}", "${A}", "${B}", "x${A}", "${A:=d e}", "${B^^}", "${A:-${B}}", "$${A}"];
    const VALUES: [&str; 24] = [
        "value",
        "",
        "42",
        "0644",
        "yes",
        "null",
        "~",
        "2001-01-01",
        "a: b",
        "a # b",
        "[1, x]",
        "{a: b}",
        "\"q\"",
        "it's",
        " lead",
        "trail ",
        "a\tb",
        "- x",
        "1e3",
        "x y z",
        "v1.2",
        "a\\b",
        "9007199254740993",
        ".inf",
    ];

    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![prop::sample::select(&FRAGMENTS), prop::sample::select(&CALLS)];
        prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
    }

    fn tree() -> impl Strategy<Value = Node> {
        let file = File::new("a.yaml", "place");
        let place = file.span(0..5);
        let at = place.clone();
        let leaf = (text(), prop::bool::ANY).prop_map(move |(text, plain)| {
            // Plain scalars of the test are single words.
            let word = plain && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"${}:=".contains(&byte));
            Node::scalar(text, if word { Style::Plain } else { Style::Double }, at.clone())
        });
        leaf.prop_recursive(4, 12, 4, move |inner| {
            let (a, b) = (place.clone(), place.clone());
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4)
                    .prop_map(move |items| Node::at(Value::Seq(items.into()), a.clone())),
                prop::collection::btree_map("[a-z]{1,12}", inner, 0..4).prop_map(move |entries| {
                    let entries = entries.into_iter().map(|(key, node)| Entry::new(key, &b, node));
                    Node::at(Value::Map(entries.collect()), b.clone())
                }),
            ]
        })
    }

    /// All that readers can observe: values, and the ranges that variables have changed.
    fn shown(node: &Node, out: &mut Vec<(String, Vec<Piece>)>) {
        match &node.value {
            Value::Scalar(text, _) => {
                let pieces = match &node.origin {
                    Origin::Via(step) => step.pieces.to_vec(),
                    Origin::At(_) => Vec::new(),
                };
                out.push((text.to_string(), pieces));
            }
            Value::Seq(items) => items.iter().for_each(|item| shown(item, out)),
            Value::Map(entries) => entries.iter().for_each(|entry| shown(&entry.node, out)),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]
        #[test]
        fn substitution_in_scalars_equals_substitution_in_the_whole_text(
            tree in tree(), a in prop::sample::select(&VALUES), b in prop::sample::select(&VALUES), known in 0..8
        ) {
            let place = tree.span().clone();
            let object = Node::at(Value::Map([Entry::new("spec", &place, tree)].into_iter().collect()), place.clone());
            let variable = |value: &str, known| {
                let value = if known { Some(value.into()) } else { None };
                Variable { value, place: place.clone(), from: None }
            };
            let values = [("A".into(), variable(a, known != 0)), ("B".into(), variable(b, known != 1))];
            let variables = Variables { values: values.into_iter().collect(), ..Variables::default() };
            let values = Values::new(&variables, true);
            let shared = SharedScalars::default();
            let again = scalars::substitute(&object, &values, &shared);
            if let Some(alone) = scalars::substitute(&object, &values, &shared) {
                prop_assert_eq!(again, Some(alone.clone()));
                let alone = alone.unwrap_or_else(|| object.clone());
                let whole = whole::substitute(&Object { node: object.clone() }, &values);
                let whole = whole.map_err(|findings| TestCaseError::fail(format!("{findings:?}")))?;
                prop_assert_eq!(go::print(&alone), go::print(&whole));
                prop_assert_eq!(&alone, &whole);
                let (mut ours, mut theirs) = (Vec::new(), Vec::new());
                shown(&alone, &mut ours);
                shown(&whole, &mut theirs);
                prop_assert_eq!(ours, theirs);
            }
        }
    }
}
