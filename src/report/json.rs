//! JSON output of findings, with the schema `schemas/report.schema.json`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::finding::{Finding, Fix, Label, Safety, Severity};
use crate::text::{Edit, Position};

/// The version of the document format; an incompatible change increments it.
const VERSION: u32 = 1;

/// The output of `fleetwright lint --format json`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Report of fleetwright", deny_unknown_fields)]
struct Report {
    /// The version of the document format.
    #[schemars(range(min = 1, max = 1))]
    version: u32,
    /// The findings, sorted by path and position.
    findings: Vec<JsonFinding>,
    /// The numbers of findings, objects and files.
    summary: Summary,
}

/// A finding of the linter.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Finding", deny_unknown_fields)]
struct JsonFinding {
    /// The id of the rule; `fleetwright rule ID` prints its page.
    rule: String,
    /// The severity.
    severity: Severity,
    /// The description of the fault.
    message: String,
    /// The directory of another repository that `path` is relative to, as set by `--source` or the configuration; null
    /// for the linted directory.
    root: Option<String>,
    /// The path of the file relative to `root` or to the linted directory, with `/` between segments.
    path: String,
    /// The line, from 1.
    #[schemars(range(min = 1))]
    line: u32,
    /// The column in characters, from 1.
    #[schemars(range(min = 1))]
    column: u32,
    /// The Kubernetes object; null if the finding is not about an object.
    object: Option<Object>,
    /// The affected clusters; empty if unknown or not applicable.
    clusters: Vec<String>,
    /// The reason and the fix; null if the message contains them.
    help: Option<String>,
    /// The edits that remove the finding; null if there is no exact fix. `fleetwright lint --fix` applies it.
    fix: Option<JsonFix>,
    /// Related positions, and the other places with the same cause.
    related: Vec<Related>,
    /// The number of findings with the same cause that this one stands for; absent if it is the only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2))]
    places: Option<usize>,
}

/// A Kubernetes object.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct Object {
    /// The `apiVersion` of the object.
    api_version: String,
    /// The `kind` of the object.
    kind: String,
    /// The namespace; null if the object has none.
    namespace: Option<String>,
    /// The name of the object.
    name: String,
}

/// Edits of files that remove a finding.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Fix", deny_unknown_fields)]
struct JsonFix {
    /// Whether the fix needs a review.
    safety: Safety,
    /// The edits, which do not overlap. All positions are positions before the first edit.
    edits: Vec<JsonEdit>,
}

/// The replacement of a part of a file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Edit", deny_unknown_fields)]
struct JsonEdit {
    /// The directory of another repository that `path` is relative to; null for the linted directory.
    root: Option<String>,
    /// The path of the file relative to `root` or to the linted directory.
    path: String,
    /// The start of the replaced text.
    start: JsonPosition,
    /// The end of the replaced text. It is equal to the start if the edit inserts a text.
    end: JsonPosition,
    /// The new text.
    replacement: String,
}

/// A position in a file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Position", deny_unknown_fields)]
struct JsonPosition {
    /// The offset in bytes of the file in UTF-8, from 0.
    offset: usize,
    /// The line, from 1.
    #[schemars(range(min = 1))]
    line: u32,
    /// The column in characters, from 1.
    #[schemars(range(min = 1))]
    column: u32,
}

/// A related position of a finding.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Related {
    /// The directory of another repository that `path` is relative to; null for the linted directory.
    root: Option<String>,
    /// The path of the file relative to `root` or to the linted directory.
    path: String,
    /// The line, from 1.
    #[schemars(range(min = 1))]
    line: u32,
    /// The description of the position.
    message: String,
}

/// The numbers of findings, objects and files.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct Summary {
    /// The number of findings with severity `error`.
    errors: usize,
    /// The number of findings with severity `warning`.
    warnings: usize,
    /// The number of findings with severity `pedantic`.
    pedantic: usize,
    /// The number of findings that an exception matches; they are not in the list.
    excepted: usize,
    /// The number of findings that the baseline records, or the revision of `--since` has; they are not in the list. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_baseline: Option<usize>,
    /// The number of files that were parsed as YAML.
    files: usize,
    /// The number of distinct Kubernetes objects that were linted.
    objects: usize,
    /// The number of skipped files and objects, by reason.
    skipped: BTreeMap<String, usize>,
    /// The number of checks and builds that were not done, by reason.
    not_done: BTreeMap<String, usize>,
}

/// Writes the indented document and a final line break.
pub(super) fn write(report: &super::result::Report, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Report::from(report))?;
    writeln!(out)
}

/// Returns the JSON Schema of the document.
pub fn schema() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<Report>().to_value()
}

impl From<&super::result::Report> for Report {
    fn from(report: &super::result::Report) -> Self {
        let super::summary::Summary { errors, warnings, pedantic, coverage } = report.summary.clone();
        let super::summary::Coverage { files, objects, excepted, known, skipped, not_done, .. } = coverage;
        let in_baseline = Some(known).filter(|known| *known > 0);
        Self {
            version: VERSION,
            findings: report.findings.iter().map(JsonFinding::from).collect(),
            summary: Summary { errors, warnings, pedantic, excepted, in_baseline, files, objects, skipped, not_done },
        }
    }
}

impl From<&Finding> for JsonFinding {
    fn from(finding: &Finding) -> Self {
        let place = finding.at.span.position();
        Self {
            rule: finding.rule.to_owned(),
            severity: finding.severity,
            message: finding.message.clone(),
            root: root_of(&finding.at),
            path: finding.at.span.file().path().to_owned(),
            line: place.line,
            column: place.column,
            object: finding.object.as_ref().map(|object| Object {
                api_version: object.api_version.to_string(),
                kind: object.kind.to_string(),
                namespace: object.namespace.as_ref().map(ToString::to_string),
                name: object.name.to_string(),
            }),
            clusters: finding.clusters.iter().map(ToString::to_string).collect(),
            help: finding.help.clone(),
            fix: finding.fix.as_deref().map(JsonFix::from),
            related: finding.all_related().map(Related::from).collect(),
            places: Some(finding.count()).filter(|count| *count > 1),
        }
    }
}

impl From<&Fix> for JsonFix {
    fn from(fix: &Fix) -> Self {
        Self { safety: fix.safety, edits: fix.edits.iter().map(JsonEdit::from).collect() }
    }
}

impl From<&Edit> for JsonEdit {
    fn from(edit: &Edit) -> Self {
        let (span, range) = (&edit.span, edit.span.range());
        let position = |offset: usize, place: Position| JsonPosition { offset, line: place.line, column: place.column };
        Self {
            root: span.file().root().map(ToString::to_string),
            path: span.file().path().to_owned(),
            start: position(range.start, span.position()),
            end: position(range.end, span.end_position()),
            replacement: edit.text.clone(),
        }
    }
}

impl From<&Label> for Related {
    fn from(label: &Label) -> Self {
        let path = label.span.file().path().to_owned();
        Self { root: root_of(label), path, line: label.span.position().line, message: label.message.clone() }
    }
}

fn root_of(label: &Label) -> Option<String> {
    label.span.file().root().map(ToString::to_string)
}
