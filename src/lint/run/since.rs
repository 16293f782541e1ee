//! The findings that a change introduces.

use std::collections::BTreeSet;

use super::baseline::{Baseline, BaselineUse};
use super::options::Options;
use super::repository::{Outcome, judge, judge_with};
use crate::base::finding::Finding;
use crate::flux::Repo;
use crate::text::Tree;

/// Checks a repository, and reports only the findings that an earlier state does not have.
///
/// Both states are checked with the same options. The earlier state is loaded beside the checks of the later one. It is
/// checked only by the rules that have findings in the later one.
pub fn judge_since(repo: &Repo, options: &Options, earlier: &Tree) -> Outcome {
    let load = || Repo::load_beside(earlier, &options.settings, repo);
    judge_with(repo, options, load, |findings, former| {
        if findings.is_empty() {
            return BaselineUse::None;
        }
        // A finding that follows from another one is not reported in a state with both.
        let cause = |finding: &Finding| Some(finding.cause.as_ref()?.follows.as_ref()?.0);
        let rules: BTreeSet<&str> =
            findings.iter().flat_map(|finding| [Some(finding.rule), cause(finding)]).flatten().collect();
        let mut options = options.clone();
        options.forget_comments();
        options.read_comments(earlier);
        options.only = rules.into_iter().map(str::to_owned).collect();
        options.baseline = BaselineUse::Record(Baseline::default());
        let recorded = judge(&former, &options).baseline.recorded;
        // The process ends soon, so freeing a million nodes would only cost time.
        std::mem::forget(former);
        BaselineUse::Compare(recorded.unwrap_or_default())
    })
}
