//! Producers that cannot create the inputs of an object, because the producers come after the object.
//!
//! An applier does not create its own inputs. Flux reads the source, dependencies and values of an object before it
//! applies the object's contents. Flux applies the dependents of the object later.

use std::collections::BTreeSet;

use crate::flux::{Applied, Applier};
use crate::kube::{Object, ObjectId, groups};
use crate::lint::facts::unknown_sources::{Producer, UnknownSource};
use crate::lint::refs::dependency::{Condition, dependencies};
use crate::lint::refs::source_reference::{input_sources, source_of};
use crate::lint::refs::values_reference::values_of;
use crate::lint::view::View;

/// The maximum number of producers to check. If there are more producers, one of the others may contain the object.
const MAX_PRODUCERS: usize = 2_000;
/// The maximum number of dependencies to follow.
const MAX_DEPENDENCIES: usize = 500;

/// Returns an unknown producer that may create an object, and that does not come after the object that needs it.
pub(crate) fn unknown_producer(
    view: &View<'_>,
    wanted: ObjectId<'_>,
    needed_by: Option<&Object>,
    may_create: impl Fn(&Producer<'_>) -> bool,
) -> Option<UnknownSource> {
    let may_create = |producer: &&Producer<'_>| may_create(producer);
    let mut producers = view.unknown_sources().of(wanted).filter(may_create).enumerate();
    let comes_first = |at: usize, producer: &Producer<'_>| {
        let is_late = || comes_after(view, producer, wanted, needed_by.map(ObjectId::of));
        at >= MAX_PRODUCERS || !(view.is_denied(producer, wanted) || is_late())
    };
    producers.find(|(at, producer)| comes_first(*at, producer)).map(|(_, producer)| producer.source.clone())
}

/// Returns whether a producer comes after an object.
///
/// The producer, or an applier above it, is the object, needs the wanted object, or depends on the object.
fn comes_after(
    view: &View<'_>,
    producer: &Producer<'_>,
    wanted: ObjectId<'_>,
    needed_by: Option<ObjectId<'_>>,
) -> bool {
    let above = std::iter::successors(producer.by, |applier| applier.parent_applier.as_ref());
    let above = above.filter_map(|applier| applier.object.as_ref());
    let chain: Vec<&Object> = producer.object.into_iter().chain(above).collect();
    let is_it = |object: &Object| needed_by.is_some_and(|needed_by| is_same(ObjectId::of(object), needed_by));
    let is_or_needs = |object: &&Object| is_it(object) || needs(object, wanted);
    chain.iter().any(is_or_needs) || needed_by.is_some_and(|needed_by| depend_on(view, &chain, needed_by))
}

/// Returns whether an applier above another applier fails without an object.
pub(crate) fn is_needed_above(by: &Applier, wanted: ObjectId<'_>) -> bool {
    let above = std::iter::successors(by.parent_applier.as_ref(), |applier| applier.parent_applier.as_ref());
    above.filter_map(|applier| applier.object.as_ref()).any(|object| needs(object, wanted))
}

/// Returns whether an applier, or an applier above it, fails without an object.
pub(crate) fn is_input(view: &View<'_>, applier: &Applier, wanted: ObjectId<'_>) -> bool {
    let is_included = |object: &Object| {
        let source = source_of(object).and_then(|source| view.get(source.target));
        source.is_some_and(|source| input_sources(source.object).any(|input| input.target == wanted))
    };
    let own = applier.object.as_ref();
    own.is_some_and(|object| needs(object, wanted) || is_included(object)) || is_needed_above(applier, wanted)
}

/// The Secrets that sources read. Users or `flux bootstrap` create these Secrets before Flux runs.
pub(crate) fn secrets_of_sources<'a>(view: &View<'a>) -> BTreeSet<ObjectId<'a>> {
    let kinds = ["GitRepository", "OCIRepository", "HelmRepository", "Bucket"];
    let sources = kinds.into_iter().flat_map(|kind| view.of_kind(groups::SOURCE, kind));
    let secret = |source: Applied<'a>| {
        let name = source.object.text_at(&["spec", "secretRef", "name"])?;
        Some(ObjectId { group: "", kind: "Secret", namespace: source.object.namespace()?, name })
    };
    sources.filter_map(secret).collect()
}

/// The Secrets with which Kustomizations decrypt files.
pub(crate) fn secrets_of_decryption<'a>(view: &View<'a>) -> BTreeSet<ObjectId<'a>> {
    let secret = |applied: Applied<'a>| {
        let name = applied.object.text_at(&["spec", "decryption", "secretRef", "name"])?;
        Some(ObjectId { group: "", kind: "Secret", namespace: applied.object.namespace()?, name })
    };
    view.of_kind(groups::KUSTOMIZE, "Kustomization").filter_map(secret).collect()
}

/// Returns whether Flux needs the wanted object before it applies an object's contents.
fn needs(object: &Object, wanted: ObjectId<'_>) -> bool {
    let account = || object.text_at(&["spec", "serviceAccountName"]);
    let is_account = (wanted.group, wanted.kind) == ("", "ServiceAccount")
        && object.namespace() == Some(wanted.namespace)
        && matches!(object.group(), groups::KUSTOMIZE | groups::HELM | groups::FLUX_OPERATOR)
        && account() == Some(wanted.name);
    is_account
        || source_of(object).is_some_and(|source| source.target == wanted)
        || dependencies(object).any(|dependency| dependency.target == wanted)
        || values_of(object).any(|values| values.target == wanted && !values.optional)
}

/// Returns whether one of several objects waits until another object is ready.
fn depend_on(view: &View<'_>, objects: &[&Object], other: ObjectId<'_>) -> bool {
    let mut open: Vec<&Object> = objects.to_vec();
    let mut seen: BTreeSet<ObjectId<'_>> = BTreeSet::new();
    while let Some(object) = open.pop() {
        for dependency in dependencies(object).filter(|dependency| dependency.condition == Condition::Ready) {
            if is_same(dependency.target, other) {
                return true;
            }
            if seen.len() < MAX_DEPENDENCIES && seen.insert(dependency.target) {
                open.extend(view.get(dependency.target).map(|found| found.object));
            }
        }
    }
    false
}

fn is_same(one: ObjectId<'_>, other: ObjectId<'_>) -> bool {
    one.settled() == other.settled()
}
