//! Hostile definitions, policies and schemas of charts: each has a finding or is counted, and no evaluation exceeds its
//! steps.

use std::fmt::Write as _;

use fleetwright::lint::{Options, Outcome, run};

use super::clusters::{sync, tree};
use super::support::lines;

/// Lints a cluster that applies the files of its directory.
fn lint(files: &[(&str, String)]) -> Outcome {
    let mut text = sync("a");
    for (path, content) in files {
        write!(text, "\n## {path}\n{content}\n").unwrap();
    }
    run(&tree(&text), &Options::default())
}

/// A definition of the kind `Thing` with a schema of `spec`.
fn definition(spec: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: things.example.com}}\n\
         spec:\n  group: example.com\n  scope: Namespaced\n  names: {{kind: Thing, plural: things, singular: thing, \
         listKind: ThingList}}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      \
         openAPIV3Schema: {{type: object, properties: {{spec: {spec}}}}}"
    )
}

fn thing(spec: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: Thing\nmetadata: {{name: x, namespace: default}}\nspec: {spec}")
}

/// Lints a definition and an object of its kind.
fn thing_of(schema: &str, spec: &str) -> String {
    let files = [("clusters/a/crd.yaml", definition(schema)), ("clusters/a/thing.yaml", thing(spec))];
    let found = lines(&lint(&files).findings);
    found.lines().filter(|line| !line.contains("gotk-sync")).collect::<Vec<_>>().join("\n")
}

fn rule(expression: &str) -> String {
    format!(
        "{{type: array, items: {{type: integer}}, x-kubernetes-validations: [{{rule: {}}}]}}",
        serde_json::json!(expression)
    )
}

fn numbers(count: usize) -> String {
    format!("{:?}", (0..count).collect::<Vec<_>>())
}

#[test]
fn a_rule_that_does_not_end_is_an_error() {
    for expression in [
        "self.all(a, self.all(b, self.all(c, self.all(d, a + b + c + d >= 0))))".to_owned(),
        format!("[self].map(a, a + a){}.size() == 1", ".map(a, a + a)".repeat(40)),
        format!("['x'].map(a, a + a){}.size() == 1", ".map(a, a + a)".repeat(40)),
    ] {
        let found = thing_of(&rule(&expression), &numbers(300));
        let error = "error[schema-mismatch] `spec` of Thing `default/x` cannot be checked";
        let is_told = found.contains(error) && found.contains("takes more than 1000000 steps");
        assert!(is_told, "{}…: {found}", expression.get(..20).unwrap());
    }
}

#[test]
fn an_expression_that_is_too_long_or_too_high_is_a_finding() {
    for expression in [
        format!("self.size() > 0{}", " && self.size() > 0".repeat(20_000)),
        format!("{}true{}", "(".repeat(20_000), ")".repeat(20_000)),
        format!("{}false{}", "false ? true : ".repeat(5_000), ""),
    ] {
        let found = thing_of(&rule(&expression), "[1]");
        assert!(found.contains("does not compile"), "{}…: {found}", expression.get(..20).unwrap());
    }
}

#[test]
fn a_pattern_that_explodes_is_a_finding() {
    let counted = "{type: string, pattern: '((a{0,100}){0,100}){0,100}$'}";
    let found = thing_of(counted, &format!("{}b", "a".repeat(50_000)));
    assert!(found.contains("`pattern` is"), "{found}");
    let alternatives: Vec<String> = (0..3_000).map(|at| format!("word{at}[a-z]*")).collect();
    let found = thing_of(&format!("{{type: string, pattern: '{}'}}", alternatives.join("|")), &"z".repeat(1_000));
    assert!(found.contains("does not match the pattern"), "{found}");
}

#[test]
fn a_recursive_or_deep_schema_is_a_finding() {
    let found = thing_of("{$ref: '#/properties/spec'}", "{a: 1}");
    assert!(found.contains("error[schema-mismatch]"), "{found}");
    let nested = format!("{}{{type: string}}{}", "{type: object, properties: {a: ".repeat(1_000), "}}".repeat(1_000));
    let found = thing_of(&nested, "{a: 1}");
    assert!(found.contains("collections nest more than 128 levels deep"), "{found}");
    let doubled = (0..14).fold("{type: string}".to_owned(), |inner, _| format!("{{anyOf: [{inner}, {inner}]}}"));
    let found = thing_of(&doubled, "1");
    assert!(found.contains("matches none of the alternatives"), "{found}");
}

#[test]
fn a_schema_of_many_megabytes_is_used() {
    let fields: String = (0..80_000).fold(String::new(), |mut text, at| {
        write!(text, "p{at}: {{type: string, maxLength: {}, description: {}}}, ", at % 90 + 1, "d".repeat(80)).unwrap();
        text
    });
    assert!(fields.len() > 9_000_000);
    let found = thing_of(&format!("{{type: object, properties: {{{fields}}}}}"), "{p0: ok}");
    assert!(found.contains("`spec.p0` of Thing `default/x`"), "{found}");
}

fn policy(name: &str, rest: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: {name}}}\n\
         spec:\n  matchConstraints:\n    resourceRules:\n    - {{apiGroups: [''], apiVersions: [v1], operations: ['*'], \
         resources: [configmaps]}}\n{rest}\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: \
         ValidatingAdmissionPolicyBinding\nmetadata: {{name: {name}}}\nspec: {{policyName: {name}, validationActions: \
         [Deny]}}"
    )
}

fn config_maps(count: usize, keys: usize) -> String {
    let data: Vec<String> = (0..keys).map(|at| format!("k{at}: v")).collect();
    let one = |at| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{at}, namespace: default}}\ndata: {{{}}}",
            data.join(", ")
        )
    };
    (0..count).map(one).collect::<Vec<_>>().join("\n---\n")
}

#[test]
fn a_policy_that_does_not_end_is_an_error() {
    let nested = "  validations: [{expression: \"object.data.all(a, object.data.all(b, object.data.all(c, a + b + c != 'x')))\"}]";
    let files = [("clusters/a/policy.yaml", policy("p", nested)), ("clusters/a/c.yaml", config_maps(2, 200))];
    let found = lines(&lint(&files).findings);
    let error = "error[policy-violation] ValidatingAdmissionPolicy `p` refuses ConfigMap `default/c0`: the expression \
                 takes more than 1000000 steps and cannot be checked";
    assert!(found.contains(error), "{found}");

    let doubled: Vec<String> =
        (1..40).map(|at| format!("{{name: v{at}, expression: variables.v{0} + variables.v{0}}}", at - 1)).collect();
    let rest = format!(
        "  variables: [{{name: v0, expression: \"'aaaaaaaa'\"}}, {}]\n  validations: [{{expression: variables.v39.size() > 0}}]",
        doubled.join(", ")
    );
    let files = [("clusters/a/policy.yaml", policy("p", &rest)), ("clusters/a/c.yaml", config_maps(1, 1))];
    let found = lines(&lint(&files).findings);
    assert!(found.contains("error[policy-violation]") && found.contains("too many steps"), "{found}");
}

#[test]
fn many_objects_do_not_lower_the_limit_of_one_that_needs_more() {
    // Alone, the object takes about 200,000 steps. Each of 3,000 objects has a share of 33,000 steps.
    let quadratic = "  validations: [{expression: \"object.data.all(a, object.data.all(b, a + b != 'k1k2'))\"}]";
    let large = config_maps(1, 200).replace("c0", "large");
    let files = [
        ("clusters/a/policy.yaml", policy("p", quadratic)),
        ("clusters/a/c.yaml", format!("{}\n---\n{large}", config_maps(3_000, 1))),
    ];
    let found = lines(&lint(&files).findings);
    assert!(found.contains("refuses ConfigMap `default/large`: failed expression"), "{found}");
}

#[test]
fn many_policies_and_parameters_share_the_steps_of_a_request() {
    let policies: Vec<String> = (0..1_000)
        .map(|at| {
            policy(&format!("p{at}"), &format!("  validations: [{{expression: object.metadata.name != 'c{at}'}}]"))
        })
        .collect();
    let files = [("clusters/a/policy.yaml", policies.join("\n---\n")), ("clusters/a/c.yaml", config_maps(20, 1))];
    assert_eq!(lines(&lint(&files).findings).matches("[policy-violation]").count(), 20);
}

/// A chart that a HelmRelease of the cluster installs.
fn chart(schema: &str, values: &str) -> Outcome {
    let release = format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: r, namespace: default}}\nspec:\n  \
         interval: 10m\n  chart: {{spec: {{chart: ./chart, sourceRef: {{kind: GitRepository, name: flux-system, namespace: \
         flux-system}}}}}}\n  values: {values}"
    );
    let chart = "apiVersion: v2\nname: c\nversion: 1.0.0".to_owned();
    lint(&[
        ("clusters/a/release.yaml", release),
        ("chart/Chart.yaml", chart),
        ("chart/values.schema.json", schema.to_owned()),
    ])
}

#[test]
fn a_hostile_schema_of_a_chart_is_an_error() {
    let doubled: String = (0..40).fold(String::new(), |mut text, at| {
        let next = at + 1;
        write!(text, "\"d{at}\": {{\"anyOf\": [{{\"$ref\": \"#/definitions/d{next}\"}}, {{\"$ref\": \"#/definitions/d{next}\"}}]}}, ")
            .unwrap();
        text
    });
    let doubled = format!(
        "{{\"definitions\": {{{doubled}\"d40\": {{\"type\": \"string\"}}}}, \"properties\": {{\"p\": {{\"$ref\": \
         \"#/definitions/d0\"}}}}}}"
    );
    let deep = format!("{{\"properties\": {{\"p\": {}{{}}{}}}}}", "{\"allOf\": [".repeat(5_000), "]}".repeat(5_000));
    for schema in [doubled.as_str(), &deep] {
        let found = lines(&chart(schema, "{p: 1}").findings);
        let error = "chart/values.schema.json:1:1 error[invalid-values] the schema of chart `c` is too complex";
        assert!(found.contains(error), "{}…: {found}", schema.get(..40).unwrap());
    }
    let backtracks = r#"{"properties": {"p": {"pattern": "^(?=(a+)+$)(a|a)*(\\1)$"}}}"#;
    let outcome = chart(backtracks, "{p: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab}");
    let is_counted = outcome.unchecked.keys().any(|reason| reason.contains("values of chart `c`"));
    assert!(is_counted, "{:?}", outcome.unchecked);
    let recursive = r##"{"properties": {"p": {"$ref": "#"}}, "required": ["q"]}"##;
    let found = lines(&chart(recursive, "{q: 1, p: {p: {q: 1}}}").findings);
    assert!(found.contains("[invalid-values]"), "{found}");
}
