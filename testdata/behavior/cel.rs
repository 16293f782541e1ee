//! Expressions of CEL, compared with the record of the API server's environment, and hostile expressions.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fleetwright::cel::{Budget, Environment, Failure, Fields, Type, Value};
use fleetwright::text::File;
use fleetwright::yaml::{Node, parse};
use serde::Deserialize;

#[derive(Deserialize)]
struct Record {
    answers: Vec<Answer>,
}

#[derive(Deserialize)]
struct Answer {
    expression: String,
    #[serde(default)]
    value: String,
    #[serde(default)]
    refused: String,
    #[serde(default)]
    error: String,
    #[serde(default)]
    since: u32,
}

/// Expressions whose answers differ, with the reason.
const EXPLAINED: &str = include_str!("../oracles/cel/explained.md");

fn node(text: &str) -> Node {
    parse(&File::new("variables.json", text)).documents.remove(0).node
}

fn environment(minor: Option<u32>) -> Environment {
    Environment::new(minor)
        .with("object", Type::Dyn)
        .with("params", Type::Dyn)
        .with("ints", Type::list(Type::Int))
        .with("words", Type::list(Type::String))
        .with("labels", Type::map(Type::String, Type::String))
        .with("authorizer", Type::Opaque("kubernetes.authorization.Authorizer"))
}

#[test]
fn expressions_evaluate_as_on_the_api_server() {
    let record = include_str!("../oracles/cel/answers.json");
    let record: Record = serde_json::from_str(record).expect("the record is JSON");
    let root = node(include_str!("../oracles/cel/variables.json"));
    let variables: Vec<(&str, Value)> = ["object", "params", "ints", "words", "labels"]
        .map(|name| (name, Value::of_node(name, root.get(name).expect("the variable exists"), &Type::Dyn)))
        .into();
    let newest = environment(Some(36));
    let items = EXPLAINED.lines().filter_map(|line| line.strip_prefix("- `")?.rsplit_once("`: "));
    let mut explained: BTreeSet<&str> = items.map(|(expression, _)| expression).collect();
    let mut differences = Vec::new();
    for answer in &record.answers {
        let expression = &*answer.expression;
        let theirs = if !answer.refused.is_empty() {
            format!("refused {}", message(&answer.refused))
        } else if answer.error.contains("cost limit exceeded") {
            "limit".into()
        } else if !answer.error.is_empty() {
            "error".into()
        } else {
            answer.value.clone()
        };
        let mut explanation = String::new();
        let ours = match newest.compile(expression) {
            Err(errors) => {
                explanation.clone_from(&errors[0].message);
                format!("refused {}", message(&errors[0].message))
            }
            Ok(program) => match program.evaluate(&variables, &mut Budget::default()).result {
                Ok(value) => render(&value),
                Err(Failure::Error(error)) => {
                    explanation = error;
                    "error".into()
                }
                Err(Failure::Limit) => "limit".into(),
                Err(Failure::Unknown) => "unknown".into(),
            },
        };
        let shown: String = expression.chars().take(150).collect();
        if ours != theirs && !explained.remove(expression) {
            differences
                .push(format!("{shown}\n    ours:   {ours} {explanation}\n    theirs: {theirs} {}", answer.error));
        }
        if answer.refused.is_empty() {
            for minor in 32..=36 {
                let compiles = environment(Some(minor)).compile(expression).is_ok();
                if compiles != (minor >= answer.since) {
                    differences.push(format!("{shown}\n    with Kubernetes 1.{minor}: compiles {compiles}"));
                }
            }
        }
    }
    differences.extend(explained.iter().map(|expression| format!("{expression}\n    does not differ any more")));
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), differences.join("\n"));
}

/// The message of the type checker; nothing for an error of the syntax, which another parser words differently.
fn message(text: &str) -> String {
    let message = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':').trim_start();
    let checked =
        ["undeclared reference", "found no matching overload", "undefined field", "expected type", "expression of"];
    if checked.iter().any(|start| message.starts_with(start)) { message.into() } else { String::new() }
}

/// Writes a value so that its type shows, as the recorder does.
fn render(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => format!("{value}u"),
        Value::Double(value) if value.is_nan() => "double NaN".into(),
        Value::Double(value) if value.is_infinite() => format!("double {}Inf", if *value > 0.0 { "+" } else { "-" }),
        Value::Double(value) => {
            let text = format!("{value:e}");
            let (digits, exponent) = text.split_once('e').expect("the number has an exponent");
            let exponent: i32 = exponent.parse().expect("the exponent is a number");
            format!("double {digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
        }
        Value::String(text) => serde_json::Value::from(&**text).to_string(),
        Value::Bytes(bytes) => {
            format!("bytes {}", data_encoding::HEXLOWER.encode(bytes))
        }
        Value::Duration(duration) => format!("duration {}", duration.0),
        Value::Timestamp(time) => {
            format!("timestamp {}.{:09}", time.seconds(), time.nanoseconds().rem_euclid(1_000_000_000))
        }
        Value::Optional(None) => "optional()".into(),
        Value::Optional(Some(value)) => format!("optional({})", render(value)),
        Value::List(list) => {
            let items: Vec<String> = list.iter().map(|item| render(&item)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let mut pairs: Vec<String> =
                map.pairs().map(|(key, value)| format!("{}: {}", render(&key.to_value()), render(&value))).collect();
            pairs.sort();
            format!("{{{}}}", pairs.join(", "))
        }
        Value::Type(name) => format!("type {name}"),
        other => other.type_name().into(),
    }
}

/// An object with declared fields.
#[derive(Debug)]
struct Declared;

impl Fields for Declared {
    fn name(&self) -> &'static str {
        "Declared"
    }

    fn field(&self, name: &str) -> Option<Type> {
        Some(match name {
            "ratio" => Type::Double,
            "data" => Type::Bytes,
            "since" => Type::Timestamp,
            "every" => Type::Duration,
            "a.b" | "namespace" | "secret" => Type::String,
            "tags" => Type::List(Arc::new(Type::String), fleetwright::cel::Merge::Set),
            _ => return None,
        })
    }
}

fn declared(expression: &str) -> Result<String, String> {
    let text = "{ratio: 1, data: aGk=, since: 2024-01-01, every: 1h, a.b: x, namespace: y, tags: [a, b]}";
    let declared = Type::Object(Arc::new(Declared));
    let program = Environment::new(None).with("self", declared.clone()).compile(expression);
    let program = program.map_err(|errors| errors[0].message.clone())?;
    let variable = Value::of_node("self", &node(text), &declared);
    let evaluation = program.evaluate(&[("self", variable)], &mut Budget::default());
    evaluation.result.map(|value| render(&value)).map_err(|failure| failure.to_string())
}

#[test]
fn declared_types_decide_how_nodes_are_read() {
    let cases = [
        ("self.ratio", "double 1e+00"),
        ("self.data", "bytes 6869"),
        ("self.since.getFullYear()", "2024"),
        ("self.every == duration('60m')", "true"),
        ("self.a__dot__b", "\"x\""),
        ("self.__namespace__", "\"y\""),
        ("self.namespace", "\"y\""),
        ("self.tags == ['b', 'a']", "true"),
        ("self.tags + ['b', 'c']", "[\"a\", \"b\", \"c\"]"),
        ("has(self.secret)", "false"),
    ];
    for (expression, expected) in cases {
        assert_eq!(declared(expression).as_deref(), Ok(expected), "{expression}");
    }
    assert_eq!(declared("self.nope == 1"), Err("undefined field 'nope'".into()));
    assert_eq!(
        declared("self.ratio == 1"),
        Err("found no matching overload for '_==_' applied to '(double, int)'".into())
    );
}

#[test]
fn an_unknown_value_does_not_decide_what_another_value_decides() {
    let environment = Environment::new(None).with("secret", Type::Dyn).with("object", Type::Dyn);
    let object = node("{a: [1, 2], b: x}");
    let evaluate = |expression: &str| {
        let program = environment.compile(expression).expect("the expression compiles");
        let variables = [("secret", Value::Unknown), ("object", Value::of_node("object", &object, &Type::Dyn))];
        program.evaluate(&variables, &mut Budget::default()).result.map(|value| render(&value))
    };
    for expression in ["secret == 1 || true", "true || secret.a.b", "[1, 2].exists(x, x == secret || x == 2)"] {
        assert_eq!(evaluate(expression), Ok("true".into()), "{expression}");
    }
    for expression in [
        "secret == 1 && false",
        "[1, 2].all(x, x == secret && x == 2) && false",
        "[dyn(1), secret] == [dyn(2), dyn(1)]",
    ] {
        assert_eq!(evaluate(expression), Ok("false".into()), "{expression}");
    }
    for expression in
        ["secret", "secret == 1 || 1 / 0 == 1", "secret ? 1 : 1", "[secret].map(x, x + 1)", "'a' in [secret]"]
    {
        assert_eq!(evaluate(expression), Err(Failure::Unknown), "{expression}");
    }
}

#[test]
fn an_evaluation_returns_the_fields_that_it_read() {
    let object = node("{spec: {containers: [{name: a}, {name: b, image: x}]}, labels: {team: a}}");
    let reads = |expression: &str| {
        let program = Environment::new(None).with("object", Type::Dyn).compile(expression).expect("it compiles");
        let variables = [("object", Value::of_node("object", &object, &Type::Dyn))];
        let evaluation = program.evaluate(&variables, &mut Budget::default());
        let shown = |read: &fleetwright::cel::Read| format!("{}{}", if read.exists { "" } else { "no " }, read.path);
        evaluation.reads.iter().map(shown).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(reads("object.labels.team == 'b'"), "labels.team");
    assert_eq!(reads("has(object.labels.tier)"), "no labels.tier");
    assert_eq!(reads("object.labels['tier'] == ''"), "no labels.tier");
    let expected = "spec.containers[0].name, spec.containers[1].name";
    assert_eq!(reads("object.spec.containers.all(c, c.name != 'b')"), expected);
    assert_eq!(reads("object.labels.all(k, k != 'x')"), "labels.team");
}

#[test]
fn hostile_expressions_end() {
    let environment = Environment::new(None).with("object", Type::Dyn);
    let long = format!("{{text: {}}}", "a".repeat(1_000_000));
    let object = node(&long);
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(30_000), close.repeat(30_000));
    let expressions = [
        deep("(", ")"),
        deep("[", "]"),
        deep("{1:", "}"),
        deep("!", ""),
        deep("-", ""),
        deep("1+", ""),
        deep("f(", ")"),
        deep("true?1:", ""),
        deep("[1].map(x,", ")"),
        format!("object{}", ".a".repeat(40_000)),
        format!("object{}", "[0]".repeat(30_000)),
        vec!["object.text == 'a'"; 4_000].join(" && "),
        "x".repeat(200_000),
        "[0,1,2,3,4,5,6,7,8,9].map(a, [0,1,2,3,4,5,6,7,8,9].map(b, [0,1,2,3,4,5,6,7,8,9].map(c, [0,1,2,3,4,5,6,7,8,9].map(d, [0,1,2,3,4,5,6,7,8,9].map(e, [0,1,2,3,4,5,6,7,8,9].map(f, [0,1,2,3,4,5,6,7,8,9].map(g, a)))))))".into(),
        "lists.range(1000).map(x, object.text + object.text).join().size()".into(),
        "lists.range(100).map(x, object.text.replace('a', object.text)).size()".into(),
        "object.text.matches('(a?){1000}a{1000}$')".into(),
        "object.text.matches('(.*)*(.*)*(.*)*(.*)*x')".into(),
        "object.text.findAll('').size()".into(),
        "object.text.split('').map(x, object.text.split('')).size()".into(),
        "lists.range(9223372036854775807)".into(),
        "'%.999999999f'.format([1.5])".into(),
        "lists.range(300000).distinct()".into(),
        "sets.equivalent(lists.range(300000), lists.range(300000).reverse())".into(),
        "lists.range(5000).map(x, lists.range(5000)).flatten().sort()".into(),
    ];
    for expression in expressions {
        let start = Instant::now();
        let shown: String = expression.chars().take(80).collect();
        if let Ok(program) = environment.compile(&expression) {
            let variables = [("object", Value::of_node("object", &object, &Type::Dyn))];
            let _ = program.evaluate(&variables, &mut Budget::default());
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{shown}: {:?}", start.elapsed());
    }
}
