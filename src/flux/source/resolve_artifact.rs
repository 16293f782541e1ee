//! The resolution of a source reference to an artifact.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::artifact::{Artifact, Resolution};
use super::generator::{Generator, Names, Source};
use super::include::Include;
use super::origin::Origin;
use super::pack::Recipe;
use super::reference::{Lookup, SourceRef};
use super::sources::{Fetched, Made, Sources};
use crate::base::finding::Finding;
use crate::flux::source::generator::stop::Stop;
use crate::kube::Object;
use crate::kustomize::FAILED_BUILD;
use crate::text::Span;
use crate::yaml::Node;

/// The rule about references to undefined sources.
pub const DANGLING_SOURCE: &str = "dangling-source";

/// The maximum depth of sources that include or copy from other sources.
const MAX_DEPTH: usize = 16;

/// Resolves a reference to a source, and the sources that this source includes or copies from.
pub(super) struct Resolver<'a> {
    pub(super) sources: &'a Sources,
    pub(super) lookup: &'a dyn Lookup,
    /// The references under resolution, the outermost first.
    open: Vec<SourceRef>,
    /// The resolved references. Without this cache, shared sources would be resolved repeatedly.
    known: BTreeMap<SourceRef, Resolution>,
}

impl Sources {
    /// Resolves a source to its artifact.
    pub fn resolve(&self, source: &SourceRef, lookup: &dyn Lookup) -> Resolution {
        Resolver::new(self, lookup).resolve(source)
    }
}

impl<'a> Resolver<'a> {
    pub(super) fn new(sources: &'a Sources, lookup: &'a dyn Lookup) -> Self {
        Self { sources, lookup, open: Vec::new(), known: BTreeMap::new() }
    }

    pub(super) fn resolve(&mut self, reference: &SourceRef) -> Resolution {
        if &*reference.kind == "ExternalArtifact" {
            return self.generated(reference).map_or_else(|resolution| resolution, Resolution::Artifact);
        }
        let Some(source) = self.lookup.source(reference) else { return Resolution::Missing };
        let (sources, own) = (self.sources, self.lookup.own(reference));
        let resolved = if includes_of(reference, &source).is_empty() {
            sources.simple(&source, own.clone(), || self.fetched(reference, &source, own.as_deref()))
        } else {
            self.fetched(reference, &source, own.as_deref())
        };
        resolved.map_or_else(|resolution| resolution, Resolution::Artifact)
    }

    /// Resolves a source that `at` references from another source. Without an artifact, the resolution of the other
    /// source, which contains the reference, also fails.
    pub(super) fn part(&mut self, reference: &SourceRef, at: &Span) -> Result<Arc<Artifact>, Resolution> {
        if let Some(first) = self.open.iter().position(|open| open == reference) {
            let circle = self.open.iter().skip(first).chain([reference]);
            let names: Vec<String> = circle.map(|source| format!("`{source}`")).collect();
            let message = format!("these sources form a cycle: {}", names.join(" → "));
            return Err(failed(at, message, "remove one of the references; none of the sources ever becomes ready"));
        }
        if self.open.len() >= MAX_DEPTH {
            let message = format!("sources reference each other more than {MAX_DEPTH} levels deep");
            return Err(failed(at, message, "reference one of the first sources of the chain directly"));
        }
        let known = self.known.get(reference).cloned();
        let resolution = known.unwrap_or_else(|| self.resolve(reference));
        self.known.insert(reference.clone(), resolution.clone());
        match resolution {
            Resolution::Artifact(artifact) => Ok(artifact),
            Resolution::Missing if self.lookup.may_bring(&reference.namespace) => {
                Err(Resolution::Unknown(format!("it depends on the unknown source `{reference}`").into()))
            }
            Resolution::Missing => {
                let message =
                    format!("the source `{reference}`, which this source references, is not defined on the cluster");
                let finding = Finding::error(DANGLING_SOURCE, at.clone(), message);
                Err(Resolution::Failed(vec![finding.help("correct the name, or add the source")]))
            }
            other => Err(other),
        }
    }

    /// The artifact of a GitRepository, an OCIRepository or a Bucket.
    fn fetched(&mut self, reference: &SourceRef, source: &Object, own: Option<&str>) -> Fetched {
        let unknown = |why: &str| Resolution::Unknown(why.into());
        let Some(recipe) = Recipe::of(source) else {
            return Err(unknown("its ignored files are unknown"));
        };
        let (id, files) = match (own, Origin::of(source)) {
            (Some(folder), _) => self.sources.own(folder),
            (None, None) => return Err(unknown("its address is unknown")),
            (None, Some(origin)) => {
                self.sources.copy_of(&origin).ok_or_else(|| Resolution::NoCopy(origin.shown().into()))?
            }
        };
        self.open.push(reference.clone());
        let includes = self.includes(reference, source);
        self.open.pop();
        let includes = includes?;
        let parts: Vec<String> = includes.iter().map(Include::key).collect();
        let id = format!("{id}\n{}\n{}", recipe.key(), parts.join("\n"));
        let artifact = self.sources.make(&id, || recipe.pack(&files, &includes)).map_err(Resolution::Failed)?;
        artifact.made_of(&files);
        Ok(artifact)
    }

    /// The artifact of an ExternalArtifact, which an ArtifactGenerator creates.
    fn generated(&mut self, reference: &SourceRef) -> Result<Arc<Artifact>, Resolution> {
        let name = &*reference.name;
        // The failed generator may be the creator of the artifact. Report the failure only if no other generator
        // creates the artifact.
        let mut reason = None;
        for object in self.lookup.generators(&reference.namespace) {
            let names = self.sources.names_of(&object);
            if !names.may_have(name) {
                continue;
            }
            match self.make(reference, &object, &names) {
                Ok(made) => match (made.artifacts.get(name), &made.stopped) {
                    (Some(artifact), _) => return Ok(artifact.clone()),
                    (None, Some(stop)) => reason = reason.or(Some(stop.clone().into())),
                    (None, None) => {}
                },
                Err(resolution) => reason = reason.or(Some(resolution)),
            }
        }
        Err(reason.unwrap_or_else(|| match self.lookup.source(reference) {
            Some(_) => Resolution::Unknown("a third-party controller creates it".into()),
            None => Resolution::Missing,
        }))
    }

    fn make(&mut self, reference: &SourceRef, object: &Object, names: &Names) -> Result<Arc<Made>, Resolution> {
        let generator = Generator::read(object, names)?;
        self.open.push(reference.clone());
        let sources = self.sources_of(&generator);
        self.open.pop();
        let sources = sources?;
        Ok(self.sources.generate(&Generator::key(names, &sources), || generator.make(&sources)))
    }

    fn sources_of(&mut self, generator: &Generator) -> Result<BTreeMap<String, Arc<Artifact>>, Resolution> {
        let mut sources = BTreeMap::new();
        for Source { alias, place, reference } in &generator.sources {
            if &*reference.kind == "HelmChart" {
                return Err(Resolution::Unknown("it copies from a HelmChart, which is not fetched".into()));
            }
            let artifact = self.part(reference, place.span())?;
            sources.insert(alias.text().unwrap_or_default().to_owned(), artifact);
        }
        Ok(sources)
    }

    fn includes<'o>(&mut self, reference: &SourceRef, source: &'o Object) -> Result<Vec<Include<'o>>, Resolution> {
        let mut includes = Vec::new();
        for node in includes_of(reference, source) {
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

/// The items of `spec.include`.
fn includes_of<'o>(reference: &SourceRef, source: &'o Object) -> &'o [Node] {
    let said = source.node.at_keys(&["spec", "include"]).filter(|_| &*reference.kind == "GitRepository");
    said.map(Node::items).unwrap_or_default()
}

impl From<Stop> for Resolution {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Failed(findings) => Self::Failed(findings),
            Stop::Unknown(why) => Self::Unknown(why),
        }
    }
}

fn failed(at: &Span, message: String, help: &str) -> Resolution {
    Resolution::Failed(vec![Finding::error(FAILED_BUILD, at.clone(), message).help(help)])
}
