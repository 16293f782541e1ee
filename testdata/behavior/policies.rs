//! Admission policies: the tests of the built-in policies, and the recorded answers of an API server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use fleetwright::base::finding::Severity;
use fleetwright::cel::Budget;
use fleetwright::kube::{Object, Scope, scope_of};
use fleetwright::policy::{Decision, Given, LANGUAGES, Objects, Request, TestFile, plural_of};
use fleetwright::text::{File, Tree};
use fleetwright::yaml::parse;
use serde::Deserialize;

#[derive(Deserialize)]
struct Answers {
    #[serde(default)]
    setup: Vec<Answer>,
    objects: Vec<Answer>,
}

#[derive(Deserialize)]
struct Answer {
    object: String,
    #[serde(default)]
    accepted: bool,
    #[serde(default)]
    message: String,
    #[serde(default)]
    warnings: Vec<String>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

/// A failed validation in the audit log.
#[derive(Deserialize)]
struct Audited {
    policy: String,
    message: String,
}

/// The differences, each with its reason.
const EXPLAINED: &str = include_str!("../oracles/schemas/policies.md");

fn objects(text: &str) -> Vec<Object> {
    parse(&File::new("case.yaml", text)).documents.into_iter().filter_map(|one| Object::new(one.node)).collect()
}

/// The answer of the API server: the severity, the policy and the message, or nothing for an accepted object.
fn theirs(answer: &Answer) -> Option<(Severity, String, String)> {
    let annotation = answer.annotations.get("validation.policy.admission.k8s.io/validation_failure");
    if let Some(annotation) = annotation.filter(|_| answer.warnings.is_empty()) {
        let audited: Vec<Audited> = serde_json::from_str(annotation).unwrap();
        return audited.into_iter().next().map(|first| (Severity::Pedantic, first.policy, first.message));
    }
    let (severity, text) = match answer.warnings.first() {
        Some(warning) => (Severity::Warning, warning.as_str()),
        None => (Severity::Error, answer.message.as_str()),
    };
    let (_, rest) = text.split_once("ValidatingAdmissionPolicy '")?;
    let (policy, rest) = rest.split_once('\'')?;
    let message = rest.split_once(": ").map_or(rest, |(_, message)| message);
    Some((severity, policy.to_owned(), message.to_owned()))
}

/// The difference from the answer of the API server.
fn difference(answer: &Answer, decision: &Decision) -> Option<String> {
    let ours: Vec<String> = decision
        .violations
        .iter()
        .map(|one| format!("{:?} {}: {}", one.severity, one.policy.name, one.message))
        .collect();
    let shown = format!("ours: {ours:?} {:?}; theirs: {} {:?}", decision.unknown, answer.message, answer.warnings);
    let Some((severity, policy, message)) = theirs(answer) else {
        return (!ours.is_empty() || !decision.unknown.is_empty()).then_some(shown);
    };
    // The errors of expressions have other words.
    let is_worded = !message.contains("resulted in error") && !message.contains("failed to configure binding");
    let agrees = decision
        .violations
        .iter()
        .any(|one| one.severity == severity && *one.policy.name == policy && (!is_worded || one.message == message));
    (!agrees).then_some(shown)
}

#[test]
fn policies_decide_as_on_the_api_server() {
    let answers: BTreeMap<String, Answers> =
        serde_json::from_str(include_str!("../oracles/schemas/answers.json")).unwrap();
    let answers = &answers["policies"];
    let setup = objects(include_str!("../oracles/schemas/cases/policies/setup.yaml"));
    let requested = objects(include_str!("../oracles/schemas/cases/policies/objects.yaml"));
    assert_eq!((setup.len(), requested.len()), (answers.setup.len(), answers.objects.len()));
    let mut differences: Vec<(String, String)> = Vec::new();
    let mut accepted = Vec::new();
    for (object, answer) in setup.iter().zip(&answers.setup) {
        let (_, findings) = LANGUAGES[0].read(&[object]);
        if findings.is_empty() != answer.accepted {
            let messages: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
            differences.push((answer.object.clone(), format!("ours: {messages:?}; theirs: {}", answer.message)));
        }
        accepted.extend(answer.accepted.then_some(object));
    }
    let (policies, findings) = LANGUAGES[0].read(&accepted);
    assert!(findings.is_empty(), "{findings:?}");
    let given = Given(&accepted);
    for (object, answer) in requested.iter().zip(&answers.objects) {
        let is_namespaced = scope_of(object.group(), object.kind()) != Scope::Cluster;
        let namespace = is_namespaced.then(|| object.namespace().unwrap_or("default"));
        let resource = plural_of(object.kind());
        let request = Request {
            object,
            resource: &resource,
            namespace,
            namespace_object: namespace.and_then(|name| given.find("", "Namespace", "", name)),
            user: Some("system:serviceaccount:flux-system:kustomize-controller"),
            operation: "CREATE",
        };
        let decision = policies.decide(&request, &given, &mut Budget::of_request(1));
        differences.extend(difference(answer, &decision).map(|shown| (answer.object.clone(), shown)));
    }
    let items = EXPLAINED.lines().filter_map(|line| line.strip_prefix("- `")?.split_once("`: "));
    let mut explained: BTreeSet<&str> = items.map(|(object, _)| object).collect();
    let mut unexplained = Vec::new();
    for (object, shown) in &differences {
        if !explained.remove(object.as_str()) {
            unexplained.push(format!("{object}: {shown}"));
        }
    }
    unexplained.extend(explained.iter().map(|object| format!("{object}: does not differ any more")));
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
}

/// Runs the tests of a directory, and returns whether they pass, with the output.
fn policy_test(folder: &Path) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetwright"));
    let output = command.args(["policy", "test"]).arg(folder).output().unwrap();
    let shown = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.success(), shown)
}

/// A policy without conditions that requests violate, and the expression of its message.
fn policy_with_message(expression: &str, message: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: p}}\nspec:\n  \
         matchConstraints:\n    resourceRules:\n    - {{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: \
         ['*']}}\n  validations: [{{expression: \"{expression}\", messageExpression: \"{message}\"}}]\n---\napiVersion: \
         admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {{name: p}}\nspec: {{policyName: \
         p, validationActions: [Deny]}}\n"
    )
}

fn policy_tests(objects: impl Iterator<Item = String>) -> String {
    let tests: Vec<String> = objects.map(|object| format!("- {{object: {object}, expect: allowed}}")).collect();
    format!(
        "apiVersion: fleetwright.dev/v1alpha1\nkind: PolicyTest\npolicies: [p.yaml]\ntests:\n{}\n",
        tests.join("\n")
    )
}

#[test]
fn the_tests_of_the_built_in_policies_pass() {
    let (passes, shown) = policy_test(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/policies"));
    assert!(passes, "{shown}");
}

#[test]
fn a_test_of_policies_prints_no_value_of_a_secret() {
    let messages = [
        "string(object.stringData.a)",
        "string(object.stringData.a).lowerAscii()",
        "string(object.stringData.a).split('').join('-')",
        "object.metadata.name + string(object.stringData.a).substring(0, 8)",
        "'%s'.format([object])",
    ];
    for message in messages {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("p.yaml"), policy_with_message("false", message)).unwrap();
        let secret = "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: b}, stringData: {a: CANARYvalue}}";
        let tests = policy_tests(std::iter::once(secret.to_owned()));
        std::fs::write(folder.path().join("p.test.yaml"), tests).unwrap();
        let (passes, shown) = policy_test(folder.path());
        assert!(!passes && shown.contains("the answer is `denied`"), "{message}: {shown}");
        let shown = shown.to_ascii_lowercase();
        assert!(!shown.contains("canary") && !shown.contains("c-a-n"), "{message}: {shown}");
    }
}

#[test]
fn the_tests_of_policies_share_a_limit_of_steps() {
    let letters = "string(object.data.a).split('')";
    let quadratic = format!("{letters}.all(x, {letters}.all(y, x + y != ''))");
    let policy = File::new("p.yaml", policy_with_message(&quadratic, "'no'"));
    let object = |at| {
        let letters = "x".repeat(100);
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c{at}, namespace: b}}, data: {{a: {letters}}}}}")
    };
    let file = File::new("p.test.yaml", policy_tests((0..20).map(object)));
    let tests = TestFile::read(&file, &Tree::from_iter([policy])).unwrap().unwrap();
    let outcomes = tests.run(&mut Budget::new(500_000)).unwrap();
    let refused = outcomes.iter().filter_map(|outcome| outcome.failure.as_ref());
    let refused: Vec<&String> = refused.collect();
    assert!((1..20).contains(&refused.len()), "{refused:?}");
    assert!(refused.iter().all(|failure| failure.contains("steps")), "{refused:?}");
}
