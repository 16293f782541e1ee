//! The fixed point of all clusters.
//!
//! A built Kustomization may apply further Kustomizations, so the build runs in waves. A wave collects the jobs that
//! appliers need, and runs the distinct jobs in parallel. The next wave uses their outputs. The build ends when a wave
//! needs no jobs.

use std::sync::Arc;

use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator};

use super::cluster_build::state::ClusterBuild;
use super::exchange::Exchange;
use super::outcome::{Outcome, finish};
use crate::flux::build::build_key::BuildKey;
use crate::flux::build::context::{BuildContext, Instances, Memo, Unbuilt};
use crate::flux::build::inventory::ChangedObjects;
use crate::flux::build::job::Job;
use crate::flux::build::output::Output;
use crate::flux::build::shared_specs::SharedSpecs;
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

/// The number of clusters that are built at the same time. Jobs, and the lookups of a cluster's own build, are in memory
/// only for these clusters.
const CLUSTERS_AT_ONCE: usize = 64;

/// Builds all objects that the roots reach.
pub(crate) fn run(roots: Vec<Root>, sources: &Sources, settings: &Settings, exchange: &Exchange<'_>) -> Outcome {
    // A thread of the pool runs all waves, which avoids a handover to the pool for each wave.
    let clusters = rayon::scope(|_| reach_fixed_point(roots, sources, settings, exchange));
    finish(clusters)
}

/// Builds all clusters, with the outputs of earlier clusters.
fn reach_fixed_point(
    roots: Vec<Root>,
    sources: &Sources,
    settings: &Settings,
    exchange: &Exchange<'_>,
) -> Vec<ClusterBuild> {
    let mut context = BuildContext {
        sources,
        settings,
        memo: Memo::default(),
        shared: SubstitutionCache::within(sources.totals()),
        unbuilt: Unbuilt::default(),
        changed: ChangedObjects::default(),
        specs: SharedSpecs::default(),
        instances: Instances::default(),
    };
    let mut grown = 0;
    let mut clusters = Vec::with_capacity(roots.len());
    let most_applied = settings.bounds.applied_by_one(roots.len());
    let mut roots = roots.into_iter();
    while roots.len() > 0 {
        let batch: Vec<Root> = roots.by_ref().take(CLUSTERS_AT_ONCE).collect();
        let mut batch: Vec<ClusterBuild> =
            batch.into_par_iter().map(|root| ClusterBuild::new(root, most_applied, &context)).collect();
        advance(&mut batch, &mut context, exchange, &mut grown);
        batch.par_iter_mut().for_each(ClusterBuild::finish);
        clusters.extend(batch);
    }
    clusters
}

/// Advances some clusters until they need no jobs. `grown` is the memory that variables have added to objects.
fn advance(clusters: &mut [ClusterBuild], context: &mut BuildContext<'_>, exchange: &Exchange<'_>, grown: &mut usize) {
    let sources = context.sources;
    for _ in 0..MAX_WAVES {
        // Each cluster reads only the outputs of earlier waves, so that the order of clusters has no effect.
        let open: Vec<&mut ClusterBuild> = clusters.iter_mut().filter(|cluster| !cluster.is_complete()).collect();
        if open.is_empty() {
            break;
        }
        let step = |cluster: &mut ClusterBuild| cluster.advance(context);
        let wanted: Vec<Vec<(Arc<BuildKey>, Job)>> = open.into_par_iter().map(step).collect();
        // The first cluster that needs a job determines the positions in the output of the job.
        let mut known: Index<Arc<BuildKey>, ()> = Index::default();
        let mut distinct: Vec<(Arc<BuildKey>, Job)> = wanted.into_iter().flatten().collect();
        distinct.retain(|(key, _)| known.insert(key.clone(), ()).is_none());
        for some in distinct.chunks(AT_ONCE) {
            let is_refused = *grown > context.settings.bounds.grown;
            let run = |(key, job): &(Arc<BuildKey>, Job)| {
                let output = if let Some(exceeded) = sources.totals().exceeded() {
                    Arc::new(job.refuse_all(&exceeded))
                } else if is_refused {
                    Arc::new(job.refuse(context))
                } else {
                    exchange.run(key, job, context)
                };
                (key.clone(), output)
            };
            let built: Vec<(Arc<BuildKey>, Arc<Output>)> = some.par_iter().map(run).collect();
            for (key, output) in built {
                *grown += output.grown;
                context.memo.insert(key, output);
            }
        }
    }
}
