//! The inputs of each fuzz target.

use libtest_mimic::Trial;
use std::path::Path;

use crate::support::{entries, name as name_of};
use crate::trials as trials_of;

#[path = "../../fuzz/targets/mod.rs"]
mod targets;

pub(crate) fn trials() -> Vec<Trial> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let of_target = |(name, _): &(&'static str, _)| {
        trials_of("fuzz", &corpus, entries(&corpus.join(name)), |input| {
            targets::run(&name_of(input.parent().expect("an input is in a directory")), &std::fs::read(input)?);
            Ok(())
        })
    };
    targets::TARGETS.iter().flat_map(of_target).collect()
}
