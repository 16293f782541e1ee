//! A run of the linter: load, judge, leave out what is accepted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::group_findings::fold;
use super::objects::judge_objects;
use super::settings::{apply, runs};
use super::suppress::Exceptions;
use crate::base::finding::{Finding, Severity, sort};
use crate::config::{Exception, Level, Lint};
use crate::flux::{Applied, AppliedSet, Governance, NotBuiltReason, Receiver, Repo, Settings, Skipped, State, Tenancy};
use crate::lint::facts::installation::Installations;
use crate::lint::facts::listing::Listing;
use crate::lint::facts::reach::{distinct, place_of, unreached};
use crate::lint::found::Found;
use crate::lint::rule::{Check, Context, Fleet, Rule};
use crate::lint::rules::RULES;
use crate::lint::view::View;
use crate::text::{Index, Tree};

/// What is judged and how.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The ids of the rules to run; all when empty.
    pub only: Vec<String>,
    /// What the repository says about rules.
    pub lint: Lint,
    /// What is known of the repository beside its files.
    pub settings: Settings,
    /// The names of the receivers that are judged; all when empty.
    pub clusters: Vec<String>,
    /// Whether a fleet.yaml governs the repository.
    pub governance: Governance,
    /// The tenants' namespaces and whose they are, when something declares them.
    pub tenants: Option<BTreeMap<String, String>>,
    /// Whether pedantic findings are wanted too.
    pub pedantic: bool,
}

/// What a run found.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The findings, sorted by place.
    pub findings: Vec<Finding>,
    /// How many findings an exception accepted.
    pub excepted: usize,
    /// How many findings lie in paths that the configuration skips.
    pub unwanted: usize,
    /// The exceptions that accepted nothing.
    pub unused: Vec<Exception>,
    /// What rules could not judge, counted by what stood in the way.
    pub unchecked: BTreeMap<String, usize>,
    /// The files that were not judged.
    pub skipped: Skipped,
    /// What kustomizations ask for and was not done.
    pub not_done: BTreeMap<String, usize>,
    /// How many appliers were not built, by reason, where that is no fault: sources without a copy, for example.
    pub not_built: BTreeMap<NotBuiltReason, usize>,
    /// How many objects no cluster's root reaches; none in a repository without a root.
    pub unreached: usize,
    /// How many objects were judged, each once however many clusters receive it.
    pub objects: usize,
}

/// Judges a tree.
pub fn run(tree: &Tree, options: &Options) -> Outcome {
    judge(&Repo::load(tree, &options.settings), options)
}

/// Judges a repository.
pub fn judge(repo: &Repo, options: &Options) -> Outcome {
    let receivers: Vec<Receiver<'_>> = repo.clusters.iter().flat_map(Receiver::all).collect();
    let wanted =
        |receiver: &&Receiver<'_>| options.clusters.is_empty() || options.clusters.contains(&receiver.to_string());
    let receivers: Vec<&Receiver<'_>> = receivers.iter().filter(wanted).collect();
    let rules: Vec<&Rule> = RULES.iter().filter(|rule| options.runs(rule.id) && options.shows(rule)).collect();
    let tenancies = tenancies(repo, &receivers, options);
    let views = views(repo, &receivers, &tenancies, options);
    let mut found = judge_objects(&views, &rules, options);
    found.merge(judge_clusters(&views, &rules));
    let fleet = Fleet::new(&views, repo, options.governance);
    found.merge(judge_fleet(&fleet, &rules));
    found.extend(problems(repo, &receivers, options));
    let Found { mut findings, unchecked } = found;
    let unwanted = apply(&mut findings, &options.lint, &options.only);
    sort(&mut findings);
    let mut exceptions = Exceptions::new(&options.lint.exceptions);
    let before = findings.len();
    findings.retain(|finding| !exceptions.accept(finding));
    let excepted = before - findings.len();
    findings.retain(|finding| options.pedantic || finding.severity > Severity::Pedantic);
    // Not sooner: an exception may be for one of the places only.
    let findings = fold(findings);
    Outcome {
        findings,
        excepted,
        unwanted,
        unused: exceptions.unused(|rule| options.runs(rule)),
        unchecked,
        objects: count_objects(&receivers),
        unreached: unreached(&fleet),
        not_built: not_built(&receivers),
        skipped: repo.skipped.clone(),
        not_done: repo.not_done.clone(),
    }
}

/// The tenants of receivers, as rules know them.
pub fn tenancies(repo: &Repo, receivers: &[&Receiver<'_>], options: &Options) -> Vec<Tenancy> {
    let installations = Installations::of(repo);
    receivers.par_iter().map(|receiver| tenancy(receiver, &installations, options)).collect()
}

/// The clusters as rules ask them.
fn views<'a>(
    repo: &'a Repo,
    receivers: &[&Receiver<'a>],
    tenancies: &'a [Tenancy],
    options: &'a Options,
) -> Vec<View<'a>> {
    let installations = Installations::of(repo);
    let mut shared: Index<usize, Arc<Listing>> = Index::default();
    let mut own: Index<usize, Arc<Listing>> = Index::default();
    let mut views = Vec::with_capacity(receivers.len());
    for (receiver, tenancy) in receivers.iter().zip(tenancies) {
        let lists = receiver.applied_sets().map(|brought| {
            let objects = &brought.objects;
            let of = || Arc::new(Listing::of(objects));
            if objects.own().is_empty() {
                return (brought, shared.entry_or(objects.shared().as_ptr().addr(), of).clone());
            }
            // The listing of whoever comes first serves all whose objects differ in nothing that it tells.
            let known = shared.entry_or(objects.shared().as_ptr().addr(), || Arc::new(Listing::of(&objects.alike())));
            if known.holds(objects.shared(), objects.own()) {
                return (brought, known.clone());
            }
            (brought, own.entry_or(objects.own().as_ptr().addr(), of).clone())
        });
        let is_production = options.lint.production.has(&receiver.to_string());
        let context = Context { tenancy, lint: &options.lint, is_production };
        let installations = installations.of_receiver(receiver);
        let external = &options.settings.config.external;
        views.push(View::new((*receiver).clone(), context, lists.collect(), installations, external));
    }
    views
}

fn judge_clusters(views: &[View<'_>], rules: &[&Rule]) -> Found {
    let judge = |view: &View<'_>| {
        // Side by side for the sake of repositories with one cluster.
        let of_rules = rules.par_iter().filter_map(|rule| match rule.check {
            Check::Cluster(check) => {
                let mut found = Found::default();
                check(view, &mut found);
                Some(found)
            }
            _ => None,
        });
        let of_rules: Vec<Found> = of_rules.collect();
        let mut found = Found::default();
        for one in of_rules {
            found.merge(one);
        }
        if view.is_whole() {
            let name: Arc<str> = view.receiver.to_string().into();
            found.findings.iter_mut().for_each(|finding| finding.clusters.push(name.clone()));
        }
        found
    };
    let found: Vec<Found> = views.par_iter().map(judge).collect();
    let mut all = Found::default();
    for found in found {
        all.merge(found);
    }
    all
}

fn judge_fleet(fleet: &Fleet<'_>, rules: &[&Rule]) -> Found {
    let mut found = Found::default();
    for rule in rules {
        if let Check::Fleet(check) = rule.check {
            check(fleet, &mut found);
        }
    }
    found
}

/// What is wrong with files and builds, as far as it concerns the clusters that are judged.
fn problems(repo: &Repo, receivers: &[&Receiver<'_>], options: &Options) -> Vec<Finding> {
    let names: BTreeSet<&Arc<str>> = receivers.iter().map(|receiver| &receiver.cluster.name).collect();
    let problems = repo.problems.iter().filter(|problem| options.runs(problem.rule));
    let concerned = problems.filter_map(|problem| {
        let mut problem = problem.clone();
        let concerns_all = problem.clusters.is_empty();
        problem.clusters.retain(|name| names.contains(name));
        (concerns_all || !problem.clusters.is_empty()).then_some(problem)
    });
    concerned.collect()
}

fn tenancy(receiver: &Receiver<'_>, installations: &Installations<'_>, options: &Options) -> Tenancy {
    let telling: Vec<Applied<'_>> = receiver.applied_sets().flat_map(AppliedSet::tenancy_objects).collect();
    let installation = installations.of_receiver(receiver);
    let mut tenancy = Tenancy::detect(&telling, &installation, options.tenants.as_ref(), options.governance);
    tenancy.apply(&options.lint.tenancy);
    tenancy
}

/// Counts objects by the places that they were written at: clusters share them.
fn count_objects(receivers: &[&Receiver<'_>]) -> usize {
    let clusters = receivers.iter().flat_map(|receiver| &receiver.cluster.applied_sets);
    let objects = distinct(clusters.map(|brought| &brought.objects));
    let identities =
        objects.into_iter().map(|object| (place_of(object), object.kind(), object.namespace(), object.name()));
    let seen: Index<_, ()> = identities.map(|identity| (identity, ())).collect();
    seen.len()
}

/// Counts the appliers that were not built, for reasons that are no faults, each once however many clusters have it.
fn not_built(receivers: &[&Receiver<'_>]) -> BTreeMap<NotBuiltReason, usize> {
    let mut names: BTreeMap<NotBuiltReason, BTreeSet<String>> = BTreeMap::new();
    for applier in receivers.iter().flat_map(|receiver| &receiver.cluster.appliers) {
        if let State::NotBuilt(why) = &applier.state {
            names.entry(why.clone()).or_default().insert(applier.reference.to_string());
        }
    }
    names.into_iter().map(|(why, names)| (why, names.len())).collect()
}

impl Options {
    /// Whether anything of what a rule finds may be shown, or may be what an exception is for.
    fn shows(&self, rule: &Rule) -> bool {
        let severity = self.lint.rules.level(rule.id).and_then(Level::severity).unwrap_or(rule.severity);
        let is_excepted = || self.lint.exceptions.iter().any(|exception| exception.rule == rule.id);
        self.pedantic || severity > Severity::Pedantic || is_excepted()
    }

    /// Whether a finding is neither shown nor counted, whatever comes after.
    pub(super) fn hides(&self, finding: &Finding) -> bool {
        let is_said = || self.lint.rules.level(finding.rule).and_then(Level::severity).is_some();
        let is_excepted = || self.lint.exceptions.iter().any(|exception| exception.rule == finding.rule);
        let is_shown = self.pedantic || finding.severity > Severity::Pedantic || !self.lint.skip.is_empty();
        !is_shown && !is_said() && !is_excepted()
    }

    fn runs(&self, rule: &str) -> bool {
        runs(rule, &self.lint, &self.only)
    }
}
