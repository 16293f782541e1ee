//! Names, URLs and directories of repositories.

use super::references::dangling;
use crate::address::Address;
use crate::base::finding::Finding;
use crate::fleet::input::files::Input;
use crate::fleet::merge::levels::Merged;
use crate::fleet::merge::repositories::{OWN_REPOSITORY, Repositories};
use crate::fleet::resolve::derive::kind_of;
use crate::fleet::rule_ids::INVALID_FLEET;
use crate::text::{Span, is_inside, normalize};
use crate::yaml::{Entry, Node};

/// The rule id for repositories that overlap.
const COLLISION: &str = "collision";

pub(super) fn check(input: &Input, merged: &Merged, findings: &mut Vec<Finding>) {
    let repositories = &merged.repositories;
    reserved_name(input, findings);
    overlaps(repositories, findings);
    for repository in repositories.iter() {
        if let Some(url) = repository.get("url").and_then(Node::text) {
            super::sources::provider_fits(repository, kind_of(url), findings);
        }
    }
    let mut known: Vec<&str> = repositories.iter().filter_map(|one| one.get("name")?.text()).collect();
    known.dedup();
    let defaults = input.root.at_keys(&["defaults", "cluster"]);
    let environments = input.root.get("environments").map(Node::entries).unwrap_or_default();
    let levels = defaults.into_iter().chain(environments.iter().map(|entry| &entry.node)).chain(&input.clusters);
    let mut roots: Vec<&Node> = merged.roots.iter().flatten().collect();
    roots.dedup_by(|one, other| reference(one).map(|it| it.0) == reference(other).map(|it| it.0));
    for level in levels.chain(roots) {
        let Some((name, at)) = reference(level) else { continue };
        match repositories.find(name) {
            None => findings.push(dangling(at, format!("unknown repository `{name}`"), name, &known)),
            Some(repository) if !is_rendered(repository) => {
                let message = format!("repository `{name}` has no `path`, so no file of a cluster is rendered into it");
                let help = format!("set its directory in the rendered files, for example `path: repositories/{name}`");
                let finding = Finding::error(INVALID_FLEET, at.clone(), message).help(help);
                findings.push(finding.related(place(repository).clone(), "the repository"));
            }
            Some(_) => {}
        }
    }
    for tenant in &input.tenants {
        let further = tenant.get("sources").map(Node::items).unwrap_or_default();
        for source in tenant.get("source").into_iter().chain(further) {
            let Some((name, at)) = reference(source) else { continue };
            if repositories.find(name).is_none() {
                findings.push(dangling(at, format!("unknown repository `{name}`"), name, &known));
            }
            if let Some(url) = source.entry("url").filter(|url| !url.node.is_null()) {
                let finding = Finding::error(INVALID_FLEET, url.key_span(), "a source has both `url` and `repository`");
                let help = "remove one of them: a repository sets the URL";
                findings.push(finding.related(at.clone(), "the repository").help(help));
            }
        }
    }
}

/// Returns the repository that a level references, with its place.
fn reference(level: &Node) -> Option<(&str, &Span)> {
    let node = level.get("repository")?;
    Some((node.text()?, node.span()))
}

fn is_rendered(repository: &Node) -> bool {
    repository.get("path").is_some_and(|path| !path.is_null())
}

fn place(repository: &Node) -> &Span {
    repository.get("name").unwrap_or(repository).span()
}

fn reserved_name(input: &Input, findings: &mut Vec<Finding>) {
    let named = input.root.get("repositories").map(Node::entries).unwrap_or_default().iter();
    for entry in named.filter(|entry| &*entry.key == OWN_REPOSITORY) {
        let message = format!("`{OWN_REPOSITORY}` is the name of the repository of fleet.yaml");
        let finding = Finding::error(INVALID_FLEET, entry.key_span(), message);
        let own = input.root.entry("repository").map(Entry::key_span);
        let finding = own.into_iter().fold(finding, |finding, own| finding.related(own, "defined here"));
        findings.push(finding.help("choose another name, or change `repository`"));
    }
}

/// Reports repositories with the same URL, and directories inside the directory of another repository.
fn overlaps(repositories: &Repositories, findings: &mut Vec<Finding>) {
    let mut before: Vec<(&Node, &str)> = Vec::new();
    for repository in repositories.iter() {
        let Some(name) = repository.get("name").and_then(Node::text) else { continue };
        let others = before.iter().filter(|(_, other)| *other != name);
        findings.extend(others.clone().find_map(|(other, other_name)| same_url(repository, name, other, other_name)));
        let overlap = others.clone().find_map(|(other, other_name)| overlap(repository, name, other, other_name));
        match overlap {
            Some(finding) => findings.push(finding),
            None => before.push((repository, name)),
        }
    }
}

fn same_url(repository: &Node, name: &str, other: &Node, other_name: &str) -> Option<Finding> {
    let (url, other_url) = (repository.get("url")?, other.get("url")?);
    if Address::new(url.text()?) != Address::new(other_url.text()?) {
        return None;
    }
    let message = format!("repositories `{other_name}` and `{name}` have the same URL");
    let finding = Finding::error(COLLISION, url.span().clone(), message);
    let help = format!("remove `{name}`, and reference `{other_name}` instead");
    Some(finding.related(other_url.span().clone(), "the other repository").help(help))
}

fn overlap(repository: &Node, name: &str, other: &Node, other_name: &str) -> Option<Finding> {
    let (path, other_path) = (repository.get("path")?, other.get("path")?);
    let (folder, outer) = (normalize(path.text()?)?, normalize(other_path.text()?)?);
    // The directory of all rendered files may contain the others.
    let is_below_all = other_name == OWN_REPOSITORY && outer.is_empty() && !folder.is_empty();
    if is_below_all || !(is_inside(&folder, &outer) || is_inside(&outer, &folder)) {
        return None;
    }
    let message = format!("the directories of repositories `{other_name}` and `{name}` overlap");
    let finding = Finding::error(COLLISION, path.span().clone(), message);
    let help = format!("set a directory of its own, for example `path: repositories/{name}`");
    Some(finding.related(other_path.span().clone(), "the other directory").help(help))
}
