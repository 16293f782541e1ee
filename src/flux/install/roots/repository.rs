//! The Git repositories that roots sync. Most roots of a tree sync the repository of the tree itself.

use std::collections::BTreeMap;

use crate::address::Address;
use crate::flux::object::kinds::is_source;
use crate::kube::{Object, groups};
use crate::yaml::Node;

/// The name of the Git repository that the objects of a bootstrap sync, without its owner and host. Forks and mirrors
/// have the same name.
pub(super) fn repository(objects: &[Object]) -> Option<String> {
    let address = address(objects)?;
    address.rsplit('/').next().map(ToString::to_string).filter(|name| !name.is_empty())
}

/// The address of the Git repository that the objects of a bootstrap sync, in lower case.
pub(super) fn address(objects: &[Object]) -> Option<String> {
    let last = objects.last()?;
    let url = if last.is(groups::FLUX_OPERATOR, "FluxInstance") {
        let field = |key: &str| last.text_at(&["spec", "sync", key]);
        field("url").filter(|_| field("kind").is_none_or(|kind| kind == "GitRepository"))
    } else {
        let source = objects.iter().find(|object| is_source(object) && object.kind() == "GitRepository");
        source.and_then(|source| source.text_at(&["spec", "url"]))
    };
    let url = url.filter(|url| !url.is_empty() && !url.contains(['$', '{', '<']))?;
    Some(Address::new(url).key().to_ascii_lowercase())
}

/// The fields of the revision that the source of a bootstrap selects, such as its branch.
pub(super) fn revision(objects: &[Object]) -> Vec<(String, String)> {
    let source = objects.iter().find(|object| is_source(object) && object.kind() == "GitRepository");
    let fields = source.and_then(|source| source.node.at_keys(&["spec", "ref"])).map_or(&[][..], Node::entries);
    let texts = fields.iter().map(|field| (field.key.to_string(), field.node.text().unwrap_or_default().to_owned()));
    texts.collect()
}

/// The name of more than half of the repositories; `None` if no name is so frequent.
pub(super) fn most_common<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    let all: usize = counts.values().sum();
    counts.into_iter().find(|(_, count)| count * 2 > all).map(|(name, _)| name)
}
