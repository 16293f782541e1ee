//! The options of a run.

use std::collections::BTreeMap;

use super::baseline::{BaselineUse, Entry};
use super::settings::runs;
use crate::base::date::Date;
use crate::base::finding::{Finding, Severity};
use crate::config::{EXPIRED_EXCEPTION, Exception, INVALID_EXCEPTION, Level, Lint, UNUSED_EXCEPTION};
use crate::flux::{Governance, Settings, TenantRepositories};
use crate::lint::rule::Rule;
use crate::policy::Source;

/// The rules about exceptions. They need the findings of all rules with exceptions.
pub const ABOUT_EXCEPTIONS: [&str; 3] = [EXPIRED_EXCEPTION, INVALID_EXCEPTION, UNUSED_EXCEPTION];

/// The rule whose errors do not depend on a cluster.
pub(super) const PLAINTEXT_SECRET: &str = "plaintext-secret";

/// The tenants of an earlier state on one receiver.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FormerTenants {
    /// The tenant of each namespace that has no tenant now.
    pub namespaces: BTreeMap<String, String>,
    /// The repositories of tenants.
    pub repositories: TenantRepositories,
}

/// The options of a run, such as the clusters to check and the rules to run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The ids of the rules to run; all rules if empty.
    pub only: Vec<String>,
    /// The `lint` section of the configuration.
    pub lint: Lint,
    /// The settings for loading the repository.
    pub settings: Settings,
    /// The names of the receivers to check; all receivers if empty.
    pub clusters: Vec<String>,
    /// The file that governs the repository, such as a fleet.yaml.
    pub governance: Governance,
    /// The tenant of each tenant namespace, if the tenants are declared.
    pub tenants: Option<BTreeMap<String, String>>,
    /// The tenants of an earlier state, for each receiver.
    pub former_tenants: BTreeMap<String, FormerTenants>,
    /// The admission policies of the configuration.
    pub policies: Vec<Source>,
    /// Whether to show pedantic findings.
    pub pedantic: bool,
    /// The recorded findings of an earlier run.
    pub baseline: BaselineUse,
    /// The date on which exceptions with a last day are compared; without a date, they do not expire.
    pub today: Option<Date>,
    /// Whether the tree is a single file, so that an exception may match findings of the other files.
    pub is_single_file: bool,
    /// Whether findings with one cause stay single findings.
    pub is_ungrouped: bool,
    /// The findings about comments with exceptions that are not valid.
    pub faults: Vec<Finding>,
}

impl Options {
    /// Returns whether a run may show a finding of a rule, or may match it with an exception.
    pub(super) fn shows(&self, rule: &Rule) -> bool {
        let severity = self.lint.rules.level(rule.id).and_then(Level::severity).unwrap_or(rule.severity);
        self.pedantic || severity > Severity::Pedantic || self.has_exception(rule.id)
    }

    /// Returns whether a run neither shows nor counts a finding.
    pub(super) fn hides(&self, finding: &Finding) -> bool {
        let is_configured = || self.lint.rules.level(finding.rule).and_then(Level::severity).is_some();
        let is_shown = self.pedantic || finding.severity > Severity::Pedantic || !self.lint.skip.is_empty();
        !is_shown && !is_configured() && !self.has_exception(finding.rule)
    }

    /// Returns whether the findings of a rule are reported.
    pub(super) fn reports(&self, rule: &str) -> bool {
        runs(rule, &self.lint, &self.only)
    }

    /// Returns whether a rule runs. The rules about exceptions need the findings of the rules with exceptions.
    pub(super) fn runs(&self, rule: &str) -> bool {
        let is_needed =
            || self.only.iter().any(|only| ABOUT_EXCEPTIONS.contains(&only.as_str())) && runs(rule, &self.lint, &[]);
        self.reports(rule) || is_needed() && self.has_exception(rule)
    }

    /// Returns whether a run reports a recorded finding, if its fault still exists.
    pub(super) fn judges(&self, entry: &Entry) -> bool {
        let is_shown = self.pedantic || entry.severity > Severity::Pedantic;
        self.reports(&entry.rule) && is_shown && self.clusters.is_empty() && !self.is_single_file
    }

    /// Returns whether a run can find all findings that an exception may match.
    pub(super) fn judges_all(&self, exception: &Exception) -> bool {
        self.clusters.is_empty() && !self.is_single_file && exception.bearings.folder.is_empty()
    }

    fn has_exception(&self, rule: &str) -> bool {
        self.lint.exceptions.iter().any(|exception| exception.rule == rule)
    }
}
