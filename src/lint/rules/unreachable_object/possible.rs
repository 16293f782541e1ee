//! The directories that a cluster possibly reaches.

use std::collections::{BTreeMap, BTreeSet};

use super::variants::Variants;
use crate::flux::{ApplierKind, State, is_kustomization};
use crate::kube::{Object, groups};
use crate::lint::facts::distinct::written_position;
use crate::lint::facts::paths::{prefixes, segment_runs};
use crate::lint::facts::reached::ReachedFiles;
use crate::lint::fleet::Fleet;
use crate::text::{folder_of, normalize};
use crate::yaml::Node;

/// The directories that a cluster may reach, each with the object or file that makes it possible.
///
/// It is a Kustomization that an unbuilt input may contain, or it contains a template from which a controller or a user
/// creates a Kustomization. Or a Kustomization applies it with another value of a setting.
pub(super) struct PossiblyReached {
    found: BTreeMap<String, String>,
    variants: Variants,
}

impl PossiblyReached {
    /// `applied` are the directories that the clusters apply.
    pub(super) fn of<'a>(fleet: &Fleet<'a>, reached: &ReachedFiles<'a>, applied: &BTreeSet<&str>) -> Self {
        let variants = Variants::of(fleet.repo, reached);
        let objects = || fleet.repo.objects.iter().map(|built| &built.object).chain(&fleet.repo.aside);
        // The paths of the Kustomizations in each directory, at any root of a source.
        let mut inside: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut open: Vec<(String, String)> = Vec::new();
        for object in objects().filter(|object| is_kustomization(object) && !reached.receives(object)) {
            let Some(leads) = object.text_at(&["spec", "path"]).and_then(normalize).filter(|path| !path.is_empty())
            else {
                continue;
            };
            if reached.may_reach(object) {
                open.push((leads, object.reference().to_string()));
            } else if let Some(by) = variants.by(folder_of(written_position(object).1)) {
                open.push((leads, by.to_owned()));
            } else {
                let runs = segment_runs(folder_of(written_position(object).1));
                runs.for_each(|run| inside.entry(run).or_default().push(leads.clone()));
            }
        }
        for object in objects().filter(|object| may_contain_template(object) && reached.may_reach(object)) {
            let mut paths = BTreeSet::new();
            add_paths(&object.node, &mut paths);
            open.extend(paths.into_iter().map(|path| (path, object.reference().to_string())));
        }
        // The inputs of these ResourceSets are not known.
        let appliers = fleet.repo.clusters.iter().flat_map(|cluster| &cluster.appliers);
        let unbuilt = appliers.filter(|one| one.kind == ApplierKind::ResourceSet && one.state != State::Built);
        let unbuilt: BTreeMap<(&str, u32, u32), &Object> = unbuilt
            .filter_map(|applier| applier.object.as_ref())
            .map(|object| (object.node.span().order(), object))
            .collect();
        for object in unbuilt.into_values() {
            let mut paths = BTreeSet::new();
            add_paths(&object.node, &mut paths);
            open.extend(paths.into_iter().map(|path| (path, object.reference().to_string())));
        }
        // The build of an applier decides which objects of its directory the cluster receives, not a template.
        let templates = fleet.repo.other_programs.template_paths().filter(|(path, _)| !applied.contains(path));
        open.extend(templates.map(|(path, file)| (path.to_owned(), format!("the template `{file}`"))));
        let mut found = BTreeMap::new();
        while let Some((folder, by)) = open.pop() {
            open.extend(inside.remove(&*folder).unwrap_or_default().into_iter().map(|leads| (leads, by.clone())));
            found.entry(folder).or_insert(by);
        }
        Self { found, variants }
    }

    /// The object or file that makes it possible that a cluster reaches a directory.
    pub(super) fn by(&self, folder: &str) -> Option<&str> {
        let known = segment_runs(folder).find_map(|run| self.found.get(run)).map(String::as_str);
        known.or_else(|| self.variants.by(folder))
    }
}

/// Returns whether an object may contain a template of a Kustomization.
///
/// A cluster receives the objects of ResourceSets, and Flux objects and definitions contain no templates.
fn may_contain_template(object: &Object) -> bool {
    let without = ["apiextensions.k8s.io", groups::FLUX_OPERATOR, groups::KUSTOMIZE, groups::SOURCE];
    !without.contains(&object.group())
}

/// Adds the paths of the Kustomizations that an object contains, such as those of the templates of kro and Crossplane.
fn add_paths(node: &Node, paths: &mut BTreeSet<String>) {
    let is_of_flux = |version: &str| version.starts_with(groups::KUSTOMIZE);
    if node.get("apiVersion").and_then(Node::text).is_some_and(is_of_flux) {
        paths.extend(node.at_keys(&["spec", "path"]).and_then(Node::text).and_then(known_part));
    }
    if let Some(text) = node.text().filter(|text| text.contains(groups::KUSTOMIZE)) {
        let values = text.lines().filter_map(|line| line.trim_start().strip_prefix("path:"));
        paths.extend(values.filter_map(|value| known_part(value.trim().trim_matches(['"', '\'']))));
    }
    node.entries().iter().for_each(|entry| add_paths(&entry.node, paths));
    node.items().iter().for_each(|item| add_paths(item, paths));
}

/// The part of a path before the first expression.
fn known_part(path: &str) -> Option<String> {
    let end = path
        .find(['$', '{', '<', '('])
        .map_or(path.len(), |at| path.get(..at).and_then(|start| start.rfind('/')).unwrap_or(0));
    path.get(..end).and_then(normalize).filter(|path| !path.is_empty())
}

/// The directories with a FluxInstance whose synced part of the directory is unknown: a program fills in the path, or users
/// copy the directory to the synced repository.
pub(super) fn folders_of_open_instances<'a>(fleet: &Fleet<'a>, reached: &ReachedFiles<'a>) -> Vec<&'a str> {
    let objects = fleet.repo.objects.iter().map(|built| &built.object).chain(&fleet.repo.aside);
    let instances = objects.filter(|object| object.is(groups::FLUX_OPERATOR, "FluxInstance"));
    let folders = instances.filter_map(|object| {
        let (path, folder) = (object.text_at(&["spec", "sync", "path"])?, folder_of(written_position(object).1));
        if is_filled_in(path) && !reached.receives(object) {
            let home = folder.strip_suffix(groups::FLUX_NAMESPACE).map_or(folder, |home| home.trim_end_matches('/'));
            return Some(home);
        }
        copied_from(fleet, folder, &normalize(path)?)
    });
    folders.filter(|folder| !folder.is_empty()).collect()
}

/// The directory of a FluxInstance that is the end of a synced path which this repository does not have: `flux` of
/// `gitops/flux`.
fn copied_from<'a>(fleet: &Fleet<'_>, folder: &'a str, synced: &str) -> Option<&'a str> {
    let is_end = |above: &&str| synced.strip_suffix(above).is_some_and(|rest| rest.ends_with('/'));
    let sources = fleet.repo.sources.as_ref()?;
    prefixes(folder).find(is_end).filter(|_| !sources.repository_files().tree().has_folder(synced))
}

/// Returns whether a program replaces a path, or a part of it.
fn is_filled_in(path: &str) -> bool {
    path.contains(['$', '<', '{']) || (path.len() > 4 && path.starts_with("__") && path.ends_with("__"))
}
