//! Which artifacts an ArtifactGenerator makes: those that it lists, or those for each folder that a pattern finds.

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

/// More artifacts than this are not made.
const MAX_OUTPUTS: usize = 20_000;

/// An artifact to be made.
#[derive(Debug)]
pub(super) struct Output<'a> {
    pub(super) name: String,
    /// Where the name is said.
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

/// What an ArtifactGenerator makes, in order.
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
                let message = format!("`{folder}` would make the artifact `{}`, which is no name", output.name);
                return Err(Stop::failed(output.place.span(), message, NO_NAME));
            }
            if let Some(first) = seen.insert(output.name.clone(), folder.clone()) {
                let message = format!("`{first}` and `{folder}` would both make the artifact `{}`", output.name);
                let help = "put more of what the pattern captures into the name; the controller makes none of them";
                return Err(Stop::failed(output.place.span(), message, help));
            }
            if outputs.len() >= MAX_OUTPUTS {
                return Err(Stop::Unknown(
                    format!("its ArtifactGenerator makes more than {MAX_OUTPUTS} artifacts").into(),
                ));
            }
            outputs.push(output);
        }
    }
    Ok(outputs)
}

const NO_NAME: &str = "names of objects are lower case letters, digits, `-` and `.`; the controller makes none of them";

/// What the controller refuses before it looks at its sources.
fn check(said: &[Node], has_pattern: bool, sources: &BTreeMap<String, Arc<Artifact>>) -> Result<(), Stop> {
    let mut seen: BTreeMap<&str, &Node> = BTreeMap::new();
    for item in said {
        let name = required(item, "name")?;
        if let Some(first) = seen.insert(shown(name), name) {
            let message = format!("artifact `{}` is made twice", shown(name));
            let finding = Finding::error(FAILED_BUILD, name.span().clone(), message);
            let finding = finding.help("give each its own name: the controller makes none of them");
            return Err(Stop::Failed(vec![finding.related(first.span().clone(), "the first one")]));
        }
        if !has_pattern && !is_name(shown(name)) {
            return Err(Stop::failed(name.span(), format!("`{}` is no name of an object", shown(name)), NO_NAME));
        }
        let revision = item.get("revision").filter(|revision| !shown(revision).is_empty());
        if let Some(revision) = revision {
            let alias = shown(revision).trim_start_matches('@');
            if !sources.contains_key(alias) {
                let message = format!("no source has the alias `{alias}`");
                return Err(Stop::failed(revision.span(), message, "name one of `sources` by its alias"));
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

/// Tells whether a text can name an object.
fn is_name(text: &str) -> bool {
    let is_label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && !label.starts_with('-') && !label.ends_with('-') && label.bytes().all(inner)
    };
    text.len() <= 253 && text.split('.').all(is_label)
}
