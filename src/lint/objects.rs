//! Rules on objects: one that clusters share is judged once, unless what a rule may ask around it differs.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::reach::address;
use super::{Check, Context, Rule};
use crate::finding::Finding;
use crate::flux::{Applied, Completion, Receiver, Tenancy};
use crate::text::Index;

/// An object and the number of the facts that it is judged by.
type Key = (usize, usize);

/// Judges what clusters receive; `tenancies` are theirs, in their order.
pub(super) fn judge_objects(receivers: &[&Receiver<'_>], tenancies: &[Tenancy], rules: &[&Rule]) -> Vec<Finding> {
    let facts = number_facts(receivers, tenancies);
    let mut seen: Index<Key, ()> = Index::default();
    let mut wanted: Vec<(Key, Applied<'_>, &Tenancy)> = Vec::new();
    for ((receiver, tenancy), numbers) in receivers.iter().zip(tenancies).zip(&facts) {
        for (brought, number) in receiver.brought().zip(numbers) {
            for applied in brought.applied() {
                let key = (address(applied.object), *number);
                if seen.insert(key, ()).is_none() {
                    wanted.push((key, applied, tenancy));
                }
            }
        }
    }
    let judged = wanted.into_par_iter().filter_map(|(key, applied, tenancy)| {
        let found = judge(&applied, Context { tenancy }, rules);
        (!found.is_empty()).then_some((key, found))
    });
    let judged: Vec<(Key, Vec<Finding>)> = judged.collect();
    let judged: Index<Key, Vec<Finding>> = judged.into_iter().collect();
    if judged.is_empty() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (receiver, numbers) in receivers.iter().zip(&facts) {
        let name: Arc<str> = receiver.to_string().into();
        for (brought, number) in receiver.brought().zip(numbers) {
            for object in brought.objects.iter() {
                let found = judged.get(&(address(object), *number)).into_iter().flatten();
                findings.extend(found.map(|finding| concerning(finding, &name)));
            }
        }
    }
    findings
}

/// Numbers what rules may ask, so that what is equal has one number: for each receiver and each applier in it.
fn number_facts(receivers: &[&Receiver<'_>], tenancies: &[Tenancy]) -> Vec<Vec<usize>> {
    let mut known_tenancies: BTreeMap<&Tenancy, usize> = BTreeMap::new();
    let mut known: BTreeMap<(usize, &Completion), usize> = BTreeMap::new();
    let mut numbers = Vec::new();
    for (receiver, tenancy) in receivers.iter().zip(tenancies) {
        let next = known_tenancies.len();
        let number = *known_tenancies.entry(tenancy).or_insert(next);
        let mut number_of = |completion| {
            let next = known.len();
            *known.entry((number, completion)).or_insert(next)
        };
        numbers.push(receiver.brought().map(|brought| number_of(&brought.completion)).collect());
    }
    numbers
}

fn judge(applied: &Applied<'_>, context: Context<'_>, rules: &[&Rule]) -> Vec<Finding> {
    let found = rules.iter().filter_map(|rule| match rule.check {
        Check::Object(check) => check(applied, context),
        Check::Document | Check::Build => None,
    });
    found.collect()
}

fn concerning(finding: &Finding, cluster: &Arc<str>) -> Finding {
    let mut finding = finding.clone();
    if !cluster.is_empty() {
        finding.clusters.push(cluster.clone());
    }
    finding
}
