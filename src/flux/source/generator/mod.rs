//! ArtifactGenerators, from which source-watcher creates artifacts with copies of other artifacts' files.

mod merge;
mod paths;
mod exclude;
mod globs;
#[cfg(test)]
mod oracle;
pub(super) mod stop;
mod fields;
mod pattern;
mod output;
mod copy;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::finding::Finding;
use crate::flux::source::artifact::Artifact;
use crate::flux::source::digest::digest;
use crate::flux::source::ignore::Ignore;
use crate::flux::source::reference::SourceRef;
use crate::kube::Object;
use crate::kustomize::{FAILED_BUILD, Files};
use crate::yaml::{Name, Node, Reader, to_json};
use arcstr::ArcStr;
use copy::Stage;
use fields::{has_unknown, items, name_of, required, shown};
use output::{Output, outputs};
use stop::Stop;

/// The annotation that disables an ArtifactGenerator.
const RECONCILE: &str = "source.extensions.fluxcd.io/reconcile";

/// The known fields of an ArtifactGenerator by level. An unknown field may change the artifacts.
const SPEC: [&str; 4] = ["commonMetadata", "sources", "pathPattern", "artifacts"];
const SOURCE: [&str; 4] = ["alias", "name", "namespace", "kind"];
const ARTIFACT: [&str; 4] = ["name", "revision", "originRevision", "copy"];
const COPY: [&str; 4] = ["from", "to", "exclude", "strategy"];

/// The artifact names of an ArtifactGenerator, as far as the names are known without the sources.
///
/// The names are read once, since every Kustomization with an ExternalArtifact looks up the names.
#[derive(Debug)]
pub(super) struct Names {
    /// The digest of the spec and the position of the spec.
    said: ArcStr,
    /// The reason why the artifacts are unknown, if they are unknown.
    refused: Option<Stop>,
    whole: BTreeSet<Name>,
    /// The prefix and suffix of names with captures.
    parts: Vec<(String, String)>,
}

impl Names {
    pub(super) fn of(object: &Object) -> Self {
        let spec = object.node.get("spec");
        let said = spec.map(|spec| to_json(spec, Reader::Core).to_string()).unwrap_or_default();
        let span = object.span();
        let said = digest(&format!("{:?} {} {:?}\n{said}", span.file().root(), span.file().path(), span.range()));
        let refused = if spec.is_some_and(has_unknown) {
            Some(Stop::Unknown("its ArtifactGenerator has unknown values".into()))
        } else {
            only_known(object).err()
        };
        let has_pattern = object.text_at(&["spec", "pathPattern"]).is_some_and(|pattern| !pattern.is_empty());
        let (mut whole, mut parts) = (BTreeSet::new(), Vec::new());
        for name in items(object, &["spec", "artifacts"]).iter().filter_map(|output| output.get("name")?.shared_text())
        {
            let ends = name.split_once('{').zip(name.rsplit_once('}')).filter(|_| has_pattern);
            match ends.map(|((start, _), (_, end))| (start.to_owned(), end.to_owned())) {
                Some(ends) => parts.push(ends),
                None => {
                    whole.insert(name);
                }
            }
        }
        Self { said, refused, whole, parts }
    }

    /// Returns whether the generator may create an artifact with a name.
    pub(super) fn may_have(&self, name: &str) -> bool {
        let fits = |(start, end): &(String, String)| {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        };
        self.whole.contains(name) || self.parts.iter().any(fits)
    }
}

/// A source of an ArtifactGenerator.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) alias: &'a Node,
    /// The node of the source's name.
    pub(super) place: &'a Node,
    pub(super) reference: SourceRef,
}

/// An ArtifactGenerator.
#[derive(Debug)]
pub(super) struct Generator<'a> {
    object: &'a Object,
    pub(super) sources: Vec<Source<'a>>,
}

/// The artifacts of a generator, and the reason if the generator stopped early.
#[derive(Debug, Default)]
pub(super) struct Generated {
    pub(super) artifacts: BTreeMap<String, Files>,
    pub(super) stopped: Option<Stop>,
}

impl<'a> Generator<'a> {
    /// Reads an ArtifactGenerator; an error if the generator is disabled, or if the sources are invalid.
    pub(super) fn read(object: &'a Object, names: &Names) -> Result<Self, Stop> {
        let is_disabled = object.annotation(RECONCILE);
        if is_disabled.is_some_and(|value| value.eq_ignore_ascii_case("disabled")) {
            return Err(Stop::Unknown(
                "an annotation disables its ArtifactGenerator, which keeps its last artifacts".into(),
            ));
        }
        if let Some(refused) = &names.refused {
            return Err(refused.clone());
        }
        let mut sources: Vec<Source> = Vec::new();
        for item in items(object, &["spec", "sources"]) {
            let (alias, name) = (required(item, "alias")?, required(item, "name")?);
            if let Some(first) = sources.iter().find(|source| source.alias.text() == alias.text()) {
                let message = format!("two sources have the alias `{}`", shown(alias));
                let help = "give each source a unique alias; the controller creates none of the artifacts";
                let finding = Finding::error(FAILED_BUILD, alias.span().clone(), message).help(help);
                return Err(Stop::Failed(vec![
                    finding.related(first.alias.span().clone(), "the first source with this alias"),
                ]));
            }
            let namespace = item.get("namespace").and_then(Node::text).filter(|text| !text.is_empty());
            let namespace = namespace.or_else(|| object.namespace()).unwrap_or_default();
            let kind = required(item, "kind")?;
            let reference = SourceRef { kind: name_of(kind), namespace: namespace.into(), name: name_of(name) };
            sources.push(Source { alias, place: name, reference });
        }
        Ok(Self { object, sources })
    }

    /// The digest input of the generator's artifacts: the spec, the position of the spec, and the artifacts of the
    /// sources.
    pub(super) fn key(names: &Names, sources: &BTreeMap<String, Arc<Artifact>>) -> String {
        let sources: Vec<&str> = sources.values().map(|artifact| &*artifact.id).collect();
        format!("{}\n{}", names.said, sources.join("\n"))
    }

    /// Creates the artifacts in order, until an artifact fails.
    pub(super) fn make(&self, sources: &BTreeMap<String, Arc<Artifact>>) -> Generated {
        let mut generated = Generated::default();
        let mut stages = copy::Budget::default();
        let made = outputs(self.object, sources).and_then(|outputs| {
            for Output { name, place, copies } in outputs {
                if let Some(source) = self.sources.iter().find(|source| source.alias.text() == Some(&name)) {
                    let message = format!("artifact `{name}` has the name of the source alias `{name}`");
                    let help = "rename the alias; the controller packs the artifact in the directory of that source, and \
                                truncates each file that it copies onto itself";
                    let finding = Finding::error(FAILED_BUILD, place.span().clone(), message).help(help);
                    return Err(Stop::Failed(vec![finding.related(source.alias.span().clone(), "the alias")]));
                }
                let mut stage = Stage::new(sources, &mut stages);
                for copy in &copies {
                    stage.apply(copy)?;
                }
                // The controller matches ignore patterns against paths that start with the name of the artifact.
                let ignore = Ignore::defaults();
                let files = stage.finish(|path| !ignore.leaves_out(&format!("{name}/{path}")));
                generated.artifacts.insert(name, files);
            }
            Ok(())
        });
        generated.stopped = made.err();
        generated
    }
}

/// Stops at an unknown field, for example of a later version of the API.
fn only_known(object: &Object) -> Result<(), Stop> {
    let spec = object.node.get("spec");
    let (sources, artifacts) = (items(object, &["spec", "sources"]), items(object, &["spec", "artifacts"]));
    let copies = artifacts.iter().filter_map(|artifact| artifact.get("copy")).flat_map(Node::items);
    let said = spec.into_iter().map(|node| (node, &SPEC));
    let said = said.chain(sources.iter().map(|node| (node, &SOURCE)));
    let said = said.chain(artifacts.iter().map(|node| (node, &ARTIFACT))).chain(copies.map(|node| (node, &COPY)));
    for (node, known) in said {
        if let Some(entry) = node.entries().iter().find(|entry| !known.contains(&&*entry.key)) {
            let why = format!("its ArtifactGenerator has the unknown field `{}`", entry.key);
            return Err(Stop::Unknown(why.into()));
        }
    }
    Ok(())
}
