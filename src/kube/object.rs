//! A Kubernetes object as written.

use crate::base::finding::ObjectRef;
use crate::text::Span;
use crate::yaml::{Name, Node};

/// A mapping with `apiVersion` and `kind`. It is cheap to clone.
#[derive(Debug, Clone)]
pub struct Object {
    /// The node of the object.
    pub node: Node,
}

impl Object {
    /// Creates an object from a mapping whose `apiVersion` and `kind` are valid in Kubernetes; `None` for other
    /// mappings.
    ///
    /// Files of Talos, Ansible and other programs have the same fields, with versions that are invalid in Kubernetes.
    pub fn new(node: Node) -> Option<Self> {
        let version = node.get("apiVersion")?.text()?;
        let kind = node.get("kind")?.text()?;
        let known = version == "v1" || version.split_once('/').is_some_and(|(group, _)| !group.is_empty());
        (known && !kind.is_empty()).then_some(Self { node })
    }

    /// Returns the `apiVersion`.
    #[inline]
    pub fn api_version(&self) -> &str {
        self.node.get("apiVersion").and_then(Node::text).unwrap_or_default()
    }

    /// Returns the group of `apiVersion`; empty for the core group.
    #[inline]
    pub fn group(&self) -> &str {
        let version = self.api_version();
        // A loop over these few bytes is faster than a search by `memchr`.
        let end = version.bytes().position(|byte| byte == b'/').unwrap_or_default();
        version.get(..end).unwrap_or_default()
    }

    /// Returns the `kind`.
    #[inline]
    pub fn kind(&self) -> &str {
        self.node.get("kind").and_then(Node::text).unwrap_or_default()
    }

    /// Returns `metadata.name`; empty if it is not set.
    pub fn name(&self) -> &str {
        self.text_at(&["metadata", "name"]).unwrap_or_default()
    }

    /// Returns `metadata.namespace`, if it is set and not empty.
    pub fn namespace(&self) -> Option<&str> {
        self.text_at(&["metadata", "namespace"]).filter(|namespace| !namespace.is_empty())
    }

    /// Returns the value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.text_at(&["metadata", "labels", key])
    }

    /// Returns the value of an annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.text_at(&["metadata", "annotations", key])
    }

    /// Returns whether a label or an annotation has a value. Flux reads settings from both, and ignores the case of letters.
    pub fn is_marked(&self, key: &str, value: &str) -> bool {
        let Some(metadata) = self.node.get("metadata") else { return false };
        let found = ["labels", "annotations"].into_iter().filter_map(|field| metadata.get(field)?.get(key));
        found.filter(|node| !node.is_null()).filter_map(Node::text).any(|found| found.eq_ignore_ascii_case(value))
    }

    /// Returns the text of the scalar at a path of keys; `None` for null.
    pub fn text_at(&self, keys: &[&str]) -> Option<&str> {
        self.node.at_keys(keys).filter(|node| !node.is_null())?.text()
    }

    /// Returns whether the object has a group and kind, in any version.
    #[inline]
    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.kind() == kind && self.group() == group
    }

    /// Returns the reference to the object.
    pub fn reference(&self) -> ObjectRef {
        let shared = |node: Option<&Node>| node.and_then(Node::shared_text).unwrap_or_else(|| Name::from(""));
        ObjectRef {
            api_version: shared(self.node.get("apiVersion")),
            kind: shared(self.node.get("kind")),
            namespace: self.namespace().and_then(|_| self.node.at_keys(&["metadata", "namespace"])?.shared_text()),
            name: shared(self.node.at_keys(&["metadata", "name"])),
        }
    }

    /// Returns the position to report for the object: its name, or its kind if it has no name.
    pub fn span(&self) -> &Span {
        let name = self.node.at_keys(&["metadata", "name"]).or_else(|| self.node.get("kind"));
        name.unwrap_or(&self.node).span()
    }
}
