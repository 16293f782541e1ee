//! Where an object and its fields come from, for people and for programs.

use std::io::{self, Write};

use anstyle::Style;
use schemars::JsonSchema;
use serde::Serialize;

use super::mask::{Masks, conceal};
use super::printable::printable;
use super::provenance::{JsonField, JsonReference, schema_of};
use super::result::shown_path;
use crate::base::finding::ObjectRef;
use crate::flux::query::field::shown;
use crate::flux::query::trace::{Field, Trace};
use crate::flux::{Agent, Cause};
use crate::yaml::{Node, Reader, Style as Written, Value, to_json};

/// The version of the document's shape; a change that a reader could trip over raises it.
const VERSION: u32 = 1;
/// A column grows to this width; what is longer moves its line alone.
const WIDEST: usize = 60;
/// Names of clusters that are shown before the rest is counted.
const CLUSTERS_SHOWN: usize = 8;
/// Characters of a value that are shown.
const VALUE_SHOWN: usize = 100;

const HEADING: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();

/// Writes traces for people: each field with its chain of places.
pub fn text(traces: &[Trace], root: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut masks = Masks::default();
    for (number, trace) in traces.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        head(trace, root, out)?;
        let masked = conceal(&trace.node, &mut masks);
        for field in &trace.fields {
            let value = field.path.find(&masked).unwrap_or(&field.node);
            let path = printable(&shown(&field.path)).replace('\n', " ");
            writeln!(out, "\n{HEADING}{path}{HEADING:#}: {}", value_in_a_line(value, field))?;
            chain(&field.causes, root, &mut masks, out)?;
        }
    }
    Ok(())
}

fn head(trace: &Trace, root: &str, out: &mut dyn Write) -> io::Result<()> {
    let one_line = |text: String| printable(&text).replace('\n', " ");
    writeln!(out, "{HEADING}{}{HEADING:#}", one_line(trace.object.to_string()))?;
    writeln!(out, "  written in {}", place(&trace.place, root))?;
    let shown: Vec<String> = trace.clusters.iter().take(CLUSTERS_SHOWN).map(|name| format!("`{name}`")).collect();
    let on = match trace.clusters.len() {
        0 => String::new(),
        1 => format!(" on cluster {}", shown.join(", ")),
        count if count > CLUSTERS_SHOWN => {
            format!(" on clusters {} and {} more", shown.join(", "), count - CLUSTERS_SHOWN)
        }
        _ => format!(" on clusters {}", shown.join(", ")),
    };
    let target = trace.target.as_ref().map(|target| format!(", to the cluster of kubeConfig `{target}`"));
    let by = one_line(format!("{}{on}{}", trace.by, target.unwrap_or_default()));
    writeln!(out, "  applied by {by}")?;
    let parents: Vec<String> = trace.path.iter().map(ObjectRef::to_string).collect();
    if parents.len() > 1 {
        writeln!(out, "  reached by {}", one_line(parents.join(" → ")))?;
    }
    Ok(())
}

fn chain(causes: &[Cause], root: &str, masks: &mut Masks, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 3]> = causes
        .iter()
        .map(|cause| [agent(&cause.by), place(&cause.place, root), masks.source_line(&cause.place)])
        .collect();
    let width = |column: usize| {
        let widths = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        widths.max().unwrap_or_default().min(WIDEST)
    };
    let (first, second) = (width(0), width(1));
    for [agent, place, line] in &rows {
        writeln!(out, "  {agent:first$}  {place:second$}  {QUIET}{line}{QUIET:#}")?;
    }
    Ok(())
}

/// What stands at a place, in a word or two.
fn agent(by: &Agent) -> String {
    match by {
        Agent::Base => "base".to_owned(),
        Agent::Generator => "generator".to_owned(),
        Agent::Field => "kustomization".to_owned(),
        Agent::Patch => "patch".to_owned(),
        Agent::FluxPatch => "Flux patch".to_owned(),
        Agent::FluxField => "Flux field".to_owned(),
        Agent::Variable { name, .. } => printable(&format!("variable {name}")).replace('\n', " "),
    }
}

fn place(span: &crate::text::Span, root: &str) -> String {
    format!("{}:{}", shown_path(root, span.file()).replace('\n', "\u{FFFD}"), span.position().line)
}

/// A value as YAML writes it, cut to a line.
fn value_in_a_line(value: &Node, field: &Field) -> String {
    let text = match &value.value {
        Value::Map(_) => "{}".to_owned(),
        Value::Seq(_) => "[]".to_owned(),
        Value::Scalar(text, _) if value.is_null() || text.is_empty() => {
            if value.is_null() {
                "null".to_owned()
            } else {
                "\"\"".to_owned()
            }
        }
        Value::Scalar(text, style) => {
            let first = text.lines().next().unwrap_or_default();
            let cut: String = first.chars().take(VALUE_SHOWN).collect();
            let more = if cut.len() < text.trim_end().len() { " …" } else { "" };
            let is_string = *style != Written::Plain || more == " …";
            // A quoted `1` is a string, and that may be what somebody looks for.
            let ambiguous =
                is_string && !matches!(to_json(&plain(&cut, value), Reader::Kustomize), serde_json::Value::String(_));
            if ambiguous { format!("\"{cut}\"{more}") } else { format!("{cut}{more}") }
        }
    };
    let unknown = matches!(field.node.value, Value::Scalar(_, Written::Unknown));
    let unknown = if unknown { "  (not known: a Secret's or another program's value)" } else { "" };
    format!("{}{unknown}", printable(&text).replace('\n', " "))
}

fn plain(text: &str, at: &Node) -> Node {
    Node { value: Value::Scalar(text.into(), Written::Plain), origin: at.origin.clone() }
}

/// What `fleetwright trace --format json` writes.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Where an object comes from", deny_unknown_fields)]
struct Document {
    /// The version of this document's shape.
    #[schemars(range(min = 1, max = 1))]
    version: u32,
    /// One entry for the clusters that receive the object in one and the same way.
    traces: Vec<JsonTrace>,
}

/// An object on its way to clusters.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Trace", deny_unknown_fields)]
struct JsonTrace {
    /// The object.
    object: JsonReference,
    /// The folder of another repository that `path` starts in; null for the folder that was read.
    root: Option<String>,
    /// The file that it was first written in, relative to the folder that was read or to `root`.
    path: String,
    /// The line, from 1.
    #[schemars(range(min = 1))]
    line: u32,
    /// Who applies it.
    applied_by: JsonReference,
    /// Who brings whom, from the root to the one that applies it.
    reached_by: Vec<JsonReference>,
    /// The clusters whose Flux applies it; empty in a repository without a root.
    clusters: Vec<String>,
    /// The `kubeConfig` of the other cluster that it is applied to; null when it stays on those.
    target: Option<String>,
    /// The fields that were asked for.
    fields: Vec<JsonValue>,
}

/// A field, its value and the places that gave it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FieldValue", deny_unknown_fields)]
struct JsonValue {
    /// The field, and where it comes from.
    field: JsonField,
    /// Its value; that of a Secret is masked.
    value: serde_json::Value,
}

/// Writes traces for programs.
pub fn json(traces: &[Trace], out: &mut dyn Write) -> io::Result<()> {
    let mut masks = Masks::default();
    let traces = traces.iter().map(|trace| {
        let masked = conceal(&trace.node, &mut masks);
        let fields = trace.fields.iter().map(|field| JsonValue {
            field: JsonField::new(&field.path, &field.node, &field.causes),
            value: to_json(field.path.find(&masked).unwrap_or(&field.node), Reader::Kustomize),
        });
        JsonTrace {
            object: (&trace.object).into(),
            root: trace.place.file().root().map(ToString::to_string),
            path: trace.place.file().path().to_owned(),
            line: trace.place.position().line,
            applied_by: (&trace.by).into(),
            reached_by: trace.path.iter().map(JsonReference::from).collect(),
            clusters: trace.clusters.iter().map(ToString::to_string).collect(),
            target: trace.target.as_ref().map(ToString::to_string),
            fields: fields.collect(),
        }
    });
    let document = Document { version: VERSION, traces: traces.collect() };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// The JSON Schema of the document.
pub fn schema() -> serde_json::Value {
    schema_of::<Document>()
}
