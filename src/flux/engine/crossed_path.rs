//! Kustomizations of one cluster that apply the directory of another cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::finding::{Finding, Label, ObjectRef};
use crate::flux::cluster::applier::Applier;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::model::applier_kind::{ApplierKind, State};
use crate::flux::object::kustomization_path::below;
use crate::kube::Object;
use crate::kustomize::FILE_NAMES;
use crate::text::{Index, Tree, is_inside};
use crate::yaml::Node;

/// The id of the rule for these Kustomizations.
const PATH_OF_OTHER_CLUSTER: &str = "path-of-other-cluster";

/// A Kustomization on a cluster.
type User<'a> = (&'a Cluster, &'a Arc<Applier>);

/// The findings of Kustomizations whose path contains the name of another cluster, if that cluster applies the same
/// directory with the same Kustomization, and nothing uses the directory with the name of their own cluster.
///
/// `included` contains the directories that a kustomization includes.
pub(crate) fn crossed_paths(clusters: &[Cluster], included: &BTreeSet<String>, tree: &Tree) -> Vec<Finding> {
    let names: Index<&str, ()> = clusters.iter().map(|cluster| (last_segment(&cluster.name), ())).collect();
    let mut applied: BTreeSet<&str> = BTreeSet::new();
    let mut users: BTreeMap<(&ObjectRef, &str), Vec<User<'_>>> = BTreeMap::new();
    for (cluster, applier) in clusters.iter().flat_map(|one| one.appliers.iter().map(move |by| (one, by))) {
        if applier.kind != ApplierKind::Kustomization {
            continue;
        }
        applied.insert(&applier.folder);
        let is_of_cluster = || applier.folder.split('/').any(|segment| names.contains(&segment));
        if applier.state == State::Built && is_of_cluster() {
            users.entry((&applier.reference, &applier.folder)).or_default().push((cluster, applier));
        }
    }
    let is_unused = |folder: &str| {
        // A kustomization file lists what it includes; without one, Flux includes all directories below.
        let is_whole = |other: &str| FILE_NAMES.iter().all(|file| !tree.has_file(&below(other, file)));
        let is_applied = |other: &&str| is_inside(other, folder) || (is_inside(folder, other) && is_whole(other));
        tree.has_folder(folder) && !included.contains(folder) && !applied.iter().any(is_applied)
    };
    let mut findings = Vec::new();
    for ((_, folder), users) in users.into_iter().filter(|(_, users)| users.len() > 1) {
        let Some(owner) = users.iter().find(|(cluster, _)| renamed(folder, &cluster.name, "").is_some()) else {
            continue;
        };
        for user in users.iter().filter(|(cluster, _)| cluster.name != owner.0.name) {
            let own = renamed(folder, &owner.0.name, &user.0.name).filter(|own| is_unused(own));
            findings.extend(own.and_then(|own| finding(user, owner, &own)));
        }
    }
    findings
}

/// The directory in which the segments of one cluster's name are replaced by the name of another cluster; `None` if the
/// directory does not contain these segments.
fn renamed(folder: &str, from: &str, to: &str) -> Option<String> {
    let (segments, from): (Vec<&str>, Vec<&str>) = (folder.split('/').collect(), from.split('/').collect());
    let at = segments.windows(from.len()).rposition(|window| *window == *from)?;
    let (before, rest) = segments.split_at(at);
    let after = rest.iter().skip(from.len());
    Some(before.iter().chain([&to]).chain(after).copied().collect::<Vec<_>>().join("/"))
}

fn last_segment(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn finding((cluster, applier): &User<'_>, (other, by): &User<'_>, own: &str) -> Option<Finding> {
    let place = |applier: &Applier, object: &Object| {
        let node = object.node.at_keys(&["spec", "path"]).map_or(object.span(), Node::span);
        applier.parent_applier.as_ref().map_or_else(|| node.clone(), |parent| parent.place(node))
    };
    let object = applier.object.as_ref()?;
    let (name, of, folder) = (&cluster.name, &other.name, &applier.folder);
    let message = format!(
        "{} of cluster `{name}` applies `{folder}`, the directory of cluster `{of}`, and no cluster applies `{own}`",
        applier.reference
    );
    let (at, there) = (place(applier, object), by.object.as_ref().map(|object| place(by, object)));
    let effect = format!("every change for `{of}` also reaches `{name}`");
    let (help, of_all) = if there.as_ref() == Some(&at) {
        let remedy =
            format!("in a kustomization that only cluster `{name}` reads, since both clusters receive this file");
        (format!("patch `spec.path` to `./{own}` {remedy}"), format!("patch the paths {remedy}"))
    } else {
        let unless = format!("if `{name}` shares the directories of `{of}`");
        (
            format!("set the path to `./{own}`, or delete that directory {unless}"),
            format!("set the paths to the directories of `{name}`, or delete those {unless}"),
        )
    };
    // The file is often a copy of the file of the other cluster.
    let file = at.file().path().to_owned();
    let label = Label::new(at.clone(), format!("the directory of cluster `{of}`"));
    let finding = Finding::warning(PATH_OF_OTHER_CLUSTER, label, message).help(format!("{help}: {effect}"));
    let finding = finding.about(applier.reference.clone());
    let after = format!(
        " Kustomizations of cluster `{name}` apply directories of cluster `{of}`, and no cluster applies its own"
    );
    let finding = finding.caused_by(format!("{file} of {name} and {of}"), "", after);
    let mut finding = finding.help_for_all(format!("{of_all}: {effect}"));
    if let Some(there) = there.filter(|there| *there != at) {
        finding = finding.related(there, format!("cluster `{of}` applies the directory here"));
    }
    finding.clusters.push(name.to_string().into());
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn the_last_occurrence_of_a_name_is_replaced() {
        let of = |folder, from, to| renamed(folder, from, to);
        assert_eq!(of("apps/prod/web/prod", "prod", "demo").as_deref(), Some("apps/prod/web/demo"));
        assert_eq!(of("infra/demo/01", "demo/01", "demo/00").as_deref(), Some("infra/demo/00"));
        assert_eq!(of("apps/production", "prod", "demo"), None);
    }
}
