//! One step of an applier: the resolution of its source and variables, and the job that it needs next.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::state::ClusterBuild;
use crate::flux::build::applier_spec::ApplierSpec;
use crate::flux::build::build_key::{BuildKey, FindingKey, FolderKey};
use crate::flux::build::context::BuildContext;
use crate::flux::build::digest::Digest;
use crate::flux::build::job::{Job, SubstitutionInput};
use crate::flux::build::output::Output;
use crate::flux::model::applier_kind::ApplierKind;
use crate::flux::model::not_built::NotBuiltReason;
use crate::flux::source::artifact::Resolution;
use crate::flux::source::reference::SourceRef;
use crate::flux::source::resolve_artifact::DANGLING_SOURCE;
use crate::flux::variables::load::{LoadedVariables, always, load};

/// The result of one step of an applier.
pub(super) enum Progress {
    Done(Arc<BuildKey>, Arc<Output>),
    NeedsJob(Arc<BuildKey>, Job),
    Blocked,
}

/// Resolved sources and variables, which appliers of a cluster share during a pass.
#[derive(Default)]
pub(super) struct PassCache {
    sources: BTreeMap<SourceRef, Resolution>,
    variables: BTreeMap<Digest, LoadedVariables>,
}

impl ClusterBuild {
    /// Advances an applier with the objects that the cluster has so far.
    pub(super) fn step(&mut self, at: usize, cache: &mut PassCache, context: &BuildContext<'_>) -> Progress {
        let spec = self.slots[at].spec.clone();
        let job = match spec.kind {
            ApplierKind::ResourceSet => {
                let providers = self.lookup_index().providers(spec.object.namespace().unwrap_or_default()).to_vec();
                Job::Set(spec, providers)
            }
            ApplierKind::FluxInstance => Job::Sync(spec),
            ApplierKind::Kustomization => match self.resolve(&spec, cache, context) {
                Resolution::Artifact(_) if !spec.is_folder_known() => {
                    return without_artifact(&spec, Resolution::Unknown("its path is unknown".into()), context);
                }
                Resolution::Artifact(artifact) => {
                    // The memo has an output for a key without a position only if the path exists. So most lookups do
                    // not search the tree.
                    let folder_key = FolderKey::new(&artifact, spec.digest(), None);
                    if let Some((key, built)) = context.memo.get_with_key(&BuildKey::Folder(folder_key.clone())) {
                        return self.substitute(at, (key, folder_key), built, cache, context);
                    }
                    Job::Folder(spec, artifact)
                }
                Resolution::Missing if self.waits_for_missing => return Progress::Blocked,
                resolution => return without_artifact(&spec, resolution, context),
            },
            ApplierKind::Bootstrap | ApplierKind::Folder => unreachable!("no object is of this kind of applier"),
        };
        let key = job.key(None);
        match context.memo.get_with_key(&key) {
            // For a Kustomization, this is the output of a missing path.
            Some((key, output)) => Progress::Done(key.clone(), output.clone()),
            None => Progress::NeedsJob(Arc::new(key), job),
        }
    }

    fn resolve(&self, spec: &ApplierSpec, cache: &mut PassCache, context: &BuildContext<'_>) -> Resolution {
        let Some(source) = spec.source_ref() else { return Resolution::Unknown("it references no source".into()) };
        if let Some(known) = cache.sources.get(source) {
            return known.clone();
        }
        let resolution = context.sources.resolve(source, self.lookup_index());
        cache.sources.insert(source.clone(), resolution.clone());
        resolution
    }

    fn load(&self, variables: Digest, spec: &ApplierSpec, cache: &mut PassCache) -> LoadedVariables {
        // Findings of variables point at the Kustomization that uses the variables, so variables with findings are not
        // shared.
        if let Some(known) = cache.variables.get(&variables).filter(|known| known.findings.is_empty()) {
            return known.clone();
        }
        let loaded = load(&spec.object, self.lookup_index());
        cache.variables.insert(variables, loaded.clone());
        loaded
    }

    /// Continues the build of a directory with variables and `commonMetadata`.
    fn substitute(
        &mut self,
        at: usize,
        (built_key, folder): (&Arc<BuildKey>, FolderKey),
        built: &Arc<Output>,
        cache: &mut PassCache,
        context: &BuildContext<'_>,
    ) -> Progress {
        let spec = self.slots[at].spec.clone();
        if spec.variables().is_none() && spec.metadata().is_none() {
            return Progress::Done(built_key.clone(), built.clone());
        }
        let mut values = None;
        if let Some(variables) = spec.variables() {
            let loaded = self.load(variables, &spec, cache);
            self.slots[at].variables = loaded.variables.clone();
            if !loaded.missing.is_empty() && self.waits_for_missing {
                let slot = &mut self.slots[at];
                slot.tries += 1;
                if !std::mem::replace(&mut slot.is_waiting, true) {
                    for key in loaded.missing {
                        self.waiting.entry(key).push(at);
                    }
                }
                return Progress::Blocked;
            }
            let none = loaded.variables.values.is_empty() && !loaded.variables.open;
            if !none || always(&spec.object) || !loaded.findings.is_empty() {
                values = Some(SubstitutionInput {
                    loaded,
                    strict: self.strictness.is_strict(),
                    limit: context.settings.bounds.grown_by_one,
                });
            }
        }
        let job = Job::Finish(spec, built.clone(), values);
        let key = job.key(Some(&folder));
        match context.memo.get_with_key(&key) {
            // Clusters share the key of the memo.
            Some((key, output)) => Progress::Done(key.clone(), output.clone()),
            None => Progress::NeedsJob(Arc::new(key), job),
        }
    }
}

/// The result for a Kustomization whose source has no known artifact.
fn without_artifact(spec: &ApplierSpec, resolution: Resolution, context: &BuildContext<'_>) -> Progress {
    let unbuilt = |reason: NotBuiltReason, source: Option<&SourceRef>| {
        let make = || Output { without: source.cloned().map(Box::new), ..Output::not_built(reason.clone()) };
        context.unbuilt.find_or(BuildKey::NotBuilt(reason.clone()), make)
    };
    let (key, output) = match resolution {
        Resolution::Artifact(_) => unreachable!("the caller builds it"),
        Resolution::Missing => {
            let named = spec.source_ref().map_or("its source".to_string(), ToString::to_string);
            unbuilt(NotBuiltReason::MissingSource(named.into()), spec.source_ref())
        }
        Resolution::NoCopy(url) => unbuilt(NotBuiltReason::NoCopy(url), None),
        Resolution::Unknown(reason) => unbuilt(NotBuiltReason::Unknown(reason), None),
        Resolution::Failed(findings) => {
            let key = BuildKey::Failed(findings.iter().map(FindingKey::from).collect());
            // A Kustomization with a missing source certainly applies nothing.
            let lacks = findings.iter().any(|finding| finding.rule == DANGLING_SOURCE);
            let output = Output { whole: lacks, ..Output::new(Vec::new(), findings) };
            // The parts of a finding that are not in the key may differ, so only the key is shared.
            let (key, _) = context.unbuilt.find_or(key, || output.clone());
            (key, Arc::new(output))
        }
    };
    Progress::Done(key, output)
}
