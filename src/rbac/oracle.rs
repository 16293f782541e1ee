//! Comparison of the model with the recorded answers of Kubernetes.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::flux::{Applied, AppliedSet, Governance, Receiver, Repo, Settings, Tenancy};
use crate::kube::Object;
use crate::rbac::authz::cluster::Rbac;
use crate::rbac::escalation::guard::Guard;
use crate::rbac::model::request::Request;
use crate::rbac::model::role::{Binding, Role};
use crate::rbac::model::rule::{Rule, covers};
use crate::rbac::model::subject::Account;
use crate::text::{File, Span, Tree};
use crate::yaml::{Name, parse};

#[derive(Deserialize)]
struct Answers {
    clusters: BTreeMap<String, Answered>,
    allows: Vec<String>,
    covers: Vec<String>,
}

#[derive(Deserialize)]
struct Answered {
    requests: BTreeMap<String, String>,
    #[serde(default)]
    attempts: BTreeMap<String, String>,
}

fn answers() -> Answers {
    serde_json::from_str(include_str!("../../testdata/oracles/rbac/answers.json")).unwrap()
}

/// The files of `clusters/`, by name.
const CLUSTERS: [(&str, &str); 5] = [
    ("aggregation", include_str!("../../testdata/oracles/rbac/clusters/aggregation.yaml")),
    ("escalation", include_str!("../../testdata/oracles/rbac/clusters/escalation.yaml")),
    ("rules", include_str!("../../testdata/oracles/rbac/clusters/rules.yaml")),
    ("shipped", include_str!("../../testdata/oracles/rbac/clusters/shipped.yaml")),
    ("subjects", include_str!("../../testdata/oracles/rbac/clusters/subjects.yaml")),
];

/// The requests in the first document of a file, its objects, and the objects that accounts attempt to create.
fn cluster(name: &str) -> (Vec<String>, Repo, Vec<Object>) {
    let (_, text) = CLUSTERS.iter().find(|(known, _)| *known == name).unwrap();
    let (questions, objects) = text.split_once("\n---\n").unwrap();
    let (attempts, objects): (Vec<&str>, Vec<&str>) =
        objects.split("\n---\n").partition(|text| text.contains("oracle/try"));
    let attempts = attempts.iter().map(|text| parse(&File::new("attempt.yaml", *text)).documents.remove(0).node);
    let attempts = attempts.filter_map(Object::new).collect();
    let (_, requests) = questions.split_once("requests:\n").unwrap();
    let requests = requests.lines().map(|line| line.trim_start_matches("- ").to_owned());
    let tree: Tree = [File::new("objects.yaml", objects.join("\n---\n"))].into_iter().collect();
    (requests.collect(), Repo::load(&tree, &Settings::default()), attempts)
}

fn rbac(repo: &Repo) -> Rbac {
    let receiver = &Receiver::all(&repo.clusters[0])[0];
    let telling: Vec<Applied<'_>> = receiver.applied_sets().flat_map(AppliedSet::tenancy_objects).collect();
    let tenancy = Tenancy::detect(&telling, &[], None, None, Governance::None);
    Rbac::on_cluster(receiver, &tenancy)
}

/// A request in the syntax of the files: `get pods/log one -n x`, `create deployments.apps`, `get /healthz`.
fn request(text: &str) -> Request<'_> {
    let mut words = text.split_whitespace();
    let (verb, what) = (words.next().unwrap(), words.next().unwrap());
    if what.starts_with('/') {
        return Request::path(verb, what);
    }
    let (resource, subresource) = what.split_once('/').map_or((what, ""), |(resource, sub)| (resource, sub));
    let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
    let mut parsed = Request::new(verb, group, resource).subresource(subresource);
    while let Some(word) = words.next() {
        parsed = if word == "-n" { parsed.in_namespace(words.next().unwrap()) } else { parsed.named(word) };
    }
    parsed
}

fn rules(text: &str) -> Vec<Rule> {
    let rule = |text: &str| {
        let lists: Vec<Vec<Name>> = text.split('|').map(|list| list.split(',').map(Name::from).collect()).collect();
        let [verbs, groups, resources, names, urls] = lists.try_into().unwrap();
        let some = |list: Vec<Name>| if list == [Name::from("")] { Vec::new() } else { list };
        let (names, urls, resources) = (some(names), some(urls), some(resources));
        // A rule for paths has no groups; a rule for resources may have the core group only.
        let groups = if resources.is_empty() { Vec::new() } else { groups };
        Rule { verbs, groups, resources, names, urls, place: None }
    };
    text.split(';').map(rule).collect()
}

#[test]
fn accounts_may_do_what_the_authorizer_allows() {
    for (name, answered) in answers().clusters {
        let (requests, repo, _) = cluster(&name);
        let rbac = rbac(&repo);
        for (account, expected) in answered.requests {
            let (namespace, own) = account.split_once('/').unwrap();
            let account = Account::new(namespace, own);
            let letter = |text: &String| if rbac.can(&account, &request(text)).is_allowed() { 'x' } else { '.' };
            let ours: String = requests.iter().map(letter).collect();
            let differing: Vec<&String> = requests
                .iter()
                .zip(ours.chars().zip(expected.chars()))
                .filter(|(_, (a, b))| a != b)
                .map(|(text, _)| text)
                .collect();
            assert_eq!(ours, expected, "{name}: {account}: {differing:?}");
        }
    }
}

#[test]
fn roles_and_bindings_may_be_written_where_the_guard_lets_them_through() {
    let mut compared = 0;
    for (name, answered) in answers().clusters {
        let (_, repo, attempts) = cluster(&name);
        let rbac = rbac(&repo);
        for (account, expected) in answered.attempts {
            let (namespace, own) = account.split_once('/').unwrap();
            let account = Account::new(namespace, own);
            let letter = |object: &Object| {
                let (namespace, span) = (object.namespace().unwrap_or_default(), |span: &Span| span.clone());
                let guard = if object.kind().ends_with("Binding") {
                    rbac.may_write_binding(&account, &Binding::read(object, namespace, span).unwrap())
                } else {
                    rbac.may_write_role(&account, &Role::read(object, namespace, span))
                };
                if guard == Guard::Passed { 'x' } else { '.' }
            };
            let ours: String = attempts.iter().map(letter).collect();
            assert_eq!(ours, expected, "{name}: {account}");
            compared += ours.len();
        }
    }
    assert!(compared > 100);
}

#[test]
fn rules_allow_what_those_of_kubernetes_allow() {
    for line in answers().allows {
        let (question, expected) = line.rsplit_once(": ").unwrap();
        let (own, asked) = question.split_once(" => ").unwrap();
        let allowed = rules(own).iter().any(|rule| rule.allows(&request(asked)));
        assert_eq!(allowed, expected == "x", "{line}");
    }
}

#[test]
fn rules_cover_what_those_of_kubernetes_cover() {
    for line in answers().covers {
        let (question, expected) = line.rsplit_once(": ").unwrap();
        let (own, wanted) = question.split_once(" => ").unwrap();
        assert_eq!(covers(&rules(own).iter(), rules(wanted).iter()), Some(expected == "x"), "{line}");
    }
}
