//! The compiled templates of a layout, and their errors.

mod probe;

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use globset::GlobSet;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Rest, Value, ValueKind, ValueOrKwargs};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State, UndefinedBehavior, filters};

use super::rule_ids::INVALID_TEMPLATE;
use super::splice;
use super::types::UnknownField;
use crate::base::finding::Finding;
use crate::fleet::{EXAMPLE, Layout, MANIFEST};
use crate::text::{Entry, File, Span, Tree};
use crate::yaml::{Reader, from_json, parse, print, to_json};

pub use probe::Probe;

/// The maximum number of instructions of a template. The largest built-in template needs a hundredth of this number.
const FUEL: u64 = 10_000_000;

/// The number of steps that the templates of any fleet may need together.
const FUEL_OF_FLEET: u64 = 200_000_000;

/// The number of steps that each rendered file adds to this limit. A template that lists all components of a tenant for each of
/// them needs a quadratic number.
const FUEL_OF_FILE: u64 = 10_000;

/// The duration of a step that copies much memory.
const SLOW_STEP: Duration = Duration::from_micros(20);

/// The maximum length of a template in bytes.
const MAX_LEN: usize = 128 << 10;

/// The length in bytes up to which the stack of any thread is sufficient for the parser, which is recursive.
const SHALLOW: usize = 512;

/// The size in bytes of the stack for a longer template: four KiB for each operator, of one or two bytes.
const STACK: usize = 512 << 20;

/// The maximum number of items of a value that a filter compares with each other.
const MAX_ITEMS: usize = 5_000;

/// The compiled templates of a layout.
#[derive(Debug)]
pub(super) struct Templates {
    environment: Environment<'static>,
    files: Tree,
    /// The search for a line; `None` for a normal render.
    pub probe: Option<Probe>,
    /// The steps of all templates so far.
    steps: AtomicU64,
    /// The number of files that the templates render.
    pub rendered_files: usize,
}

/// The error of a template that calls `fail(…)`: the layout does not support a setting of fleet.yaml.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Refusal(String);

impl Templates {
    /// Compiles the files of a layout, and reports files with errors.
    ///
    /// The files that match `verbatim` are not templates.
    pub(super) fn compile(layout: &Layout, verbatim: &GlobSet, fleet: Value, findings: &mut Vec<Finding>) -> Self {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(FUEL));
        // A line that consists of a statement is not part of the output.
        let mut syntax = SyntaxConfig::builder();
        if let Ok(syntax) = syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build() {
            environment.set_syntax(syntax);
        }
        // A custom escape format distinguishes captured text, which is `safe`, from values.
        environment.set_auto_escape_callback(|_| AutoEscape::Custom("fleetwright".into()));
        environment.set_formatter(|out, _, value| {
            splice::mark(value, out).map_err(|message| Error::new(ErrorKind::BadSerialization, message))
        });
        environment.add_global("fleet", fleet);
        // Fuel counts steps, and a single step of these filters can use any amount of memory.
        for filter in ["batch", "format", "indent", "slice"] {
            environment.remove_filter(filter);
        }
        environment.add_filter("yaml", to_yaml);
        environment.add_filter("parse", from_yaml);
        environment.add_filter("merge", merge);
        environment.add_filter("in_order", in_order);
        // A field that is not set is `none`, which counts as not defined.
        environment.add_test("defined", |value: &Value| !value.is_undefined() && !value.is_none());
        environment.add_test("undefined", |value: &Value| value.is_undefined() || value.is_none());
        environment.add_filter("default", default);
        environment.add_filter("d", default);
        environment.add_function("fail", fail);
        environment.add_filter("selectattr", selectattr);
        environment.add_filter("rejectattr", rejectattr);
        environment.add_filter("map", map);
        let mut templates =
            Self { environment, files: layout.files.clone(), probe: None, steps: AtomicU64::new(0), rendered_files: 0 };
        for (path, entry) in layout.files.entries() {
            match entry {
                Entry::Text(_) if path == MANIFEST || path == EXAMPLE || verbatim.is_match(path) => {}
                Entry::Text(file) => {
                    if let Err(error) = templates.add(path, file.text()) {
                        findings.push(templates.finding(&error, path, None));
                    }
                }
                Entry::Opaque(error) => {
                    let message = format!("`{path}` of layout `{}` is not a valid template: {error}", layout.name);
                    findings.push(Finding::error(INVALID_TEMPLATE, layout.manifest.span().clone(), message));
                }
                Entry::Deferred => {}
            }
        }
        templates
    }

    /// Adds a template that is not a file of the layout, such as an expression in `layout.yaml`.
    pub(super) fn add(&mut self, name: &str, text: &str) -> Result<(), Error> {
        if text.len() > MAX_LEN {
            return Err(invalid(format!("the template is longer than {} KiB", MAX_LEN >> 10)));
        }
        let environment = &mut self.environment;
        let mut add = || environment.add_template_owned(name.to_owned(), text.to_owned());
        if text.len() <= SHALLOW {
            return add();
        }
        thread::scope(|scope| match thread::Builder::new().stack_size(STACK).spawn_scoped(scope, add) {
            Ok(parsing) => parsing.join().unwrap_or_else(|_| Err(invalid("the template cannot be parsed"))),
            Err(error) => Err(invalid(format!("no thread can parse the template: {error}"))),
        })
    }

    /// Returns whether a compiled template exists.
    pub(super) fn has(&self, name: &str) -> bool {
        self.environment.get_template(name).is_ok()
    }

    /// Renders a template. Values are marks in the result.
    pub(super) fn render(&self, name: &str, context: Value) -> Result<String, Error> {
        if let Some(probe) = &self.probe {
            self.search(probe, name, &context);
        }
        if self.are_exhausted() {
            return Err(ErrorKind::OutOfFuel.into());
        }
        let rendered = self.environment.get_template(name)?.render_captured(context)?;
        let steps = rendered.state().fuel_levels().map_or(0, |(steps, _)| steps);
        self.steps.fetch_add(steps, Ordering::Relaxed);
        Ok(rendered.into_output())
    }

    /// Returns whether all templates together need too many steps, so that further ones fail.
    pub(super) fn are_exhausted(&self) -> bool {
        self.steps.load(Ordering::Relaxed) > self.max_steps()
    }

    fn max_steps(&self) -> u64 {
        FUEL_OF_FLEET.saturating_add(FUEL_OF_FILE.saturating_mul(self.rendered_files as u64))
    }

    /// The finding for templates that need too many steps together, at a place in the layout.
    pub(super) fn exhaustion(&self, at: Span) -> Finding {
        let limit = self.max_steps();
        let message = format!("the templates need more than {limit} steps for all files of this fleet");
        Finding::error(INVALID_TEMPLATE, at, message)
            .help("simplify the templates, or split the fleet or its largest tenants")
    }

    /// Renders with a growing number of steps, and reports the line that each number reaches.
    fn search(&self, probe: &Probe, name: &str, context: &Value) {
        let number = probe.next();
        let first = self.file(name).unwrap_or_else(|| File::new(name, "")).first_line();
        (probe.report)(number, &first);
        let mut environment = self.environment.clone();
        let (mut steps, mut is_slow) = (0, false);
        while probe.of == number && steps < FUEL {
            // Close to the end, where each step takes long, every step counts.
            steps += if is_slow { 1 } else { steps / 64 + 1 };
            environment.set_fuel(Some(steps));
            let start = Instant::now();
            let rendered = environment.get_template(name).and_then(|template| template.render(context.clone()));
            let Err(error) = rendered else { return };
            (probe.report)(number, &self.place(innermost(&error), name, None));
            is_slow = start.elapsed() > SLOW_STEP * u32::try_from(steps).unwrap_or(u32::MAX);
        }
    }

    /// Returns the file of a template.
    pub(super) fn file(&self, name: &str) -> Option<File> {
        self.files.file(name).ok()
    }

    /// Returns the finding for an error in the template `name`, rendered for the item at `asked` in fleet.yaml.
    pub(super) fn finding(&self, error: &Error, name: &str, asked: Option<&Span>) -> Finding {
        // The error of an including template wraps the error of the included template.
        let mut innermost = error;
        let mut source = std::error::Error::source(error);
        while let Some(inner) = source {
            if let Some(refusal) = inner.downcast_ref::<Refusal>() {
                return self.refusal(refusal, innermost, name, asked);
            }
            if let Some(unknown) = inner.downcast_ref::<UnknownField>() {
                return self.invalid(innermost, name, asked, unknown.to_string()).help(unknown.help.clone());
            }
            if let Some(inner) = inner.downcast_ref::<Error>() {
                innermost = inner;
            }
            source = inner.source();
        }
        let message = match innermost.detail() {
            Some(detail) => format!("{}: {detail}", innermost.kind()),
            None => innermost.kind().to_string(),
        };
        let finding = self.invalid(innermost, name, asked, message);
        match innermost.kind() {
            ErrorKind::UndefinedError => {
                finding.help("use a field of fleet.yaml; a field that is not set is `none`, which has no fields")
            }
            ErrorKind::OutOfFuel => finding.help(format!("simplify the template; the limit is {FUEL} steps")),
            _ => finding,
        }
    }

    fn invalid(&self, error: &Error, name: &str, asked: Option<&Span>, message: String) -> Finding {
        let finding = Finding::error(INVALID_TEMPLATE, self.place(error, name, asked), message);
        match asked {
            Some(asked) => finding.related(asked.clone(), "rendered for this item"),
            None => finding,
        }
    }

    fn refusal(&self, refusal: &Refusal, error: &Error, name: &str, asked: Option<&Span>) -> Finding {
        let place = self.place(error, name, asked);
        match asked {
            Some(asked) => Finding::error(super::rule_ids::LAYOUT_REFUSES, asked.clone(), refusal.0.clone())
                .related(place, "rejected by the layout here"),
            None => Finding::error(super::rule_ids::LAYOUT_REFUSES, place, refusal.0.clone()),
        }
    }

    fn place(&self, error: &Error, name: &str, asked: Option<&Span>) -> Span {
        let file = error.name().and_then(|name| self.file(name)).or_else(|| self.file(name));
        match (file, asked) {
            (Some(file), _) => line(&file, error.line().unwrap_or(1)),
            (None, Some(asked)) => asked.clone(),
            (None, None) => File::new(name, "").first_line(),
        }
    }
}

/// The error of an included template, which the errors of the including templates wrap.
fn innermost(error: &Error) -> &Error {
    let mut innermost = error;
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        innermost = inner.downcast_ref::<Error>().unwrap_or(innermost);
        source = inner.source();
    }
    innermost
}

/// Returns the span of a line without its indentation.
pub(super) fn line(file: &File, number: usize) -> Span {
    let range = u32::try_from(number).ok().and_then(|number| file.line(number));
    let Some(range) = range else { return file.first_line() };
    let indentation = file.span(range.clone()).text().bytes().take_while(|byte| *byte == b' ').count();
    file.span(range.start + indentation..range.end)
}

/// Implements `value | yaml`: the YAML text of a value, for example for a patch. A string is not changed.
fn to_yaml(value: &Value) -> Result<String, Error> {
    if let Some(text) = value.as_str() {
        return Ok(splice::plain(text));
    }
    Ok(print(&[from_json(&splice::json(value).map_err(invalid)?, &File::new("", "").first_line())]))
}

/// Implements `text | parse`: the value of YAML text, or `none` if the text is not valid. Other values are not changed.
fn from_yaml(value: &Value) -> Value {
    let Some(text) = value.as_str() else { return value.clone() };
    let parsed = parse(&File::new("", text));
    let mut misplaced = Vec::new();
    let node = match (parsed.documents.as_slice(), parsed.findings.as_slice()) {
        ([document], []) => splice::settle(&document.node, &mut misplaced),
        _ => None,
    };
    match node {
        Some(node) if misplaced.is_empty() => super::record::of(to_json(&node, Reader::Kubernetes)),
        _ => Value::from(()),
    }
}

/// Implements `value | default(other)`: `other` if the value is not set, or, with `true` as second argument, if it is empty.
#[expect(clippy::needless_pass_by_value, reason = "minijinja passes the arguments by value")]
fn default(value: &Value, others: Rest<Value>) -> Value {
    let or_empty = others.get(1).is_some_and(Value::is_true);
    let is_unset = value.is_undefined() || value.is_none() || (or_empty && !value.is_true());
    if is_unset { others.first().cloned().unwrap_or_else(|| Value::from("")) } else { value.clone() }
}

/// Implements `a | merge(b)`: the entries of `a`, overridden by entries of `b`. The value `none` is an empty mapping.
fn merge(base: &Value, over: &Value) -> Result<Value, Error> {
    let mut entries: Vec<(Value, Value)> = Vec::new();
    for map in [base, over].into_iter().filter(|map| !map.is_none()) {
        if map.kind() != ValueKind::Map {
            return Err(invalid("only mappings can be merged"));
        }
        for key in map.try_iter()? {
            let value = map.get_item(&key)?;
            match entries.iter_mut().find(|(known, _)| *known == key) {
                Some((_, old)) => *old = value,
                None => entries.push((key, value)),
            }
            if entries.len() > MAX_ITEMS {
                return Err(invalid(format!("the merged mapping has more than {MAX_ITEMS} entries")));
            }
        }
    }
    Ok(Value::from_pairs(entries))
}

/// Implements `names | in_order([…])`: the names in the list, in the order of the list, then the other names, sorted.
fn in_order(names: &Value, first: &Value) -> Result<Value, Error> {
    let mut rest: Vec<Value> = names.try_iter()?.take(MAX_ITEMS + 1).collect();
    if rest.len() > MAX_ITEMS {
        return Err(invalid(format!("a list with more than {MAX_ITEMS} names cannot be ordered")));
    }
    rest.sort();
    let mut sorted = Vec::with_capacity(rest.len());
    for name in first.try_iter()? {
        if let Some(at) = rest.iter().position(|other| *other == name) {
            sorted.push(rest.remove(at));
        }
    }
    sorted.append(&mut rest);
    Ok(Value::from(sorted))
}

/// Implements `items | selectattr("name", …)`, and reports a name that the items do not have.
fn selectattr(
    state: &mut State<'_, '_>,
    items: Value,
    attribute: Cow<'_, str>,
    test: Option<Cow<'_, str>>,
    others: Rest<ValueOrKwargs>,
) -> Result<Vec<Value>, Error> {
    known_attribute(&items, &attribute)?;
    filters::selectattr(state, items, attribute, test, others)
}

/// Implements `items | rejectattr("name", …)`, and reports a name that the items do not have.
fn rejectattr(
    state: &mut State<'_, '_>,
    items: Value,
    attribute: Cow<'_, str>,
    test: Option<Cow<'_, str>>,
    others: Rest<ValueOrKwargs>,
) -> Result<Vec<Value>, Error> {
    known_attribute(&items, &attribute)?;
    filters::rejectattr(state, items, attribute, test, others)
}

/// Implements `items | map(attribute="name")`, and reports a name that the items do not have.
fn map(state: &mut State<'_, '_>, items: Value, others: Rest<ValueOrKwargs>) -> Result<Vec<Value>, Error> {
    let named = others.last().filter(|last| last.is_kwargs());
    let attribute = named.and_then(|named| named.get_attr("attribute").ok());
    if let Some(attribute) = attribute.as_ref().and_then(Value::as_str) {
        known_attribute(&items, attribute)?;
    }
    filters::map(state, items, others)
}

/// Returns the error of an attribute that items of the fleet do not have. The built-in filters treat it as not set.
fn known_attribute(items: &Value, attribute: &str) -> Result<(), Error> {
    if items.kind() != ValueKind::Seq {
        return Ok(());
    }
    items.try_iter()?.try_for_each(|item| super::record::check_path(&item, attribute))
}

/// Implements `fail("…")`: reports that the layout does not support a setting of fleet.yaml.
fn fail(message: &str) -> Result<Value, Error> {
    Err(invalid("refused").with_source(Refusal(message.to_owned())))
}

fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}
