//! Work that appliers need done: each distinct one is done once, whoever needs it.

use std::sync::Arc;

use super::applier_spec::{Asks, whole_digest};
use super::build_key::{Fault, FinishKey, FolderKey, Key};
use super::context::Ground;
use super::kustomization::{build, finish, too_much};
use super::output::Output;
use crate::flux::install::deployments::controller_of;
use crate::flux::install::sync::objects_of;
use crate::flux::model::applier_kind::State;
use crate::flux::resourceset::expand;
use crate::flux::source::artifact::Artifact;
use crate::flux::variables::load::Loaded;
use crate::flux::variables::substitution::ReadValues;
use crate::flux::variables::substitution::Substitution;
use crate::kube::Object;

/// One piece of work.
#[derive(Debug, Clone)]
pub(crate) enum Job {
    /// The objects of a FluxInstance's sync.
    Sync(Arc<Asks>),
    /// What a ResourceSet expands to with the providers of its namespace.
    Set(Arc<Asks>, Vec<Object>),
    /// The folder of a Kustomization.
    Folder(Arc<Asks>, Arc<Artifact>),
    /// The end of a Kustomization's build.
    Finish(Arc<Asks>, Arc<Output>, Option<Values>),
}

/// What a Kustomization substitutes, and how.
#[derive(Debug, Clone)]
pub(crate) struct Values {
    pub(crate) loaded: Loaded,
    pub(crate) strict: bool,
    /// How much more memory it may take, in bytes.
    pub(crate) limit: usize,
}

impl Values {
    fn substitution(&self) -> Substitution<'_> {
        let Loaded { variables, findings, .. } = &self.loaded;
        Substitution { variables, findings, strict: self.strict, limit: self.limit }
    }
}

impl Job {
    /// What tells this work from other work; `folder` is the key of the build that a [`Job::Finish`] takes to its end.
    pub(crate) fn key(&self, folder: Option<&FolderKey>) -> Key {
        match self {
            Self::Sync(asks) => Key::Sync(asks.digest()),
            Self::Set(asks, providers) => Key::Set(asks.digest(), providers.iter().map(whole_digest).collect()),
            Self::Folder(asks, artifact) => {
                // What is wrong with a path is said where it stands.
                let is_there = artifact.files().tree().has_folder(&asks.folder);
                let place = (!is_there).then(|| whole_digest(&asks.object));
                Key::Folder(FolderKey::new(artifact, asks.digest(), place))
            }
            Self::Finish(asks, built, values) => {
                let folder = folder.unwrap_or_else(|| unreachable!("a build that ends has begun")).clone();
                let read = |values: &Values| ReadValues::of(&built.facts.names, &values.substitution());
                let faults = values.iter().flat_map(|values| &values.loaded.findings).map(Fault::from).collect();
                let values = values.as_ref().map(read);
                Key::Finish(Arc::new(FinishKey { folder, metadata: asks.metadata(), values, faults }))
            }
        }
    }

    /// Does it.
    pub(crate) fn run(&self, ground: &Ground<'_>) -> Output {
        match self {
            Self::Sync(asks) => {
                let (objects, findings) = objects_of(&asks.object, &ground.sources.repository().builder);
                Output { controller: controller_of(&asks.object), ..Output::new(objects, findings) }
            }
            Self::Set(asks, providers) => {
                let expansion = expand(&asks.object, providers);
                let mut output = Output::new(expansion.objects, expansion.findings);
                if let Some(reason) = expansion.not_expanded {
                    output.state = State::NotBuilt(reason.into());
                }
                output
            }
            Self::Folder(asks, artifact) => build(asks, artifact),
            Self::Finish(asks, built, values) => {
                let substitution = values.as_ref().map(Values::substitution);
                finish(asks, built, substitution.as_ref(), &ground.shared)
            }
        }
    }

    /// What it comes to when variables took the memory there is: work without variables is done nevertheless.
    pub(crate) fn refuse(&self, ground: &Ground<'_>) -> Output {
        match self {
            Self::Finish(asks, built, Some(_)) => {
                let findings = built.findings.iter().cloned().chain([too_much(asks)]).collect();
                Output { findings, state: State::Failed, ..(**built).clone() }
            }
            _ => self.run(ground),
        }
    }
}
