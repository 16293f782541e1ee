//! Which roles a role gathers, by their labels.

use std::collections::BTreeMap;

use crate::yaml::{Name, Node};

/// A selector of labels; everything in it must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Selector {
    pub(super) requirements: Vec<Requirement>,
}

/// One condition on a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(crate) key: Name,
    pub(crate) operator: Operator,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operator {
    In(Vec<Name>),
    NotIn(Vec<Name>),
    Exists,
    DoesNotExist,
}

impl Selector {
    /// Reads a selector; `None` for one that the API server cannot read.
    pub(crate) fn of(node: &Node) -> Option<Self> {
        let labels = node.get("matchLabels").map_or(&[][..], Node::entries);
        let mut requirements = Vec::new();
        for label in labels {
            let operator = Operator::In(vec![label.node.shared_text()?]);
            requirements.push(Requirement { key: label.key.clone(), operator });
        }
        for expression in node.get("matchExpressions").map_or(&[][..], Node::items) {
            let key = expression.get("key")?.shared_text()?;
            let values = expression.get("values").map_or(&[][..], Node::items);
            let values: Vec<Name> = values.iter().filter_map(Node::shared_text).collect();
            let operator = match (expression.get("operator")?.text()?, values.is_empty()) {
                ("In", false) => Operator::In(values),
                ("NotIn", false) => Operator::NotIn(values),
                ("Exists", true) => Operator::Exists,
                ("DoesNotExist", true) => Operator::DoesNotExist,
                _ => return None,
            };
            requirements.push(Requirement { key, operator });
        }
        Some(Self { requirements })
    }

    pub(crate) fn matches(&self, labels: &BTreeMap<Name, Name>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = labels.get(&requirement.key);
            match &requirement.operator {
                Operator::In(values) => value.is_some_and(|value| values.contains(value)),
                Operator::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
                Operator::Exists => value.is_some(),
                Operator::DoesNotExist => value.is_none(),
            }
        })
    }

    /// A label that what matches must have.
    pub(crate) fn needs(&self) -> Option<&Name> {
        let needs = |requirement: &&Requirement| matches!(requirement.operator, Operator::In(_) | Operator::Exists);
        self.requirements.iter().find(needs).map(|requirement| &requirement.key)
    }
}
