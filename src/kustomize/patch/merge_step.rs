//! The parts of a strategic merge that mappings and lists share: inputs, results and directives.

use crate::yaml::Node;

/// A place where a patch cannot be laid over the object.
pub(crate) struct MergeError {
    /// The patch's node.
    pub(crate) patch: Node,
    pub(crate) message: String,
}

/// What is laid over a node.
#[derive(Clone, Copy)]
pub(crate) enum PatchValue<'a> {
    /// Nothing.
    Absent,
    /// The node itself: it was taken from the patch, so that its nulls and directives are still in it.
    Own,
    /// A part of the patch.
    Node(&'a Node),
}

impl<'a> PatchValue<'a> {
    pub(crate) fn node(self, old: Option<&'a Node>) -> Option<&'a Node> {
        match self {
            Self::Absent => None,
            Self::Own => old,
            Self::Node(node) => Some(node),
        }
    }
}

/// What became of a node.
pub(crate) enum MergeResult {
    /// It is what it was.
    Unchanged,
    /// It was changed in its place.
    Changed(Node),
    /// The patch's node stands in its place.
    Replaced(Node),
    /// It is no more.
    Removed,
}

impl MergeResult {
    pub(crate) fn replaced(old: Option<&Node>, new: Node) -> Self {
        match old {
            Some(old) => Self::Replaced(old.replaced_by(&new)),
            None => Self::Replaced(new),
        }
    }
}

/// The key of directives in a patch.
pub(super) const DIRECTIVE: &str = "$patch";

/// What `$patch` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    Merge,
    Replace,
    Delete,
}

pub(super) fn read_directive(node: &Node) -> Result<Directive, MergeError> {
    match node.text() {
        Some("merge") => Ok(Directive::Merge),
        Some("replace") => Ok(Directive::Replace),
        Some("delete") => Ok(Directive::Delete),
        other => {
            let message = format!("`$patch: {}` is none of merge, replace and delete", other.unwrap_or_default());
            Err(MergeError { patch: node.clone(), message })
        }
    }
}
