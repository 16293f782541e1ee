//! fleet.yaml → a fleet and a layout, or findings.

use crate::config::Lint;
use crate::finding::Finding;
use crate::text::Tree;

use super::layout::Layout;
use super::resolved::Fleet;

/// The rule of mistakes against the schema.
pub(super) const INVALID_FLEET: &str = "invalid-fleet";

/// What a fleet.yaml says.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The fleet; `None` when an error stands among the findings.
    pub fleet: Option<Fleet>,
    /// The layout, when its name is right.
    pub layout: Option<Layout>,
    /// How the linter judges what is rendered; read even when the rest has errors.
    pub lint: Lint,
    /// Every mistake, sorted by place.
    pub findings: Vec<Finding>,
    /// The paths that were read: fleet.yaml, then the included files, sorted.
    pub inputs: Vec<String>,
}

/// Loads the fleet that the file at `path` of a tree describes.
pub fn load(_tree: &Tree, path: &str) -> Loaded {
    Loaded { fleet: None, layout: None, lint: Lint::default(), findings: Vec::new(), inputs: vec![path.into()] }
}
