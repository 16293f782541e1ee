//! fleet.yaml → a fleet and a layout, or findings.

use std::collections::BTreeMap;

use super::check;
use super::model::DEFAULT_LAYOUT;
use crate::base::finding::{Finding, Severity};
use crate::config;
use crate::config::Lint;
use crate::fleet::input::files::Input;
use crate::fleet::input::layout::Layout;
use crate::fleet::merge::levels::Merged;
use crate::fleet::resolve::dependencies::Graph;
use crate::fleet::resolve::derive::resolve;
use crate::fleet::resolve::fleet::Fleet;
use crate::fleet::rule_ids::INVALID_FLEET;
use crate::text::{Span, Tree};
use crate::yaml::Node;

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
    /// The fleet as far as its mistakes let it be told: what else would go wrong with it can be said in the same run.
    pub draft: Option<Fleet>,
    /// fleet.yaml, when it is a mapping.
    pub(super) root: Option<Node>,
    /// The included files, and the glob that each was found by.
    pub(super) included: BTreeMap<String, Span>,
    /// The merged levels, which know where each value came from.
    pub(super) merged: Option<Merged>,
}

/// Loads the fleet that the file at `path` of a tree describes.
pub fn load(tree: &Tree, path: &str) -> Loaded {
    let (input, mut findings) = Input::read(tree, path);
    let mut inputs = vec![path.to_owned()];
    let Some(input) = input else {
        crate::base::finding::sort(&mut findings);
        return Loaded {
            fleet: None,
            layout: None,
            lint: Lint::default(),
            findings,
            inputs,
            draft: None,
            root: None,
            included: BTreeMap::new(),
            merged: None,
        };
    };
    inputs.extend(input.included.keys().cloned());
    let layout = layout(&input, tree, &mut findings);
    let merged = Merged::of(&input, layout.as_ref(), &mut findings);
    let graph = Graph::of(&merged, &mut findings);
    check::check(&input, &merged, &graph, layout.as_ref(), &mut findings);
    findings.extend(input.root.get("lint").map(|section| config::check(section, INVALID_FLEET)).unwrap_or_default());
    let failed = findings.iter().any(|finding| finding.severity == Severity::Error);
    // What cannot be decoded of a fleet with mistakes is among them already.
    let mut undecoded = Vec::new();
    let resolved = resolve(&input, &merged, &graph, &mut undecoded);
    if !failed {
        findings.extend(undecoded);
    }
    let failed = findings.iter().any(|finding| finding.severity == Severity::Error);
    let (fleet, draft) = if failed { (None, resolved.map(Fleet::without_repetitions)) } else { (resolved, None) };
    crate::base::finding::sort(&mut findings);
    let lint = input.root.get("lint").map_or_else(Lint::default, Lint::read);
    let (root, included) = (Some(input.root.clone()), input.included.clone());
    Loaded { fleet, layout, lint, findings, inputs, draft, root, included, merged: Some(merged) }
}

fn layout(input: &Input, tree: &Tree, findings: &mut Vec<Finding>) -> Option<Layout> {
    let said = input.root.get("layout").filter(|layout| !layout.is_null());
    // A layout that is no text is a mistake that the schema has reported.
    let (name, at) = match said {
        Some(said) => (said.text()?, said.span().clone()),
        None => (
            DEFAULT_LAYOUT,
            input.root.get("name").map_or_else(|| input.root.span().clone(), |name| Node::span(name).clone()),
        ),
    };
    let (layout, mistakes) = Layout::load(name, &at, &input.folder, tree);
    findings.extend(mistakes);
    layout
}
