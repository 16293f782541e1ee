//! The baseline of `lint`: a file with the findings of an earlier run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::cli::error::Error;
use crate::cli::source::{folder_of, or_current};
use crate::cli::streams::{Lines, Streams};
use crate::disk;
use crate::lint::{Baseline, BaselineOutcome, BaselineUse};
use crate::report::{counted, printable};

/// The maximum number of fixed entries that are printed.
const MAX_FIXED: usize = 10;

/// Options of the baseline.
#[derive(Debug, Default, clap::Args)]
pub(super) struct BaselineOptions {
    /// Reports only findings that this file does not record.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Records the findings in the file of `--baseline`, and reports none of them.
    #[arg(long, requires = "baseline")]
    write_baseline: bool,
}

impl BaselineOptions {
    /// Returns whether the user requested a new baseline.
    pub(super) fn writes(&self) -> bool {
        self.write_baseline
    }

    /// Reads the baseline. `is_whole` states whether the run checks all files and clusters.
    pub(super) fn read(&self, is_whole: bool) -> Result<BaselineUse, Error> {
        let Some(path) = &self.baseline else { return Ok(BaselineUse::None) };
        if self.write_baseline && !is_whole {
            let message = "a baseline needs the findings of all files and clusters".to_owned();
            return Err(Error::with_help(message, "lint the whole directory, without `--cluster`"));
        }
        if !disk::is_file(path) {
            if self.write_baseline {
                return Ok(BaselineUse::Record(Baseline::default()));
            }
            let message = format!("there is no baseline `{}`", path.display());
            return Err(Error::with_help(message, "record the findings of today with `--write-baseline`"));
        }
        let baseline = read(path).map_err(|why| {
            let message = format!("`{}` is not a baseline: {why}", path.display());
            Error::with_help(message, "delete the file, and record the findings with `--write-baseline`")
        })?;
        Ok(if self.write_baseline {
            BaselineUse::Record(baseline)
        } else {
            BaselineUse::Compare(baseline, BTreeMap::new())
        })
    }

    /// Writes the recorded baseline, or prints the recorded findings that are fixed.
    pub(super) fn finish(&self, outcome: &BaselineOutcome, streams: &mut Streams) -> Result<(), Error> {
        let Some(path) = &self.baseline else { return Ok(()) };
        if let Some(recorded) = &outcome.recorded {
            let masked = recorded.clone().masked(|object| streams.masked(Lines::Text, object));
            disk::replace(path, masked.write().as_bytes())?;
            let findings = counted(outcome.known, "finding");
            streams.message(format_args!("recorded {findings} in `{}`", path.display()));
        }
        for entry in outcome.fixed.iter().take(MAX_FIXED) {
            let object = entry.object.as_ref().map_or(String::new(), |object| format!(" ({object})"));
            let fixed = format!("fixed: {} in {}{object}", entry.rule, entry.path);
            streams.message(printable(&fixed));
        }
        let more = outcome.fixed.len().saturating_sub(MAX_FIXED);
        if more > 0 {
            streams.message(format_args!("fixed: {more} more"));
        }
        if !outcome.fixed.is_empty() {
            let entries = outcome.fixed.len();
            let entries = if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
            let place = path.display();
            streams.message(format_args!(
                "`{place}` has {entries} without a finding; remove them with `--write-baseline`"
            ));
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Baseline, String> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = folder_of(path);
    let alone = disk::read_some(or_current(&folder), [name.as_str()]).map_err(|error| error.to_string())?;
    Baseline::read(alone.file(&name).map_err(|error| error.to_string())?.text())
}
