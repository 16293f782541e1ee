//! The words of objects from which policies and controllers create other objects.

use std::collections::BTreeMap;

use crate::flux::{Applied, has_word};
use crate::yaml::Node;

/// The words of the templates and policies of a cluster.
#[derive(Debug, Default)]
pub(crate) struct GeneratorWords<'a> {
    pub(crate) templates: Words<'a>,
    pub(crate) policies: Words<'a>,
}

/// An index of objects by the words in parts of them.
#[derive(Debug, Default)]
pub(crate) struct Words<'a> {
    /// The first object with each word of letters and digits.
    first: BTreeMap<&'a str, Applied<'a>>,
    objects: Vec<(Applied<'a>, Vec<&'a Node>)>,
}

impl<'a> Words<'a> {
    /// Indexes objects, each with the parts whose words count.
    pub(crate) fn of(objects: impl Iterator<Item = (Applied<'a>, Vec<&'a Node>)>) -> Self {
        let objects: Vec<(Applied<'a>, Vec<&'a Node>)> = objects.collect();
        let mut first = BTreeMap::new();
        for (object, parts) in &objects {
            let mut open = parts.clone();
            while let Some(node) = open.pop() {
                let keys = node.entries().iter().map(|entry| &*entry.key);
                for word in node.text().into_iter().chain(keys).flat_map(|text| text.split(|c| !is_of_word(c))) {
                    first.entry(word).or_insert(*object);
                }
                open.extend(node.items().iter().chain(node.entries().iter().map(|entry| &entry.node)));
            }
        }
        Self { first, objects }
    }

    /// The first object with a word in one of its parts.
    pub(crate) fn find(&self, word: &str) -> Option<Applied<'a>> {
        if !word.is_empty() && word.chars().all(is_of_word) {
            return self.first.get(word).copied();
        }
        // The name of a label has several words.
        let has = |(_, parts): &&(Applied<'a>, Vec<&'a Node>)| parts.iter().any(|part| mentions(part, word));
        self.objects.iter().find(has).map(|(object, _)| *object)
    }
}

/// Returns whether a character is a part of a word, as [`has_word`] sees words.
fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

/// Returns whether a text or a key of a node contains a word.
pub(crate) fn mentions(node: &Node, word: &str) -> bool {
    node.text().is_some_and(|text| has_word(text, word))
        || node.items().iter().any(|item| mentions(item, word))
        || node.entries().iter().any(|entry| has_word(&entry.key, word) || mentions(&entry.node, word))
}
