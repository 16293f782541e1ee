//! The consequences of a render: what changes on the clusters.

use crate::changes::{Changes, Side, compare};
use crate::cli::error::Error;
use crate::cli::streams::Streams;
use crate::flux::{Receiver, Repo};
use crate::lint::Options;
use crate::report::changes::{ChangesFormat, Roots, write};
use crate::text::Tree;

/// Prints what a render changes on the clusters of the directory before it.
pub(super) fn print(
    before: &Tree,
    after: &Tree,
    options: &Options,
    prefix: &str,
    streams: &mut Streams,
) -> Result<(), Error> {
    let (earlier, later) =
        rayon::join(|| Repo::load(before, &options.settings), || Repo::load(after, &options.settings));
    let (former, receivers) = (receivers(&earlier), receivers(&later));
    let changes: Changes = compare(
        &Side { repo: &earlier, receivers: &former, options },
        &Side { repo: &later, receivers: &receivers, options },
    );
    let mut text: Vec<u8> = Vec::new();
    write(&changes, ChangesFormat::Text, Roots { before: prefix, after: prefix }, &mut text)?;
    streams.message("consequences:");
    for line in String::from_utf8_lossy(&text).trim_end().lines() {
        streams.message(line);
    }
    Ok(())
}

fn receivers(repo: &Repo) -> Vec<Receiver<'_>> {
    repo.clusters.iter().flat_map(Receiver::all).collect()
}
