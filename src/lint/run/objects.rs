//! Rules on single objects: one that clusters share is judged once, unless what a rule may ask around it differs.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::repository::Options;
use crate::base::finding::Finding;
use crate::flux::{Applied, AppliedSet, Completion};
use crate::kube::Object;
use crate::lint::facts::reach::{Unseen, address};
use crate::lint::found::Found;
use crate::lint::rule::{Check, Context, Rule};
use crate::lint::view::View;
use crate::text::Index;

/// An object by its place in memory, and the number of the facts that it is judged by.
type Key = (usize, usize);

/// A list of objects by the places of what it shares and of what is its own, and the number of the facts.
type ListKey = (usize, usize, usize);

/// A list of objects that is judged, and the clusters that receive it.
struct Judged<'a> {
    brought: &'a AppliedSet,
    context: Context<'a>,
    facts: usize,
    clusters: Vec<(Arc<str>, &'a AppliedSet)>,
}

/// Judges what clusters receive. Costs as many steps as there are distinct objects, and one for each list of a cluster.
pub(super) fn judge_objects(views: &[View<'_>], rules: &[&Rule], options: &Options) -> Found {
    let mut facts = Facts::default();
    let mut places: Index<ListKey, usize> = Index::default();
    let mut lists: Vec<Judged<'_>> = Vec::new();
    for view in views {
        let name: Arc<str> = view.receiver.to_string().into();
        let around = facts.of_view(&view.context);
        for (brought, _) in &view.lists {
            let number = facts.of_list(around, &brought.completion);
            let objects = &brought.objects;
            // An empty list has no place of its own.
            let own = if objects.own().is_empty() { 0 } else { objects.own().as_ptr().addr() };
            let place = *places.entry_or((objects.shared().as_ptr().addr(), own, number), || {
                lists.push(Judged { brought, context: view.context, facts: number, clusters: Vec::new() });
                lists.len() - 1
            });
            lists[place].clusters.push((name.clone(), brought));
        }
    }
    // Lists that differ in a few objects share the others.
    let mut unseen = Unseen::default();
    let mut wanted: Vec<(Key, Applied<'_>, Context<'_>)> = Vec::new();
    for list in &lists {
        for object in unseen.of(&list.brought.objects, list.facts) {
            wanted.push(((address(object), list.facts), list.brought.with(object), list.context));
        }
    }
    let judged = wanted.into_par_iter().filter_map(|(key, applied, context)| {
        let mut found = judge(&applied, context, rules);
        found.findings.retain(|finding| !options.hides(finding));
        (!found.is_empty()).then_some((key, found))
    });
    let judged: Vec<(Key, Found)> = judged.collect();
    let judged: Index<Key, Found> = judged.into_iter().collect();
    let mut all = Found::default();
    if judged.is_empty() {
        return all;
    }
    // What is found of shared lists, by position.
    let mut shared: Index<Key, Vec<(usize, &Found)>> = Index::default();
    for list in &lists {
        let objects = &list.brought.objects;
        let found_of = |(at, object): (usize, &Object)| Some((at, judged.get(&(address(object), list.facts))?));
        let of_shared = shared.entry_or((objects.shared().as_ptr().addr(), list.facts), || {
            objects.shared().iter().enumerate().filter_map(found_of).collect()
        });
        let of_own = objects.own().iter().filter_map(|(at, object)| found_of((*at, object)));
        let mut all_found: Vec<(usize, &Found)> =
            of_shared.iter().filter(|(at, _)| !objects.is_own(*at)).copied().chain(of_own).collect();
        all_found.sort_by_key(|(at, _)| *at);
        for (_, found) in all_found {
            for finding in &found.findings {
                take(finding, &list.clusters, &mut all);
            }
            for (why, count) in &found.unchecked {
                *all.unchecked.entry(why.clone()).or_default() += count;
            }
        }
    }
    all
}

/// Numbers what rules may ask, so that what is equal has one number.
#[derive(Default)]
struct Facts<'a> {
    around: BTreeMap<(&'a crate::flux::Tenancy, bool), usize>,
    lists: BTreeMap<(usize, &'a Completion), usize>,
}

impl<'a> Facts<'a> {
    fn of_view(&mut self, context: &Context<'a>) -> usize {
        let next = self.around.len();
        *self.around.entry((context.tenancy, context.is_production)).or_insert(next)
    }

    fn of_list(&mut self, around: usize, completion: &'a Completion) -> usize {
        let next = self.lists.len();
        *self.lists.entry((around, completion)).or_insert(next)
    }
}

fn judge(applied: &Applied<'_>, context: Context<'_>, rules: &[&Rule]) -> Found {
    let mut found = Found::default();
    for rule in rules {
        if let Check::Object(check) = rule.check {
            check(applied, context, &mut found);
        }
    }
    found
}

/// Takes a finding for the clusters that have it: those with the same places share one.
fn take(finding: &Finding, clusters: &[(Arc<str>, &AppliedSet)], all: &mut Found) {
    let mut shared: Option<usize> = None;
    for (cluster, brought) in clusters {
        let is_shared = brought.by.shares_with.is_empty() && !cluster.is_empty();
        if let Some(at) = shared.filter(|_| is_shared) {
            all.findings[at].clusters.push(cluster.clone());
            continue;
        }
        if is_shared {
            shared = Some(all.findings.len());
        }
        all.push(concerning(finding, cluster, brought));
    }
}

/// A finding as it is on a cluster: an applier that shares its build with others has places of its own.
pub(super) fn concerning(finding: &Finding, cluster: &Arc<str>, brought: &AppliedSet) -> Finding {
    let mut finding = finding.clone();
    if !brought.by.shares_with.is_empty() {
        for label in std::iter::once(&mut finding.at).chain(&mut finding.related) {
            label.span = brought.by.place(&label.span);
        }
    }
    if !cluster.is_empty() {
        finding.clusters.push(cluster.clone());
    }
    finding
}
