//! From a reference to what the source hands out.

use std::sync::Arc;

use super::artifact::{Artifact, Resolution};
use super::include::Include;
use super::origin::Origin;
use super::pack::Recipe;
use super::sources::{Lookup, SourceRef, Sources};
use crate::finding::Finding;
use crate::kube::Object;
use crate::kustomize::FAILED_BUILD;
use crate::text::Span;
use crate::yaml::Node;

/// Sources may be made of others this deep.
const MAX_DEPTH: usize = 16;

/// Resolves one reference; sources may be made of others.
pub(super) struct Resolver<'a> {
    pub(super) sources: &'a Sources,
    pub(super) lookup: &'a dyn Lookup,
    /// What is being resolved, the outermost first.
    open: Vec<SourceRef>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(sources: &'a Sources, lookup: &'a dyn Lookup) -> Self {
        Self { sources, lookup, open: Vec::new() }
    }

    pub(super) fn resolve(&mut self, reference: &SourceRef) -> Resolution {
        if &*reference.kind == "ExternalArtifact" {
            return Resolution::Unknown("artifacts of ArtifactGenerators are not made yet".into());
        }
        let Some(source) = self.lookup.source(reference) else { return Resolution::Missing };
        let resolved = self.fetched(reference, &source);
        resolved.map_or_else(|resolution| resolution, Resolution::Artifact)
    }

    /// Resolves a source that `at` names, for the object of another; anything but an artifact ends that one too.
    pub(super) fn part(&mut self, reference: &SourceRef, at: &Span) -> Result<Arc<Artifact>, Resolution> {
        if let Some(first) = self.open.iter().position(|open| open == reference) {
            let circle = self.open.iter().skip(first).chain([reference]);
            let names: Vec<String> = circle.map(|source| format!("`{source}`")).collect();
            let message = format!("these sources wait for each other: {}", names.join(" → "));
            return Err(failed(at, message, "remove one of the references: none of them ever hands out anything"));
        }
        if self.open.len() >= MAX_DEPTH {
            let message = format!("sources are made of each other more than {MAX_DEPTH} deep");
            return Err(failed(at, message, "build from the first of them"));
        }
        match self.resolve(reference) {
            Resolution::Artifact(artifact) => Ok(artifact),
            Resolution::Missing => {
                let message = format!("the cluster has no source `{reference}`, which this one is made of");
                Err(failed(at, message, "correct the name, or add the source"))
            }
            other => Err(other),
        }
    }

    /// What a source of one of source-controller's kinds hands out.
    fn fetched(&mut self, reference: &SourceRef, source: &Object) -> Result<Arc<Artifact>, Resolution> {
        let unknown = |why: &str| Resolution::Unknown(why.into());
        let Some(origin) = Origin::of(source) else {
            return Err(unknown("where it fetches from is not known"));
        };
        let Some(recipe) = Recipe::of(source) else {
            return Err(unknown("what it leaves out is not known"));
        };
        let Some((id, files)) = self.sources.copy_of(&origin) else {
            return Err(Resolution::NoCopy(origin.shown().into()));
        };
        self.open.push(reference.clone());
        let includes = self.includes(reference, source);
        self.open.pop();
        let includes = includes?;
        let parts: Vec<String> = includes.iter().map(Include::key).collect();
        let id = format!("{id}\n{}\n{}", recipe.key(), parts.join("\n"));
        self.sources.make(&id, || recipe.pack(&files, &includes)).map_err(Resolution::Failed)
    }

    fn includes<'o>(&mut self, reference: &SourceRef, source: &'o Object) -> Result<Vec<Include<'o>>, Resolution> {
        let items = source.node.at_keys(&["spec", "include"]).filter(|_| &*reference.kind == "GitRepository");
        let mut includes = Vec::new();
        for node in items.map(Node::items).unwrap_or_default() {
            let name = node.at_keys(&["repository", "name"]);
            let part = SourceRef {
                kind: reference.kind.clone(),
                namespace: reference.namespace.clone(),
                name: name.and_then(Node::shared_text).unwrap_or_default(),
            };
            let artifact = self.part(&part, name.unwrap_or(node).span())?;
            includes.push(Include { node, artifact });
        }
        Ok(includes)
    }
}

fn failed(at: &Span, message: String, help: &str) -> Resolution {
    Resolution::Failed(vec![Finding::error(FAILED_BUILD, at.clone(), message).help(help)])
}
