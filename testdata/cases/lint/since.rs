//! The findings that a change introduces: those of the later state without those of the earlier one.

use std::collections::BTreeMap;
use std::convert::Infallible;

use arcstr::ArcStr;
use fleetwright::base::finding::{Finding, Severity};
use fleetwright::base::fingerprint::fingerprints_of_parts;
use fleetwright::flux::Repo;
use fleetwright::lint::{Options, Outcome, judge, judge_since, run};
use fleetwright::text::{File, Tree};

use crate::support::lines;

/// The changes of a repository that are tried, at most.
const CHANGES: usize = 3;

/// Removes, renames and changes files of a repository, and compares both states. Returns a fault.
pub(super) fn check(tree: &Tree, options: &Options) -> Option<String> {
    let options = Options { only: Vec::new(), pedantic: true, is_ungrouped: true, ..options.clone() };
    let paths: Vec<&str> = tree.files().map(File::path).collect();
    let chosen = paths.iter().step_by(paths.len().div_ceil(CHANGES).max(1));
    let mut faults = chosen.flat_map(|path| {
        let (mut without, mut comment) = (tree.clone(), tree.clone());
        without.remove(path);
        let text = tree.file(path).unwrap().text().to_owned();
        comment.insert(File::new(*path, format!("# moved\n\n{text}")));
        let mut renamed = without.clone();
        renamed.insert(File::new(format!("{path}.yaml"), text));
        let of_pair =
            |one: &Tree, other: &Tree| introduced(one, other, &options).or_else(|| introduced(other, one, &options));
        let of_renamed = shared(&renamed, tree, &options).or_else(|| shared(tree, &renamed, &options));
        [of_pair(&without, tree), of_pair(&comment, tree), of_renamed]
    });
    faults.find_map(|fault| fault)
}

/// Compares the findings of an earlier state that shares builds with its findings alone.
fn shared(earlier: &Tree, later: &Tree, options: &Options) -> Option<String> {
    let repo = Repo::load_shareable(later, &options.settings);
    let mut own_comments = options.clone();
    own_comments.read_comments(earlier);
    let shared = lines(&judge(&Repo::load_beside(earlier, &options.settings, &repo), &own_comments).findings);
    let alone = lines(&run(earlier, options).findings);
    (shared != alone).then(|| format!("with shared builds:\n{shared}instead of:\n{alone}"))
}

/// Compares the findings that a change introduces with the difference of the findings of both states.
fn introduced(earlier: &Tree, later: &Tree, options: &Options) -> Option<String> {
    let repo = Repo::load_shareable(later, &options.settings);
    let mut with_comments = options.clone();
    with_comments.read_comments(later);
    let read_earlier = || Ok::<Tree, Infallible>(earlier.clone());
    let Ok(Outcome { findings: found, .. }) = judge_since(&repo, &with_comments, later, read_earlier);
    let (before, after) = (run(earlier, options).findings, run(later, options).findings);
    let of_finding = |(finding, prints): (&Finding, Vec<String>)| -> Vec<(String, (Severity, Vec<ArcStr>))> {
        prints.into_iter().map(|print| (print, (finding.severity, finding.clusters.clone()))).collect()
    };
    let known: BTreeMap<String, (Severity, Vec<ArcStr>)> =
        before.iter().zip(fingerprints_of_parts(&before)).flat_map(of_finding).collect();
    let prints = fingerprints_of_parts(&after);
    let new = after.into_iter().zip(prints).filter_map(|(mut finding, prints)| {
        let (severity, clusters) = (finding.severity, finding.clusters.clone());
        // An error on another cluster is new.
        let is_worse = |(before, had): &(Severity, Vec<ArcStr>)| {
            let is_spread = severity == Severity::Error && !clusters.iter().all(|cluster| had.contains(cluster));
            severity > *before || is_spread
        };
        let mut prints = prints.into_iter();
        let is_known = |_: &_, _: Option<&_>| {
            prints.next().is_some_and(|print| known.get(&print).is_some_and(|entry| !is_worse(entry)))
        };
        (!finding.accept_parts("known:", is_known)).then_some(finding)
    });
    let new: Vec<Finding> = new.collect();
    let fault =
        (lines(&found) != lines(&new)).then(|| format!("found:\n{}instead of:\n{}", lines(&found), lines(&new)));
    fault.or_else(|| shared(earlier, later, options))
}
