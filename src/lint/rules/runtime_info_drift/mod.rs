mod runtime_info;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::finding::{Finding, Label, did_you_mean};
use crate::flux::Governance;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};
use runtime_info::{Info, has_other_readers, infos, repository_reads};
use crate::text::Span;
use crate::yaml::{Entry, Name};

declare! {
    /// Clusters disagree on the keys of a ConfigMap of variables, or nothing reads one.
    ///
    /// ## Why
    ///
    /// What differs by cluster often stands in one ConfigMap of each, which Kustomizations substitute from. A key that one cluster
    /// lacks is found when its Kustomization fails, or when an empty text has come in its place. A key that nothing reads is left
    /// over, or a slip of the pen: what was meant to read it does something else.
    ///
    /// Silent for ConfigMaps that are not written in the repository but made by others, for keys that a cluster does without
    /// or has a default for, and, as to what is read, where sources without a copy may read it.
    ///
    /// ## How to fix it
    ///
    /// Define the key on each cluster, give what reads it a default, or take it out.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/web
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   postBuild:
    ///     substituteFrom:
    ///       - kind: ConfigMap
    ///         name: runtime-info
    /// ---
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: runtime-info
    ///   namespace: flux-system
    /// data:
    ///   DOMAIN: example.com
    ///   REGOIN: eu-1
    /// # web/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: web
    /// data:
    ///   host: web.${DOMAIN}
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/web
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   postBuild:
    ///     substituteFrom:
    ///       - kind: ConfigMap
    ///         name: runtime-info
    /// ---
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: runtime-info
    ///   namespace: flux-system
    /// data:
    ///   DOMAIN: example.com
    ///   REGION: eu-1
    /// # web/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: web
    /// data:
    ///   host: web.${DOMAIN}
    ///   region: ${REGION}
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: post build variable substitution](https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution)
    "runtime-info-drift", Warning, "clusters disagree on the keys of a ConfigMap of variables, or nothing reads one",
    Check::Fleet(check),
}

/// So many places are shown where there are more.
const MAX_SHOWN: usize = 5;

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    for infos in infos(fleet).values() {
        let left_over = left_over(fleet, infos);
        missing_keys(infos, &left_over, found);
        unread_keys(infos, &left_over, found);
    }
}

/// The keys that nothing reads on any cluster, as far as that is known.
fn left_over<'a>(fleet: &Fleet<'a>, infos: &[Info<'a>]) -> BTreeSet<&'a Name> {
    // A source that is not known may read any, and serves the other clusters as well.
    if infos.iter().any(|info| info.may_be_read) {
        return BTreeSet::new();
    }
    let read: BTreeSet<&Name> = infos.iter().flat_map(|info| info.read.iter().copied()).collect();
    // What a layout gives every cluster need not be read on any.
    let is_given =
        |key: &Name| fleet.governance == Governance::Fleet && infos.iter().all(|info| info.keys.contains_key(key));
    let keys = infos.iter().flat_map(|info| info.keys.keys().copied());
    let unread: BTreeSet<&Name> = keys.filter(|key| !read.contains(key) && !is_given(key)).collect();
    if unread.is_empty() || has_other_readers(fleet, infos) {
        return BTreeSet::new();
    }
    // What waits to be deployed reads them, too.
    let waiting = repository_reads(fleet);
    unread.into_iter().filter(|key| !waiting.contains(*key)).collect()
}

/// Says which clusters lack a key that others have.
fn missing_keys(infos: &[Info<'_>], left_over: &BTreeSet<&Name>, found: &mut Findings) {
    let keys: BTreeSet<&Name> = infos.iter().flat_map(|info| info.keys.keys().copied()).collect();
    for key in keys.difference(left_over) {
        let (with, without): (Vec<&Info<'_>>, Vec<&Info<'_>>) =
            infos.iter().partition(|info| info.keys.contains_key(*key));
        // One that does without it, or has a default, differs because somebody wants it to.
        let lacks = |info: &&Info<'_>| {
            info.missed.contains(*key) || with.iter().any(|other| !info.unknown.is_disjoint(&other.unknown))
        };
        let without: Vec<&Info<'_>> = without.into_iter().filter(lacks).collect();
        if without.is_empty() {
            continue;
        }
        let clusters = |infos: &[&Info<'_>]| names(infos.iter().map(|info| &info.cluster));
        // What the fewer clusters do is the mistake.
        if without.len() <= with.len() {
            for info in &without {
                let message =
                    format!("{} has no key `{key}`, unlike that of {}", info.object.reference(), clusters(&with));
                let help = "add it; what reads it there fails, or gets an empty text".to_owned();
                let place = info.object.node.entry("data").map_or_else(|| info.object.span().clone(), Entry::key_span);
                let mut finding = Finding::warning(RULE.id, place, message).help(help).about(info.object.reference());
                for other in with.iter().take(MAX_SHOWN) {
                    finding = finding.related(other.keys[*key].clone(), format!("cluster `{}` has it", other.cluster));
                }
                finding.clusters.push(info.cluster.clone());
                found.push(finding);
            }
            continue;
        }
        for info in &with {
            let message =
                format!("{} has a key `{key}`, unlike that of {}", info.object.reference(), clusters(&without));
            let help = "add it there too, or take it out; what reads it there fails, or gets an empty text";
            let mut finding =
                Finding::warning(RULE.id, info.keys[*key].clone(), message).help(help).about(info.object.reference());
            for other in without.iter().take(MAX_SHOWN) {
                let place = other.object.span().clone();
                finding = finding.related(place, format!("cluster `{}` has no such key", other.cluster));
            }
            finding.clusters.push(info.cluster.clone());
            found.push(finding);
        }
    }
}

/// Says which keys nothing reads on any cluster that has them.
fn unread_keys(infos: &[Info<'_>], left_over: &BTreeSet<&Name>, found: &mut Findings) {
    let known: Vec<&str> = infos.iter().flat_map(|info| info.missed.iter().map(AsRef::as_ref)).collect();
    for key in left_over {
        let mut finding: Option<Finding> = None;
        for info in infos {
            let Some(place) = info.keys.get(key) else { continue };
            let finding = match &mut finding {
                Some(finding) => {
                    let is_new = finding.at.span != *place && finding.related.iter().all(|label| label.span != *place);
                    if is_new && finding.related.len() < MAX_SHOWN {
                        finding
                            .related
                            .push(Label::new(place.clone(), format!("cluster `{}` has it too", info.cluster)));
                    }
                    finding
                }
                None => finding.insert(unread(key, place, info, &known)),
            };
            finding.clusters.push(info.cluster.clone());
        }
        found.extend(finding);
    }
}

fn unread(key: &str, place: &Span, info: &Info<'_>, known: &[&str]) -> Finding {
    let message = format!("nothing reads `{key}` of {}", info.object.reference());
    let help = match did_you_mean(key, known.iter().copied()) {
        Some(meant) => format!("`{meant}` is read: was that meant?"),
        None => "take it out, or correct the name where it was meant to be read".to_owned(),
    };
    Finding::warning(RULE.id, place.clone(), message).help(help).about(info.object.reference())
}

/// Names of clusters in words, the first few of many.
fn names<'a>(clusters: impl Iterator<Item = &'a Arc<str>>) -> String {
    let all: Vec<String> = clusters.map(|name| format!("`{name}`")).collect();
    match all.as_slice() {
        [one] => format!("cluster {one}"),
        few if few.len() <= MAX_SHOWN => format!("clusters {}", few.join(", ")),
        many => format!("{} clusters", many.len()),
    }
}
