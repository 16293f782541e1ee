//! The label selectors of aggregated roles.

use std::collections::BTreeMap;

use crate::yaml::{Name, Node};

/// A label selector: all of its requirements must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Selector {
    pub(super) requirements: Vec<Requirement>,
}

/// A requirement on a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(crate) key: Name,
    pub(crate) operator: Operator,
}

/// The operator of a requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operator {
    In(Vec<Name>),
    NotIn(Vec<Name>),
    Exists,
    DoesNotExist,
}

impl Selector {
    /// Reads a selector; `None` if the API server rejects it.
    pub(crate) fn read(node: &Node) -> Option<Self> {
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

    /// Whether labels match the selector.
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

    /// The key of a label that every match has.
    pub(crate) fn required_label(&self) -> Option<&Name> {
        let is_required =
            |requirement: &&Requirement| matches!(requirement.operator, Operator::In(_) | Operator::Exists);
        self.requirements.iter().find(is_required).map(|requirement| &requirement.key)
    }
}
