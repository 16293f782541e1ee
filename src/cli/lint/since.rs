//! The revision whose findings `lint` does not report.

use std::path::Path;

use crate::cli::error::Error;
use crate::cli::source::{self, Source};
use crate::disk::{self, ListedRevision, Revision};
use crate::report::printable;
use crate::text::Tree;

/// Options of the comparison with an earlier state.
#[derive(Debug, Default, clap::Args)]
pub(super) struct SinceOptions {
    /// Reports only findings that this Git revision does not have, such as `main`.
    ///
    /// Both states are checked with the present configuration.
    #[arg(long, value_name = "REVISION", conflicts_with_all = ["baseline", "fix", "diff"])]
    since: Option<String>,
}

impl SinceOptions {
    /// The revision, for display.
    pub(super) fn revision(&self) -> Option<String> {
        self.since.as_deref().map(|revision| printable(revision).into_owned())
    }

    /// Starts to read the directory in the revision, if the user requested a comparison.
    pub(super) fn open(&self, dir: &Path) -> Result<Option<Revision>, Error> {
        let Some(revision) = &self.since else { return Ok(None) };
        if disk::is_file(dir) {
            let help = "lint the directory of the file";
            return Err(Error::with_help("`--since` needs a directory".to_owned(), help));
        }
        Ok(Some(Revision::open(dir, revision)?))
    }
}

/// Reads the directory in the revision. `present` is the directory as it is now.
pub(super) fn read(revision: ListedRevision, source: Option<&Source>, present: &Tree) -> Result<Tree, Error> {
    let mut tree = revision.read(present)?;
    if let Some(source) = source {
        source::remove_templates(&mut tree, source);
    }
    Ok(tree)
}
