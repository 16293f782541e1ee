//! The exchange of builds between two states of a repository. Most builds of a change have the same inputs in both.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use arcstr::ArcStr;

use crate::flux::build::applier_spec::whole_digest;
use crate::flux::build::build_key::BuildKey;
use crate::flux::build::context::BuildContext;
use crate::flux::build::job::Job;
use crate::flux::build::output::Output;
use crate::flux::cluster::shared_position::is_shared;
use crate::flux::source::sources::Sources;
use crate::kube::Object;
use crate::kustomize::{Comparison, Files};
use crate::text::{Index, Reads};

/// The finished builds of a state, with what they depend on.
#[derive(Debug, Default)]
pub(crate) struct KeptBuilds(Index<Arc<BuildKey>, KeptBuild>);

#[derive(Debug)]
struct KeptBuild {
    /// The applier of the build, which determines positions in its output.
    applier: Object,
    /// The output that the build continues.
    continued: Option<Arc<Output>>,
    reads: Reads,
    output: Arc<Output>,
}

/// The exchange of builds with another state.
#[derive(Default)]
pub(crate) struct Exchange<'a> {
    other: Option<OtherState<'a>>,
    /// The builds of this state, if the other state comes later.
    kept: Option<Mutex<KeptBuilds>>,
}

/// Another state of the repository, which was built before.
struct OtherState<'a> {
    builds: &'a KeptBuilds,
    sources: &'a Sources,
    /// The comparison of each artifact with the artifact of this state.
    comparisons: Mutex<Index<ArcStr, Arc<Comparison>>>,
}

impl<'a> Exchange<'a> {
    /// Keeps the builds of this state.
    pub(crate) fn keep() -> Self {
        Self { kept: Some(Mutex::default()), ..Self::default() }
    }

    /// Takes builds of another state.
    pub(crate) fn take(builds: &'a KeptBuilds, sources: &'a Sources) -> Self {
        Self { other: Some(OtherState { builds, sources, comparisons: Mutex::default() }), ..Self::default() }
    }

    /// The builds of this state, if they were kept.
    pub(crate) fn into_kept(self) -> Option<KeptBuilds> {
        Some(self.kept?.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The output of a job: of the other state if it has the same inputs there, and of a run otherwise.
    pub(crate) fn run(&self, key: &Arc<BuildKey>, job: &Job, context: &BuildContext<'_>) -> Arc<Output> {
        if let Some(output) = self.other.as_ref().and_then(|other| other.output(key, job, context)) {
            return output;
        }
        let Some(kept) = self.kept.as_ref().filter(|_| job.is_complete()) else { return Arc::new(job.run(context)) };
        let (output, reads) = Reads::record(|| job.run(context));
        let (output, applier, continued) = (Arc::new(output), job.applier().clone(), job.continued().cloned());
        let build = KeptBuild { applier, continued, reads, output: output.clone() };
        // Each entry is inserted in one step, so a panic leaves no partial entry.
        kept.lock().unwrap_or_else(PoisonError::into_inner).0.insert(key.clone(), build);
        output
    }
}

impl OtherState<'_> {
    /// The output of a job that has the same inputs in this state.
    fn output(&self, key: &Arc<BuildKey>, job: &Job, context: &BuildContext<'_>) -> Option<Arc<Output>> {
        let kept = self.builds.0.get(key)?;
        let is_same_applier =
            is_shared(&kept.applier, job.applier()) || whole_digest(&kept.applier) == whole_digest(job.applier());
        let continues_same = match (&kept.continued, job.continued()) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        (is_same_applier && continues_same && self.agrees_on(&kept.reads, job, context)).then(|| kept.output.clone())
    }

    /// Returns whether a job would read the same in both states.
    fn agrees_on(&self, reads: &Reads, job: &Job, context: &BuildContext<'_>) -> bool {
        match job {
            Job::Folder(_, artifact) => {
                let other = self.sources.made_with(&artifact.id);
                other.is_some_and(|other| {
                    self.comparison(&artifact.id, other.files(), artifact.files()).agrees_on(reads)
                })
            }
            Job::Sync(_) => {
                let (other, own) = (self.sources.repository_files(), context.sources.repository_files());
                self.comparison(&REPOSITORY, other, own).agrees_on(reads)
            }
            Job::Set(..) | Job::Finish(..) => reads.iter().next().is_none(),
        }
    }

    fn comparison(&self, id: &ArcStr, other: &Files, own: &Files) -> Arc<Comparison> {
        // Each entry is inserted in one step, so a panic leaves no partial entry.
        let mut comparisons = self.comparisons.lock().unwrap_or_else(PoisonError::into_inner);
        comparisons.entry_or(id.clone(), || Arc::new(Comparison::new(other, own))).clone()
    }
}

/// The key of the comparison of the repositories. Artifacts have other keys.
static REPOSITORY: LazyLock<ArcStr> = LazyLock::new(|| "".into());
