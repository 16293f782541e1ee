//! Runs the linter for several commands: its options, its report, and notes on its outcome.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use super::error::Error;
use super::source::{FLEET, Source};
use super::streams::Streams;
use crate::address::{Address, Location};
use crate::base::date::Date;
use crate::base::finding::{Finding, Severity};
use crate::config::Lint;
use crate::fleet::{INVALID_FLEET, Text};
use crate::flux::source::Copy;
use crate::flux::{FleetVersions, Governance, NotBuiltReason, Settings};
use crate::lint::{Options, Outcome, RemoteAppliers, TurnedOff, unknown_rules};
use crate::policy;
use crate::report::mask::SecretValues;
use crate::report::{Coverage, FORMATS, Report, counted, one_line};
use crate::text::Tree;

/// The reason why objects outside of all clusters are skipped.
const UNREACHED: &str = "objects that no cluster receives";

/// The reason why findings in skipped paths are omitted.
const IN_SKIPPED_PATHS: &str = "findings in paths that the configuration skips";

/// The reasons why rules have no or less severe findings.
const RULES_OFF: &str = "rules that the configuration turns off";
const RULES_LOWERED: &str = "rules whose severity the configuration lowers";
const DOUBTED: &str = "clusters whose errors are warnings, since no bootstrap shows that they exist; declare a cluster with \
                       `clusters.NAME.root` in .fleetwright.yaml";
const NO_TENANTS: &str = "rules for tenants, since the configuration sets `tenancy.mode: single`";

/// The reason why no rule compares the objects of another cluster with the rights of its tenants.
const TENANTS_ELSEWHERE: &str = "`kubeConfig` applies the objects to another cluster, whose tenants are unknown";

/// The reason why appliers on another cluster are not built.
const BUILT_ELSEWHERE: &str = "`kubeConfig` applies the applier to another cluster, whose Flux builds it";

/// Prints findings as text to standard error.
pub(super) fn print_findings(findings: Vec<Finding>, folder: &str, streams: &mut Streams) -> Result<(), Error> {
    if findings.is_empty() {
        return Ok(());
    }
    if streams.shows_secrets() {
        // The command has not read the repository yet.
        let places = findings.iter().flat_map(|finding| std::iter::once(&finding.at).chain(&finding.related));
        let files: Tree = places.map(|label| label.span.file().clone()).collect();
        streams.hide(&SecretValues::of(&files, None))?;
    }
    let report = Report::new(findings, Coverage::default(), folder);
    streams.message(format_findings(&report)?);
    Ok(())
}

/// Formats the findings of a report as text, with an empty line after each.
pub(super) fn format_findings(report: &Report) -> Result<String, Error> {
    let mut text = Vec::new();
    if let Some(format) = FORMATS.first() {
        (format.write)(report, &mut text)?;
    }
    let text = String::from_utf8_lossy(&text);
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

/// Returns the options of the linter. The configuration overrides the `lint` section of fleet.yaml.
pub(super) fn options(
    mut settings: Settings,
    source: Option<&Source>,
    tree: &Tree,
    streams: &mut Streams,
) -> Result<Options, Error> {
    if let Some(source) = source {
        let unknown = unknown_rules(&source.loaded.lint, INVALID_FLEET);
        if !unknown.is_empty() {
            print_findings(unknown, &source.folder, streams)?;
            let message = format!("nothing was linted: `{FLEET}` references unknown rules");
            return Err(Error::Printed(message));
        }
    }
    if let Some(source) = source {
        add_fleet(&mut settings, source, tree);
    }
    for cluster in source.and_then(|source| source.loaded.fleet.as_ref()).iter().flat_map(|fleet| &fleet.clusters) {
        let text = |text: Option<&Text>| text.map(|text| text.0.clone());
        let versions = FleetVersions {
            flux: text(cluster.flux.version.as_ref()),
            kubernetes: text(cluster.settings.kubernetes_version.as_ref()),
        };
        settings.fleet.insert(cluster.name.clone(), versions);
    }
    let base = source.map(|source| placed(source, tree)).unwrap_or_default();
    let fleet = source.and_then(|source| source.loaded.fleet.as_ref());
    let lint = settings.config.lint.clone().over(base);
    let (policies, invalid) = policy::load(&settings.config.policies, tree, &settings.policies);
    if !invalid.is_empty() {
        print_findings(invalid, "", streams)?;
        return Err(Error::Printed("nothing was linted: the policies of the configuration are invalid".to_owned()));
    }
    Ok(Options {
        pedantic: lint.pedantic.unwrap_or_default(),
        lint,
        governance: if source.is_some() { Governance::Fleet } else { Governance::None },
        tenants: fleet.map(crate::fleet::Fleet::tenant_namespaces),
        settings,
        policies,
        today: Some(today()),
        ..Options::default()
    })
}

/// Returns the `lint` section of a fleet.yaml. Its exceptions have places that a report of the tree can show.
fn placed(source: &Source, tree: &Tree) -> Lint {
    let mut lint = source.loaded.lint.clone();
    for exception in &mut lint.exceptions {
        let file = exception.at.file();
        if !tree.file(file.path()).is_ok_and(|known| known == *file) {
            exception.at = exception.at.of_copy(&file.clone().in_root(source.folder.as_str().into()));
        }
    }
    lint
}

/// Returns the date of the run in UTC. `SOURCE_DATE_EPOCH` sets it, for reproducible runs.
pub(super) fn today() -> Date {
    let fixed = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.trim().parse().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Date::of_unix_time(fixed.unwrap_or_else(now))
}

/// Adds what fleet.yaml states about the repository: roots, objects of other programs, and the rendered directories of
/// other repositories.
pub(super) fn add_fleet(settings: &mut Settings, source: &Source, tree: &Tree) {
    settings.config.roots.extend(source.loaded.declared_roots());
    settings.config.external.extend(source.loaded.external_objects());
    for (url, folder) in source.loaded.rendered_repositories() {
        let address = Address::new(&url);
        // A copy that the user passes precedes the rendered directory.
        if tree.has_folder(&folder) && !settings.copies.iter().any(|copy| copy.is_of(&address)) {
            settings.copies.push(Copy::inside(&Location { address, reference: None, folder: folder.clone() }, &folder));
        }
    }
}

/// Returns whether any finding is an error.
pub(super) fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// Creates the report of an outcome.
pub(super) fn report(outcome: Outcome, tree: &Tree, folder: &str) -> Report {
    let mut skipped: BTreeMap<String, usize> =
        outcome.skipped.0.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect();
    if outcome.unreached > 0 {
        skipped.insert(UNREACHED.to_owned(), outcome.unreached);
    }
    if outcome.unwanted > 0 {
        skipped.insert(IN_SKIPPED_PATHS.to_owned(), outcome.unwanted);
    }
    let mut not_done = outcome.not_done;
    not_done.extend(outcome.unchecked.into_iter().map(|(why, count)| (format!("cannot be checked: {why}"), count)));
    not_done.extend(outcome.not_built.iter().map(|(reason, count)| (format!("a build: {reason}"), *count)));
    let RemoteAppliers { without_tenants, not_built } = outcome.remote;
    let remote = [("a check for tenants", TENANTS_ELSEWHERE, without_tenants), ("a build", BUILT_ELSEWHERE, not_built)];
    let remote = remote.into_iter().filter(|(.., count)| *count > 0);
    not_done.extend(remote.map(|(what, why, count)| (format!("{what}: {why}"), count)));
    let TurnedOff { rules, lowered, tenants } = outcome.turned_off;
    let doubted = outcome.doubted;
    let off = [
        (rules, counted(rules, "rule"), "off"),
        (lowered, counted(lowered, "rule"), "lowered"),
        (doubted, format!("errors of {}", counted(doubted, "cluster")), "lowered"),
        (outcome.unwanted, counted(outcome.unwanted, "finding"), "in skipped paths"),
        (usize::from(tenants), "rules for tenants".to_owned(), "off"),
    ];
    let off = off.into_iter().filter(|(count, ..)| *count > 0);
    let off = off.map(|(_, number, what)| format!("{number} {what}")).collect();
    let reasons =
        [(rules, RULES_OFF), (lowered, RULES_LOWERED), (doubted, DOUBTED), (usize::from(tenants), NO_TENANTS)];
    for (count, reason) in reasons {
        if count > 0 {
            skipped.insert(reason.to_owned(), count);
        }
    }
    let coverage = Coverage {
        files: tree.files().count(),
        objects: outcome.objects,
        excepted: outcome.excepted,
        off,
        known: outcome.baseline.known,
        since: None,
        skipped,
        not_done,
    };
    Report::new(outcome.findings, coverage, folder)
}

/// The appliers whose objects a clean result does not include.
pub(super) struct NotLinted {
    not_built: BTreeMap<NotBuiltReason, usize>,
    remote: RemoteAppliers,
    /// The namespaces of the platform that look like namespaces of tenants.
    platform: BTreeSet<String>,
}

impl NotLinted {
    pub(super) fn of(outcome: &Outcome) -> Self {
        Self { not_built: outcome.not_built.clone(), remote: outcome.remote, platform: outcome.platform.clone() }
    }

    /// Warns about the appliers: a clean result does not include their objects.
    pub(super) fn warn(&self, streams: &mut Streams) {
        let appliers = |count| counted(count, "applier");
        warn_not_built(&self.not_built, streams);
        let RemoteAppliers { without_tenants, not_built } = self.remote;
        if not_built > 0 {
            streams.message(format_args!("not linted: the objects of {}: {BUILT_ELSEWHERE}", appliers(not_built)));
        }
        if without_tenants > 0 {
            let appliers = appliers(without_tenants);
            streams.message(format_args!("not linted for tenants: the objects of {appliers}: {TENANTS_ELSEWHERE}"));
        }
        if let Some(first) = self.platform.first() {
            let more = self.platform.len() - 1;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            streams.message(format_args!(
                "not linted as tenants: namespace `{}`{more}, since an account has a ClusterRoleBinding and nothing \
                 assigns the namespace to a tenant; declare tenants with `tenancy.tenants` in .fleetwright.yaml",
                one_line(first)
            ));
        }
    }
}

fn warn_not_built(not_built: &BTreeMap<NotBuiltReason, usize>, streams: &mut Streams) {
    let (sources, others): (Vec<_>, Vec<_>) =
        not_built.iter().partition(|(reason, _)| matches!(reason, NotBuiltReason::NoCopy(_)));
    let count = |reasons: &[(&NotBuiltReason, &usize)]| reasons.iter().map(|(_, count)| **count).sum::<usize>();
    let appliers = |count| counted(count, "applier");
    match sources.as_slice() {
        [] => {}
        [(reason, count)] => streams.message(format_args!(
            "not linted: the objects of {}: {}; pass a local copy with `--source URL=DIR`",
            appliers(**count),
            one_line(&reason.to_string())
        )),
        many => streams.message(format_args!(
            "not linted: the objects of {} from {} sources without a local copy; pass copies with `--source URL=DIR`, \
            and list the sources with `--verbose`",
            appliers(count(many)),
            many.len()
        )),
    }
    for (reason, count) in others {
        streams.message(format_args!(
            "not linted: the objects of {}: {}",
            appliers(*count),
            one_line(&reason.to_string())
        ));
    }
}

/// Prints the skipped objects, findings and checks, with the reasons.
pub(super) fn print_skipped(coverage: &Coverage, streams: &mut Streams) {
    if coverage.skipped.is_empty() && coverage.not_done.is_empty() {
        streams.message("skipped: nothing");
    }
    let mut say = |what: &str, counts: &BTreeMap<String, usize>| {
        for (reason, count) in counts {
            streams.message(format_args!("{what}: {} ({count})", one_line(reason)));
        }
    };
    say("skipped", &coverage.skipped);
    say("not done", &coverage.not_done);
}
