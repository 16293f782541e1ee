//! For programs: one JSON document, whose schema is `schemas/report.schema.json`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::finding::{Finding, Label, Severity};

/// The version of the document's shape; a change that a reader could trip over raises it.
const VERSION: u32 = 1;

/// What `fleetwright lint --format json` writes.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Report of fleetwright", deny_unknown_fields)]
struct Report {
    /// The version of this document's shape.
    #[schemars(range(min = 1, max = 1))]
    version: u32,
    /// What was found, sorted by path and place.
    findings: Vec<JsonFinding>,
    /// How many findings there are, and of how much.
    summary: Summary,
}

/// A fault at a place.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Finding", deny_unknown_fields)]
struct JsonFinding {
    /// The id of the rule; `fleetwright rule ID` explains it.
    rule: String,
    /// How bad it is.
    severity: Severity,
    /// What is wrong.
    message: String,
    /// The folder of another repository that `path` starts in, as it was given by `--source` or the configuration;
    /// null for the folder that was judged.
    root: Option<String>,
    /// The file, relative to the folder that was judged or to `root`, with `/` between segments.
    path: String,
    /// The line, from 1.
    #[schemars(range(min = 1))]
    line: u32,
    /// The column in characters, from 1.
    #[schemars(range(min = 1))]
    column: u32,
    /// The Kubernetes object that it is about; null when it is about the text.
    object: Option<Object>,
    /// The clusters that it concerns; empty when that is not known or not asked.
    clusters: Vec<String>,
    /// Why it matters and what to do; null when the message says it all.
    help: Option<String>,
    /// Other places that belong to it.
    related: Vec<Related>,
}

/// A Kubernetes object.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct Object {
    /// Its `apiVersion`.
    api_version: String,
    /// Its `kind`.
    kind: String,
    /// Its namespace; null for objects without one.
    namespace: Option<String>,
    /// Its name.
    name: String,
}

/// A place that belongs to a finding.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Related {
    /// The folder of another repository that `path` starts in; null for the folder that was judged.
    root: Option<String>,
    /// The file, relative to the folder that was judged or to `root`.
    path: String,
    /// The line, from 1.
    #[schemars(range(min = 1))]
    line: u32,
    /// What is there.
    message: String,
}

/// The counts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct Summary {
    /// Findings of severity error.
    errors: usize,
    /// Findings of severity warning.
    warnings: usize,
    /// Findings of severity pedantic.
    pedantic: usize,
    /// Findings that an exception accepts; they are not in the list.
    excepted: usize,
    /// Files that were read as YAML.
    files: usize,
    /// Kubernetes objects that were judged, each once.
    objects: usize,
    /// What was left out, by reason.
    skipped: BTreeMap<String, usize>,
    /// What kustomization files say that is not done yet, by field.
    not_done: BTreeMap<String, usize>,
}

/// Writes the document, indented, with a line break at its end.
pub(super) fn write(report: &super::result::Report, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Report::from(report))?;
    writeln!(out)
}

/// The JSON Schema of the document.
pub fn schema() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<Report>().to_value()
}

impl From<&super::result::Report> for Report {
    fn from(report: &super::result::Report) -> Self {
        let super::summary::Summary { errors, warnings, pedantic, judged } = report.summary.clone();
        let super::summary::Judged { files, objects, excepted, skipped, not_done } = judged;
        Self {
            version: VERSION,
            findings: report.findings.iter().map(JsonFinding::from).collect(),
            summary: Summary { errors, warnings, pedantic, excepted, files, objects, skipped, not_done },
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
            related: finding.related.iter().map(Related::from).collect(),
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
