//! Output of traces as text and JSON.

use std::io::{self, Write};

use anstyle::Style;
use schemars::JsonSchema;
use serde::Serialize;

use super::mask::{Masks, mask_object};
use super::printable::one_line;
use super::provenance::{JsonField, JsonReference, schema_of};
use super::result::display_path;
use crate::base::finding::ObjectRef;
use crate::flux::query::field::shown;
use crate::flux::query::trace::{Field, Trace};
use crate::flux::{Agent, Cause};
use crate::yaml::{Node, Reader, Style as Written, Value, to_json};

/// The version of the document format; an incompatible change increments it.
const VERSION: u32 = 1;
/// The maximum width of a column; a longer cell shifts its own line only.
const WIDEST: usize = 60;
/// The maximum number of listed clusters; other clusters are counted.
const CLUSTERS_SHOWN: usize = 8;
/// The maximum number of displayed characters of a value.
const VALUE_SHOWN: usize = 100;

const HEADING: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();

/// Writes traces as text: each field with the positions that affect it.
pub fn text(traces: &[Trace], root: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut masks = Masks::default();
    for (number, trace) in traces.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        head(trace, root, out)?;
        let masked = mask_object(&trace.node, &mut masks);
        for field in &trace.fields {
            let value = field.path.find(&masked).unwrap_or(&field.node);
            let path = one_line(&shown(&field.path));
            writeln!(out, "\n{HEADING}{path}{HEADING:#}: {}", value_in_a_line(value, field))?;
            chain(&field.causes, root, &mut masks, out)?;
        }
    }
    Ok(())
}

fn head(trace: &Trace, root: &str, out: &mut dyn Write) -> io::Result<()> {
    let one_line = |text: String| one_line(&text);
    writeln!(out, "{HEADING}{}{HEADING:#}", one_line(trace.object.to_string()))?;
    writeln!(out, "  defined in {}", place(&trace.place, root))?;
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

/// Describes the kind of a position in one or two words.
fn agent(by: &Agent) -> String {
    match by {
        Agent::Base => "base".to_owned(),
        Agent::Generator => "generator".to_owned(),
        Agent::Field => "kustomization".to_owned(),
        Agent::Patch => "patch".to_owned(),
        Agent::FluxPatch => "Flux patch".to_owned(),
        Agent::FluxField => "Flux field".to_owned(),
        Agent::Variable { name, .. } => one_line(&format!("variable {name}")),
    }
}

fn place(span: &crate::text::Span, root: &str) -> String {
    format!("{}:{}", display_path(root, span.file()).replace('\n', "\u{FFFD}"), span.position().line)
}

/// Formats a value as YAML in one line.
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
            // A quoted `1` is a string, which may explain a fault.
            let ambiguous =
                is_string && !matches!(to_json(&plain(&cut, value), Reader::Kustomize), serde_json::Value::String(_));
            if ambiguous { format!("\"{cut}\"{more}") } else { format!("{cut}{more}") }
        }
    };
    let unknown = matches!(field.node.value, Value::Scalar(_, Written::Unknown));
    let unknown = if unknown { "  (unknown: from a Secret or another program)" } else { "" };
    format!("{}{unknown}", one_line(&text))
}

fn plain(text: &str, at: &Node) -> Node {
    Node { value: Value::Scalar(text.into(), Written::Plain), origin: at.origin.clone() }
}

/// The output of `fleetwright trace --format json`.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Provenance of an object", deny_unknown_fields)]
struct Document {
    /// The version of the document format.
    #[schemars(range(min = 1, max = 1))]
    version: u32,
    /// The traces; clusters with equal traces share one entry.
    traces: Vec<JsonTrace>,
}

/// The provenance of an object.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Trace", deny_unknown_fields)]
struct JsonTrace {
    /// The object.
    object: JsonReference,
    /// The directory of another repository that `path` is relative to; null for the input directory.
    root: Option<String>,
    /// The path of the manifest that defines the object, relative to `root` or to the input directory.
    path: String,
    /// The line, from 1.
    #[schemars(range(min = 1))]
    line: u32,
    /// The applier of the object.
    applied_by: JsonReference,
    /// The chain of appliers from the root to the applier of the object.
    reached_by: Vec<JsonReference>,
    /// The clusters whose Flux applies the object; empty in a repository without a root.
    clusters: Vec<String>,
    /// The `kubeConfig` of the remote cluster that the object is applied to; null otherwise.
    target: Option<String>,
    /// The requested fields.
    fields: Vec<JsonValue>,
}

/// A field, its value and the positions that set it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FieldValue", deny_unknown_fields)]
struct JsonValue {
    /// The field with its provenance.
    field: JsonField,
    /// The value; masked in a Secret.
    value: serde_json::Value,
}

/// Writes traces as JSON.
pub fn json(traces: &[Trace], out: &mut dyn Write) -> io::Result<()> {
    let mut masks = Masks::default();
    let traces = traces.iter().map(|trace| {
        let masked = mask_object(&trace.node, &mut masks);
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

/// Returns the JSON Schema of the document.
pub fn schema() -> serde_json::Value {
    schema_of::<Document>()
}
