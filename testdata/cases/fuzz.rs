//! The corpus of each fuzz target.

use libtest_mimic::Trial;
use std::path::Path;

use crate::support::entries;
use crate::trials as trials_of;

#[path = "../../fuzz/targets.rs"]
mod targets;

pub(crate) fn trials() -> Vec<Trial> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let mut trials = trials_of("fuzz", &corpus, entries(&corpus.join("parse")), |input| {
        targets::parse(&std::fs::read(input)?);
        Ok(())
    });
    trials.extend(trials_of("fuzz", &corpus, entries(&corpus.join("print")), |input| {
        targets::print(&std::fs::read(input)?);
        Ok(())
    }));
    trials
}
