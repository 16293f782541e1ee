//! What tells inputs of builds apart: their values and the places that builds of them would show.

use sha2::{Digest as _, Sha256};

use crate::yaml::{Node, Style, Value};

/// A digest of an input.
pub(crate) type Digest = [u8; 32];

/// Takes an input piece by piece. Every piece ends with its length or a mark, so that no two inputs look the same.
pub(super) struct Hasher(Sha256);

impl Hasher {
    /// Starts; `what` keeps inputs of different kinds apart.
    pub(crate) fn new(what: &str) -> Self {
        let mut hasher = Self(Sha256::new());
        hasher.text(what);
        hasher
    }

    /// Takes a text.
    pub(crate) fn text(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
    }

    /// Takes what a node says, wherever that stands: its scalars as they are written, since what is read from inside
    /// them keeps its place by that.
    pub(crate) fn content(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar(text, _) => {
                self.0.update(b"s");
                self.text(text);
                self.text(node.span().text());
            }
            Value::Seq(items) => {
                self.0.update(b"[");
                items.iter().for_each(|item| self.content(item));
                self.0.update(b"]");
            }
            Value::Map(entries) => {
                self.0.update(b"{");
                for entry in entries.iter() {
                    self.text(&entry.key);
                    self.content(&entry.node);
                }
                self.0.update(b"}");
            }
        }
    }

    /// Takes a node: its value, and where each piece of it stands.
    pub(crate) fn node(&mut self, node: &Node) {
        let span = node.span();
        self.text(span.file().root().map_or("", |root| root));
        self.text(span.file().path());
        self.0.update((span.range().start as u64).to_le_bytes());
        match &node.value {
            Value::Scalar(text, style) => {
                self.0.update(match style {
                    Style::Plain => b"p",
                    Style::Unknown => b"u",
                    Style::Single | Style::Double | Style::Literal | Style::Folded => b"s",
                });
                self.text(text);
            }
            Value::Seq(items) => {
                self.0.update(b"[");
                items.iter().for_each(|item| self.node(item));
                self.0.update(b"]");
            }
            Value::Map(entries) => {
                self.0.update(b"{");
                for entry in entries.iter() {
                    self.text(&entry.key);
                    self.node(&entry.node);
                }
                self.0.update(b"}");
            }
        }
    }

    /// The digest.
    pub(crate) fn finish(self) -> Digest {
        self.0.finalize().into()
    }
}
