//! The checks of single objects. An object that clusters share is checked once for each context.

use std::collections::{BTreeMap, BTreeSet};

use arcstr::ArcStr;
use rayon::iter::{IntoParallelRefIterator as _, ParallelDrainRange as _, ParallelExtend as _, ParallelIterator};

use super::options::Options;
use crate::base::finding::{Finding, Severity};
use crate::base::set_aside::is_for_readers;
use crate::flux::{Applied, AppliedSet, Completion};
use crate::kube::Object;
use crate::lint::context::Context;
use crate::lint::facts::distinct::{DistinctObjects, memory_address, written_position};
use crate::lint::facts::paths::prefixes;
use crate::lint::findings::{Findings, MAX_OF_RULE};
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, Rule};
use crate::lint::view::View;
use crate::text::{Index, folder_of};
use crate::yaml::{Document, Node};

/// An object by its address in memory, and the number of its context.
type Key = (usize, usize);

/// A list of objects by the addresses of its shared objects and its own objects, and the number of its context.
type ListKey = (usize, usize, usize);

/// The number of objects that are checked at the same time.
const AT_ONCE: usize = 8192;

/// A list of objects with findings, with the clusters that receive it.
struct CheckedList<'a> {
    brought: &'a AppliedSet,
    context_number: usize,
    clusters: Vec<(ArcStr, &'a AppliedSet)>,
}

/// Checks the objects of all clusters. The time is linear in the number of distinct objects and lists.
pub(super) fn check_objects(views: &[View<'_>], rules: &[&Rule], options: &Options) -> Findings {
    let mut contexts = Contexts::default();
    let mut checked: Vec<(Key, Findings)> = Vec::new();
    let mut objects: Vec<(Key, Applied<'_>, Context<'_>)> = Vec::new();
    let mut all = Findings::default();
    let mut of_rules: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut check_all = |objects: &mut Vec<(Key, Applied<'_>, Context<'_>)>, checked: &mut Vec<(Key, Findings)>| {
        let before = checked.len();
        let found = objects.par_drain(..).filter_map(|(key, applied, context)| {
            let mut found = check(&applied, context, rules);
            found.findings.retain(|finding| !options.hides(finding));
            (!found.is_empty()).then_some((key, found))
        });
        checked.par_extend(found);
        for (_, found) in checked.iter_mut().skip(before) {
            let is_over = |finding: &mut Finding| {
                let count = of_rules.entry(finding.rule).or_default();
                *count += 1;
                *count > MAX_OF_RULE
            };
            found.findings.extract_if(.., is_over).for_each(|finding| all.further.add(finding));
        }
    };
    // Lists that differ in a few objects share the other objects.
    let mut distinct = DistinctObjects::default();
    for view in views {
        let of_view = contexts.of_view(&view.context);
        for (brought, _) in &view.lists {
            let number = contexts.of_list(of_view, &brought.completion);
            for object in distinct.take_new(&brought.objects, number) {
                objects.push(((memory_address(object), number), brought.with(object), view.context));
            }
        }
        if objects.len() >= AT_ONCE {
            check_all(&mut objects, &mut checked);
        }
    }
    check_all(&mut objects, &mut checked);
    let checked: Index<Key, Findings> = checked.into_iter().collect();
    if checked.is_empty() {
        return all;
    }
    let mut positions: Index<ListKey, usize> = Index::default();
    let mut lists: Vec<CheckedList<'_>> = Vec::new();
    for view in views {
        let name: ArcStr = view.receiver.to_string().into();
        let of_view = contexts.of_view(&view.context);
        for (brought, _) in &view.lists {
            let number = contexts.of_list(of_view, &brought.completion);
            let objects = &brought.objects;
            // An empty list has no address of its own.
            let own = if objects.own().is_empty() { 0 } else { objects.own().as_ptr().addr() };
            let position = *positions.entry_or((objects.shared().as_ptr().addr(), own, number), || {
                lists.push(CheckedList { brought, context_number: number, clusters: Vec::new() });
                lists.len() - 1
            });
            lists[position].clusters.push((name.clone(), brought));
        }
    }
    // The results for shared lists, by position.
    let mut shared: Index<Key, Vec<(usize, &Findings)>> = Index::default();
    for list in &lists {
        let objects = &list.brought.objects;
        let found_of =
            |(at, object): (usize, &Object)| Some((at, checked.get(&(memory_address(object), list.context_number))?));
        let of_shared = shared.entry_or((objects.shared().as_ptr().addr(), list.context_number), || {
            objects.shared().iter().enumerate().filter_map(found_of).collect()
        });
        let of_own = objects.own().iter().filter_map(|(at, object)| found_of((*at, object)));
        let mut all_found: Vec<(usize, &Findings)> =
            of_shared.iter().filter(|(at, _)| !objects.is_own(*at)).copied().chain(of_own).collect();
        all_found.sort_by_key(|(at, _)| *at);
        for (_, found) in all_found {
            for finding in &found.findings {
                add(finding, &list.clusters, &mut all);
            }
            for (reason, count) in &found.unchecked {
                *all.unchecked.entry(reason.clone()).or_default() += count;
            }
        }
    }
    all
}

/// Checks the objects that no cluster receives. Only errors are certain: the other findings depend on the use of an object.
pub(super) fn check_unreached(fleet: &Fleet<'_>, rules: &[&Rule], options: &Options) -> Findings {
    let mut all = Findings::default();
    let rules: Vec<&Rule> = rules.iter().copied().filter(|rule| matches!(rule.check, Check::Written(_))).collect();
    let Some(view) = fleet.views.first().filter(|_| !rules.is_empty()) else { return all };
    let reached = fleet.reached();
    let unreached = fleet.repo.in_directories(|object| {
        let (root, path, _) = written_position(object);
        root.is_none() && !is_for_readers(path) && !reached.receives(object)
    });
    let context = Context { is_unreached: true, ..view.context };
    // A local cluster is temporary, and so are its values.
    let local = folders_of_local_clusters(fleet);
    let is_of_local = |finding: &Finding| prefixes(finding.at.span.file().path()).any(|above| local.contains(above));
    let check_set = |set: &AppliedSet| -> Vec<Finding> {
        let found = set.applied().flat_map(|applied| check(&applied, context, &rules).findings);
        let errors = found.filter(|finding| finding.severity == Severity::Error && !options.hides(finding));
        let lowered = |mut finding: Finding| {
            if is_of_local(&finding) {
                finding.severity = Severity::Warning;
            }
            finding
        };
        errors.map(lowered).collect()
    };
    let found: Vec<Vec<Finding>> = unreached.par_iter().map(check_set).collect();
    // Several directories may build an object of one file.
    let mut seen: BTreeSet<(&str, String, u32)> = BTreeSet::new();
    all.extend(found.into_iter().flatten().filter(|finding| {
        let (path, start, _) = finding.at.span.order();
        seen.insert((finding.rule, path.to_owned(), start))
    }));
    all
}

/// The directories with the configuration of a local cluster, which kind, k3d or ctlptl creates.
fn folders_of_local_clusters<'a>(fleet: &Fleet<'a>) -> BTreeSet<&'a str> {
    let groups = ["ctlptl.dev/", "k3d.io/", "kind.x-k8s.io/"];
    let Some(sources) = &fleet.repo.sources else { return BTreeSet::new() };
    let is_config = |document: &Document| {
        let version = document.node.get("apiVersion").and_then(Node::text);
        version.is_some_and(|version| groups.iter().any(|group| version.starts_with(group)))
    };
    let configs = sources.repository_files().parsed().filter(|(_, parsed)| parsed.documents.iter().any(is_config));
    configs.map(|(path, _)| folder_of(path)).filter(|folder| !folder.is_empty()).collect()
}

/// The numbers of contexts. Equal contexts have the same number.
#[derive(Default)]
struct Contexts<'a> {
    /// The numbers by the address of the tenancy, since alike clusters share one.
    known: Index<(usize, bool), usize>,
    views: BTreeMap<(&'a crate::flux::Tenancy, bool), usize>,
    lists: BTreeMap<(usize, &'a Completion), usize>,
}

impl<'a> Contexts<'a> {
    fn of_view(&mut self, context: &Context<'a>) -> usize {
        let Self { known, views, .. } = self;
        let address = std::ptr::from_ref(context.tenancy).addr();
        *known.entry_or((address, context.is_production), || {
            let next = views.len();
            *views.entry((context.tenancy, context.is_production)).or_insert(next)
        })
    }

    fn of_list(&mut self, view: usize, completion: &'a Completion) -> usize {
        let next = self.lists.len();
        *self.lists.entry((view, completion)).or_insert(next)
    }
}

fn check(applied: &Applied<'_>, context: Context<'_>, rules: &[&Rule]) -> Findings {
    let mut found = Findings::default();
    for rule in rules {
        if let Check::Object(check) | Check::Written(check) = rule.check {
            check(applied, context, &mut found);
        }
    }
    found
}

/// Adds a finding for its clusters. Clusters with the same positions share one finding.
fn add(finding: &Finding, clusters: &[(ArcStr, &AppliedSet)], all: &mut Findings) {
    let mut shared: Option<Finding> = None;
    for (cluster, brought) in clusters {
        let is_shared = brought.by.shares_with.is_empty() && !cluster.is_empty();
        if let Some(finding) = shared.as_mut().filter(|_| is_shared) {
            finding.clusters.push(cluster.clone());
        } else if is_shared {
            shared = Some(on_cluster(finding, cluster, brought));
        } else {
            all.push(on_cluster(finding, cluster, brought));
        }
    }
    all.extend(shared);
}

/// The finding on one cluster. An applier that shares its build with other appliers has its own positions.
fn on_cluster(finding: &Finding, cluster: &ArcStr, brought: &AppliedSet) -> Finding {
    let mut finding = finding.clone();
    if !brought.by.shares_with.is_empty() {
        finding.move_positions(|span| brought.by.place(span));
        finding.fix = finding.fix.map(|fix| Box::new(fix.moved(|span| brought.by.place(span))));
    }
    if !cluster.is_empty() {
        finding.clusters.push(cluster.clone());
    }
    finding
}
