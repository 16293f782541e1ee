//! The free `values` of each level, checked with the schemas of the layout after merging.

use std::sync::Arc;

use serde_json::json;

use crate::base::finding::Finding;
use crate::fleet::formats;
use crate::fleet::input::layout::Layout;
use crate::fleet::merge::crossing::Crossings;
use crate::fleet::merge::levels::Merged;
use crate::fleet::rule_ids::{INVALID_FLEET, INVALID_LAYOUT};
use crate::schema::Checker;
use crate::text::Index;
use crate::yaml::{Node, Reader, Value, to_json};

pub(super) fn check(
    merged: &Merged,
    crossings: &[Arc<Crossings>],
    layout: Option<&Layout>,
    findings: &mut Vec<Finding>,
) {
    let Some((layout, schemas)) = layout.and_then(|layout| Some((layout, layout.manifest.get("values")?))) else {
        return;
    };
    if !schemas.is_map() {
        return;
    }
    let mut checked = Checked { layout, schemas, reported: Index::default(), findings };
    checked.level("fleet", [&merged.fleet]);
    checked.level("cluster", &merged.clusters);
    checked.partial("cluster", merged.environments.iter().map(|(_, node)| node));
    checked.level("tenant", merged.tenants.iter().map(|tenant| &tenant.node));
    checked.level("source", merged.tenants.iter().flat_map(|tenant| &tenant.sources));
    let components = merged.tenants.iter().flat_map(|tenant| &tenant.components);
    // A component with stages passes its values to the stages.
    let applied = components.flat_map(|component| {
        let own = component.stages.is_empty().then_some(&component.node);
        component.stages.iter().chain(own)
    });
    checked.level("component", applied);
    let mut seen: Index<usize, ()> = Index::default();
    for crossings in crossings.iter().filter(|crossings| seen.insert(Arc::as_ptr(crossings) as usize, ()).is_none()) {
        checked.level("component", crossings.parts.iter().map(|crossing| &crossing.node));
    }
}

struct Checked<'a> {
    layout: &'a Layout,
    schemas: &'a Node,
    /// The places with a finding: several clusters can inherit one value.
    reported: Index<(String, u32, String), ()>,
    findings: &'a mut Vec<Finding>,
}

impl Checked<'_> {
    /// Checks the values of all nodes of a level.
    fn level<'n>(&mut self, level: &str, nodes: impl IntoIterator<Item = &'n Node>) {
        self.nodes(level, nodes, false);
    }

    /// Checks the values of nodes that other levels can complete.
    fn partial<'n>(&mut self, level: &str, nodes: impl IntoIterator<Item = &'n Node>) {
        self.nodes(level, nodes, true);
    }

    fn nodes<'n>(&mut self, level: &str, nodes: impl IntoIterator<Item = &'n Node>, is_partial: bool) {
        let Some(schema) = self.schemas.get(level).filter(|schema| schema.is_map()) else {
            for entry in nodes.into_iter().filter_map(|node| node.entry("values")) {
                let message = format!("layout `{}` accepts no `values` in a {level}", self.layout.name);
                let help = "remove it, or define its schema in `values` of layout.yaml";
                self.report(Finding::error(INVALID_FLEET, entry.key_span(), message).help(help));
            }
            return;
        };
        let mut compiled = to_json(schema, Reader::Core);
        if let Some(object) = compiled.as_object_mut() {
            object.entry("type").or_insert_with(|| json!("object"));
        }
        let checker = match Checker::of_user(compiled, INVALID_FLEET, formats::WORDS) {
            Ok(checker) => checker,
            Err(error) => {
                let message = format!("`values.{level}` is not a valid JSON Schema: {error}");
                self.report(Finding::error(INVALID_LAYOUT, schema.span().clone(), message));
                return;
            }
        };
        for node in nodes {
            let owner = node.get("name").unwrap_or(node);
            let none = Node { value: Value::Map([].into()), origin: owner.origin.clone() };
            let values = node.get("values").unwrap_or(&none);
            for mut finding in checker.check(values) {
                finding.message = finding.message.replacen("the document", "`values`", 1);
                // A missing value is a mistake in fleet.yaml, even if the layout sets other values.
                let is_in_layout = self.layout.sets(&finding.at.span);
                let missing = finding.message.split_once(" has no ").filter(|_| finding.rule == INVALID_FLEET);
                if is_partial && missing.is_some() {
                    continue;
                }
                if let (true, Some((_, missing))) = (is_in_layout, missing) {
                    let name = owner.text().unwrap_or_default();
                    finding.message = format!("`values` of {level} `{name}` has no {missing}");
                    finding.at = owner.span().clone().into();
                }
                self.report(finding);
            }
        }
    }

    fn report(&mut self, finding: Finding) {
        let (path, start, _) = finding.at.span.order();
        if self.reported.insert((path.to_owned(), start, finding.message.clone()), ()).is_none() {
            self.findings.push(finding);
        }
    }
}
