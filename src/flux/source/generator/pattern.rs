//! The directories that `pathPattern` matches, and their captures.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use regex::Regex;

use super::fields::shown;
use super::stop::Stop;
use crate::flux::source::artifact::Artifact;
use crate::text::{Tree, folder_of};
use crate::yaml::Node;

/// The captures of one directory, by name.
pub(super) type Captures = BTreeMap<String, String>;

/// A pattern and its source.
#[derive(Debug)]
pub(super) struct Pattern<'a> {
    node: &'a Node,
    names: Vec<String>,
    regex: Regex,
    artifact: Arc<Artifact>,
}

/// A part of a text with captures.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Capture(&'a str),
}

impl<'a> Pattern<'a> {
    /// Parses a pattern such as `@alias/apps/{app}`.
    pub(super) fn read(node: &'a Node, sources: &BTreeMap<String, Arc<Artifact>>) -> Result<Self, Stop> {
        let refuse = |message: String, help: &str| Stop::failed(node.span(), message, help);
        let split = shown(node).strip_prefix('@').and_then(|rest| rest.split_once('/'));
        let (alias, path) = split.ok_or_else(|| {
            refuse(format!("`{}` is not a pattern for a source", shown(node)), "use `@alias/path/{name}`")
        })?;
        let artifact = sources.get(alias).cloned();
        let artifact = artifact
            .ok_or_else(|| refuse(format!("no source has the alias `{alias}`"), "use the alias of one of `sources`"))?;
        let pieces = pieces(path).map_err(|message| refuse(message, CAPTURES))?;
        let mut names: Vec<String> = Vec::new();
        let mut regex = String::from("^");
        for piece in pieces {
            match piece {
                Piece::Text(text) => regex.push_str(&regex::escape(text)),
                Piece::Capture(name) if names.iter().any(|known| known == name) => {
                    return Err(refuse(
                        format!("duplicate capture `{{{name}}}` in the pattern"),
                        "give each capture a unique name",
                    ));
                }
                Piece::Capture(name) if name.len() > 63 || name.starts_with('_') || name.ends_with('_') => {
                    return Err(refuse(
                        format!("`{name}` is not a valid label name, and captures become labels"),
                        CAPTURES,
                    ));
                }
                Piece::Capture(name) => {
                    names.push(name.to_owned());
                    regex.push_str("([^/]+)");
                }
            }
        }
        regex.push('$');
        let regex = Regex::new(&regex).map_err(|_| Stop::Unknown("its pattern is too long".into()))?;
        Ok(Self { node, names, regex, artifact })
    }

    /// The matching directories in walk order, with their captures.
    pub(super) fn find(&self) -> Result<Vec<(String, Captures)>, Stop> {
        let mut found = Vec::new();
        for folder in folders(self.artifact.files().tree()) {
            let Some(groups) = self.regex.captures(&folder) else { continue };
            let values = groups.iter().skip(1).map(|value| value.map_or("", |value| value.as_str()).to_owned());
            let captures: Captures = self.names.iter().cloned().zip(values).collect();
            if let Some(value) = captures.values().find(|value| !is_label_value(&value.to_lowercase())) {
                let message = format!("the capture `{value}` of directory `{folder}` is not a valid label value");
                return Err(Stop::failed(
                    self.node.span(),
                    message,
                    "rename the directory; captures become labels of the artifact",
                ));
            }
            found.push((folder, captures));
        }
        Ok(found)
    }
}

const CAPTURES: &str = "write a capture as `{name}`, with letters, digits and `_`";

/// Replaces the captures in a text. `lower` converts the captures to lower case, for names.
pub(super) fn fill(node: &Node, captures: &Captures, lower: bool) -> Result<String, Stop> {
    let pieces = pieces(shown(node)).map_err(|message| Stop::failed(node.span(), message, CAPTURES))?;
    let mut filled = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Capture(name) => {
                let value = captures.get(name).ok_or_else(|| {
                    let message = format!("the pattern has no capture `{name}`");
                    Stop::failed(node.span(), message, "use one of the captures of `pathPattern`")
                })?;
                if lower { filled.push_str(&value.to_lowercase()) } else { filled.push_str(value) }
            }
        }
    }
    Ok(filled)
}

fn pieces(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut left = text;
    while let Some(at) = left.find(['{', '}']) {
        let (before, brace) = left.split_at(at);
        let Some((name, rest)) = brace.strip_prefix('{').and_then(|inside| inside.split_once('}')) else {
            return Err(format!("unbalanced brace in `{text}`"));
        };
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !begins || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(format!("`{{{name}}}` is not a valid capture"));
        }
        pieces.extend([Piece::Text(before), Piece::Capture(name)]);
        left = rest;
    }
    pieces.push(Piece::Text(left));
    Ok(pieces)
}

/// The directories of a tree in walk order.
fn folders(tree: &Tree) -> Vec<String> {
    let mut folders: BTreeSet<Vec<&str>> = BTreeSet::new();
    let mut last = "";
    for (path, _) in tree.entries() {
        let mut folder = folder_of(path);
        if folder == last {
            continue;
        }
        last = folder;
        while !folder.is_empty() && folders.insert(folder.split('/').collect()) {
            folder = folder_of(folder);
        }
    }
    folders.into_iter().map(|segments| segments.join("/")).collect()
}

fn is_label_value(text: &str) -> bool {
    let ends = |character: Option<char>| character.is_some_and(|character| character.is_ascii_alphanumeric());
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.is_empty()
        || (text.len() <= 63 && ends(text.chars().next()) && ends(text.chars().last()) && text.bytes().all(inner))
}
