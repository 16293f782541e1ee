//! Label selectors, in manifests and as text.
//!
//! Source: `LabelSelectorAsSelector` and `labels.NewRequirement` of `k8s.io/apimachinery`. `testdata/oracles/selectors`
//! records the answers of Kubernetes and kustomize.

use crate::yaml::{Name, Node, Reader, Scalar};

/// A label selector: requirements that must all hold. An empty selector selects every object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    pub(super) requirements: Vec<Requirement>,
}

/// A requirement on one label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(super) key: Name,
    pub(super) operator: Operator,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operator {
    In(Vec<Name>),
    NotIn(Vec<Name>),
    Exists,
    DoesNotExist,
    /// A comparison of numbers, which only the text form of a selector supports.
    GreaterThan(i64),
    LessThan(i64),
}

impl Selector {
    /// Reads `matchLabels` and `matchExpressions`; `None` if Kubernetes rejects the selector.
    pub fn of(node: &Node) -> Option<Self> {
        if !node.is_map() {
            return None;
        }
        let field = |name: &str| node.get(name).filter(|node| !node.is_null());
        let labels = field("matchLabels");
        let expressions = field("matchExpressions");
        if !labels.is_none_or(Node::is_map) || !expressions.is_none_or(Node::is_seq) {
            return None;
        }
        let labels = labels.map_or(&[][..], Node::entries).iter();
        let labels = labels.map(|label| Requirement::new(label.key.clone(), Operator::In(vec![string(&label.node)?])));
        let expressions = expressions.map_or(&[][..], Node::items).iter().map(expression);
        let requirements = labels.chain(expressions).collect::<Option<_>>()?;
        Some(Self { requirements })
    }

    /// Creates a selector for objects with all of these labels.
    pub fn of_labels<'a>(labels: impl IntoIterator<Item = (&'a Name, &'a Name)>) -> Self {
        let requirement = |(key, value): (&Name, &Name)| {
            let operator = Operator::In(vec![value.clone()]);
            Requirement { key: key.clone(), operator }
        };
        Self { requirements: labels.into_iter().map(requirement).collect() }
    }

    /// Returns whether the selector is empty, so that it selects every object.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Returns whether the selector selects an object. `label` returns the value of a label of the object.
    pub fn selects<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|requirement| requirement.allows(label(&requirement.key)))
    }

    /// The keys of the labels that the selector reads.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.requirements.iter().map(|requirement| &*requirement.key)
    }

    /// Returns a label that every selected object has.
    pub fn required_label(&self) -> Option<&Name> {
        let excludes_unlabeled = |requirement: &&Requirement| !requirement.allows(None);
        self.requirements.iter().find(excludes_unlabeled).map(|requirement| &requirement.key)
    }
}

impl Requirement {
    /// Creates a requirement; `None` if its key or a value is invalid, or if values are missing.
    pub(super) fn new(key: Name, operator: Operator) -> Option<Self> {
        let valid = match &operator {
            Operator::In(values) | Operator::NotIn(values) => {
                !values.is_empty() && values.iter().all(|value| is_label_value(value))
            }
            Operator::Exists | Operator::DoesNotExist | Operator::GreaterThan(_) | Operator::LessThan(_) => true,
        };
        (valid && is_label_key(&key)).then_some(Self { key, operator })
    }

    fn allows(&self, value: Option<&str>) -> bool {
        let is_among = |values: &[Name]| value.is_some_and(|value| values.iter().any(|one| **one == *value));
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match &self.operator {
            Operator::In(values) => is_among(values),
            Operator::NotIn(values) => !is_among(values),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan(bound) => number().is_some_and(|number| number > *bound),
            Operator::LessThan(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

fn expression(node: &Node) -> Option<Requirement> {
    let values = node.get("values").filter(|values| !values.is_null());
    if !values.is_none_or(Node::is_seq) {
        return None;
    }
    let values = values.map_or(&[][..], Node::items).iter().map(string).collect::<Option<Vec<Name>>>()?;
    let operator = match (node.get("operator")?.text()?, values.is_empty()) {
        ("In", _) => Operator::In(values),
        ("NotIn", _) => Operator::NotIn(values),
        ("Exists", true) => Operator::Exists,
        ("DoesNotExist", true) => Operator::DoesNotExist,
        _ => return None,
    };
    Requirement::new(string(node.get("key")?)?, operator)
}

/// Returns the text of a string. The text of null is empty.
fn string(node: &Node) -> Option<Name> {
    match node.resolve(Reader::Kubernetes)? {
        Scalar::String(_) => node.shared_text(),
        Scalar::Null => Some("".into()),
        Scalar::Bool(_) | Scalar::Int(_) | Scalar::Float(_) => None,
    }
}

/// Returns whether a text is a valid label key: at most 63 characters, after an optional DNS subdomain and `/`.
fn is_label_key(key: &str) -> bool {
    let (prefix, name) = key.rsplit_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    !name.is_empty() && is_label_value(name) && prefix.is_none_or(is_subdomain)
}

/// Returns whether a text is a valid label value.
pub(super) fn is_label_value(value: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let ends = [value.bytes().next(), value.bytes().next_back()];
    value.len() <= 63 && value.bytes().all(is_inner) && ends.iter().flatten().all(u8::is_ascii_alphanumeric)
}

fn is_subdomain(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(is_inner) && !label.starts_with('-') && !label.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;
    use crate::text::File;
    use crate::yaml::parse;

    #[derive(Deserialize)]
    struct Questions {
        labels: Vec<BTreeMap<String, String>>,
        manifests: Vec<String>,
        texts: Vec<String>,
    }

    #[derive(Deserialize)]
    struct Answers {
        manifests: Vec<Option<String>>,
        texts: Vec<Option<String>>,
    }

    fn compare(
        read: impl Fn(&str) -> Option<Selector>,
        ask: impl Fn(&Questions, &Answers) -> Vec<(String, Option<String>)>,
    ) {
        let questions = include_str!("../../testdata/oracles/selectors/questions.json");
        let answers = include_str!("../../testdata/oracles/selectors/answers.json");
        let questions: Questions = serde_json::from_str(questions).unwrap();
        let answers: Answers = serde_json::from_str(answers).unwrap();
        let letter = |selector: &Selector, labels: &BTreeMap<String, String>| {
            if selector.selects(|key| labels.get(key).map(String::as_str)) { 'x' } else { '.' }
        };
        let wrong = ask(&questions, &answers).into_iter().filter_map(|(text, expected)| {
            let selector = read(&text);
            let answer =
                selector.map(|selector| questions.labels.iter().map(|labels| letter(&selector, labels)).collect());
            (answer != expected).then(|| format!("{text:?}\n  here:    {answer:?}\n  library: {expected:?}"))
        });
        let wrong: Vec<String> = wrong.collect();
        assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn manifest_selectors_agree_with_kubernetes() {
        let read = |text: &str| {
            let parsed = parse(&File::new("a.yaml", text));
            Selector::of(&parsed.documents[0].node)
        };
        compare(read, |questions, answers| {
            questions.manifests.iter().cloned().zip(answers.manifests.iter().cloned()).collect()
        });
    }

    #[test]
    fn text_selectors_agree_with_kustomize() {
        compare(Selector::parse, |questions, answers| {
            questions.texts.iter().cloned().zip(answers.texts.iter().cloned()).collect()
        });
    }
}
