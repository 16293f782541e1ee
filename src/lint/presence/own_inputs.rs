//! Producers that cannot create the inputs of an object, because the producers come after the object.
//!
//! An applier does not create its own inputs. Flux reads the source, dependencies and values of an object before it
//! applies the object's contents. Flux applies the dependents of the object later.

use std::collections::{BTreeMap, BTreeSet};

use crate::flux::{Applied, Applier};
use crate::kube::{Object, ObjectId, groups};
use crate::lint::facts::unknown_sources::{Producer, UnknownSource};
use crate::lint::refs::source_reference::{input_sources, source_of};
use crate::lint::refs::waiting::{Behind, inputs_of};
use crate::lint::view::View;

/// Returns an unknown producer that may create an object, and that does not come after the object that needs it.
pub(crate) fn unknown_producer(
    view: &View<'_>,
    wanted: ObjectId<'_>,
    needed_by: Option<&Object>,
    may_create: impl Fn(&Producer<'_>) -> bool,
) -> Option<UnknownSource> {
    let mut later =
        LaterAppliers { objects: view.waiting().behind(wanted, needed_by.map(ObjectId::of)), known: BTreeMap::new() };
    let mut producers = view.unknown_sources().of(wanted).filter(|producer| may_create(producer));
    let producer = producers.find(|producer| !view.is_denied(producer, wanted) && !later.have(producer))?;
    Some(producer.source.clone())
}

/// The appliers that come after an object: the applier, or one above it, is the object, needs the wanted object, or
/// depends on the object.
struct LaterAppliers<'w> {
    objects: Behind<'w>,
    /// The appliers that were examined, by position.
    known: BTreeMap<usize, bool>,
}

impl LaterAppliers<'_> {
    /// Returns whether a producer comes after the object.
    fn have(&mut self, producer: &Producer<'_>) -> bool {
        producer.object.is_some_and(|object| self.is_later(object)) || producer.by.is_some_and(|by| self.has(by))
    }

    fn has(&mut self, applier: &Applier) -> bool {
        let mut examined = Vec::new();
        let mut is_late = false;
        for applier in std::iter::successors(Some(applier), |applier| applier.parent_applier.as_deref()) {
            if let Some(known) = self.known.get(&applier.at) {
                is_late = *known;
                break;
            }
            examined.push(applier.at);
            if applier.object.as_ref().is_some_and(|object| self.is_later(object)) {
                is_late = true;
                break;
            }
        }
        self.known.extend(examined.into_iter().map(|at| (at, is_late)));
        is_late
    }

    fn is_later(&self, object: &Object) -> bool {
        self.objects.contains(ObjectId::of(object).settled())
    }
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
    inputs_of(object).any(|input| input == wanted)
}
