//! Expressions in defaults: `path: clusters/{{ cluster.name }}`.

use minijinja::{Environment, UndefinedBehavior, Value as Context};

use super::layout::Layout;
use crate::finding::Finding;
use crate::text::{File, Index};
use crate::yaml::{Node, Reader, Scalar, Style, Value};

/// The rule of mistakes in a layout.
const INVALID_LAYOUT: &str = "invalid-layout";
/// What one expression may cost; a loop without end runs out of it.
const FUEL: u64 = 20_000;

/// Evaluates expressions in strings of the layout, and in paths wherever they were written.
///
/// Other strings of a user are left as they are, since `{{` is for Go templates in them: commit messages, for example.
pub(super) struct Expressions {
    environment: Environment<'static>,
    /// `layout.yaml`.
    manifest: Option<File>,
    findings: Vec<Finding>,
    /// Places of faulty expressions, which every cluster or tenant would report again.
    reported: Index<(String, usize), ()>,
}

impl Expressions {
    pub(super) fn new(layout: Option<&Layout>) -> Self {
        let mut environment = Environment::new();
        environment.set_fuel(Some(FUEL));
        // Names that are not there are mistakes; `component.path or "x"` may still ask for them.
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        let manifest = layout.map(|layout| layout.manifest.span().file().clone());
        Self { environment, manifest, findings: Vec::new(), reported: Index::default() }
    }

    /// The mistakes that were met.
    pub(super) fn finish(self) -> Vec<Finding> {
        self.findings
    }

    /// A node with its expressions evaluated; what is known in them is given as nodes by name.
    pub(super) fn fill(&mut self, node: &Node, known: &[(&str, &Node)]) -> Node {
        if !self.has_expression(node, false) {
            return node.clone();
        }
        let context = Context::from_pairs(known.iter().map(|(name, node)| (*name, scalars(node))));
        self.evaluate(node, false, &context)
    }

    fn has_expression(&self, node: &Node, is_path: bool) -> bool {
        match &node.value {
            Value::Scalar(text, _) => text.contains('{') && self.is_expression(node, text, is_path),
            Value::Seq(items) => items.iter().any(|item| self.has_expression(item, false)),
            Value::Map(entries) => {
                entries.iter().any(|entry| self.has_expression(&entry.node, is_path_key(&entry.key)))
            }
        }
    }

    fn is_expression(&self, node: &Node, text: &str, is_path: bool) -> bool {
        let marked = text.contains("{{") || text.contains("{%");
        marked && (is_path || self.manifest.as_ref() == Some(node.span().file()))
    }

    fn evaluate(&mut self, node: &Node, is_path: bool, context: &Context) -> Node {
        let value = match &node.value {
            Value::Scalar(text, style) => {
                if !self.is_expression(node, text, is_path) {
                    return node.clone();
                }
                match self.environment.render_str(text, context) {
                    Ok(result) => {
                        let style = if *style == Style::Plain { Style::Double } else { *style };
                        Value::Scalar(result.into(), style)
                    }
                    Err(error) => {
                        self.report(node, &error);
                        return node.clone();
                    }
                }
            }
            Value::Seq(items) => Value::Seq(items.iter().map(|item| self.evaluate(item, false, context)).collect()),
            Value::Map(entries) => {
                let filled = entries
                    .iter()
                    .map(|entry| entry.with_node(self.evaluate(&entry.node, is_path_key(&entry.key), context)));
                Value::Map(filled.collect())
            }
        };
        Node { value, origin: node.origin.clone() }
    }

    fn report(&mut self, node: &Node, error: &minijinja::Error) {
        let span = node.span();
        let (path, start, _) = span.order();
        if self.reported.insert((path.to_owned(), start as usize), ()).is_some() {
            return;
        }
        let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        let message = format!("expression `{}` cannot be evaluated: {detail}", span.text());
        let help = "known are `fleet`, and `cluster`, or `tenant`, `component` and `stage`, each where there is one";
        self.findings.push(Finding::error(INVALID_LAYOUT, span.clone(), message).help(help));
    }
}

fn is_path_key(key: &str) -> bool {
    matches!(key, "path" | "policiesPath")
}

/// What expressions know of a node: its scalars and the mappings of scalars in it, without lists.
fn scalars(node: &Node) -> Context {
    if node.is_map() {
        let entries = node.entries().iter().filter(|entry| !entry.node.is_seq() && !entry.node.is_null());
        return Context::from_pairs(entries.map(|entry| (&*entry.key, scalars(&entry.node))));
    }
    match node.resolve(Reader::Core) {
        Some(Scalar::Bool(value)) => value.into(),
        // Text as written: a version `1.10` is no number.
        _ => node.text().unwrap_or_default().into(),
    }
}
