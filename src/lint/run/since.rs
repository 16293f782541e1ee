//! The findings that a change introduces.

use std::collections::{BTreeMap, BTreeSet};

use super::baseline::{Baseline, BaselineUse};
use super::options::Options;
use super::repository::{Outcome, judge_with, record, tenancy_classes};
use crate::base::finding::Finding;
use crate::base::fingerprint::Renames;
use crate::flux::{Receiver, Repo};
use crate::text::{File, Tree};

/// The rules whose findings may follow from findings of another rule, each with that rule.
const FOLLOWING: [(&str, &str); 3] = [
    ("missing-path", "unreachable-object"),
    ("runtime-info-drift", "undefined-variable"),
    ("unreachable-object", "missing-path"),
];

/// Checks a repository with the files of `present`, and reports only the findings that an earlier state does not have.
///
/// Both states are checked with the same options. `read_earlier` reads the earlier state. It is read only if the later one
/// has findings, and is checked only by the rules that have them. A tenant of the earlier state remains a tenant: otherwise,
/// a change that gives its account all rights could also make its namespace one of the platform.
pub fn judge_since<E>(
    repo: &Repo,
    options: &Options,
    present: &Tree,
    read_earlier: impl FnOnce() -> Result<Tree, E>,
) -> Result<Outcome, E> {
    let (mut read_earlier, mut read) = (Some(read_earlier), None);
    let mut earlier = || -> Result<Tree, E> {
        if let Some(reader) = read_earlier.take() {
            read = Some(reader()?);
        }
        Ok(read.clone().unwrap_or_default())
    };
    let outcome = compare(repo, options, present, &mut earlier)?;
    if outcome.platform.is_empty() {
        return Ok(outcome);
    }
    let mut tenants = former_tenants(repo, options, &earlier()?);
    tenants.retain(|namespace, _| outcome.platform.contains(namespace));
    if tenants.is_empty() {
        return Ok(outcome);
    }
    let mut options = options.clone();
    options.tenants.get_or_insert_default().extend(tenants);
    compare(repo, &options, present, &mut earlier)
}

/// The namespaces of tenants in an earlier state. A tenant without a name has the name of its namespace.
fn former_tenants(repo: &Repo, options: &Options, earlier: &Tree) -> BTreeMap<String, String> {
    let former = Repo::load_beside(earlier, &options.settings, repo);
    let receivers: Vec<Receiver<'_>> = former.clusters.iter().flat_map(Receiver::all).collect();
    let receivers: Vec<&Receiver<'_>> = receivers.iter().collect();
    let (_, tenancies) = tenancy_classes(&former, &receivers, options);
    let tenants = tenancies.into_iter().flat_map(|(_, tenancy)| tenancy.tenants);
    tenants.map(|(namespace, name)| (namespace.clone(), name.unwrap_or(namespace))).collect()
}

fn compare<E>(
    repo: &Repo,
    options: &Options,
    present: &Tree,
    read_earlier: &mut impl FnMut() -> Result<Tree, E>,
) -> Result<Outcome, E> {
    let mut failure = None;
    let outcome = judge_with(repo, options, |findings| {
        if findings.is_empty() {
            return BaselineUse::None;
        }
        match read_earlier() {
            Ok(earlier) => {
                BaselineUse::Compare(record_rules_of(findings, repo, options, &earlier), renames(present, &earlier))
            }
            Err(error) => {
                failure = Some(error);
                BaselineUse::None
            }
        }
    });
    failure.map_or(Ok(outcome), Err)
}

/// Records the findings of an earlier state by the rules of some findings.
fn record_rules_of(findings: &[Finding], repo: &Repo, options: &Options, earlier: &Tree) -> Baseline {
    let own: BTreeSet<&str> = findings.iter().map(|finding| finding.rule).collect();
    // A finding that follows from another one is not reported in a state with both.
    let causes = FOLLOWING.iter().filter(|(rule, _)| own.contains(rule)).map(|(_, cause)| *cause);
    let rules: BTreeSet<&str> = own.iter().copied().chain(causes).collect();
    let mut options = options.clone();
    options.forget_comments();
    options.read_comments(earlier);
    options.only = rules.into_iter().map(str::to_owned).collect();
    let former = Repo::load_beside(earlier, &options.settings, repo);
    let recorded = record(&former, &options);
    // The process ends soon, so freeing a million nodes would only cost time.
    std::mem::forget(former);
    recorded
}

/// The files that only the present state has, with the path of a file with the same text that only the earlier state has.
fn renames(present: &Tree, earlier: &Tree) -> Renames {
    let only_in = |state: &Tree, other: &Tree| -> Vec<File> {
        state.files().filter(|file| other.entry(file.path()).is_none()).cloned().collect()
    };
    let (gone, new) = (only_in(earlier, present), only_in(present, earlier));
    let mut by_text: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in gone.iter().rev() {
        by_text.entry(file.text()).or_default().push(file);
    }
    let renamed = new.iter().filter_map(|file| {
        let former = by_text.get_mut(file.text())?.pop()?;
        Some((file.path().to_owned(), former.path().to_owned()))
    });
    renamed.collect()
}
