//! Work that appliers need done: each distinct one is done once, whoever needs it.

use std::sync::Arc;

use super::build::{Finish, Output, Substitution, build, too_much};
use super::digest::{Digest, Hasher};
use super::engine::Ground;
use super::source::Artifact;
use super::substitution::hash_values;
use super::sync::objects_of;
use super::variables::Loaded;
use super::{State, expand};
use crate::finding::Finding;
use crate::kube::Object;
use crate::yaml::Node;

/// One piece of work.
#[derive(Debug, Clone)]
pub(super) enum Job {
    /// The objects of a FluxInstance's sync.
    Sync(Object),
    /// What a ResourceSet expands to with the providers of its namespace.
    Set(Object, Vec<Object>),
    /// The folder of a Kustomization.
    Folder(Object, Arc<Artifact>),
    /// The end of a Kustomization's build.
    Finish(Object, Arc<Output>, Option<Values>),
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

/// The fields of a Kustomization that decide what its folder builds to.
const FOLDER_FIELDS: [&str; 9] = [
    "path",
    "targetNamespace",
    "namePrefix",
    "nameSuffix",
    "patches",
    "components",
    "ignoreMissingComponents",
    "images",
    "buildMetadata",
];

impl Job {
    /// What tells this work from other work.
    pub(super) fn key(&self) -> Digest {
        match self {
            Self::Sync(instance) => {
                let mut hasher = Hasher::new("sync");
                hasher.node(&instance.node);
                hasher.finish()
            }
            Self::Set(set, providers) => {
                let mut hasher = Hasher::new("set");
                hasher.node(&set.node);
                providers.iter().for_each(|provider| hasher.node(&provider.node));
                hasher.finish()
            }
            Self::Folder(kustomization, artifact) => folder_key(kustomization, artifact),
            Self::Finish(..) => unreachable!("its key is made from that of the build"),
        }
    }

    /// Does it.
    pub(super) fn run(&self, ground: &Ground<'_>) -> Output {
        match self {
            Self::Sync(instance) => {
                let (objects, findings) = objects_of(instance, &ground.sources.repository().builder);
                Output::of(objects, findings)
            }
            Self::Set(set, providers) => {
                let expansion = expand(set, providers);
                let mut output = Output::of(expansion.objects, expansion.findings);
                if let Some(reason) = expansion.not_expanded {
                    output.state = State::NotBuilt(reason.into());
                }
                output
            }
            Self::Folder(kustomization, artifact) => build(kustomization, artifact),
            Self::Finish(kustomization, built, values) => {
                let substitution = values.as_ref().map(Values::substitution);
                Finish { kustomization, substitution }.run(built, &ground.shared)
            }
        }
    }

    /// What it comes to when variables took the memory there is: work without variables is done nevertheless.
    pub(super) fn refuse(&self, ground: &Ground<'_>) -> Output {
        match self {
            Self::Finish(kustomization, built, Some(_)) => Output {
                findings: built.findings.iter().cloned().chain([too_much(kustomization)]).collect(),
                state: State::Failed,
                ..(**built).clone()
            },
            _ => self.run(ground),
        }
    }
}

/// Clusters whose Kustomizations ask for the same share a build, unless it would show different places for them.
fn folder_key(kustomization: &Object, artifact: &Artifact) -> Digest {
    let mut hasher = Hasher::new("folder");
    hasher.text(&artifact.id);
    hasher.text(if kustomization.node.at_keys(&["spec", "decryption"]).is_some() { "decrypted" } else { "" });
    for field in FOLDER_FIELDS {
        if let Some(node) = kustomization.node.at_keys(&["spec", field]) {
            hasher.text(field);
            if field == "path" { hasher.text(node.text().unwrap_or_default()) } else { hasher.node(node) }
        }
    }
    hasher.finish()
}

/// The key of a build's end.
pub(super) fn finish_key(folder: &Digest, kustomization: &Object, built: &Output, values: Option<&Values>) -> Digest {
    let mut hasher = Hasher::new("finish");
    hasher.bytes(folder);
    if let Some(metadata) = kustomization.node.at_keys(&["spec", "commonMetadata"]) {
        hasher.node(metadata);
    }
    if let Some(values) = values {
        hasher.text(if values.strict { "strict" } else { "lax" });
        hash_values(&mut hasher, built.names().iter(), &values.substitution());
        values.loaded.findings.iter().for_each(|finding| hash_finding(&mut hasher, finding));
    }
    hasher.finish()
}

fn hash_finding(hasher: &mut Hasher, finding: &Finding) {
    hasher.text(&finding.message);
    hasher.text(finding.at.span.file().path());
    hasher.bytes(&finding.at.span.range().start.to_le_bytes());
}

/// Tells whether a build is at its end once its folder is built.
pub(super) fn is_whole(kustomization: &Object) -> bool {
    let says = |field: &str| kustomization.node.at_keys(&["spec", field]).is_some_and(Node::is_map);
    !says("postBuild") && !says("commonMetadata")
}
