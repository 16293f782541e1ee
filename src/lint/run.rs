//! A run of the linter: load, judge, leave out what is accepted.

use std::collections::BTreeMap;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::suppress::Exceptions;
use super::{Check, Context, RULES};
use crate::config::{Exception, Lint};
use crate::finding::{Finding, Severity, sort};
use crate::flux::{Repo, Settings, Skipped, Tenancy};
use crate::text::Tree;

/// What is judged and how.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The ids of the rules to run; all when empty.
    pub only: Vec<String>,
    /// What the repository says about rules.
    pub lint: Lint,
    /// Whether a fleet.yaml governs the repository.
    pub governed: bool,
    /// The tenants' namespaces and whose they are, when something declares them.
    pub tenants: Option<BTreeMap<String, String>>,
    /// Whether pedantic findings are wanted too.
    pub pedantic: bool,
}

/// What a run found.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The findings, sorted by place.
    pub findings: Vec<Finding>,
    /// How many findings an exception accepted.
    pub excepted: usize,
    /// The exceptions that accepted nothing.
    pub unused: Vec<Exception>,
    /// The files that were not judged.
    pub skipped: Skipped,
    /// What kustomizations ask for and was not done.
    pub not_done: BTreeMap<String, usize>,
    /// How many objects were judged.
    pub objects: usize,
}

/// Judges a tree.
pub fn run(tree: &Tree, options: &Options) -> Outcome {
    let repo = Repo::load(tree, &Settings::default());
    let tenancy = Tenancy::of(&repo, options.tenants.as_ref(), options.governed);
    let mut findings = judge(&Context { repo: &repo, tenancy: &tenancy }, options);
    sort(&mut findings);
    let mut exceptions = Exceptions::new(&options.lint.exceptions);
    let before = findings.len();
    findings.retain(|finding| !exceptions.accept(finding));
    let excepted = before - findings.len();
    findings.retain(|finding| options.pedantic || finding.severity > Severity::Pedantic);
    Outcome {
        findings,
        excepted,
        unused: exceptions.unused(|rule| options.runs(rule)),
        objects: repo.objects.len(),
        skipped: repo.skipped,
        not_done: repo.not_done,
    }
}

fn judge(context: &Context<'_>, options: &Options) -> Vec<Finding> {
    let rules: Vec<_> = RULES.iter().filter(|rule| options.runs(rule.id)).collect();
    let problems = context.repo.problems.iter().filter(|problem| options.runs(problem.rule)).cloned();
    let mut findings: Vec<Finding> = problems.collect();
    let judged = context.repo.objects.par_iter().flat_map_iter(|built| {
        rules.iter().filter_map(move |rule| match rule.check {
            Check::Object(check) => check(built, context),
            Check::Document | Check::Build => None,
        })
    });
    findings.extend(judged.collect::<Vec<_>>());
    findings
}

impl Options {
    fn runs(&self, rule: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == rule)
    }
}
