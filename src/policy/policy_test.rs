//! Tests of policies: requests with the expected answers.

use std::collections::BTreeMap;

use super::built_in::built_in;
use super::cluster::Objects;
use super::decision::Decision;
use super::language::LANGUAGES;
use super::request::Request;
use crate::base::finding::{Finding, Severity};
use crate::cel::Budget;
use crate::kube::{Object, Scope, scope_of};
use crate::text::{File, Span, Tree, folder_of, join};
use crate::yaml::Node;

/// The rule id of invalid tests.
const INVALID_TEST: &str = "invalid-policy-test";

/// A file with tests of policies.
#[derive(Debug)]
pub struct TestFile {
    policies: Vec<Object>,
    objects: Vec<Object>,
    tests: Vec<Test>,
}

#[derive(Debug)]
struct Test {
    name: String,
    object: Object,
    user: Option<String>,
    expect: String,
    message: Option<String>,
    at: Span,
}

/// The result of a test.
#[derive(Debug)]
pub struct Outcome {
    /// The name of the test.
    pub name: String,
    /// The position of the test.
    pub at: Span,
    /// The difference from the expectation; `None` if the test passes.
    pub failure: Option<String>,
}

/// The answers that a test can expect.
const EXPECTED: [&str; 5] = ["allowed", "denied", "warned", "audited", "unknown"];

impl TestFile {
    /// Reads a file; `None` if it contains no tests.
    pub fn read(file: &File, tree: &Tree) -> Option<Result<Self, Vec<Finding>>> {
        if !file.text().contains("PolicyTest") {
            return None;
        }
        let parsed = crate::yaml::parse(file);
        let is_test = |node: &Node| node.get("kind").and_then(Node::text) == Some("PolicyTest");
        let node = parsed.documents.iter().map(|document| &document.node).find(|node| is_test(node))?;
        let mut reader = Reader { file, tree, findings: parsed.findings };
        let policies = reader.policies(node);
        let objects = items(node, "objects").iter().filter_map(|node| reader.object(node)).collect();
        let tests = items(node, "tests").iter().filter_map(|node| reader.test(node)).collect::<Vec<_>>();
        if tests.is_empty() && reader.findings.is_empty() {
            reader.fault(node, "the file has no tests", "add items to `tests`");
        }
        Some(if reader.findings.is_empty() { Ok(Self { policies, objects, tests }) } else { Err(reader.findings) })
    }

    /// The objects of the tests and of their cluster.
    pub fn objects(&self) -> impl Iterator<Item = &Node> {
        self.tests.iter().map(|test| &test.object).chain(&self.objects).map(|object| &object.node)
    }

    /// Runs the tests. The findings are invalid policies. `steps` bounds the tests of all files.
    pub fn run(&self, steps: &mut Budget) -> Result<Vec<Outcome>, Vec<Finding>> {
        let policies: Vec<&Object> = self.policies.iter().collect();
        let all: Vec<&Object> = self.objects.iter().chain(&self.policies).collect();
        let objects = Given(&all);
        let mut sets = Vec::new();
        for language in LANGUAGES {
            let (set, findings) = language.read(&policies);
            if !findings.is_empty() {
                return Err(findings);
            }
            sets.push(set);
        }
        let run = |test: &Test| {
            let object = &test.object;
            let resource = plural_of(object.kind());
            let is_namespaced = scope_of(object.group(), object.kind()) != Scope::Cluster;
            let namespace = object.namespace().filter(|_| is_namespaced);
            let request = Request {
                object,
                resource: &resource,
                namespace,
                namespace_object: namespace.and_then(|name| objects.find("", "Namespace", "", name)),
                user: test.user.as_deref(),
                operation: "CREATE",
            };
            let mut decision = Decision::default();
            let mut budget = steps.of_next_request();
            for set in &sets {
                decision.merge(set.decide(&request, &objects, &mut budget));
            }
            steps.spend_of(&budget);
            Outcome { name: test.name.clone(), at: test.at.clone(), failure: test.failure(&decision) }
        };
        Ok(self.tests.iter().map(run).collect())
    }
}

impl Test {
    fn failure(&self, decision: &Decision) -> Option<String> {
        let worst = decision.violations.iter().max_by_key(|violation| violation.severity);
        let answer = match worst.map(|violation| violation.severity) {
            Some(Severity::Error) => "denied",
            Some(Severity::Warning) => "warned",
            Some(Severity::Pedantic) => "audited",
            None if !decision.unknown.is_empty() => "unknown",
            None => "allowed",
        };
        let messages: Vec<&str> = decision.violations.iter().map(|violation| violation.message.as_str()).collect();
        if answer != self.expect {
            let why = messages.first().map_or(String::new(), |message| format!(": {message}"));
            return Some(format!("expected `{}`, but the answer is `{answer}`{why}", self.expect));
        }
        let expected = self.message.as_ref()?;
        let is_said = messages.iter().any(|message| message.contains(expected.as_str()));
        (!is_said).then(|| format!("expected the message `{expected}`, but it is `{}`", messages.join("`, `")))
    }
}

struct Reader<'a> {
    file: &'a File,
    tree: &'a Tree,
    findings: Vec<Finding>,
}

impl Reader<'_> {
    fn fault(&mut self, node: &Node, message: impl Into<String>, help: &str) {
        self.findings.push(Finding::error(INVALID_TEST, node.span().clone(), message).help(help));
    }

    fn policies(&mut self, root: &Node) -> Vec<Object> {
        let mut all = Vec::new();
        if items(root, "policies").is_empty() {
            self.fault(root, "the test has no policies", "list the files of the policies in `policies`");
        }
        for item in items(root, "policies") {
            if let Some(name) = item.get("builtin").and_then(Node::text) {
                let parameters = item.get("parameters").map(Node::entries).unwrap_or_default().iter();
                let parameters: BTreeMap<String, String> = parameters
                    .filter_map(|entry| Some((entry.key.to_string(), entry.node.text()?.to_owned())))
                    .collect();
                match built_in(name) {
                    Some(policy) => all.extend(policy.objects_with(&parameters)),
                    None => self.fault(
                        item,
                        format!("there is no built-in policy `{name}`"),
                        "run `fleetwright policy list` for the names",
                    ),
                }
                continue;
            }
            let Some(path) = item.text() else { continue };
            let file = join(folder_of(self.file.path()), path).and_then(|path| self.tree.file(&path).ok());
            let Some(file) = file else {
                self.fault(item, format!("there is no file `{path}`"), "write the path relative to this file");
                continue;
            };
            let documents = crate::yaml::parse(&file).documents;
            all.extend(documents.into_iter().filter_map(|document| Object::new(document.node)));
        }
        all
    }

    fn object(&mut self, node: &Node) -> Option<Object> {
        let object = Object::new(node.clone());
        if object.is_none() {
            self.fault(node, "this is not a Kubernetes object", "set `apiVersion` and `kind`");
        }
        object
    }

    fn test(&mut self, node: &Node) -> Option<Test> {
        let text = |field: &str| node.get(field).and_then(Node::text).map(str::to_owned);
        let Some(object) = node.get("object") else {
            self.fault(node, "the test has no `object`", "set `object` to the object of the request");
            return None;
        };
        let object = self.object(object)?;
        let expect = text("expect").unwrap_or_default();
        if !EXPECTED.contains(&expect.as_str()) {
            let at = node.get("expect").unwrap_or(node);
            self.fault(
                at,
                "the expected answer is missing or unknown",
                "use `allowed`, `denied`, `warned`, `audited` or `unknown`",
            );
            return None;
        }
        let name = text("name").unwrap_or_else(|| format!("{} is {expect}", object.reference()));
        Some(Test { name, object, user: text("user"), expect, message: text("message"), at: node.span().clone() })
    }
}

fn items<'a>(node: &'a Node, field: &str) -> &'a [Node] {
    node.get(field).map(Node::items).unwrap_or_default()
}

/// A cluster that has these objects and no others.
#[derive(Debug)]
pub struct Given<'a>(pub &'a [&'a Object]);

impl<'a> Objects<'a> for Given<'a> {
    fn find(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<&'a Object> {
        let is_here = |object: &&&Object| object.namespace().unwrap_or_default() == namespace && object.name() == name;
        self.0.iter().filter(|object| object.is(group, kind)).find(is_here).copied()
    }

    fn of_kind(&self, group: &str, kind: &str) -> Vec<&'a Object> {
        self.0.iter().filter(|object| object.is(group, kind)).copied().collect()
    }

    fn may_have(&self, _: &str, _: &str, _: &str, _: Option<&str>) -> bool {
        false
    }
}

/// The resource of a kind whose definition is not known.
pub fn plural_of(kind: &str) -> String {
    let name = kind.to_ascii_lowercase();
    if name.ends_with('s') || name.ends_with('x') || name.ends_with("ch") {
        return format!("{name}es");
    }
    match name.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        Some(stem) => format!("{stem}ies"),
        None => format!("{name}s"),
    }
}
