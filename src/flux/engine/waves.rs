//! The fixed point of all clusters.
//!
//! A built Kustomization may apply further Kustomizations, so the build runs in waves. A wave collects the jobs that
//! appliers need, and runs the distinct jobs in parallel. The next wave uses their outputs. The build ends when a wave
//! needs no jobs.

use std::sync::Arc;

use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator};

use super::cluster_build::ClusterBuild;
use super::outcome::{Outcome, finish};
use crate::flux::build::build_key::BuildKey;
use crate::flux::build::context::{BuildContext, Instances, Memo, Unbuilt};
use crate::flux::build::inventory::ChangedObjects;
use crate::flux::build::job::Job;
use crate::flux::build::output::Output;
use crate::flux::install::roots::root::Root;
use crate::flux::settings::Settings;
use crate::flux::source::sources::Sources;
use crate::flux::variables::shared_substitution::SubstitutionCache;
use crate::text::Index;

/// The maximum number of waves. Each level of Kustomizations needs at most two waves: one to build, one to substitute.
/// Only a cycle needs so many waves, such as a value that is derived from itself.
const MAX_WAVES: usize = 2_500;

/// The number of builds in one batch. The engine checks the memory limit between batches.
pub(crate) const AT_ONCE: usize = 32;

/// Builds all objects that the roots reach.
pub(crate) fn run(roots: Vec<Root>, sources: &Sources, settings: &Settings) -> Outcome {
    // A thread of the pool runs all waves, which avoids a handover to the pool for each wave.
    let clusters = rayon::scope(|_| reach_fixed_point(roots, sources, settings));
    finish(clusters)
}

/// Advances all clusters until they need no jobs.
fn reach_fixed_point(roots: Vec<Root>, sources: &Sources, settings: &Settings) -> Vec<ClusterBuild> {
    let mut context = BuildContext {
        sources,
        settings,
        memo: Memo::default(),
        shared: SubstitutionCache::default(),
        unbuilt: Unbuilt::default(),
        changed: ChangedObjects::default(),
        instances: Instances::default(),
    };
    let mut clusters: Vec<ClusterBuild> = roots.into_iter().map(|root| ClusterBuild::new(root, &context)).collect();
    let mut grown = 0;
    for _ in 0..MAX_WAVES {
        // Each cluster reads only the outputs of earlier waves, so that the order of clusters has no effect.
        let open: Vec<&mut ClusterBuild> = clusters.iter_mut().filter(|cluster| !cluster.is_complete()).collect();
        if open.is_empty() {
            break;
        }
        let wanted: Vec<Vec<(BuildKey, Job)>> = open.into_par_iter().map(|cluster| cluster.advance(&context)).collect();
        // The first cluster that needs a job determines the positions in the output of the job.
        let mut known: Index<BuildKey, ()> = Index::default();
        let mut distinct: Vec<(BuildKey, Job)> = wanted.into_iter().flatten().collect();
        distinct.retain(|(key, _)| known.insert(key.clone(), ()).is_none());
        for some in distinct.chunks(AT_ONCE) {
            let run = |(key, job): &(BuildKey, Job)| {
                let output = if grown > settings.bounds.grown { job.refuse(&context) } else { job.run(&context) };
                (key.clone(), Arc::new(output))
            };
            let built: Vec<(BuildKey, Arc<Output>)> = some.par_iter().map(run).collect();
            for (key, output) in built {
                grown += output.grown;
                context.memo.insert(key, output);
            }
        }
    }
    clusters.par_iter_mut().for_each(ClusterBuild::report_unfinished);
    clusters
}
