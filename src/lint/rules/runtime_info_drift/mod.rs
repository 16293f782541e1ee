mod inline;
mod runtime_info;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use arcstr::ArcStr;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::base::finding::{Finding, Follows, Label, ObjectRef, Part, Severity};
use crate::base::similar_names::did_you_mean;
use crate::flux::{Governance, UNDEFINED_VARIABLE};
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};
use crate::text::Span;
use crate::yaml::{Entry, Name};
use inline::unread_variables;
use runtime_info::{Info, all_keys, all_readers, has_other_readers, infos, repository_reads};

declare! {
    /// Clusters define different keys in a ConfigMap of variables, or no object reads a key.
    ///
    /// ## Why
    ///
    /// Often, each cluster has a ConfigMap with its differences from other clusters, and Kustomizations substitute
    /// variables from it. If a cluster lacks a key, its Kustomization fails, or Flux substitutes an empty string. If no
    /// object reads a key, the key is unused, or its name is misspelled and the intended reader uses another value.
    ///
    /// The rule ignores:
    ///
    /// - ConfigMaps that are not in the repository, because other tools create them
    /// - keys that a cluster does not read, or that have a default there
    /// - keys that a known object of another cluster reads, even if a source without a local copy may read them too
    /// - unread keys, if a source without a local copy may read them
    /// - unread keys of a file from which kustomize generates several ConfigMaps, if an object reads the key from one
    ///   of them
    ///
    /// The rule also reports a variable of `spec.postBuild.substitute` that no object of the Kustomization reads (pedantic).
    ///
    /// An unread key has no effect on a cluster, so the severity is pedantic unless an object reads a similar key.
    ///
    /// ## How to fix it
    ///
    /// Define the key on each cluster, set a default in the objects that read it, or remove the key.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: post build variable substitution](https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution)
    "runtime-info-drift", Warning, "clusters define different variables, or no object reads a variable",
    Check::Fleet(check),
}

/// The number of places that a finding shows.
const MAX_SHOWN: usize = 5;

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    let all = infos(fleet);
    let waiting = Waiting { fleet, reads: OnceLock::new() };
    let of_maps: Vec<(BTreeSet<&Name>, Findings)> = all.par_iter().map(|infos| check_map(&waiting, infos)).collect();
    let mut judged: Vec<(&[Info<'_>], BTreeSet<&Name>)> = Vec::with_capacity(all.len());
    for (infos, (left_over, of_map)) in all.iter().zip(of_maps) {
        found.merge(of_map);
        judged.push((infos, left_over));
    }
    unread_keys(&judged, found);
    found.extend(unread_variables(RULE.id, fleet));
}

/// A fleet with the variables that objects of its repository read, which are collected on demand.
struct Waiting<'f, 'a> {
    fleet: &'f Fleet<'a>,
    reads: OnceLock<BTreeSet<Name>>,
}

impl Waiting<'_, '_> {
    /// The variables that objects of the repository read, also objects that no cluster receives.
    fn reads(&self) -> &BTreeSet<Name> {
        self.reads.get_or_init(|| repository_reads(self.fleet))
    }
}

/// Checks the ConfigMaps with one name. Returns the keys that no object reads, and the findings of the others.
fn check_map<'a>(waiting: &Waiting<'_, 'a>, infos: &[Info<'a>]) -> (BTreeSet<&'a Name>, Findings) {
    let (left_over, mut found) = (left_over(waiting, infos), Findings::default());
    missing_keys(waiting, infos, &left_over, &mut found);
    (left_over, found)
}

/// The file and the offset of a key, with the name of the key, since a variable may set another name in each copy.
type Position = (String, usize, String);

fn position(key: &Name, place: &Span) -> Position {
    (place.file().path().to_owned(), place.range().start, key.to_string())
}

/// The keys that no object reads on any cluster, as far as the readers are known.
fn left_over<'a>(waiting: &Waiting<'_, 'a>, infos: &[Info<'a>]) -> BTreeSet<&'a Name> {
    let fleet = waiting.fleet;
    // An unknown source may read any key, on this cluster and on other clusters.
    let readers = all_readers(infos);
    if readers.iter().any(|readers| readers.may_be_read) {
        return BTreeSet::new();
    }
    let read: BTreeSet<&Name> = readers.iter().flat_map(|readers| readers.read.iter().copied()).collect();
    // In a fleet layout, every cluster defines the common keys, even if no object reads them.
    let is_given = |key: &Name| fleet.governance == Governance::Fleet && infos.iter().all(|info| info.has_key(key));
    let unread: BTreeSet<&Name> =
        all_keys(infos).into_iter().filter(|key| !read.contains(key) && !is_given(key)).collect();
    if unread.is_empty() || has_other_readers(fleet, infos) {
        return BTreeSet::new();
    }
    // Objects that no cluster receives may also read variables.
    unread.into_iter().filter(|key| !waiting.reads().contains(*key)).collect()
}

/// Adds the findings for keys that some clusters have and other clusters lack.
fn missing_keys(waiting: &Waiting<'_, '_>, infos: &[Info<'_>], left_over: &BTreeSet<&Name>, found: &mut Findings) {
    let fleet = waiting.fleet;
    for key in all_keys(infos).difference(left_over) {
        let (with, without): (Vec<&Info<'_>>, Vec<&Info<'_>>) = infos.iter().partition(|info| info.has_key(key));
        // If a cluster does not read the key, or has a default, the difference is intentional.
        if without.is_empty() {
            continue;
        }
        let readers = all_readers(with.iter().copied());
        let unknown: BTreeSet<&ObjectRef> = readers.iter().flat_map(|one| one.unknown.iter().copied()).collect();
        let failed: BTreeSet<&ObjectRef> = readers.iter().flat_map(|one| one.failed.iter().copied()).collect();
        // A cluster that does not apply the known readers of a key needs no value.
        let has_known_reader = readers.iter().any(|one| one.read.contains(*key));
        let is_read_in_repository = || waiting.reads().contains(*key);
        let lacks = |info: &&Info<'_>| {
            let has_unknown_reader = || {
                !info.readers.unknown.is_disjoint(&unknown)
                    || (!info.readers.failed.is_disjoint(&failed) && is_read_in_repository())
            };
            info.readers.missed.contains(*key) || (!has_known_reader && has_unknown_reader())
        };
        let without: Vec<&Info<'_>> = without.into_iter().filter(lacks).collect();
        if without.is_empty() {
            continue;
        }
        // The undefined variable is the effect of the missing key, and the same change removes both findings.
        let follow = |finding: Finding, infos: &[&Info<'_>]| match infos.iter().find_map(|info| info.misses(fleet, key))
        {
            Some(reader) => {
                let message = finding.message.clone();
                let follows = Follows { rules: &[UNDEFINED_VARIABLE], object: reader, stands_alone: true };
                finding.caused_by(message.clone(), "", format!(" keys are missing: {message}")).following(follows)
            }
            None => finding,
        };
        let clusters = |infos: &[&Info<'_>]| names(infos.iter().map(|info| &info.cluster));
        // The minority of the clusters probably contains the mistake.
        if without.len() <= with.len() {
            let clusters = clusters(&with);
            for info in &without {
                let message = format!("{} has no key `{key}`, but has this key on {clusters}", info.object.reference());
                let help =
                    "add the key: without it, the readers of the variable fail or get an empty string".to_owned();
                let place = info.object.node.entry("data").map_or_else(|| info.object.span().clone(), Entry::key_span);
                let mut finding = Finding::warning(RULE.id, place, message).help(help).about(info.object.reference());
                for other in with.iter().take(MAX_SHOWN) {
                    let Some(place) = other.key(key) else { continue };
                    finding = finding.related(place, format!("cluster `{}` has the key", other.cluster));
                }
                finding.clusters.push(info.cluster.clone());
                let reference = info.object.reference();
                let (cause, before) = (format!("{reference} {clusters}"), format!("{reference} lacks "));
                let finding = finding
                    .caused_by(cause, before, format!(" keys that exist on {clusters}"))
                    .help_for_all("add the keys: without them, the readers of the variables fail or get empty strings");
                found.push(follow(finding, &[info]));
            }
            continue;
        }
        let clusters = clusters(&without);
        for info in &with {
            let Some(key_span) = info.key(key) else { continue };
            let message = format!("{} has a key `{key}`, but lacks this key on {clusters}", info.object.reference());
            let help = "add the key to the other clusters, or remove it here: without the key, the readers of the \
                        variable fail or get an empty string";
            let mut finding = Finding::warning(RULE.id, key_span, message).help(help).about(info.object.reference());
            for other in without.iter().take(MAX_SHOWN) {
                let place = other.object.span().clone();
                finding = finding.related(place, format!("cluster `{}` does not have this key", other.cluster));
            }
            finding.clusters.push(info.cluster.clone());
            found.push(follow(finding, &without));
        }
    }
}

/// Adds the findings for keys that no object reads on any cluster.
///
/// ConfigMaps that kustomize generates from one file share its keys, so one reader is sufficient for all of them.
fn unread_keys(judged: &[(&[Info<'_>], BTreeSet<&Name>)], found: &mut Findings) {
    if judged.iter().all(|(_, left_over)| left_over.is_empty()) {
        return;
    }
    let mut used: BTreeSet<Position> = BTreeSet::new();
    let mut copies: BTreeMap<Position, BTreeSet<String>> = BTreeMap::new();
    for (infos, left_over) in judged {
        for info in *infos {
            for entry in info.entries() {
                let (key, position) = (&entry.key, position(&entry.key, &entry.key_span()));
                if left_over.contains(key) {
                    copies.entry(position).or_default().insert(info.object.reference().to_string());
                } else {
                    used.insert(position);
                }
            }
        }
    }
    let mut findings: Vec<Finding> = Vec::new();
    let mut known_places: BTreeMap<Position, usize> = BTreeMap::new();
    let mut named: BTreeSet<(usize, &ArcStr)> = BTreeSet::new();
    for (infos, left_over) in judged {
        let readers = all_readers(*infos);
        let known: Vec<&str> = readers.iter().flat_map(|readers| readers.missed.iter().map(AsRef::as_ref)).collect();
        for key in left_over {
            let mut current: Option<usize> = None;
            for info in *infos {
                let Some(place) = info.key(key) else { continue };
                let position = position(key, &place);
                if used.contains(&position) {
                    continue;
                }
                let at = match (known_places.get(&position), current) {
                    (Some(at), _) => *at,
                    (None, Some(at)) => {
                        let related = &mut findings[at].related;
                        if related.len() < MAX_SHOWN {
                            related
                                .push(Label::new(place.clone(), format!("cluster `{}` has the key too", info.cluster)));
                        }
                        findings[at].parts_mut().push(part_of(key, &place, info));
                        at
                    }
                    (None, None) => {
                        let others = copies.get(&position).map_or(0, |all| all.len().saturating_sub(1));
                        let finding = unread(key, &place, info, &known, others);
                        findings.push(finding.with_parts([part_of(key, &place, info)]));
                        findings.len() - 1
                    }
                };
                known_places.insert(position, at);
                current.get_or_insert(at);
                if named.insert((at, &info.cluster)) {
                    findings[at].clusters.push(info.cluster.clone());
                }
            }
        }
    }
    found.extend(findings);
}

/// The part of a finding for a key of one ConfigMap.
fn part_of(key: &str, place: &Span, info: &Info<'_>) -> Part {
    Part { span: place.clone(), object: Some(info.object.reference()), fault: key.to_owned() }
}

/// Returns the finding for a key.
///
/// `others` is the number of other ConfigMaps that kustomize generates from the same line.
fn unread(key: &str, place: &Span, info: &Info<'_>, known: &[&str], others: usize) -> Finding {
    let reference = info.object.reference();
    let maps = match others {
        0 => reference.to_string(),
        1 => format!("{reference} and one other ConfigMap of this file"),
        _ => format!("{reference} and {others} other ConfigMaps of this file"),
    };
    let message = format!("no object on the clusters reads `{key}` of {maps}");
    let meant = did_you_mean(key, known.iter().copied());
    let help = match meant {
        Some(meant) => format!("did you mean `{meant}`, which an object reads?"),
        None => "remove the key, unless another program reads it, or correct the name of the variable in its reader"
            .to_owned(),
    };
    let mut finding = Finding::warning(RULE.id, place.clone(), message).about(reference);
    // An unread key has no effect on the cluster, unless its reader uses a similar name.
    if meant.is_none() {
        finding.severity = Severity::Pedantic;
    }
    let finding = match meant {
        Some(_) => finding,
        None => finding.caused_by(maps.clone(), "no object on the clusters reads ", format!(" keys of {maps}")),
    };
    finding.help(help)
}

/// The names of clusters, as text for a message, or their number if there are many.
fn names<'a>(clusters: impl Iterator<Item = &'a ArcStr>) -> String {
    let all: Vec<String> = clusters.map(|name| format!("`{name}`")).collect();
    match all.as_slice() {
        [one] => format!("cluster {one}"),
        few if few.len() <= MAX_SHOWN => format!("clusters {}", few.join(", ")),
        many => format!("{} clusters", many.len()),
    }
}
