//! SARIF 2.1.0, for code scanning on GitHub and other viewers.
//!
//! Source: <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>. GitHub shows `shortDescription`, `help` and
//! `partialFingerprints`, and rejects a file with more than 25,000 results.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize;

use super::printable::sarif_text;
use super::result::Report;
use crate::base::finding::{Finding, Fix, Label, Safety, Severity};
use crate::base::fingerprint::fingerprints;
use crate::lint;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The repository that `Cargo.toml` names.
const REPOSITORY: Option<&str> = {
    let url = env!("CARGO_PKG_REPOSITORY");
    if url.is_empty() { None } else { Some(url) }
};

/// The maximum number of results that GitHub accepts, without those that it drops.
const MAX_RESULTS: usize = 5_000;
/// The maximum number of characters of a description that GitHub accepts.
const MAX_DESCRIPTION: usize = 1024;
/// The maximum number of related locations of one result.
const MAX_RELATED: usize = 100;

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<SarifResult>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    information_uri: Option<&'static str>,
    rules: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: String,
    short_description: Text,
    full_description: Text,
    help: Help,
    #[serde(skip_serializing_if = "Option::is_none")]
    help_uri: Option<String>,
    default_configuration: Configuration,
    properties: Properties,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

#[derive(Serialize)]
struct Help {
    text: String,
    markdown: String,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct Properties {
    tags: [&'static str; 2],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: String,
    rule_index: usize,
    level: &'static str,
    message: Text,
    locations: [Location; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<SarifFix>,
    #[serde(skip_serializing_if = "Clusters::is_empty")]
    properties: Clusters,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifFix {
    description: Text,
    artifact_changes: Vec<ArtifactChange>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange {
    artifact_location: Artifact,
    replacements: Vec<Replacement>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement {
    deleted_region: Region,
    inserted_content: Text,
}

#[derive(Serialize)]
struct Clusters {
    clusters: Vec<String>,
}

impl Clusters {
    fn is_empty(&self) -> bool {
        self.clusters.is_empty()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names are those of SARIF")]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

/// Writes the log.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    // Viewers cut the end of a long list, so errors come first.
    let mut order: Vec<(&Finding, String)> = report.findings.iter().zip(fingerprints(&report.findings)).collect();
    order.sort_by_key(|(finding, _)| std::cmp::Reverse(finding.severity));
    order.truncate(MAX_RESULTS);
    let mut ids: Vec<&'static str> = order.iter().map(|(finding, _)| finding.rule).collect();
    ids.sort_unstable();
    ids.dedup();
    let results = order.into_iter().map(|(finding, fingerprint)| {
        let index = ids.binary_search(&finding.rule).unwrap_or_default();
        outcome(report, finding, index, &fingerprint)
    });
    let results = results.collect();
    let driver = Driver {
        name: env!("CARGO_PKG_NAME"),
        semantic_version: env!("CARGO_PKG_VERSION"),
        information_uri: REPOSITORY,
        rules: ids.iter().map(|id| descriptor(id)).collect(),
    };
    let run = Run { tool: Tool { driver }, column_kind: "unicodeCodePoints", results };
    serde_json::to_writer_pretty(&mut *out, &Log { schema: SCHEMA, version: "2.1.0", runs: [run] })?;
    writeln!(out)
}

/// Describes a rule. Findings of files that are not valid have an id without a page.
fn descriptor(id: &str) -> Descriptor {
    let rule = lint::rule(id);
    let summary = rule.map_or_else(|| id.replace('-', " "), |rule| rule.summary.to_owned());
    let page = rule.map_or_else(|| summary.clone(), lint::Rule::page);
    let version = env!("CARGO_PKG_VERSION");
    Descriptor {
        id: id.to_owned(),
        short_description: Text { text: summary.clone() },
        full_description: Text { text: reason(&page).unwrap_or_else(|| summary.clone()) },
        help: Help {
            text: format!("{summary}; `fleetwright rule {id}` prints the reason and the fix"),
            markdown: page,
        },
        help_uri: rule.and(REPOSITORY).map(|url| format!("{url}/blob/v{version}/docs/rules/{id}.md")),
        default_configuration: Configuration { level: level(rule.map_or(Severity::Error, |rule| rule.severity)) },
        properties: Properties { tags: ["gitops", "kubernetes"] },
    }
}

/// Returns the first paragraph of a page below its headings.
fn reason(page: &str) -> Option<String> {
    let paragraph = page.split("\n\n").find(|paragraph| !paragraph.trim_start().starts_with('#'))?;
    let text: String = paragraph.replace('\n', " ").chars().take(MAX_DESCRIPTION).collect();
    Some(text)
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Pedantic => "note",
    }
}

fn outcome(report: &Report, finding: &Finding, rule_index: usize, fingerprint: &str) -> SarifResult {
    let help = finding.help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
    let related = finding.all_related().take(MAX_RELATED).enumerate();
    SarifResult {
        rule_id: finding.rule.to_owned(),
        rule_index,
        level: level(finding.severity),
        message: Text { text: sarif_text(&format!("{}{help}", finding.message)) },
        locations: [location(report, &finding.at, None)],
        related_locations: related.map(|(id, label)| location(report, label, Some(id))).collect(),
        partial_fingerprints: BTreeMap::from([
            ("fleetwright/v1", fingerprint.to_owned()),
            ("primaryLocationLineHash", format!("{fingerprint}:1")),
        ]),
        fixes: finding.fix.iter().map(|fix| sarif_fix(report, finding, fix)).collect(),
        properties: Clusters { clusters: finding.clusters.iter().map(ToString::to_string).collect() },
    }
}

fn sarif_fix(report: &Report, finding: &Finding, fix: &Fix) -> SarifFix {
    let mut changes: BTreeMap<String, Vec<Replacement>> = BTreeMap::new();
    for edit in &fix.edits {
        let (start, end) = (edit.span.position(), edit.span.end_position());
        changes.entry(uri(&report.display_path(edit.span.file()))).or_default().push(Replacement {
            deleted_region: Region {
                start_line: start.line,
                start_column: start.column,
                end_line: end.line,
                end_column: end.column,
            },
            inserted_content: Text { text: edit.text.clone() },
        });
    }
    let review = match fix.safety {
        Safety::Safe => "",
        Safety::Unsafe => " (needs a review)",
    };
    let help = finding.help.as_deref().unwrap_or(&finding.message);
    SarifFix {
        description: Text { text: format!("{}{review}", sarif_text(help)) },
        artifact_changes: changes
            .into_iter()
            .map(|(uri, replacements)| ArtifactChange { artifact_location: Artifact { uri }, replacements })
            .collect(),
    }
}

fn location(report: &Report, label: &Label, id: Option<usize>) -> Location {
    let (start, end) = (label.span.position(), label.span.end_position());
    let is_empty = (start.line, start.column) == (end.line, end.column);
    Location {
        id,
        physical_location: PhysicalLocation {
            artifact_location: Artifact { uri: uri(&report.display_path(label.span.file())) },
            region: Region {
                start_line: start.line,
                start_column: start.column,
                end_line: end.line,
                end_column: end.column + u32::from(is_empty),
            },
        },
        message: (!label.message.is_empty()).then(|| Text { text: sarif_text(&label.message) }),
    }
}

/// Returns a path as a relative URI.
fn uri(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(byte.into()),
            _ => _ = write!(uri, "%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_valid_uri() {
        assert_eq!(uri("./a b/[x]: ü.yaml"), "a%20b/%5Bx%5D%3A%20%C3%BC.yaml");
    }

    #[test]
    fn a_message_contains_no_link() {
        assert_eq!(sarif_text("a [b](c) {0}"), r"a \[b\](c) {{0}}");
    }
}
