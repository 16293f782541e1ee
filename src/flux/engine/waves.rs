//! Everything that roots reach, built for every cluster at once.
//!
//! A built Kustomization may bring further ones, so clusters are gone through in waves: what their appliers need and
//! nobody built yet is collected, built in parallel, each distinct input once, and the next wave sees the results. It
//! ends when a wave changes nothing.

use crate::flux::build::context::Ground;
use crate::flux::build::context::Memo;
use std::sync::Arc;

use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator};

use super::cluster_build::Growing;
use super::outcome::{Outcome, finish};
use crate::flux::build::build_key::Key;
use crate::flux::build::job::Job;
use crate::flux::build::output::Output;
use crate::flux::install::root::Root;
use crate::flux::settings::Settings;
use crate::flux::source::sources::Sources;
use crate::flux::variables::shared_substitution::Shared;
use crate::text::Index;

/// How often the clusters are gone through at most. Each level of Kustomizations takes two waves at most: one to build,
/// one to substitute. What ends here goes round in a circle: a value that is made of itself, say.
const MAX_WAVES: usize = 2_500;

/// How many builds go on at once before that is looked at again.
pub(crate) const AT_ONCE: usize = 32;

/// Builds what the roots reach.
pub(crate) fn run(roots: Vec<Root>, sources: &Sources, settings: &Settings) -> Outcome {
    // On a thread of the pool, so that the waves need not be handed over one by one.
    let clusters = rayon::scope(|_| grow(roots, sources, settings));
    finish(&clusters)
}

/// Lets clusters grow until nothing changes.
fn grow(roots: Vec<Root>, sources: &Sources, settings: &Settings) -> Vec<Growing> {
    let mut ground = Ground { sources, settings, memo: Memo::default(), shared: Shared::default() };
    let mut clusters: Vec<Growing> = roots.into_iter().map(|root| Growing::new(root, &ground)).collect();
    let mut grown = 0;
    for _ in 0..MAX_WAVES {
        // Each cluster looks at what was built before this wave, so that no order among them shows.
        let open: Vec<&mut Growing> = clusters.iter_mut().filter(|cluster| !cluster.is_settled()).collect();
        if open.is_empty() {
            break;
        }
        let wanted: Vec<Vec<(Key, Job)>> = open.into_par_iter().map(|cluster| cluster.grow(&ground)).collect();
        // The first cluster that needs something has it done, so that the others do not show in it.
        let mut known: Index<Key, ()> = Index::default();
        let mut distinct: Vec<(Key, Job)> = wanted.into_iter().flatten().collect();
        distinct.retain(|(key, _)| known.insert(key.clone(), ()).is_none());
        for some in distinct.chunks(AT_ONCE) {
            let run = |(key, job): &(Key, Job)| {
                let output = if grown > settings.bounds.grown { job.refuse(&ground) } else { job.run(&ground) };
                (key.clone(), Arc::new(output))
            };
            let built: Vec<(Key, Arc<Output>)> = some.par_iter().map(run).collect();
            for (key, output) in built {
                grown += output.grown;
                ground.memo.insert(key, output);
            }
        }
    }
    clusters.par_iter_mut().for_each(Growing::end);
    clusters
}
