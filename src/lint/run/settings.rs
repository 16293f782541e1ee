//! The effect of the configuration on findings: severities, skipped paths, and findings for unknown names.

use std::collections::BTreeMap;

use arcstr::ArcStr;
use globset::GlobSet;
use serde_json::{Map, Value, json};

use crate::base::finding::Finding;
use crate::base::similar_names::did_you_mean;
use crate::config::{Bearings, INVALID_CONFIG, Level, Lint, NamedCluster, TenancyMode, glob};
use crate::lint::rule::Rule;
use crate::lint::rules::{RULES, rule};
use crate::text::Tree;

/// What a configuration turns off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TurnedOff {
    /// The number of rules that do not run.
    pub rules: usize,
    /// The number of rules with a lower severity.
    pub lowered: usize,
    /// Whether the clusters have no tenants, whatever their objects are.
    pub tenants: bool,
}

impl TurnedOff {
    /// Compares the configuration with the defaults. The ids in `only`, from the command line, take precedence.
    pub(super) fn of(lint: &Lint, only: &[String]) -> Self {
        let is_wanted = |rule: &&Rule| only.is_empty() || only.iter().any(|only| only == rule.id);
        let levels = || RULES.iter().filter(is_wanted).filter_map(|rule| Some((rule, lint.rules.level(rule.id)?)));
        Self {
            rules: levels().filter(|(_, level)| only.is_empty() && *level == Level::Off).count(),
            lowered: levels().filter(|(rule, level)| level.severity().is_some_and(|one| one < rule.severity)).count(),
            tenants: lint.tenancy.mode == Some(TenancyMode::Single),
        }
    }
}

/// Returns whether a rule runs. The ids in `only`, from the command line, take precedence over the configuration.
pub(crate) fn runs(rule: &str, lint: &Lint, only: &[String]) -> bool {
    if only.is_empty() { lint.rules.level(rule) != Some(Level::Off) } else { only.iter().any(|only| only == rule) }
}

/// Sets the configured severities, removes the findings in skipped paths, and returns the number of removed findings.
///
/// A rule that is off in the configuration and selected on the command line keeps its own severity.
pub(crate) fn apply_levels(findings: &mut Vec<Finding>, lint: &Lint, runs: impl Fn(&str) -> bool) -> usize {
    findings.retain(|finding| runs(finding.rule));
    for finding in findings.iter_mut() {
        if let Some(severity) = lint.rules.level(finding.rule).and_then(Level::severity) {
            finding.severity = severity;
        }
    }
    if lint.skip.is_empty() {
        return 0;
    }
    // Entries with one base are one set of globs.
    let mut globs: Vec<(&Bearings, Vec<String>)> = Vec::new();
    for skip in &lint.skip {
        match globs.iter_mut().find(|(bearings, _)| **bearings == *skip.bearings) {
            Some((_, known)) => known.push(skip.glob.clone()),
            None => globs.push((&skip.bearings, vec![skip.glob.clone()])),
        }
    }
    let skips: Vec<(&Bearings, GlobSet)> =
        globs.into_iter().map(|(bearings, globs)| (bearings, glob::paths(&globs))).collect();
    // A file may have many findings.
    let mut known: BTreeMap<(Option<ArcStr>, ArcStr), bool> = BTreeMap::new();
    let before = findings.len();
    findings.retain(|finding| {
        let file = finding.at.span.file();
        let key = (file.root().cloned(), file.path().into());
        let is_skipped = || skips.iter().any(|(bearings, globs)| globs.is_match(bearings.path_of(file)));
        !*known.entry(key).or_insert_with(is_skipped)
    });
    before - findings.len()
}

/// Findings for unknown rule ids in a `lint` section. `mistake` is the rule that reports mistakes in the file.
pub fn unknown_rules(lint: &Lint, mistake: &'static str) -> Vec<Finding> {
    let unknown = lint.named_rules().filter(|(id, _)| rule(id).is_none());
    let findings = unknown.map(|(id, at)| {
        let help = match did_you_mean(id, RULES.iter().map(|rule| rule.id)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "run `fleetwright rules` to list all rules".to_owned(),
        };
        Finding::error(mistake, at.clone(), format!("unknown rule `{id}`")).help(help)
    });
    findings.collect()
}

/// Findings for entries of `skip` that do not match a file of a tree.
///
/// The function ignores the entries of a configuration above the tree, since the tree is only a part of the repository.
pub fn unused_skips(lint: &Lint, tree: &Tree) -> Vec<Finding> {
    let whole = lint.skip.iter().filter(|skip| skip.bearings.folder.is_empty());
    // A path outside the tree may belong to a copy of another repository, and `**` may be a precaution.
    let inside = whole.filter(|skip| !skip.glob.starts_with(['.', '/', '*']) || skip.glob.starts_with("./"));
    let unused = inside.filter(|skip| {
        let globs = glob::paths(std::slice::from_ref(&skip.glob));
        !tree.entries().any(|(path, _)| globs.is_match(path))
    });
    let findings = unused.map(|skip| {
        let message = format!("`skip` entry `{}` matches no file", skip.glob);
        let help = "correct the glob, which is relative to this file, or remove the entry";
        Finding::warning(INVALID_CONFIG, skip.at.clone(), message).help(help)
    });
    findings.collect()
}

/// Findings for names and globs that do not match a cluster.
pub fn unknown_clusters<'a>(named: impl IntoIterator<Item = &'a NamedCluster>, clusters: &[String]) -> Vec<Finding> {
    let fits = |named: &NamedCluster| {
        let globs = glob::clusters(std::slice::from_ref(&named.glob));
        clusters.iter().any(|cluster| *cluster == named.glob || globs.is_match(cluster))
    };
    let unknown = named.into_iter().filter(|named| !fits(named));
    let findings = unknown.map(|NamedCluster { glob, at }| {
        let help = match did_you_mean(glob, clusters.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if clusters.is_empty() => "no cluster is bootstrapped in this directory".to_owned(),
            None => "run `fleetwright graph` to list the clusters, and correct or remove the entry".to_owned(),
        };
        Finding::warning(INVALID_CONFIG, at.clone(), format!("no cluster matches `{glob}`")).help(help)
    });
    findings.collect()
}

/// Adds the ids of all rules to a schema with a `lint` section, so that editors complete and explain the ids.
#[must_use]
pub fn with_rules(mut schema: Value) -> Value {
    let Some(rules) = schema.pointer_mut("/definitions/Lint/properties/rules").and_then(Value::as_object_mut) else {
        return schema;
    };
    let any = rules.insert("additionalProperties".into(), Value::Bool(false)).unwrap_or_default();
    let mut known = match rules.get_mut("properties").map(Value::take) {
        Some(Value::Object(known)) => known,
        _ => Map::new(),
    };
    for rule in RULES {
        let entry = known.entry(rule.id).or_insert_with(|| any.clone());
        let Some(entry) = entry.as_object_mut() else { continue };
        entry.entry("description").or_insert_with(|| json!(rule.summary));
        entry.entry("examples").or_insert_with(|| json!(["off", {"severity": "warning"}]));
    }
    known.sort_keys();
    rules.insert("properties".into(), Value::Object(known));
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::finding::Severity;
    use crate::config;
    use crate::text::File;

    fn lint(section: &str) -> Lint {
        let text = format!("apiVersion: fleetwright.dev/v1alpha1\nkind: Config\nlint: {section}\n");
        let (settings, findings) = config::read(&File::new(config::PATH, text));
        assert_eq!(findings, []);
        settings.lint
    }

    #[test]
    fn unknown_clusters_are_reported_with_a_suggestion() {
        let rules = "{duplicate-cluster-identity: {groups: [{clusters: [blue, gren], reason: r}]}}";
        let lint = lint(&format!("{{production: [prod-*, live], rules: {rules}}}"));
        let clusters = ["prod-eu", "blue", "green"].map(str::to_owned);
        let found = unknown_clusters(&lint.named_clusters, &clusters);
        let messages: Vec<(&str, Option<&str>)> =
            found.iter().map(|finding| (&*finding.message, finding.help.as_deref())).collect();
        let [(first, _), (second, meant)] = messages[..] else { panic!("{messages:?}") };
        assert_eq!((first, second), ("no cluster matches `live`", "no cluster matches `gren`"));
        assert_eq!(meant, Some("did you mean `green`?"));
    }

    fn found(paths: &[&str]) -> Vec<Finding> {
        let found = paths.iter().map(|path| Finding::error("failed-build", File::new(*path, "a").span(0..0), "wrong"));
        found.collect()
    }

    #[test]
    fn a_configured_severity_applies_to_every_finding() {
        let levels = [("off", None), ("false", None), ("pedantic", Some(Severity::Pedantic))];
        for (level, severity) in levels.into_iter().chain([("{severity: warning}", Some(Severity::Warning))]) {
            let mut findings = found(&["a.yaml"]);
            apply_levels(&mut findings, &lint(&format!("{{rules: {{failed-build: {level}}}}}")), |_| {
                level != "off" && level != "false"
            });
            assert_eq!(findings.first().map(|finding| finding.severity), severity, "{level}");
        }
    }

    #[test]
    fn the_command_line_runs_what_the_configuration_turns_off() {
        let lint = lint("{rules: {failed-build: off}}");
        let only = ["failed-build".to_owned()];
        assert!(runs("failed-build", &lint, &only) && !runs("failed-build", &lint, &[]));
        let mut findings = found(&["a.yaml"]);
        apply_levels(&mut findings, &lint, |rule| runs(rule, &lint, &only));
        assert_eq!(findings.first().map(|finding| finding.severity), Some(Severity::Error));
    }

    #[test]
    fn findings_in_skipped_paths_are_counted_and_removed() {
        let mut lint = lint("{skip: [examples, '**/testdata/**']}");
        let mut findings = found(&["examples/a.yaml", "apps/testdata/a.yaml", "apps/a.yaml"]);
        assert_eq!(apply_levels(&mut findings, &lint, |_| true), 2);
        assert_eq!(findings, found(&["apps/a.yaml"]));
        lint = lint.seen_from(config::Bearings { folder: "examples".into(), ..config::Bearings::default() });
        assert_eq!(apply_levels(&mut found(&["apps/a.yaml"]), &lint, |_| true), 1);
    }

    #[test]
    fn a_skip_entry_without_a_file_is_reported() {
        let tree: Tree = [File::new("examples/a.yaml", "")].into_iter().collect();
        let unused = |glob: &str| unused_skips(&lint(&format!("{{skip: [{glob}]}}")), &tree).len();
        assert_eq!([unused("examples"), unused("exmples"), unused("'**/b.yaml'"), unused("../apps")], [0, 1, 0, 0]);
    }

    #[test]
    fn an_unknown_rule_is_reported_with_a_suggestion() {
        let lint = lint("{rules: {failed-bild: off, colour: error}, exceptions: [{rule: duplicate-kei, reason: x}]}");
        let helps: Vec<Option<String>> =
            unknown_rules(&lint, INVALID_CONFIG).into_iter().map(|finding| finding.help).collect();
        let helps: Vec<&str> = helps.iter().map(|help| help.as_deref().unwrap_or_default()).collect();
        let listed = "run `fleetwright rules` to list all rules";
        assert_eq!(helps, ["did you mean `failed-build`?", listed, "did you mean `duplicate-key`?"]);
    }
}
