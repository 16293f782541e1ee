//! Findings in documents that are not valid YAML.

use std::collections::BTreeMap;
use std::ops::Range;

use super::options::PLAINTEXT_SECRET;
use crate::base::finding::Finding;
use crate::flux::Repo;
use crate::text::File;
use crate::yaml::{DUPLICATE_KEY, INVALID_YAML};

/// The rules that judge a file, whatever becomes of its objects.
pub(super) const RULES_OF_FILES: [&str; 3] = [INVALID_YAML, DUPLICATE_KEY, PLAINTEXT_SECRET];

/// Removes the findings in documents with a syntax error. Only a part of such a document is known, so a field that seems
/// to be missing may follow after the error. The finding of the error counts the removed ones.
pub(super) fn remove_in_invalid(findings: &mut Vec<Finding>, repo: &Repo) {
    let mut invalid: BTreeMap<&str, Vec<(Range<usize>, usize)>> = BTreeMap::new();
    for problem in repo.problems.iter().filter(|problem| problem.rule == INVALID_YAML) {
        let span = &problem.at.span;
        let documents = invalid.entry(span.file().path()).or_default();
        documents.push((document_around(span.file(), span.range().start), 0));
    }
    if invalid.is_empty() {
        return;
    }
    findings.retain(|finding| {
        let keeps = RULES_OF_FILES.contains(&finding.rule);
        let span = &finding.at.span;
        let documents = invalid.get_mut(span.file().path()).filter(|_| !keeps);
        let document = documents.and_then(|all| all.iter_mut().find(|(range, _)| range.contains(&span.range().start)));
        let Some((_, removed)) = document else { return true };
        *removed += 1;
        false
    });
    for finding in findings.iter_mut().filter(|finding| finding.rule == INVALID_YAML) {
        let span = &finding.at.span;
        let documents = invalid.get(span.file().path()).into_iter().flatten();
        let own = documents.filter(|(range, _)| range.contains(&span.range().start));
        finding.followers += own.map(|(_, removed)| removed).max().copied().unwrap_or_default();
    }
}

/// The range of the YAML document around a position of a file.
fn document_around(file: &File, at: usize) -> Range<usize> {
    let text = file.text();
    let start = text.get(..at).and_then(|before| before.rfind("\n---")).map_or(0, |found| found + 1);
    let end = text.get(at..).and_then(|after| after.find("\n---")).map_or(text.len() + 1, |found| at + found + 1);
    start..end
}
