//! The findings that a change introduces: those of the later state without those of the earlier one.

use std::collections::BTreeSet;
use std::convert::Infallible;

use fleetwright::base::finding::Finding;
use fleetwright::base::fingerprint::fingerprints_of_parts;
use fleetwright::flux::Repo;
use fleetwright::lint::{Options, Outcome, judge, judge_since, run};
use fleetwright::text::{File, Tree};

use crate::support::lines;

/// The changes of a repository that are tried, at most.
const CHANGES: usize = 4;

/// Removes, empties and moves files of a repository, and compares both states. Returns a fault.
pub(super) fn check(tree: &Tree, options: &Options) -> Option<String> {
    let options = Options { only: Vec::new(), pedantic: true, is_ungrouped: true, ..options.clone() };
    let paths: Vec<&str> = tree.files().map(File::path).take(CHANGES).collect();
    let changed = paths.iter().flat_map(|path| {
        let (mut without, mut comment) = (tree.clone(), tree.clone());
        without.remove(path);
        let text = tree.file(path).unwrap().text().to_owned();
        comment.insert(File::new(*path, format!("# moved\n\n{text}")));
        [without, comment]
    });
    changed.flat_map(|other| [difference(&other, tree, &options), difference(tree, &other, &options)]).flatten().next()
}

fn difference(earlier: &Tree, later: &Tree, options: &Options) -> Option<String> {
    let repo = Repo::load_shareable(later, &options.settings);
    let mut with_comments = options.clone();
    with_comments.read_comments(later);
    let read_earlier = || Ok::<Tree, Infallible>(earlier.clone());
    let Ok(Outcome { findings: found, .. }) = judge_since(&repo, &with_comments, later, read_earlier);
    let (before, after) = (run(earlier, options).findings, run(later, options).findings);
    let mut own_comments = options.clone();
    own_comments.read_comments(earlier);
    let shared = judge(&Repo::load_beside(earlier, &options.settings, &repo), &own_comments).findings;
    if lines(&shared) != lines(&before) {
        return Some(format!(
            "with shared builds:
{}instead of:
{}",
            lines(&shared),
            lines(&before)
        ));
    }
    let known: BTreeSet<String> = fingerprints_of_parts(&before).into_iter().flatten().collect();
    let prints = fingerprints_of_parts(&after);
    let new = after.into_iter().zip(prints).filter_map(|(mut finding, prints)| {
        let mut prints = prints.into_iter();
        let is_known = |_: &_, _: Option<&_>| prints.next().is_some_and(|print| known.contains(&print));
        (!finding.accept_parts("known:", is_known)).then_some(finding)
    });
    let new: Vec<Finding> = new.collect();
    (lines(&found) != lines(&new)).then(|| format!("found:\n{}instead of:\n{}", lines(&found), lines(&new)))
}
