//! Expressions in defaults: `path: clusters/{{ cluster.name }}`.

use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value as Context, filters};

use crate::base::finding::Finding;
use crate::fleet::formats::repository_path;
use crate::fleet::input::layout::Layout;
use crate::text::{File, Index};
use crate::yaml::{Node, Reader, Scalar, Style, Value};

/// The rule of mistakes in a layout.
const INVALID_LAYOUT: &str = "invalid-layout";
/// What one expression may cost.
const FUEL: u64 = 20_000;
/// How many bytes a step of an expression may result in.
const LONGEST: usize = 10_000;
/// What users write as it is wanted in the end: no `path` below these keys is one of ours.
const VERBATIM: &[&str] = &[
    "annotations",
    "healthCheckExprs",
    "healthChecks",
    "images",
    "labels",
    "limitRange",
    "objects",
    "patches",
    "quota",
    "rules",
    "runtimeInfo",
    "variables",
];

/// What a string is, by the keys that lead to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A path, which may be an expression wherever it was written.
    Path,
    /// Something else, where paths may follow.
    Setting,
    /// The user's own, with everything below it.
    Verbatim,
}

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
    pub(crate) fn new(layout: Option<&Layout>) -> Self {
        // Only filters whose result is no longer than what they are given: fuel counts steps, not bytes.
        let mut environment = Environment::empty();
        environment.add_filter("default", filters::default);
        environment.add_filter("first", filters::first);
        environment.add_filter("last", filters::last);
        environment.add_filter("lower", filters::lower);
        environment.add_filter("replace", replace);
        environment.add_filter("split", filters::split);
        environment.add_filter("trim", filters::trim);
        environment.add_filter("upper", filters::upper);
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
    pub(crate) fn fill(&mut self, node: &Node, known: &[(&str, &Node)]) -> Node {
        if !self.has_expression(node, Role::Setting) {
            return node.clone();
        }
        let context = Context::from_pairs(known.iter().map(|(name, node)| (*name, scalars(node))));
        self.evaluate(node, Role::Setting, &context)
    }

    fn has_expression(&self, node: &Node, role: Role) -> bool {
        match &node.value {
            Value::Scalar(text, _) => text.contains('{') && self.is_expression(node, text, role),
            Value::Seq(items) => items.iter().any(|item| self.has_expression(item, below(role, ""))),
            Value::Map(entries) => {
                entries.iter().any(|entry| self.has_expression(&entry.node, below(role, &entry.key)))
            }
        }
    }

    fn is_expression(&self, node: &Node, text: &str, role: Role) -> bool {
        let marked = text.contains("{{") || text.contains("{%");
        marked && (role == Role::Path || self.manifest.as_ref() == Some(node.span().file()))
    }

    fn evaluate(&mut self, node: &Node, role: Role, context: &Context) -> Node {
        let value = match &node.value {
            Value::Scalar(text, style) => {
                if !self.is_expression(node, text, role) {
                    return node.clone();
                }
                match self.result(text, context) {
                    Ok(result) => {
                        if role == Role::Path {
                            self.check_path(node, &result);
                        }
                        let style = if *style == Style::Plain { Style::Double } else { *style };
                        Value::Scalar(result.into(), style)
                    }
                    Err(error) => {
                        self.report(node, &error);
                        return node.clone();
                    }
                }
            }
            Value::Seq(items) => {
                Value::Seq(items.iter().map(|item| self.evaluate(item, below(role, ""), context)).collect())
            }
            Value::Map(entries) => {
                let filled = entries
                    .iter()
                    .map(|entry| entry.with_node(self.evaluate(&entry.node, below(role, &entry.key), context)));
                Value::Map(filled.collect())
            }
        };
        Node { value, origin: node.origin.clone() }
    }

    fn result(&self, text: &str, context: &Context) -> Result<String, Error> {
        // A loop that doubles a text would have eaten all memory long before its fuel is gone.
        if text.contains("{%") {
            return Err(refused("only `{{ … }}` is evaluated here, no statements"));
        }
        self.environment.render_str(text, context)
    }

    /// The schema saw the expression; what comes out of it must be a path of the repository as well.
    fn check_path(&mut self, node: &Node, result: &str) {
        if let Some(fault) = repository_path(result)
            && self.is_new(node)
        {
            let rule = fault.rule.unwrap_or(INVALID_LAYOUT);
            let message = format!("expression `{}` {}", node.text().unwrap_or_default(), fault.message);
            self.findings.push(Finding::error(rule, node.span().clone(), message).help(fault.help));
        }
    }

    /// Tells whether nothing was reported of a node yet.
    fn is_new(&mut self, node: &Node) -> bool {
        let (path, start, _) = node.span().order();
        self.reported.insert((path.to_owned(), start as usize), ()).is_none()
    }

    fn report(&mut self, node: &Node, error: &Error) {
        if !self.is_new(node) {
            return;
        }
        let span = node.span();
        let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        let message = format!("expression `{}` cannot be evaluated: {detail}", span.text());
        let help = "known are `fleet`, and `cluster`, or `tenant`, `component` and `stage`, each where there is one";
        self.findings.push(Finding::error(INVALID_LAYOUT, span.clone(), message).help(help));
    }
}

/// What stands at a key, or in a list when the key is empty.
fn below(role: Role, key: &str) -> Role {
    match key {
        _ if role == Role::Verbatim || VERBATIM.contains(&key) => Role::Verbatim,
        "path" | "policiesPath" => Role::Path,
        _ => Role::Setting,
    }
}

fn refused(message: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

/// `replace`, with a bound: one in another multiplies their lengths.
fn replace(text: &str, from: &str, to: &str) -> Result<String, Error> {
    let result = if from.is_empty() { text.to_owned() } else { text.replace(from, to) };
    if result.len() > LONGEST {
        return Err(refused("the result of `replace` is too long"));
    }
    Ok(result)
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
