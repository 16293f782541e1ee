//! Expressions in defaults: `path: clusters/{{ cluster.name }}`.

use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value as Context, filters};

use crate::base::finding::Finding;
use crate::fleet::formats::repository_path;
use crate::fleet::input::layout::Layout;
use crate::fleet::rule_ids::INVALID_LAYOUT;
use crate::text::{File, Index};
use crate::yaml::{Node, Reader, Scalar, Style, Value};

/// The maximum cost of an expression, in steps.
const FUEL: u64 = 20_000;
/// The maximum length of the result of a step, in bytes.
const LONGEST: usize = 10_000;
/// Fields with content of the user. A `path` below these fields is not a field of fleet.yaml.
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
    "values",
    "variables",
];

/// The role of a string, by the keys on the path to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A path. It may be an expression in every file.
    Path,
    /// Another string or a node that may contain paths.
    Setting,
    /// Content of the user, with everything below it.
    Verbatim,
}

/// Evaluates expressions in strings of the layout, and in paths of every file.
///
/// Other strings of users are not evaluated, since they may contain Go templates, such as commit messages.
pub(super) struct Expressions {
    environment: Environment<'static>,
    /// The `layout.yaml` of the layout, and those that it extends.
    manifests: Vec<File>,
    findings: Vec<Finding>,
    /// The places of invalid expressions, so that they are reported once and not for every cluster or tenant.
    reported: Index<(String, usize), ()>,
}

impl Expressions {
    pub(crate) fn new(layout: Option<&Layout>) -> Self {
        // Only filters that do not lengthen their input: fuel counts steps, not bytes.
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
        // An undefined name is an error, but `component.path or "x"` may still test for an undefined name.
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        let manifests = layout.map(|layout| layout.manifests.clone()).unwrap_or_default();
        Self { environment, manifests, findings: Vec::new(), reported: Index::default() }
    }

    /// Returns the findings.
    pub(super) fn finish(self) -> Vec<Finding> {
        self.findings
    }

    /// Returns a node with evaluated expressions. `known` has the variables, as nodes by name.
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
        marked && (role == Role::Path || self.manifests.contains(node.span().file()))
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
        // A loop that doubles a string would use all memory long before its fuel is used up.
        if text.contains("{%") {
            return Err(refused("statements are not supported here, only `{{ … }}`"));
        }
        self.environment.render_str(text, context)
    }

    /// Reports an evaluated path outside the repository. The schema validated only the expression.
    fn check_path(&mut self, node: &Node, result: &str) {
        if let Some(fault) = repository_path(result)
            && self.is_new(node)
        {
            let rule = fault.rule.unwrap_or(INVALID_LAYOUT);
            let message = format!("expression `{}` {}", node.text().unwrap_or_default(), fault.message);
            self.findings.push(Finding::error(rule, node.span().clone(), message).help(fault.help));
        }
    }

    /// Records a node; returns `false` if the node already has a finding.
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
        let help = "use `fleet` and `cluster` in clusters, and `fleet`, `tenant`, `component` and `stage` in tenants";
        self.findings.push(Finding::error(INVALID_LAYOUT, span.clone(), message).help(help));
    }
}

/// Returns the role of the value of a key, or of a list item if the key is empty.
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

/// Replaces text with a bound on the result: nested calls multiply the length.
fn replace(text: &str, from: &str, to: &str) -> Result<String, Error> {
    let result = if from.is_empty() { text.to_owned() } else { text.replace(from, to) };
    if result.len() > LONGEST {
        return Err(refused("the result of `replace` is too long"));
    }
    Ok(result)
}

/// Returns the variables of a node: its scalars and its mappings of scalars, without lists.
fn scalars(node: &Node) -> Context {
    if node.is_map() {
        let entries = node.entries().iter().filter(|entry| !entry.node.is_seq() && !entry.node.is_null());
        return Context::from_pairs(entries.map(|entry| (&*entry.key, scalars(&entry.node))));
    }
    match node.resolve(Reader::Core) {
        Some(Scalar::Bool(value)) => value.into(),
        // The text stays as written: a version `1.10` is not a number.
        _ => node.text().unwrap_or_default().into(),
    }
}
