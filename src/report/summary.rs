//! Counts of findings, objects and files.

use std::collections::BTreeMap;
use std::fmt;

use crate::base::finding::{Finding, Severity};

/// The extent of a linter run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The number of files that were parsed as YAML.
    pub files: usize,
    /// The number of distinct objects that were linted.
    pub objects: usize,
    /// The number of findings that an exception matches.
    pub excepted: usize,
    /// What the configuration turns off, such as `2 rules off`.
    pub off: Vec<String>,
    /// The number of findings that the baseline records, or the earlier revision has.
    pub known: usize,
    /// The earlier revision, if the run compares with one.
    pub since: Option<String>,
    /// The number of skipped files and objects, by reason.
    pub skipped: BTreeMap<String, usize>,
    /// The number of checks and builds that were not done, by reason.
    pub not_done: BTreeMap<String, usize>,
}

/// The counts of a report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of findings with severity `error`.
    pub errors: usize,
    /// The number of findings with severity `warning`.
    pub warnings: usize,
    /// The number of findings with severity `pedantic`.
    pub pedantic: usize,
    /// The extent of the linter run.
    pub coverage: Coverage,
}

impl Summary {
    /// Counts findings by severity.
    pub fn new(findings: &[Finding], coverage: Coverage) -> Self {
        let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        Self { errors, warnings, pedantic: count(Severity::Pedantic), coverage }
    }
}

impl fmt::Display for Summary {
    /// Writes the summary line: `2 errors, 1 warning in 14 objects of 9 files; 1 finding excepted`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.errors, counted(self.errors, "error")),
            (self.warnings, counted(self.warnings, "warning")),
            (self.pedantic, format!("{} pedantic", self.pedantic)),
        ];
        let found: Vec<String> = counts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
        let found = if found.is_empty() { "no findings".to_owned() } else { found.join(", ") };
        let Coverage { files, objects, excepted, off, known, since, .. } = &self.coverage;
        write!(f, "{found} in {} of {}", counted(*objects, "object"), counted(*files, "file"))?;
        if *excepted > 0 {
            write!(f, "; {} excepted", counted(*excepted, "finding"))?;
        }
        off.iter().try_for_each(|what| write!(f, "; {what}"))?;
        if *known > 0 {
            write!(f, "; {} ", counted(*known, "finding"))?;
            match since {
                Some(revision) => write!(f, "also in revision `{revision}`")?,
                None => write!(f, "in the baseline")?,
            }
        }
        Ok(())
    }
}

/// Formats a count with its noun: `1 file`, `2 files`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_omits_zero_counts() {
        let coverage = Coverage { files: 1, objects: 3, ..Coverage::default() };
        let clean = Summary { coverage: coverage.clone(), ..Summary::default() };
        assert_eq!(clean.to_string(), "no findings in 3 objects of 1 file");
        let excepted = Coverage { excepted: 1, off: vec!["2 rules off".to_owned()], ..coverage };
        let found = Summary { errors: 2, warnings: 1, pedantic: 0, coverage: excepted };
        assert_eq!(found.to_string(), "2 errors, 1 warning in 3 objects of 1 file; 1 finding excepted; 2 rules off");
    }
}
