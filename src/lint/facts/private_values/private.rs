//! A private value, with the reason why it is private.

use crate::text::Span;
use crate::yaml::{ChangedBy, Name, Node, Origin};

/// A private value in plain text.
#[derive(Debug, Clone)]
pub struct Private {
    /// The place of the value.
    pub span: Span,
    /// The name of the value; empty for a part of a text without names.
    pub name: String,
    /// The reason why the value is private.
    pub evidence: Evidence,
    /// The variable that sets the value.
    pub variable: Option<Name>,
}

impl Private {
    pub(super) fn new(node: &Node, name: &str, evidence: Evidence) -> Self {
        let variable = match &node.origin {
            Origin::Via(change) => match &change.by {
                ChangedBy::Variable(name) => Some(name.clone()),
                _ => None,
            },
            Origin::At(_) => None,
        };
        Self { span: node.span().clone(), name: name.to_string(), evidence, variable }
    }
}

/// The reason why a value is private.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// The name denotes a secret, and the value is a well-known password such as `changeme`, or the value is an address
    /// with such a password.
    Guessable,
    /// The name denotes a secret.
    Name,
    /// The value is in a Secret, under a key that denotes a secret.
    Secret,
    /// The value has the shape of a credential: a noun with its article, such as `a GitHub token`.
    Shape(&'static str),
}
