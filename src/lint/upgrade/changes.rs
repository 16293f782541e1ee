//! The comparison of a repository with itself under other releases.

use arcstr::ArcStr;

use super::replacement::Replacements;
use super::settings;
use crate::api::catalog::Releases;
use crate::base::finding::{Finding, Severity};
use crate::base::group_findings::{group, sort};
use crate::config::Lint;
use crate::flux::{Repo, UNDEFINED_VARIABLE};
use crate::lint::run::options::Options;
use crate::lint::run::repository::{Outcome, judge, on_clusters};
use crate::text::{Edit, Tree};

/// The rule of API versions that a release does not serve.
const REMOVED_API: &str = "removed-api";

/// The rules whose findings depend on the releases. The first two are those of API versions.
const RULES: [&str; 4] = [REMOVED_API, "deprecated-api", "schema-mismatch", UNDEFINED_VARIABLE];

/// The effect of a move to other releases.
#[derive(Debug, Default)]
pub struct Upgrade {
    /// The changes, with the extent of the analysis. An error breaks the cluster.
    pub outcome: Outcome,
    /// The replacements that need no other change.
    pub edits: Vec<Edit>,
}

/// Compares a repository under its present settings with the same repository under the settings `then`.
pub fn upgrade(tree: &Tree, now: &Options, then: &Options) -> Upgrade {
    let options = |options: &Options| Options {
        only: RULES.iter().map(|rule| (*rule).to_owned()).collect(),
        lint: Lint { production: options.lint.production.clone(), ..Lint::default() },
        pedantic: false,
        ..options.clone()
    };
    let (now, then) = (options(now), options(then));
    let repo = Repo::load(tree, &now.settings);
    let before = judge(&repo, &now);
    let present = on_clusters(&repo, &now, |fleet| {
        fleet.views.iter().map(|view| (view.receiver.to_string(), view.releases())).collect::<Vec<(String, Releases)>>()
    });
    let repo = Repo::load(tree, &then.settings);
    let mut outcome = judge(&repo, &then);
    let findings = std::mem::take(&mut outcome.findings);
    outcome.findings = findings.into_iter().filter_map(|finding| new(finding, &before.findings)).collect();
    let replacements = on_clusters(&repo, &then, |fleet| {
        for view in fleet.views {
            let name = view.receiver.to_string();
            let Some((_, releases)) = present.iter().find(|(known, _)| *known == name) else { continue };
            let mut changes = settings::changes(view, releases, &view.releases());
            changes.iter_mut().filter(|_| view.is_whole()).for_each(|one| one.clusters.push(name.as_str().into()));
            outcome.findings.extend(changes);
        }
        Replacements::of(fleet, &present)
    });
    outcome.findings.extend(replacements.findings.iter().cloned());
    sort(&mut outcome.findings);
    outcome.findings = group(std::mem::take(&mut outcome.findings));
    Upgrade { outcome, edits: replacements.edits() }
}

/// The part of a finding that the present releases do not have.
///
/// A removed API version is always reported: it breaks the cluster after the move, even if it does so now. For example,
/// the range of a FluxInstance may include the release already.
fn new(mut finding: Finding, before: &[Finding]) -> Option<Finding> {
    if finding.rule == REMOVED_API {
        return Some(finding);
    }
    // Only the rules of API versions have warnings that depend on the releases.
    if finding.severity < Severity::Error && !RULES.iter().take(2).any(|rule| *rule == finding.rule) {
        return None;
    }
    let is_same = |other: &&Finding| {
        other.rule == finding.rule
            && other.severity == finding.severity
            && other.message == finding.message
            && other.at.span.order() == finding.at.span.order()
    };
    let known: Vec<&Finding> = before.iter().filter(is_same).collect();
    if known.is_empty() {
        return Some(finding);
    }
    let clusters: Vec<ArcStr> = known.iter().flat_map(|known| known.clusters.iter().cloned()).collect();
    finding.clusters.retain(|cluster| !clusters.contains(cluster));
    (!finding.clusters.is_empty()).then_some(finding)
}
