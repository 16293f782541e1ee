//! Digests of build inputs: of values, and of the positions that appear in the output of a build.

use crate::base::buffered_digest::BufferedDigest;
use crate::yaml::{Node, Style, Value};

/// A digest of a build input.
pub(crate) type Digest = [u8; 32];

/// A hasher of build inputs. Each text follows its length, and each node has a marker for its type, so that different
/// inputs have different digests.
pub(super) struct Hasher(BufferedDigest);

impl Hasher {
    /// Starts a digest. `what` is the kind of the input, so that inputs of different kinds have different digests.
    pub(crate) fn new(what: &str) -> Self {
        let mut hasher = Self(BufferedDigest::new());
        hasher.text(what);
        hasher
    }

    /// Hashes a text.
    pub(crate) fn text(&mut self, text: &str) {
        self.0.text(text);
    }

    /// Hashes the content of a node without its position. The content of a scalar includes its text as written, since
    /// the positions of values inside the scalar depend on that text.
    pub(crate) fn content(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar(text, _) => {
                self.0.byte(b's');
                self.text(text);
                self.text(node.span().text());
            }
            Value::Seq(items) => {
                self.0.byte(b'[');
                items.iter().for_each(|item| self.content(item));
                self.0.byte(b']');
            }
            Value::Map(entries) => {
                self.0.byte(b'{');
                for entry in entries.iter() {
                    self.text(&entry.key);
                    self.content(&entry.node);
                }
                self.0.byte(b'}');
            }
        }
    }

    /// Hashes the value and the position of a node and of all nodes below it.
    pub(crate) fn node(&mut self, node: &Node) {
        let span = node.span();
        self.text(span.file().root().map_or("", |root| root));
        self.text(span.file().path());
        self.0.number(span.range().start);
        match &node.value {
            Value::Scalar(text, style) => {
                self.0.byte(match style {
                    Style::Plain => b'p',
                    Style::Unknown => b'u',
                    Style::Single | Style::Double | Style::Literal | Style::Folded => b's',
                });
                self.text(text);
            }
            Value::Seq(items) => {
                self.0.byte(b'[');
                items.iter().for_each(|item| self.node(item));
                self.0.byte(b']');
            }
            Value::Map(entries) => {
                self.0.byte(b'{');
                for entry in entries.iter() {
                    self.text(&entry.key);
                    self.node(&entry.node);
                }
                self.0.byte(b'}');
            }
        }
    }

    /// Returns the digest.
    pub(crate) fn finish(self) -> Digest {
        self.0.finish()
    }
}
