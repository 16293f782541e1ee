//! Rules on single objects: one that clusters share is judged once, unless what a rule may ask around it differs.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::reach::address;
use super::{Check, Context, Found, Rule, View};
use crate::finding::Finding;
use crate::flux::{Applied, Brought, Completion};
use crate::text::Index;

/// An object or a list of them, by its place in memory, and the number of the facts that it is judged by.
type Key = (usize, usize);

/// A list of objects that is judged, and the clusters that receive it.
struct Judged<'a> {
    brought: &'a Brought,
    context: Context<'a>,
    facts: usize,
    clusters: Vec<(Arc<str>, &'a Brought)>,
}

/// Judges what clusters receive. Costs as many steps as there are distinct objects, and one for each list of a cluster.
pub(super) fn judge_objects(views: &[View<'_>], rules: &[&Rule]) -> Found {
    let mut facts = Facts::default();
    let mut places: Index<Key, usize> = Index::default();
    let mut lists: Vec<Judged<'_>> = Vec::new();
    for view in views {
        let name: Arc<str> = view.receiver.to_string().into();
        let around = facts.of_view(&view.context);
        for (brought, _) in &view.lists {
            let number = facts.of_list(around, &brought.completion);
            let place = *places.entry_or((brought.objects.as_ptr().addr(), number), || {
                lists.push(Judged { brought, context: view.context, facts: number, clusters: Vec::new() });
                lists.len() - 1
            });
            lists[place].clusters.push((name.clone(), brought));
        }
    }
    // Lists that differ in a few objects share the others.
    let mut seen: Index<Key, ()> = Index::default();
    let mut wanted: Vec<(Key, Applied<'_>, Context<'_>)> = Vec::new();
    for list in &lists {
        for applied in list.brought.applied() {
            let key = (address(applied.object), list.facts);
            if seen.insert(key, ()).is_none() {
                wanted.push((key, applied, list.context));
            }
        }
    }
    let judged = wanted.into_par_iter().filter_map(|(key, applied, context)| {
        let found = judge(&applied, context, rules);
        (!found.is_empty()).then_some((key, found))
    });
    let judged: Vec<(Key, Found)> = judged.collect();
    let judged: Index<Key, Found> = judged.into_iter().collect();
    let mut all = Found::default();
    if judged.is_empty() {
        return all;
    }
    for list in &lists {
        let keys = list.brought.objects.iter().map(|object| (address(object), list.facts));
        for found in keys.filter_map(|key| judged.get(&key)) {
            for (cluster, brought) in &list.clusters {
                all.extend(found.findings.iter().map(|finding| concerning(finding, cluster, brought)));
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

/// A finding as it is on a cluster: an applier that shares its build with others has places of its own.
pub(super) fn concerning(finding: &Finding, cluster: &Arc<str>, brought: &Brought) -> Finding {
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
