//! The application of fixes: in rounds, each of which is checked with all rules.

use std::collections::{BTreeMap, BTreeSet};

use super::baseline::BaselineUse;
use super::options::Options;
use super::repository::{Outcome, judge};
use crate::base::finding::{Finding, Fix, Safety, Severity};
use crate::base::fingerprint::fingerprints_of_parts;
use crate::flux::Repo;
use crate::kube::{ObjectId, ObjectKey};
use crate::text::{Edit, File, Tree, edited, is_editable};

/// The maximum number of rounds. Fixes that overlap are applied in different rounds.
const MAX_ROUNDS: usize = 8;

/// The maximum number of checks of all rounds, beside the first one of each round. A check runs the linter.
const MAX_CHECKS: usize = 48;

/// The result of the application of fixes.
#[derive(Debug, Clone, Default)]
pub struct Fixed {
    /// The new texts of the changed files.
    pub texts: BTreeMap<String, String>,
    /// The repository with these texts.
    pub tree: Tree,
    /// The number of removed findings, by rule and safety.
    pub fixed: BTreeMap<(&'static str, Safety), usize>,
    /// The findings with a fix that was not applied.
    pub unfixed: Vec<(Finding, Unfixed)>,
}

/// The reason why a fix is not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfixed {
    /// A program generates the file.
    Generated,
    /// The fix needs a review.
    Unsafe,
    /// The fix does not remove the finding.
    Ineffective,
    /// The fix causes another finding.
    Harmful(Box<Finding>),
}

/// A finding with a fix.
#[derive(Debug, Clone)]
struct Candidate {
    finding: Finding,
    fix: Fix,
    fingerprint: String,
}

/// Applies the fixes of the findings that a run reports, up to a safety.
///
/// A fix is applied only if its finding is then gone, and no rule has a new finding. A new pedantic finding prevents only the
/// fix of a pedantic finding. `is_generated` returns whether a program generates a file.
pub fn fix(tree: &Tree, options: &Options, safety: Safety, is_generated: impl Fn(&str) -> bool) -> Fixed {
    let mut fixed = Fixed { tree: tree.clone(), ..Fixed::default() };
    let mut rejected: BTreeMap<String, Unfixed> = BTreeMap::new();
    let mut checks = 0;
    for _ in 0..MAX_ROUNDS {
        let run = Run::of(&fixed.tree, options);
        let (mut batch, mut taken) = (Vec::new(), Taken::default());
        fixed.unfixed.clear();
        for candidate in run.candidates(options) {
            let reason = match &candidate {
                one if !one.paths().all(|path| is_editable(tree, path)) => continue,
                one if one.paths().any(&is_generated) => Some(Unfixed::Generated),
                one if one.fix.safety > safety => Some(Unfixed::Unsafe),
                one => rejected.get(&one.fingerprint).cloned(),
            };
            match reason {
                Some(reason) => fixed.unfixed.push((candidate.finding, reason)),
                // A fix that overlaps another one is applied in the next round.
                None if taken.add(&candidate.fix) => batch.push(candidate),
                None => {}
            }
        }
        if batch.is_empty() {
            break;
        }
        // Pedantic findings follow in later rounds, since their fixes may cause less.
        if !batch.iter().all(Candidate::is_pedantic) {
            batch.retain(|one| !one.is_pedantic());
        }
        if run.is_incomplete {
            batch.sort_by_cached_key(Candidate::change);
        }
        let mut choice =
            Choice { run: &run, options, base: &fixed.tree, accepted: Vec::new(), rejected: Vec::new(), checks };
        choice.add(batch);
        checks = choice.checks;
        let Choice { accepted, rejected: refused, .. } = choice;
        if accepted.is_empty() && refused.is_empty() {
            break;
        }
        rejected.extend(refused.into_iter().map(|(one, reason)| (one.fingerprint, reason)));
        let (next, texts) = with_fixes(&fixed.tree, &accepted);
        for one in accepted {
            *fixed.fixed.entry((one.finding.rule, one.fix.safety)).or_default() += 1;
        }
        fixed.tree = next;
        fixed.texts.extend(texts);
    }
    fixed
}

impl Candidate {
    fn is_pedantic(&self) -> bool {
        self.finding.severity == Severity::Pedantic
    }

    fn paths(&self) -> impl Iterator<Item = &str> {
        self.fix.edits.iter().map(|edit| edit.span.file().path())
    }

    /// The rule and the new texts. Equal changes may belong together, such as the `apiVersion` of an object and of its
    /// patch.
    fn change(&self) -> (&'static str, Vec<String>) {
        (self.finding.rule, self.fix.edits.iter().map(|edit| edit.text.clone()).collect())
    }
}

/// The ranges that the fixes of a round edit.
#[derive(Default)]
struct Taken {
    /// The edits, by path and start: the end and the text. They do not touch each other.
    edits: BTreeMap<(String, usize), (usize, String)>,
}

impl Taken {
    /// Adds the edits of a fix. Returns `false` if one of them touches a different edit.
    fn add(&mut self, fix: &Fix) -> bool {
        let key = |edit: &Edit| (edit.span.file().path().to_owned(), edit.span.range().start);
        let value = |edit: &Edit| (edit.span.range().end, edit.text.clone());
        let is_free = fix.edits.iter().all(|edit| {
            let (path, start) = key(edit);
            let before = self.edits.range((path.clone(), 0)..=(path, edit.span.range().end)).next_back();
            before.is_none_or(|(known, other)| other.0 < start || known.1 == start && *other == value(edit))
        });
        if is_free {
            self.edits.extend(fix.edits.iter().map(|edit| (key(edit), value(edit))));
        }
        is_free
    }
}

/// The findings of all rules in a tree, without grouping.
struct Run {
    findings: Vec<Finding>,
    /// The fingerprints of the parts of each finding.
    fingerprints: Vec<Vec<String>>,
    /// Whether the builds lack objects, such as those of a remote base. The rules then do not report a patch that matches no
    /// object, since it may match one of these objects.
    is_incomplete: bool,
}

impl Run {
    fn of(tree: &Tree, options: &Options) -> Self {
        let mut options = Options { only: Vec::new(), pedantic: true, is_ungrouped: true, ..options.clone() };
        if let BaselineUse::Record(_) = options.baseline {
            options.baseline = BaselineUse::None;
        }
        options.forget_comments();
        options.read_comments(tree);
        let repo = Repo::load(tree, &options.settings);
        let Outcome { findings, not_done, .. } = judge(&repo, &options);
        let fingerprints = fingerprints_of_parts(&findings);
        Self { findings, fingerprints, is_incomplete: !not_done.is_empty() }
    }

    /// The reported findings with one fix.
    fn candidates(&self, options: &Options) -> Vec<Candidate> {
        let all = self.findings.iter().zip(&self.fingerprints);
        let shown = all.filter(|(finding, _)| {
            options.reports(finding.rule) && (options.pedantic || finding.severity > Severity::Pedantic)
        });
        let candidates = shown.filter_map(|(finding, fingerprints)| {
            let fingerprint = fingerprints.first()?;
            let fix = Fix::clone(finding.fix.as_ref()?);
            Some(Candidate { finding: finding.clone(), fix, fingerprint: fingerprint.clone() })
        });
        candidates.collect()
    }

    /// The reason to reject some fixes: a finding of them stays, or there is a new one.
    fn refusal(&self, later: &Self, applied: &[Candidate]) -> Option<Unfixed> {
        let is_pedantic = applied.iter().all(Candidate::is_pedantic);
        let counts = |finding: &Finding| is_pedantic || finding.severity > Severity::Pedantic;
        if let Some(new) = self.new_finding(later, counts) {
            return Some(Unfixed::Harmful(Box::new(new.clone())));
        }
        // One edit may remove several findings.
        let place = |edit: &Edit| (edit.span.file().path().to_owned(), edit.span.range().start);
        let key = |one: &Candidate| (one.finding.rule, one.fix.edits.iter().map(place).collect::<Vec<_>>());
        let edits: BTreeSet<_> = applied.iter().map(key).collect();
        let mut removed: BTreeMap<&str, usize> = BTreeMap::new();
        for (rule, _) in edits {
            *removed.entry(rule).or_default() += 1;
        }
        let is_effective = removed.iter().all(|(rule, count)| later.count(rule) + count <= self.count(rule))
            && later.findings.iter().filter(|finding| counts(finding)).count()
                < self.findings.iter().filter(|finding| counts(finding)).count();
        (!is_effective).then_some(Unfixed::Ineffective)
    }

    /// A finding of the later run that this run does not have. A finding whose message has the new value is not new.
    fn new_finding<'l>(&self, later: &'l Self, counts: impl Fn(&Finding) -> bool) -> Option<&'l Finding> {
        let known: BTreeSet<&String> = self.fingerprints.iter().flatten().collect();
        let kept: BTreeSet<&String> = later.fingerprints.iter().flatten().collect();
        let place = |finding: &Finding| {
            let path = finding.at.span.file().path().to_owned();
            // The version of its API may be the new value.
            let object = finding.object.as_ref().map(|object| ObjectKey::from(ObjectId::from(object)));
            (finding.rule, finding.severity, path, object)
        };
        let mut gone: BTreeMap<_, usize> = BTreeMap::new();
        for (finding, prints) in self.findings.iter().zip(&self.fingerprints) {
            if !prints.iter().any(|print| kept.contains(print)) {
                *gone.entry(place(finding)).or_default() += 1;
            }
        }
        let mut all = later.findings.iter().zip(&later.fingerprints);
        let new = all.find(|(finding, prints)| {
            if !counts(finding) || prints.iter().all(|print| known.contains(print)) {
                return false;
            }
            match gone.get_mut(&place(finding)) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            }
        });
        new.map(|(finding, _)| finding)
    }

    fn count(&self, rule: &str) -> usize {
        self.findings.iter().filter(|finding| finding.rule == rule).count()
    }
}

/// The choice of the fixes of a round.
struct Choice<'a> {
    run: &'a Run,
    options: &'a Options,
    base: &'a Tree,
    accepted: Vec<Candidate>,
    rejected: Vec<(Candidate, Unfixed)>,
    checks: usize,
}

impl Choice<'_> {
    /// Accepts the fixes of a batch. If they cause a finding, each half is tried. The next round tries the other ones.
    ///
    /// If the builds are incomplete, equal changes are applied together or not at all.
    fn add(&mut self, batch: Vec<Candidate>) {
        if batch.is_empty() {
            return;
        }
        let mut all = self.accepted.clone();
        all.extend(batch.iter().cloned());
        self.checks += 1;
        let (tree, texts) = with_fixes(self.base, &all);
        let refusal = if texts.is_empty() {
            Some(Unfixed::Ineffective)
        } else {
            self.run.refusal(&Run::of(&tree, self.options), &all)
        };
        let Some(reason) = refusal else {
            self.accepted = all;
            return;
        };
        let middle = self.middle(&batch);
        if middle == 0 {
            self.rejected.extend(batch.into_iter().map(|one| (one, reason.clone())));
        } else if self.checks < MAX_CHECKS {
            let mut first = batch;
            let second = first.split_off(middle);
            self.add(first);
            self.add(second);
        }
    }

    /// The position at which a batch is split; zero if its fixes belong together.
    fn middle(&self, batch: &[Candidate]) -> usize {
        let half = batch.len() / 2;
        if !self.run.is_incomplete {
            return half;
        }
        let ends = batch.windows(2).enumerate().filter(|(_, pair)| match pair {
            [one, next] => one.change() != next.change(),
            _ => false,
        });
        ends.map(|(at, _)| at + 1).min_by_key(|at| at.abs_diff(half)).unwrap_or(0)
    }
}

/// The tree with the edits of some fixes, and the texts of the changed files.
fn with_fixes(tree: &Tree, fixes: &[Candidate]) -> (Tree, BTreeMap<String, String>) {
    let texts = edited(tree, fixes.iter().flat_map(|one| &one.fix.edits));
    let mut next = tree.clone();
    for (path, text) in &texts {
        next.insert(File::new(path.as_str(), text.as_str()));
    }
    (next, texts)
}
