//! Work that appliers need done: each distinct one is done once, whoever needs it.

use std::sync::Arc;

use super::asks::Asks;
use super::build::{Substitution, build, finish, too_much};
use super::digest::{Digest, Hasher};
use super::engine::Ground;
use super::output::Output;
use super::source::Artifact;
use super::substitution::hash_values;
use super::sync::{controller_of, objects_of};
use super::variables::Loaded;
use super::{State, expand};
use crate::finding::Finding;
use crate::kube::Object;

/// One piece of work.
#[derive(Debug, Clone)]
pub(super) enum Job {
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
pub(super) struct Values {
    pub(super) loaded: Loaded,
    pub(super) strict: bool,
}

impl Values {
    fn substitution(&self) -> Substitution<'_> {
        let Loaded { variables, findings, .. } = &self.loaded;
        Substitution { variables, findings, strict: self.strict }
    }
}

impl Job {
    /// What tells this work from other work; `folder` is the key of the build that a [`Job::Finish`] takes to its end.
    pub(super) fn key(&self, folder: Option<&Digest>) -> Digest {
        let mut hasher = Hasher::new("job");
        match self {
            Self::Sync(asks) => {
                hasher.text("sync");
                hasher.bytes(&asks.digest);
            }
            Self::Set(asks, providers) => {
                hasher.text("set");
                hasher.bytes(&asks.digest);
                for provider in providers {
                    hasher.node(&provider.node);
                }
            }
            Self::Folder(asks, artifact) => {
                hasher.text("folder");
                hasher.text(&artifact.id);
                hasher.bytes(&asks.digest);
                // What is wrong with a path is said where it stands.
                if !artifact.files().tree().has_folder(&asks.folder) {
                    hasher.node(asks.object.node.at_keys(&["spec", "path"]).unwrap_or(&asks.object.node));
                }
            }
            Self::Finish(asks, built, values) => {
                hasher.text("finish");
                hasher.bytes(folder.map_or(&[], |folder| folder));
                hasher.bytes(asks.metadata.as_ref().map_or(&[], |metadata| metadata));
                if let Some(values) = values {
                    hasher.text(if values.strict { "strict" } else { "lax" });
                    hash_values(&mut hasher, built.facts.names.iter(), &values.substitution());
                    values.loaded.findings.iter().for_each(|finding| hash_finding(&mut hasher, finding));
                }
            }
        }
        hasher.finish()
    }

    /// Does it.
    pub(super) fn run(&self, ground: &Ground<'_>) -> Output {
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
    pub(super) fn refuse(&self, ground: &Ground<'_>) -> Output {
        match self {
            Self::Finish(asks, built, Some(_)) => {
                let findings = built.findings.iter().cloned().chain([too_much(asks)]).collect();
                Output { findings, state: State::Failed, ..(**built).clone() }
            }
            _ => self.run(ground),
        }
    }
}

fn hash_finding(hasher: &mut Hasher, finding: &Finding) {
    hasher.text(&finding.message);
    hasher.text(finding.at.span.file().path());
    hasher.bytes(&finding.at.span.range().start.to_le_bytes());
}
