//! The artifacts of an ArtifactGenerator: the listed artifacts, or one artifact for each directory that `pathPattern`
//! matches.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fields::{items, required, shown};
use super::pattern::{Captures, Pattern, fill};
use super::stop::Stop;
use crate::base::finding::Finding;
use crate::flux::source::artifact::Artifact;
use crate::kube::Object;
use crate::kustomize::FAILED_BUILD;
use crate::yaml::Node;

/// The maximum number of artifacts of a generator.
const MAX_OUTPUTS: usize = 20_000;

/// An artifact to create.
#[derive(Debug)]
pub(super) struct Output<'a> {
    pub(super) name: String,
    /// The node of the name.
    pub(super) place: &'a Node,
    pub(super) copies: Vec<Copy<'a>>,
}

/// One copy.
#[derive(Debug)]
pub(super) struct Copy<'a> {
    pub(super) node: &'a Node,
    pub(super) from: String,
    pub(super) to: String,
}

/// The artifacts of an ArtifactGenerator, in order.
pub(super) fn outputs<'a>(
    object: &'a Object,
    sources: &BTreeMap<String, Arc<Artifact>>,
) -> Result<Vec<Output<'a>>, Stop> {
    let said = items(object, &["spec", "artifacts"]);
    let pattern = object.node.at_keys(&["spec", "pathPattern"]).filter(|pattern| !shown(pattern).is_empty());
    check(said, pattern.is_some(), sources)?;
    let Some(node) = pattern else {
        return said.iter().map(|item| output(item, None)).collect();
    };
    let mut outputs: Vec<Output> = Vec::new();
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for (folder, captures) in Pattern::read(node, sources)?.find()? {
        for item in said {
            let output = output(item, Some(&captures))?;
            if !is_name(&output.name) {
                let message = format!("the artifact name `{}` for `{folder}` is not a valid object name", output.name);
                return Err(Stop::failed(output.place.span(), message, NO_NAME));
            }
            if let Some(first) = seen.insert(output.name.clone(), folder.clone()) {
                let message = format!("`{first}` and `{folder}` both define the artifact `{}`", output.name);
                let help = "use more captures of the pattern in the name; the controller creates none of the artifacts";
                return Err(Stop::failed(output.place.span(), message, help));
            }
            if outputs.len() >= MAX_OUTPUTS {
                let message = format!("this ArtifactGenerator defines more than {MAX_OUTPUTS} artifacts");
                return Err(Stop::failed(node.span(), message, "use a pattern that matches fewer directories"));
            }
            outputs.push(output);
        }
    }
    Ok(outputs)
}

const NO_NAME: &str = "use lower-case letters, digits, `-` and `.`; the controller creates none of the artifacts";

/// Validates the artifacts as the controller does before it fetches the sources.
fn check(said: &[Node], has_pattern: bool, sources: &BTreeMap<String, Arc<Artifact>>) -> Result<(), Stop> {
    let mut seen: BTreeMap<&str, &Node> = BTreeMap::new();
    for item in said {
        let name = required(item, "name")?;
        if let Some(first) = seen.insert(shown(name), name) {
            let message = format!("duplicate artifact `{}`", shown(name));
            let finding = Finding::error(FAILED_BUILD, name.span().clone(), message);
            let finding =
                finding.help("give each artifact a unique name; the controller creates none of the artifacts");
            return Err(Stop::Failed(vec![finding.related(first.span().clone(), "the first artifact with this name")]));
        }
        if !has_pattern && !is_name(shown(name)) {
            return Err(Stop::failed(name.span(), format!("`{}` is not a valid object name", shown(name)), NO_NAME));
        }
        let revision = item.get("revision").filter(|revision| !shown(revision).is_empty());
        if let Some(revision) = revision {
            let alias = shown(revision).trim_start_matches('@');
            if !sources.contains_key(alias) {
                let message = format!("no source has the alias `{alias}`");
                return Err(Stop::failed(revision.span(), message, "use the alias of one of `sources`"));
            }
        }
    }
    Ok(())
}

fn output<'a>(item: &'a Node, captures: Option<&Captures>) -> Result<Output<'a>, Stop> {
    let name = required(item, "name")?;
    let text = |node: &Node, lower: bool| match captures {
        Some(captures) => fill(node, captures, lower),
        None => Ok(shown(node).to_owned()),
    };
    let copies = item.get("copy").map(Node::items).unwrap_or_default().iter().map(|node| {
        let (from, to) = (required(node, "from")?, required(node, "to")?);
        Ok(Copy { node, from: text(from, false)?, to: text(to, false)? })
    });
    Ok(Output { name: text(name, true)?, place: name, copies: copies.collect::<Result<_, Stop>>()? })
}

/// Returns whether a text is a valid object name.
fn is_name(text: &str) -> bool {
    let is_label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && !label.starts_with('-') && !label.ends_with('-') && label.bytes().all(inner)
    };
    text.len() <= 253 && text.split('.').all(is_label)
}
