//! Patches and entries of `images` that match nothing in any build.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arcstr::ArcStr;

use crate::base::finding::{Finding, ObjectRef, Severity};
use crate::flux::build::output::BuildFacts;
use crate::flux::cluster::applier::Applier;
use crate::flux::variables::envsubst::{Lookup, Template};
use crate::kube::Object;
use crate::kustomize::{PatchTarget, TargetList};
use crate::text::{Index, Span};
use crate::yaml::{Name, Node};

/// The id of the rule for patches without a match.
const UNMATCHED_PATCH: &str = "unmatched-patch";
/// The id of the rule for images without a match.
pub(crate) const UNMATCHED_IMAGE: &str = "unmatched-image";

/// The position of the target of a patch: its root, path and offset.
type PatchPosition = (Option<ArcStr>, String, usize);

/// The patches of all builds by the position of their targets.
#[derive(Default)]
pub(crate) struct PatchTally {
    by_place: BTreeMap<PatchPosition, PatchRecord>,
    /// The builds that clusters share.
    shared: Vec<SharedBuild>,
    /// The indexes in `shared`, by the address of the facts.
    known: Index<usize, usize>,
}

/// A build that clusters share.
struct SharedBuild {
    facts: Arc<BuildFacts>,
    clusters: BTreeSet<Name>,
    /// The owner of each patch, or `None` if a kustomization file contains it.
    owners: Vec<Option<ObjectRef>>,
    /// For each patch, the object that has the name of the target only after substitution, with the object's position.
    renamed: Vec<Option<(ObjectRef, Span)>>,
}

/// The result of a patch in all builds.
struct PatchRecord {
    /// The finding of a patch without a match; `None` once the patch has matched.
    missed: Option<Box<Finding>>,
    /// Whether the patch of a component changes all objects of a kind.
    is_general: bool,
    clusters: BTreeSet<Name>,
    /// The appliers whose `spec.patches` or `spec.images` contains the entry.
    owners: BTreeSet<ObjectRef>,
}

impl PatchTally {
    /// Records the patches of a cluster's build.
    pub(crate) fn take(&mut self, facts: &Arc<BuildFacts>, applier: &Applier, cluster: &Name) {
        if facts.patch_targets.is_empty() {
            return;
        }
        if applier.shares_with.is_empty() {
            let at = *self.known.entry_or(Arc::as_ptr(facts).addr(), || {
                let owners = facts.patch_targets.iter().map(|target| owner(target, applier).cloned()).collect();
                let renamed = facts.patch_targets.iter().map(|target| renamed(target, applier).cloned()).collect();
                self.shared.push(SharedBuild { facts: facts.clone(), clusters: BTreeSet::new(), owners, renamed });
                self.shared.len() - 1
            });
            self.shared[at].clusters.insert(cluster.clone());
        } else {
            for target in &facts.patch_targets {
                let renamed = renamed(target, applier);
                self.note(target, &applier.place(&target.place), Some(cluster), owner(target, applier), renamed);
            }
        }
    }

    /// Records the patches of a directory in a repository without a root.
    pub(crate) fn take_folder(&mut self, targets: &[PatchTarget]) {
        for target in targets {
            self.note(target, &target.place, None, None, None);
        }
    }

    fn note(
        &mut self,
        target: &PatchTarget,
        place: &Span,
        cluster: Option<&Name>,
        owner: Option<&ObjectRef>,
        renamed: Option<&(ObjectRef, Span)>,
    ) {
        let file = place.file();
        let key = (file.root().cloned(), file.path().to_owned(), place.range().start);
        let record = self.by_place.entry(key).or_insert_with(|| PatchRecord {
            missed: (!target.is_matched).then(|| Box::new(finding(target, place, renamed))),
            is_general: target.is_general,
            clusters: BTreeSet::new(),
            owners: BTreeSet::new(),
        });
        if target.is_matched {
            record.missed = None;
        }
        if record.missed.is_some() {
            record.clusters.extend(cluster.cloned());
            record.owners.extend(owner.cloned());
        }
    }

    /// The findings of the patches that matched no object in any build.
    pub(crate) fn findings(mut self) -> Vec<Finding> {
        for SharedBuild { facts, clusters, owners, renamed } in std::mem::take(&mut self.shared) {
            for ((target, owner), renamed) in facts.patch_targets.iter().zip(&owners).zip(&renamed) {
                self.note(target, &target.place, None, owner.as_ref(), renamed.as_ref());
                let file = target.place.file();
                let key = (file.root().cloned(), file.path().to_owned(), target.place.range().start);
                let record = self.by_place.get_mut(&key).filter(|record| record.missed.is_some());
                if let Some(record) = record {
                    record.clusters.extend(clusters.iter().cloned());
                }
            }
        }
        // A general component has a patch for each kind, or all images, that its users may have.
        let by_kind = self.by_place.iter().filter(|(_, record)| record.is_general && record.missed.is_none());
        let general: BTreeSet<(Option<ArcStr>, String)> =
            by_kind.map(|((root, path, _), _)| (root.clone(), path.clone())).collect();
        let missed = self.by_place.into_iter().filter_map(|((root, path, _), record)| {
            if record.is_general && general.contains(&(root, path.clone())) {
                return None;
            }
            let finding = *record.missed?;
            // A habit of the author leads to patches with equal targets.
            let all = finding.message.replacen("this patch matches", " patches match", 1);
            let key = format!("{all}; {}", finding.help.as_deref().unwrap_or_default());
            let mut finding = if finding.cause.is_some() {
                finding
            } else if finding.rule == UNMATCHED_IMAGE {
                // One change of the file removes or corrects all entries of its list.
                let summary = format!(" images of `{path}` match no container");
                finding.caused_by(path.as_str(), "", summary)
            } else {
                finding.caused_by(key, "", all)
            };
            if let Some(owners) = listed(&record.owners) {
                for what in ["this patch", "this image"] {
                    finding.message = finding.message.replacen(what, &format!("{what} of {owners}"), 1);
                }
            }
            Some(Finding { clusters: record.clusters.into_iter().collect(), ..finding })
        });
        let mut missed: Vec<Finding> = missed.collect();
        join_habit(&mut missed);
        missed
    }
}

/// The maximum number of different targets with separate findings. An author with more of them has one wrong idea of the
/// names in the builds, such as names that Flux substitutes later.
const MAX_SEPARATE: usize = 5;

/// Gives the findings of patches without a similar object one cause, if there are many.
fn join_habit(findings: &mut [Finding]) {
    let is_plain = |finding: &Finding| {
        finding.rule == UNMATCHED_PATCH && finding.severity == Severity::Warning && finding.related.is_empty()
    };
    let plain = findings.iter().filter(|finding| is_plain(finding));
    let targets: BTreeSet<&str> = plain.filter_map(|finding| Some(finding.cause.as_ref()?.key.as_str())).collect();
    if targets.len() <= MAX_SEPARATE {
        return;
    }
    for finding in findings.iter_mut().filter(|finding| is_plain(finding)) {
        let after = " patches match no object: the builds have none with the names of the targets";
        let lacks = finding.message.split_once(": the build has ").map(|(_, lacks)| lacks.to_owned());
        finding.at.message = lacks.unwrap_or_default();
        *finding = finding.clone().caused_by("habit", "", after).help_for_all(
            "correct the targets, or remove the patches: kustomize and Flux silently skip them. Flux substitutes variables \
             after the patches, so a target must match the name with its variables",
        );
    }
}

/// The applier, if its `spec.patches` contains the patch, or its `spec.images` the image.
fn owner<'a>(target: &PatchTarget, applier: &'a Applier) -> Option<&'a ObjectRef> {
    let has_patch = |object: &Object| {
        let (list, field) = match target.list {
            TargetList::Images => ("images", "name"),
            TargetList::Patches => ("patches", "target"),
        };
        let entries = object.node.at_keys(&["spec", list]).map_or(&[][..], Node::items);
        entries.iter().filter_map(|entry| entry.get(field)).any(|written| *written.span() == target.place)
    };
    applier.object.iter().chain(&*applier.shares_with).any(has_patch).then_some(&applier.reference)
}

/// The object whose name equals the name of the target after Flux substitutes the variables of `applier`.
fn renamed<'a>(target: &'a PatchTarget, applier: &Applier) -> Option<&'a (ObjectRef, Span)> {
    let (wanted, objects) = target.variable_names.as_ref()?;
    let value = |name: &str| applier.variables.values.get(name)?.value.as_deref();
    let expanded = |object: &ObjectRef| {
        let template = Template::parse(&object.name).ok()?;
        let expansion = template.expand(|name| value(name).map_or(Lookup::Unknown, Lookup::Known)).ok()?;
        Some(expansion.text)
    };
    objects.iter().find(|(object, _)| expanded(object).as_ref() == Some(wanted))
}

/// The first object and the number of the other objects, as text for a message; `None` without objects.
fn listed(objects: &BTreeSet<ObjectRef>) -> Option<String> {
    let first = objects.first()?;
    Some(match objects.len() - 1 {
        0 => first.to_string(),
        1 => format!("{first} and one other"),
        others => format!("{first} and {others} others"),
    })
}

fn finding(target: &PatchTarget, place: &Span, renamed: Option<&(ObjectRef, Span)>) -> Finding {
    if target.list == TargetList::Images {
        let message =
            format!("this image matches no container: no object of the build has image `{}`", target.selector);
        let help = "correct the name, or remove the entry: kustomize and Flux silently skip it";
        return Finding::warning(UNMATCHED_IMAGE, place.clone(), message).help(help);
    }
    let message = match target.selector.as_str() {
        "" => "this patch matches no object".to_owned(),
        selector => format!("this patch matches no object: the build has none with {selector}"),
    };
    let mut finding = Finding::warning(UNMATCHED_PATCH, place.clone(), message);
    if let Some((object, span)) = renamed {
        let later = "gets this name later: Flux substitutes variables after the patches";
        finding.message = format!("{}; {object} {later}", finding.message);
        let name = object.name.replace('$', "\\$").replace('{', "\\{").replace('}', "\\}");
        return finding.related(span.clone(), "the name contains a variable").help(format!(
            "select the object by its kind alone, or with `name: {name}`, which is a regular expression"
        ));
    }
    // Objects opt in to such a patch with their labels or annotations, and no object does at present.
    if target.is_opt_in && target.near_match.is_none() {
        finding.severity = Severity::Pedantic;
        return finding.help("remove the patch if no object will ever have the label or annotation");
    }
    let rest = "kustomize and Flux silently skip the patch";
    let has_variable = |object: &ObjectRef| object.namespace.as_ref().is_some_and(|namespace| namespace.contains("${"));
    match &target.near_match {
        Some(("namespace", object, span)) if has_variable(object) => finding
            .related(span.clone(), format!("without `namespace`, the target would match {object}"))
            .help(
                "remove `namespace` from the target: the namespace of the object contains a variable, which Flux \
                 substitutes after the patches",
            )
            .caused_by(
                "variable",
                "",
                " patches match no object: the namespaces of the objects contain variables, which Flux substitutes after \
                 the patches",
            )
            .help_for_all("remove `namespace` from the targets"),
        Some((field, object, span)) => finding
            .related(span.clone(), format!("without `{field}`, the target would match {object}"))
            .help(format!("correct `{field}` of the target: {rest}")),
        None => finding.help(format!("correct the target, or remove the patch: {rest}")),
    }
}
