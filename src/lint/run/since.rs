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
/// Both states are checked with the same options. The earlier state is loaded only if the later one has findings, and is
/// checked only by the rules that have some.
pub fn judge_since(repo: &Repo, options: &Options, earlier: &Tree) -> Outcome {
    judge_with(repo, options, |findings| {
        if findings.is_empty() {
            return BaselineUse::None;
        }
        BaselineUse::Compare(earlier_findings(findings, repo, options, earlier))
    })
}

fn earlier_findings(findings: &[Finding], repo: &Repo, options: &Options, earlier: &Tree) -> Baseline {
    let rules: BTreeSet<&str> = findings.iter().map(|finding| finding.rule).collect();
    let mut options = options.clone();
    options.forget_comments();
    options.only = rules.into_iter().map(str::to_owned).collect();
    options.baseline = BaselineUse::Record(Baseline::default());
    options.read_comments(earlier);
    judge(&Repo::load_beside(earlier, &options.settings, repo), &options).baseline.recorded.unwrap_or_default()
}
