//! A run of the linter over a repository.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

use arcstr::ArcStr;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::alike::Classes;
use super::baseline::{Baseline, BaselineOutcome, BaselineUse};
use super::doubt::doubt;
use super::generated_roots::remove_generated;
use super::invalid_documents::remove_in_invalid;
use super::missing_changes::MissingChanges;
use super::newer_kustomize::lower_newer_failures;
use super::objects::{check_objects, check_unreached};
use super::one_place::{join_at_one_place, join_severities};
use super::options::{ABOUT_EXCEPTIONS, Options};
use super::remote::RemoteAppliers;
use super::settings::{TurnedOff, apply_levels};
use super::suppress::Exceptions;
use crate::base::finding::{Finding, ObjectRef, Severity};
use crate::base::group_findings::{absorb, group, name_followers, sort};
use crate::flux::source::DANGLING_SOURCE;
use crate::flux::{Applied, AppliedSet, Applier, Cluster, NotBuiltReason, Receiver, Repo, Skipped, State, Tenancy};
use crate::lint::context::Context;
use crate::lint::facts::distinct::{DistinctObjects, written_position};
use crate::lint::facts::installation::Installations;
use crate::lint::facts::listing::{Listing, Listings};
use crate::lint::facts::written_objects::WrittenObjects;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, Rule};
use crate::lint::rules::RULES;
use crate::lint::view::{AppliersByObject, Positions, Received, View};
use crate::text::{Index, Tree};

/// The number of clusters that are checked at the same time.
const CLUSTERS_AT_ONCE: usize = 64;

/// The result of a run of the linter.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The findings, sorted by position.
    pub findings: Vec<Finding>,
    /// The number of findings that exceptions accepted.
    pub excepted: usize,
    /// The result of the comparison with a baseline.
    pub baseline: BaselineOutcome,
    /// The number of findings in the paths that the configuration skips.
    pub unwanted: usize,
    /// What the configuration turns off.
    pub turned_off: TurnedOff,
    /// The number of clusters whose errors are warnings, since it is not certain that the clusters exist.
    pub doubted: usize,
    /// The number of facts that rules could not check, by reason.
    pub unchecked: BTreeMap<String, usize>,
    /// The files that the run did not check.
    pub skipped: Skipped,
    /// The number of fields in kustomizations that the build omits, by field.
    pub not_done: BTreeMap<String, usize>,
    /// The number of appliers that were not built, by reason, such as a source without a copy. A reason is not a fault.
    pub not_built: BTreeMap<NotBuiltReason, usize>,
    /// The appliers whose objects are not checked like those of other appliers, since another cluster receives them.
    pub remote: RemoteAppliers,
    /// The namespaces that would belong to tenants without the ClusterRoleBindings of their accounts.
    pub platform: BTreeSet<String>,
    /// The number of objects that no cluster receives; zero in a repository without a root.
    pub unreached: usize,
    /// The number of distinct objects that clusters receive.
    pub objects: usize,
}

/// Loads the repository in a tree, and checks the repository.
pub fn run(tree: &Tree, options: &Options) -> Outcome {
    let mut options = options.clone();
    options.read_comments(tree);
    judge(&Repo::load(tree, &options.settings), &options)
}

/// Checks a repository.
pub fn judge(repo: &Repo, options: &Options) -> Outcome {
    judge_with(repo, options, |_| options.baseline.clone())
}

/// Checks a repository. `baseline` returns the baseline for the findings.
pub(super) fn judge_with(repo: &Repo, options: &Options, baseline: impl FnOnce(&[Finding]) -> BaselineUse) -> Outcome {
    let (found, counts) = find(repo, options, Counts::of);
    let Found { mut findings, accepted, unwanted, doubted, unchecked } = found;
    let baseline = baseline(&findings).apply(&mut findings, |entry| options.judges(entry));
    // Grouping follows the exceptions, since an exception may match only one of the places.
    let mut findings = if options.is_ungrouped { findings } else { group(findings) };
    name_followers(&mut findings);
    Outcome {
        findings,
        turned_off: TurnedOff::of(&options.lint, &options.only),
        // The summary counts reported findings, which are grouped too.
        excepted: group(accepted).len(),
        baseline,
        unwanted,
        doubted,
        unchecked,
        objects: counts.objects,
        unreached: counts.unreached,
        not_built: counts.not_built,
        platform: counts.platform,
        remote: counts.remote,
        skipped: repo.skipped.clone(),
        not_done: repo.not_done.clone(),
    }
}

/// Records the findings of a repository.
pub(super) fn record(repo: &Repo, options: &Options) -> Baseline {
    let (Found { mut findings, .. }, ()) = find(repo, options, |_, _| ());
    let baseline = BaselineUse::Record(Baseline::default());
    baseline.apply(&mut findings, |entry| options.judges(entry)).recorded.unwrap_or_default()
}

/// The findings of all rules, before the comparison with a baseline.
struct Found {
    /// The reported findings, sorted.
    findings: Vec<Finding>,
    /// The findings that exceptions accept.
    accepted: Vec<Finding>,
    /// The number of findings in the paths that the configuration skips.
    unwanted: usize,
    /// The number of clusters whose errors are warnings.
    doubted: usize,
    /// The number of facts that rules could not check, by reason.
    unchecked: BTreeMap<String, usize>,
}

/// The numbers of objects and appliers in a report.
struct Counts {
    objects: usize,
    unreached: usize,
    not_built: BTreeMap<NotBuiltReason, usize>,
    remote: RemoteAppliers,
    platform: BTreeSet<String>,
}

impl Counts {
    fn of(fleet: &Fleet<'_>, receivers: &[&Receiver<'_>]) -> Self {
        // Rules read the reached files too, and need them last if another thread collects them now.
        let unreached = fleet.reached().count_unreached(fleet.repo);
        // A cluster and each other cluster to which its Flux applies objects are receivers of their own.
        let mut seen: Index<usize, ()> = Index::default();
        let clusters = receivers.iter().map(|receiver| receiver.cluster);
        let clusters: Vec<&Cluster> =
            clusters.filter(|cluster| seen.insert(std::ptr::from_ref(*cluster).addr(), ()).is_none()).collect();
        Self {
            objects: count_objects(&clusters),
            unreached,
            not_built: not_built(&clusters),
            remote: RemoteAppliers::of(fleet.repo, fleet.views, receivers),
            platform: fleet.views.iter().flat_map(|view| platform(view.tenancy())).cloned().collect(),
        }
    }
}

/// The namespaces that a tenancy leaves to the platform although they look like those of tenants.
fn platform(tenancy: &Tenancy) -> impl Iterator<Item = &String> {
    tenancy.platform.iter().filter(|namespace| !tenancy.tenants.contains_key(*namespace))
}

/// Checks a repository. `beside` runs beside the rules.
fn find<T: Send>(
    repo: &Repo,
    options: &Options,
    beside: impl FnOnce(&Fleet<'_>, &[&Receiver<'_>]) -> T + Send,
) -> (Found, T) {
    let receivers: Vec<Receiver<'_>> = repo.clusters.iter().flat_map(Receiver::all).collect();
    let is_selected =
        |receiver: &&Receiver<'_>| options.clusters.is_empty() || options.clusters.contains(&receiver.to_string());
    let receivers: Vec<&Receiver<'_>> = receivers.iter().filter(is_selected).collect();
    let rules: Vec<&Rule> = RULES.iter().filter(|rule| options.runs(rule.id) && options.shows(rule)).collect();
    let classes = Classes::new(repo, &receivers, options);
    let first: Vec<&Receiver<'_>> = classes.first().iter().map(|at| receivers[*at]).collect();
    let tenancies = tenancies(repo, &first, options);
    let views = views(repo, &receivers, &tenancies, &classes, options);
    let fleet = Fleet::new(&views, repo, options.governance, &options.policies);
    let of_clusters = || (check_clusters(&views, &classes, &rules), check_fleet(&fleet, &rules));
    let check = || rayon::join(|| check_objects(&views, &rules, options), of_clusters);
    let ((mut found, (clusters, all)), beside) = rayon::join(check, || beside(&fleet, &receivers));
    found.merge(clusters);
    found.merge(all);
    found.merge(check_unreached(&fleet, &rules, options));
    let missing_changes = MissingChanges::of(&receivers);
    missing_changes.remove(&mut found);
    let mut of_builds = Findings::default();
    of_builds.extend(problems(repo, &receivers, options));
    lower_newer_failures(&mut of_builds.findings, &views);
    missing_changes.remove_from_builds(&mut of_builds);
    found.merge(of_builds);
    let mut further = found.further.findings();
    let Findings { mut findings, unchecked, .. } = found;
    remove_generated(&mut findings, &receivers);
    let doubted = doubt(&mut findings, &receivers, repo);
    doubt(&mut further, &receivers, repo);
    let mut unwanted = apply_levels(&mut findings, &options.lint, |rule| options.runs(rule));
    sort(&mut findings);
    absorb(&mut findings);
    remove_in_invalid(&mut findings, repo);
    join_at_one_place(&mut findings);
    let mut exceptions = Exceptions::new(&options.lint.exceptions, options.today);
    let mut accepted: Vec<Finding> = findings.extract_if(.., |finding| exceptions.accept(finding)).collect();
    join_severities(&mut findings);
    findings.retain(|finding| options.reports(finding.rule));
    let mut faults = exceptions.faults(options, |rule| options.runs(rule) && !ABOUT_EXCEPTIONS.contains(&rule));
    faults.extend(options.faults.iter().cloned());
    unwanted += apply_levels(&mut faults, &options.lint, |rule| options.reports(rule));
    accepted.extend(faults.extract_if(.., |finding| exceptions.accept(finding)));
    // No exception accepts the findings that are only counted, since it may not match all of them.
    apply_levels(&mut further, &options.lint, |rule| options.reports(rule));
    findings.extend(faults.into_iter().chain(further));
    sort(&mut findings);
    findings.retain(|finding| options.pedantic || finding.severity > Severity::Pedantic);
    (Found { findings, accepted, unwanted, doubted, unchecked }, beside)
}

/// Calls a function with the selected clusters.
pub(crate) fn on_clusters<T>(repo: &Repo, options: &Options, run: impl FnOnce(&Fleet<'_>) -> T) -> T {
    let receivers: Vec<Receiver<'_>> = repo.clusters.iter().flat_map(Receiver::all).collect();
    let is_selected =
        |receiver: &&Receiver<'_>| options.clusters.is_empty() || options.clusters.contains(&receiver.to_string());
    let receivers: Vec<&Receiver<'_>> = receivers.iter().filter(is_selected).collect();
    let classes = Classes::new(repo, &receivers, options);
    let first: Vec<&Receiver<'_>> = classes.first().iter().filter_map(|at| receivers.get(*at).copied()).collect();
    let tenancies = tenancies(repo, &first, options);
    let views = views(repo, &receivers, &tenancies, &classes, options);
    run(&Fleet::new(&views, repo, options.governance, &options.policies))
}

/// The tenancy of each receiver.
pub fn tenancies(repo: &Repo, receivers: &[&Receiver<'_>], options: &Options) -> Vec<Tenancy> {
    let installations = Installations::in_repository(repo);
    receivers.par_iter().map(|receiver| tenancy(receiver, &installations, options)).collect()
}

/// The class of each receiver, and the number and the tenancy of the first receiver of each class. The receivers of a
/// class are alike for all checks of one cluster.
pub fn tenancy_classes(
    repo: &Repo,
    receivers: &[&Receiver<'_>],
    options: &Options,
) -> (Vec<usize>, Vec<(usize, Tenancy)>) {
    let classes = Classes::new(repo, receivers, options);
    let first: Vec<&Receiver<'_>> = classes.first().iter().filter_map(|at| receivers.get(*at).copied()).collect();
    let tenancies = tenancies(repo, &first, options);
    let of_receiver = (0..receivers.len()).map(|receiver| classes.of(receiver)).collect();
    (of_receiver, classes.first().iter().copied().zip(tenancies).collect())
}

/// The views of the clusters, for the rules.
pub(super) fn views<'a>(
    repo: &'a Repo,
    receivers: &[&Receiver<'a>],
    tenancies: &'a [Tenancy],
    classes: &Classes,
    options: &'a Options,
) -> Vec<View<'a>> {
    let installations = Installations::in_repository(repo);
    let written = Arc::new(WrittenObjects::of(repo, &options.settings));
    let listings = Listings::of(receivers.iter().flat_map(|one| one.applied_sets()).map(|set| &set.objects));
    let lists = |receiver: &&Receiver<'a>| -> Vec<(&'a AppliedSet, Arc<Listing>)> {
        receiver.applied_sets().map(|set| (set, listings.get(&set.objects))).collect()
    };
    let lists: Vec<Vec<(&AppliedSet, Arc<Listing>)>> = receivers.par_iter().map(lists).collect();
    let mut views = Vec::with_capacity(receivers.len());
    let positions: Vec<Arc<Positions>> = tenancies.iter().map(|_| Arc::default()).collect();
    let mut appliers: Index<usize, Arc<AppliersByObject<'a>>> = Index::default();
    for (number, (receiver, lists)) in receivers.iter().zip(lists).enumerate() {
        let class = classes.of(number);
        let tenancy = &tenancies[class];
        let is_production = options.lint.production.has(&receiver.to_string());
        let context = Context { tenancy, lint: &options.lint, is_production, is_unreached: false };
        let installations = installations.of_receiver(receiver);
        let programs = repo.other_programs.of_cluster(&receiver.cluster.name);
        let written = written.clone();
        let settings = &options.settings;
        let appliers_by_object = appliers.entry(std::ptr::from_ref(receiver.cluster).addr()).clone();
        let (first, positions) = (classes.first()[class], positions[class].clone());
        let received = Received { first, lists, positions, appliers_by_object };
        views.push(View::new((*receiver).clone(), context, received, installations, settings, programs, written));
    }
    views
}

/// Checks each cluster. If a rule has no finding on the first cluster of a class, it has none on the other clusters.
pub(super) fn check_clusters(views: &[View<'_>], classes: &Classes, rules: &[&Rule]) -> Findings {
    let run = |view: &View<'_>, rule: &Rule| {
        let mut found = Findings::default();
        if let Check::Cluster(check) = rule.check {
            check(view, &mut found);
        }
        found
    };
    let run_all = |at: &usize| -> Vec<Findings> {
        // Rules also run in parallel, since a repository may have a single cluster.
        rules.par_iter().map(|rule| run(&views[*at], rule)).collect()
    };
    let of_first: Vec<Vec<Findings>> = classes.first().par_iter().map(run_all).collect();
    // The findings of the first cluster may need much memory, so they are not copied.
    let without = |found: &Findings| (found.findings.is_empty() && found.further.is_empty()).then(|| found.clone());
    let repeated: Vec<Vec<Option<Findings>>> =
        of_first.iter().map(|of_rules| of_rules.iter().map(without).collect()).collect();
    let of_first: Vec<Mutex<Vec<Findings>>> = of_first.into_iter().map(Mutex::new).collect();
    let check = |(number, view): (usize, &View<'_>)| {
        let class = classes.of(number);
        let first = classes.first()[class];
        let cluster = views[first].receiver.cluster;
        let mut found = Findings::default();
        if number == first {
            let mut own = of_first[class].lock().unwrap_or_else(PoisonError::into_inner);
            own.drain(..).for_each(|of_rule| found.merge(of_rule));
        } else {
            for (rule, of_rule) in rules.iter().zip(&repeated[class]) {
                let of_rule = of_rule.as_ref().filter(|of_rule| !of_rule.mentions(cluster));
                found.merge(of_rule.cloned().unwrap_or_else(|| run(view, rule)));
            }
        }
        if view.is_whole() {
            found.add_cluster(&view.receiver.to_string().into());
        }
        found
    };
    let numbers: Vec<usize> = (0..views.len()).collect();
    let mut all = Findings::default();
    // The findings of a thousand clusters would need much memory before equal findings are merged.
    for some in numbers.chunks(CLUSTERS_AT_ONCE) {
        let found: Vec<Findings> = some.par_iter().map(|number| check((*number, &views[*number]))).collect();
        for found in found {
            all.merge(found);
        }
    }
    all
}

/// Checks all clusters together. The rules run in parallel.
///
/// The facts that two rules share are collected before: a rule that waits for parallel work may run another rule
/// meanwhile, so no rule may wait for a fact that another rule collects in parallel.
pub(super) fn check_fleet(fleet: &Fleet<'_>, rules: &[&Rule]) -> Findings {
    let has = |is_reader: fn(Check) -> bool| rules.iter().any(|rule| is_reader(rule.check));
    let policies = || has(|check| matches!(check, Check::Policies(_))).then(|| fleet.policies());
    let uses = || has(|check| matches!(check, Check::Apis(_))).then(|| fleet.api_uses());
    let (policies, uses) = rayon::join(policies, uses);
    let run = |rule: &&Rule| {
        let mut found = Findings::default();
        match (rule.check, &policies, &uses) {
            (Check::Fleet(check), ..) => check(fleet, &mut found),
            (Check::Policies(check), Some(policies), _) => check(fleet, policies, &mut found),
            (Check::Apis(check), _, Some(uses)) => check(fleet, uses, &mut found),
            _ => {}
        }
        found
    };
    let of_rules: Vec<Findings> = rules.par_iter().map(run).collect();
    let mut all = Findings::default();
    for found in of_rules {
        all.merge(found);
    }
    all
}

/// The problems of files and builds that affect the selected clusters.
fn problems(repo: &Repo, receivers: &[&Receiver<'_>], options: &Options) -> Vec<Finding> {
    let names: BTreeSet<&ArcStr> = receivers.iter().map(|receiver| &receiver.cluster.name).collect();
    // The rule for missing sources checks the references of all objects itself, also of those that no build reads.
    let is_new = |problem: &&Finding| options.runs(problem.rule) && problem.rule != DANGLING_SOURCE;
    let problems = repo.problems.iter().filter(is_new);
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
    // The objects of another cluster do not show where its Flux was bootstrapped.
    let is_bootstrapped = receiver.target.is_none() && !receiver.cluster.name.is_empty();
    let root = receiver.cluster.appliers.first().filter(|_| is_bootstrapped);
    let home = root.and_then(|root| root.reference.namespace.as_deref());
    let former = options.former_tenants.get(&receiver.to_string());
    let declared = options.tenants.iter().flatten().chain(former.iter().flat_map(|former| &former.namespaces));
    let mut tenancy = Tenancy::detect(&telling, &installation, home, declared, options.governance);
    tenancy.detect_operator(&telling, |release| receiver.cluster.values(release));
    tenancy.apply(&options.lint.tenancy);
    let fleet = fleet_sources(receiver, &telling);
    tenancy.find_repositories(&telling, &fleet, former.map(|former| &former.repositories));
    tenancy.multi_tenant |= former.is_some() && options.lint.tenancy.mode.is_none();
    tenancy
}

/// The kinds, namespaces and names of the sources of a cluster's own repository.
fn fleet_sources<'a>(receiver: &'a Receiver<'_>, telling: &[Applied<'_>]) -> BTreeSet<(&'a str, &'a str, &'a str)> {
    let source = |applier: &'a Arc<Applier>| {
        let source = applier.source.as_ref()?;
        Some((&*source.kind, source.namespace.as_deref()?, &*source.name))
    };
    let appliers = || receiver.cluster.appliers.iter();
    let of_roots: BTreeSet<_> = appliers().filter(|applier| applier.is_of_root()).filter_map(source).collect();
    let is_defined = telling.iter().any(|applied| {
        let (object, namespace) = (applied.object, applied.namespace().unwrap_or_default());
        of_roots.contains(&(object.kind(), namespace, object.name()))
    });
    if is_defined {
        return of_roots;
    }
    // The bootstrap of a cluster may be elsewhere.
    appliers().filter(|applier| applier.state == State::Built).filter_map(source).collect()
}

/// Counts the distinct objects by position and identity, since clusters share objects.
fn count_objects(clusters: &[&Cluster]) -> usize {
    let mut distinct = DistinctObjects::default();
    let mut seen: Index<u64, ()> = Index::default();
    for set in clusters.iter().flat_map(|cluster| &cluster.applied_sets) {
        for object in distinct.take_new(&set.objects, 0) {
            // Equal hashes of different objects are very unlikely, and affect only the count.
            let mut hasher = DefaultHasher::new();
            (written_position(object), object.kind(), object.namespace(), object.name()).hash(&mut hasher);
            seen.insert(hasher.finish(), ());
        }
    }
    seen.len()
}

/// Counts the distinct appliers that were not built, by reason.
fn not_built(clusters: &[&Cluster]) -> BTreeMap<NotBuiltReason, usize> {
    let mut names: BTreeMap<NotBuiltReason, BTreeSet<String>> = BTreeMap::new();
    // Most clusters have the same appliers.
    let mut seen: Index<(&NotBuiltReason, &ObjectRef), ()> = Index::default();
    for applier in clusters.iter().flat_map(|cluster| &cluster.appliers) {
        if let State::NotBuilt(why) = &applier.state
            && seen.insert((why, &applier.reference), ()).is_none()
        {
            names.entry(why.clone()).or_default().insert(applier.reference.to_string());
        }
    }
    names.into_iter().map(|(why, names)| (why, names.len())).collect()
}
