//! Jobs: the units of work of the fixed point. Each distinct job runs once, for all appliers that need it.

use std::sync::Arc;

use super::applier_spec::{ApplierSpec, instance_digest, whole_digest};
use super::build_key::{BuildKey, FindingKey, FinishKey, FolderKey};
use super::context::{BuildContext, InstanceFacts};
use super::kustomization::{build, finish, too_many, too_much};
use super::output::{BuildFacts, Output};
use crate::flux::install::deployments::controller_of;
use crate::flux::install::manifests::{matched_targets, patch_targets};
use crate::flux::install::sync::{SyncPatches, objects_of};
use crate::flux::model::applier_kind::State;
use crate::flux::model::not_built::NotBuiltReason;
use crate::flux::resourceset::expand;
use crate::flux::source::artifact::Artifact;
use crate::flux::variables::load::LoadedVariables;
use crate::flux::variables::substitution::{ReadValues, Substitution};
use crate::kube::Object;

/// A unit of work of the fixed point.
#[derive(Debug, Clone)]
pub(crate) enum Job {
    /// Generates the objects of a FluxInstance's `sync`.
    Sync(Arc<ApplierSpec>),
    /// Expands a ResourceSet with the input providers of its namespace.
    Set(Arc<ApplierSpec>, Vec<Object>),
    /// Builds the directory of a Kustomization.
    Folder(Arc<ApplierSpec>, Arc<Artifact>),
    /// Substitutes variables in the build of a directory, and sets `commonMetadata`.
    Finish(Arc<ApplierSpec>, Arc<Output>, Option<SubstitutionInput>),
}

/// The variables of a Kustomization, and the mode of their substitution.
#[derive(Debug, Clone)]
pub(crate) struct SubstitutionInput {
    pub(crate) loaded: LoadedVariables,
    pub(crate) strict: bool,
    /// The maximum memory that substitution may add to the objects, in bytes.
    pub(crate) limit: usize,
}

impl SubstitutionInput {
    fn substitution(&self) -> Substitution<'_> {
        let LoadedVariables { variables, findings, .. } = &self.loaded;
        Substitution { variables, findings, strict: self.strict, limit: self.limit }
    }
}

impl Job {
    /// The memo key of the job. `folder` is the key of the build that a [`Job::Finish`] continues.
    pub(crate) fn key(&self, folder: Option<&FolderKey>) -> BuildKey {
        match self {
            Self::Sync(spec) => BuildKey::Sync(spec.digest()),
            Self::Set(spec, providers) => BuildKey::Set(spec.digest(), providers.iter().map(whole_digest).collect()),
            Self::Folder(spec, artifact) => {
                // The finding of a missing path points at the path, so the key includes the position of the path.
                let is_there = artifact.has_folder(&spec.folder);
                let place = (!is_there).then(|| whole_digest(&spec.object));
                BuildKey::Folder(FolderKey::new(artifact, spec.digest(), place))
            }
            Self::Finish(spec, built, values) => {
                let folder =
                    folder.unwrap_or_else(|| unreachable!("the directory was built before its last steps")).clone();
                let read = |values: &SubstitutionInput| {
                    ReadValues::new(&built.facts.names, &values.loaded.variables, values.strict)
                };
                let findings = values.iter().flat_map(|values| &values.loaded.findings).map(FindingKey::from).collect();
                let values = values.as_ref().map(read);
                BuildKey::Finish(FinishKey { folder, metadata: spec.metadata(), values, findings })
            }
        }
    }

    /// The object of the applier.
    pub(crate) fn applier(&self) -> &Object {
        match self {
            Self::Sync(spec) | Self::Set(spec, _) | Self::Folder(spec, _) | Self::Finish(spec, ..) => &spec.object,
        }
    }

    /// The output that the job continues.
    pub(crate) fn continued(&self) -> Option<&Arc<Output>> {
        match self {
            Self::Finish(_, built, _) => Some(built),
            Self::Sync(_) | Self::Set(..) | Self::Folder(..) => None,
        }
    }

    /// Returns whether the artifact contains the directory. If it does not, the source may still contain the directory.
    pub(crate) fn is_complete(&self) -> bool {
        match self {
            Self::Folder(spec, artifact) => artifact.has_folder(&spec.folder),
            Self::Sync(_) | Self::Set(..) | Self::Finish(..) => true,
        }
    }

    /// Runs the job and returns its output.
    pub(crate) fn run(&self, context: &BuildContext<'_>) -> Output {
        match self {
            Self::Sync(spec) => {
                let builder = &context.sources.repository().builder;
                let digest = instance_digest(&spec.object);
                let known = context.instances.get(&digest);
                let is_valid = known.as_ref().is_some_and(|known| known.is_valid);
                let read = if is_valid { SyncPatches::Related } else { SyncPatches::All };
                let (objects, findings) = objects_of(&spec.object, builder, read);
                let (targets, controller) = if let Some(known) = known.filter(|known| known.all_match) {
                    (matched_targets(&spec.object), known.controller)
                } else {
                    let targets = patch_targets(&spec.object, builder);
                    let controller = controller_of(&spec.object);
                    let is_complete = matched_targets(&spec.object).len() == targets.len();
                    let all_match = is_complete && targets.iter().all(|target| target.is_matched);
                    let is_valid = findings.is_empty();
                    context
                        .instances
                        .add(digest, InstanceFacts { controller: controller.clone(), all_match, is_valid });
                    (targets, controller)
                };
                let facts = Arc::new(BuildFacts { patch_targets: targets, ..BuildFacts::default() });
                Output {
                    controller: controller.map(Box::new),
                    ..Output::with(objects, findings, facts, &context.specs)
                }
            }
            Self::Set(spec, providers) => {
                let expansion = expand(&spec.object, providers);
                let totals = context.sources.totals();
                // Each object is rendered, printed and parsed on its own, which costs more than an object of a file.
                totals.add_objects(4 * expansion.objects.len());
                totals.add_steps(expansion.steps);
                let mut output = Output::new(expansion.objects, expansion.findings);
                if let Some(reason) = expansion.not_expanded {
                    output.state = State::NotBuilt(NotBuiltReason::Unknown(reason.into()));
                }
                output
            }
            Self::Folder(spec, artifact) => build(spec, artifact, &context.specs),
            Self::Finish(spec, built, values) => {
                let substitution = values.as_ref().map(SubstitutionInput::substitution);
                finish(spec, built, substitution.as_ref(), &context.shared, &context.changed)
            }
        }
    }

    /// The output if variables have exceeded the memory limit. A job without variables runs nevertheless.
    pub(crate) fn refuse(&self, context: &BuildContext<'_>) -> Output {
        match self {
            Self::Finish(spec, built, Some(_)) => {
                let findings = built.findings.iter().cloned().chain([too_much(spec)]).collect();
                Output { findings, state: State::Failed, ..(**built).clone() }
            }
            _ => self.run(context),
        }
    }
    /// The output if all builds together exceed a limit. `exceeded` is the end of a sentence about all builds.
    pub(crate) fn refuse_all(&self, exceeded: &str) -> Output {
        match self {
            Self::Finish(spec, built, _) => {
                let findings = built.findings.iter().cloned().chain([too_many(spec, exceeded)]).collect();
                Output { findings, state: State::Failed, ..(**built).clone() }
            }
            Self::Sync(spec) | Self::Set(spec, _) | Self::Folder(spec, _) => {
                Output::new(Vec::new(), vec![too_many(spec, exceeded)])
            }
        }
    }
}
