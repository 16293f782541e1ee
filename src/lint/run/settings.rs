//! What the configuration makes of findings: severities that are said, paths that are skipped, names of rules.

use serde_json::{Map, Value, json};

use crate::base::finding::{Finding, did_you_mean};
use crate::config::{INVALID_CONFIG, Level, Lint, NamedCluster, glob};
use crate::lint::rule;
use crate::lint::rules::RULES;
use crate::text::Tree;

/// Tells whether a rule runs: `only` are the ids that the command line names, which go before what the configuration
/// says.
pub(crate) fn runs(rule: &str, lint: &Lint, only: &[String]) -> bool {
    if only.is_empty() { lint.rules.level(rule) != Some(Level::Off) } else { only.iter().any(|only| only == rule) }
}

/// Gives findings the severities that are said, and takes out those in skipped paths; counts these.
///
/// A rule that the configuration turns off and the command line names keeps its own severities.
pub(crate) fn apply(findings: &mut Vec<Finding>, lint: &Lint, only: &[String]) -> usize {
    findings.retain(|finding| runs(finding.rule, lint, only));
    for finding in findings.iter_mut() {
        if let Some(severity) = lint.rules.level(finding.rule).and_then(Level::severity) {
            finding.severity = severity;
        }
    }
    let skips: Vec<_> = lint.skip.iter().map(|skip| (skip, glob::paths(std::slice::from_ref(&skip.glob)))).collect();
    if skips.is_empty() {
        return 0;
    }
    let before = findings.len();
    findings.retain(|finding| {
        let file = finding.at.span.file();
        !skips.iter().any(|(skip, globs)| globs.is_match(skip.bearings.path_of(file)))
    });
    before - findings.len()
}

/// The rules that a section names and that there are not; `mistake` is the rule of its file's mistakes.
pub fn unknown_rules(lint: &Lint, mistake: &'static str) -> Vec<Finding> {
    let unknown = lint.named_rules().filter(|(id, _)| rule(id).is_none());
    let findings = unknown.map(|(id, at)| {
        let help = match did_you_mean(id, RULES.iter().map(|rule| rule.id)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "`fleetwright rules` lists them".to_owned(),
        };
        Finding::error(mistake, at.clone(), format!("there is no rule `{id}`")).help(help)
    });
    findings.collect()
}

/// The skipped paths that a tree has no file at: a slip of the pen, or what was there is gone.
///
/// Of a tree that is a part of what the section speaks of, nothing can be said.
pub fn unused_skips(lint: &Lint, tree: &Tree) -> Vec<Finding> {
    let whole = lint.skip.iter().filter(|skip| skip.bearings.folder.is_empty());
    // What leads out of the tree may be in a copy of another repository; what may be anywhere is said for good measure.
    let inside = whole.filter(|skip| !skip.glob.starts_with(['.', '/', '*']) || skip.glob.starts_with("./"));
    let unused = inside.filter(|skip| {
        let globs = glob::paths(std::slice::from_ref(&skip.glob));
        !tree.entries().any(|(path, _)| globs.is_match(path))
    });
    let findings = unused.map(|skip| {
        let message = format!("`skip` names `{}`, and there is no such file", skip.glob);
        let help = "globs are relative to this file; take it out when it is not needed any longer";
        Finding::warning(INVALID_CONFIG, skip.at.clone(), message).help(help)
    });
    findings.collect()
}

/// The names and globs of clusters that fit none of the clusters there are.
pub fn unknown_clusters<'a>(named: impl IntoIterator<Item = &'a NamedCluster>, clusters: &[String]) -> Vec<Finding> {
    let fits = |named: &NamedCluster| {
        let globs = glob::clusters(std::slice::from_ref(&named.glob));
        clusters.iter().any(|cluster| *cluster == named.glob || globs.is_match(cluster))
    };
    let unknown = named.into_iter().filter(|named| !fits(named));
    let findings = unknown.map(|NamedCluster { glob, at }| {
        let help = match did_you_mean(glob, clusters.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if clusters.is_empty() => "nothing in this folder bootstraps one".to_owned(),
            None => "`fleetwright graph` shows the clusters; take it out when it is not needed any longer".to_owned(),
        };
        Finding::warning(INVALID_CONFIG, at.clone(), format!("there is no cluster `{glob}`")).help(help)
    });
    findings.collect()
}

/// A schema of ours with a `lint` section, in which every rule is known: editors complete and explain their ids.
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

    fn lint(said: &str) -> Lint {
        let text = format!("apiVersion: fleetwright.dev/v1alpha1\nkind: Config\nlint: {said}\n");
        let (settings, findings) = config::read(&File::new(config::PATH, text));
        assert_eq!(findings, []);
        settings.lint
    }

    #[test]
    fn clusters_that_are_not_there_are_told_with_what_was_meant() {
        let rules = "{duplicate-cluster-identity: {groups: [{clusters: [blue, gren], reason: r}]}}";
        let lint = lint(&format!("{{production: [prod-*, live], rules: {rules}}}"));
        let clusters = ["prod-eu", "blue", "green"].map(str::to_owned);
        let found = unknown_clusters(&lint.named_clusters, &clusters);
        let told: Vec<(&str, Option<&str>)> =
            found.iter().map(|finding| (&*finding.message, finding.help.as_deref())).collect();
        let [(first, _), (second, meant)] = told[..] else { panic!("{told:?}") };
        assert_eq!((first, second), ("there is no cluster `live`", "there is no cluster `gren`"));
        assert_eq!(meant, Some("did you mean `green`?"));
    }

    fn found(paths: &[&str]) -> Vec<Finding> {
        let found = paths.iter().map(|path| Finding::error("failed-build", File::new(*path, "a").span(0..0), "wrong"));
        found.collect()
    }

    #[test]
    fn a_severity_that_is_said_is_that_of_every_finding() {
        let levels = [("off", None), ("false", None), ("pedantic", Some(Severity::Pedantic))];
        for (said, severity) in levels.into_iter().chain([("{severity: warning}", Some(Severity::Warning))]) {
            let mut findings = found(&["a.yaml"]);
            apply(&mut findings, &lint(&format!("{{rules: {{failed-build: {said}}}}}")), &[]);
            assert_eq!(findings.first().map(|finding| finding.severity), severity, "{said}");
        }
    }

    #[test]
    fn the_command_line_runs_what_the_configuration_turns_off() {
        let lint = lint("{rules: {failed-build: off}}");
        let only = ["failed-build".to_owned()];
        assert!(runs("failed-build", &lint, &only) && !runs("failed-build", &lint, &[]));
        let mut findings = found(&["a.yaml"]);
        apply(&mut findings, &lint, &only);
        assert_eq!(findings.first().map(|finding| finding.severity), Some(Severity::Error));
    }

    #[test]
    fn findings_in_skipped_paths_are_counted_and_gone() {
        let mut lint = lint("{skip: [examples, '**/testdata/**']}");
        let mut findings = found(&["examples/a.yaml", "apps/testdata/a.yaml", "apps/a.yaml"]);
        assert_eq!(apply(&mut findings, &lint, &[]), 2);
        assert_eq!(findings, found(&["apps/a.yaml"]));
        lint = lint.seen_from(config::Bearings { folder: "examples".into(), ..config::Bearings::default() });
        assert_eq!(apply(&mut found(&["apps/a.yaml"]), &lint, &[]), 1);
    }

    #[test]
    fn a_skipped_path_that_is_not_there_is_told() {
        let tree: Tree = [File::new("examples/a.yaml", "")].into_iter().collect();
        let said = |said: &str| unused_skips(&lint(&format!("{{skip: [{said}]}}")), &tree).len();
        assert_eq!([said("examples"), said("exmples"), said("'**/b.yaml'"), said("../apps")], [0, 1, 0, 0]);
    }

    #[test]
    fn an_unknown_rule_is_told_with_what_was_meant() {
        let lint = lint("{rules: {failed-bild: off, colour: error}, exceptions: [{rule: duplicate-kei, reason: x}]}");
        let helps: Vec<Option<String>> =
            unknown_rules(&lint, INVALID_CONFIG).into_iter().map(|finding| finding.help).collect();
        let helps: Vec<&str> = helps.iter().map(|help| help.as_deref().unwrap_or_default()).collect();
        let listed = "`fleetwright rules` lists them";
        assert_eq!(helps, ["did you mean `failed-build`?", listed, "did you mean `duplicate-key`?"]);
    }
}
