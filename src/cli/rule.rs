//! `rule`: lists the rules of the linter and prints their pages.

use std::sync::LazyLock;

use anstyle::Style;
use regex::Regex;
use serde::Serialize;

use super::error::Error;
use super::exit::Exit;
use super::lint::unknown_rule;
use super::streams::Streams;
use crate::base::finding::{Safety, Severity};
use crate::lint::{RULES, Rule, rule};

/// Lists the rules of the linter, or prints the page of one rule.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright rules                          all rules\n",
    "  fleetwright rule missing-service-account   reason, examples and fix of one rule\n",
    "  fleetwright rules --format json            for programs\n\n",
    "Exit codes:\n",
    "  0  printed\n",
    "  2  no such rule",
))]
pub(super) struct Args {
    /// The rule; lists all rules if omitted.
    id: Option<String>,
    /// The output format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// Text for terminals.
    Text,
    /// JSON for programs.
    Json,
    /// Markdown for documents.
    Markdown,
}

/// The JSON form of a rule.
#[derive(Serialize)]
struct JsonRule {
    id: &'static str,
    severity: Severity,
    fixes: &'static [Safety],
    summary: &'static str,
    page: String,
}

impl From<&Rule> for JsonRule {
    fn from(rule: &Rule) -> Self {
        Self { id: rule.id, severity: rule.severity, fixes: rule.fixes, summary: rule.summary, page: rule.page() }
    }
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let out = &mut streams.out;
    match &args.id {
        None => match args.format {
            Format::Text => {
                let width = RULES.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
                for rule in RULES {
                    writeln!(out, "{:width$}  {:8}  {}", rule.id, rule.severity.to_string(), rule.summary)?;
                }
            }
            Format::Json => {
                let all: Vec<JsonRule> = RULES.iter().map(JsonRule::from).collect();
                writeln!(out, "{}", json(&all)?)?;
            }
            Format::Markdown => {
                writeln!(out, "| rule | severity | fault |\n|---|---|---|")?;
                for rule in RULES {
                    writeln!(out, "| `{}` | {} | {} |", rule.id, rule.severity, rule.summary)?;
                }
            }
        },
        Some(id) => {
            let rule = rule(id).ok_or_else(|| unknown_rule(id))?;
            match args.format {
                Format::Text => write!(out, "{}", terminal_page(rule))?,
                Format::Json => writeln!(out, "{}", json(&JsonRule::from(rule))?)?,
                Format::Markdown => write!(out, "# {}\n\n{}", rule.id, rule.page())?,
            }
        }
    }
    Ok(Exit::Clean)
}

fn json(value: &impl Serialize) -> Result<String, std::io::Error> {
    Ok(serde_json::to_string_pretty(value)?)
}

const HEADING: Style = Style::new().bold();
const CODE: Style = Style::new().dimmed();

/// The pattern of a Markdown link.
static LINK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\[(?<text>[^\]]+)\]\((?<target>[^)\s]+)\)").expect("the expression is constant"));

/// Formats the page of a rule for a terminal: bold headings, indented code, and links as `text: target`.
fn terminal_page(rule: &Rule) -> String {
    let fix = match rule.fix() {
        "" => String::new(),
        fix => format!("; fix: {fix}"),
    };
    let mut text = format!("{HEADING}{}{HEADING:#} ({}{fix})\n\n", rule.id, rule.severity);
    let mut in_code = false;
    for line in rule.page().lines() {
        let shown = match line.strip_prefix('#') {
            _ if line.starts_with("```") => {
                in_code = !in_code;
                continue;
            }
            _ if in_code && line.is_empty() => String::new(),
            _ if in_code => format!("    {CODE}{line}{CODE:#}"),
            Some(heading) => format!("{HEADING}{}{HEADING:#}", heading.trim_start_matches('#').trim()),
            None => LINK.replace_all(line, "$text: $target").into_owned(),
        };
        text.push_str(&shown);
        text.push('\n');
    }
    text
}
