//! Inputs, results and directives of a strategic merge, for mappings and lists.

use crate::yaml::Node;

/// A part of a patch that cannot be merged.
pub(crate) struct MergeError {
    /// The node of the patch.
    pub(crate) patch: Node,
    pub(crate) message: String,
}

/// The patch of a node.
#[derive(Clone, Copy)]
pub(crate) enum PatchValue<'a> {
    /// No patch.
    Absent,
    /// The node itself, which comes from the patch with its nulls and directives.
    Own,
    /// A node of the patch.
    Node(&'a Node),
}

impl<'a> PatchValue<'a> {
    /// The node to merge into `old`; `None` without a patch.
    pub(crate) fn node(self, old: Option<&'a Node>) -> Option<&'a Node> {
        match self {
            Self::Absent => None,
            Self::Own => old,
            Self::Node(node) => Some(node),
        }
    }
}

/// The result of the merge of a node.
pub(crate) enum MergeResult {
    /// The node is unchanged.
    Unchanged,
    /// The node has changed children.
    Changed(Node),
    /// The node of the patch replaces the old node.
    Replaced(Node),
    /// The node is removed.
    Removed,
}

impl MergeResult {
    /// The result of replacing `old` with a node of the patch.
    pub(crate) fn replaced(old: Option<&Node>, new: Node) -> Self {
        match old {
            Some(old) => Self::Replaced(old.replaced_by(&new)),
            None => Self::Replaced(new),
        }
    }
}

/// The key of directives in a patch.
pub(super) const DIRECTIVE: &str = "$patch";

/// A directive of `$patch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    Merge,
    Replace,
    Delete,
}

/// Reads the value of `$patch`.
pub(super) fn read_directive(node: &Node) -> Result<Directive, MergeError> {
    match node.text() {
        Some("merge") => Ok(Directive::Merge),
        Some("replace") => Ok(Directive::Replace),
        Some("delete") => Ok(Directive::Delete),
        other => {
            let message =
                format!("`$patch: {}` is not valid; use `merge`, `replace` or `delete`", other.unwrap_or_default());
            Err(MergeError { patch: node.clone(), message })
        }
    }
}
