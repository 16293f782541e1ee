//! The mismatches of the distinct objects of a fleet. Objects with the same content and schema are validated once.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::kinds::{Answer, Kind, Kinds, patched_definitions};
use crate::api::catalog::{Definition, Origin, Product, Version, definition_mistakes};
use crate::api::schema::Mistake;
use crate::api::validate::{Fault, Mismatch, validate};
use crate::cel::Budget;
use crate::flux::{Applied, AppliedSet, ApplyMode};
use crate::kube::Object;
use crate::lint::facts::content::first_alike;
use crate::lint::facts::distinct::{Part, memory_address};
use crate::lint::view::View;
use crate::text::Index;
use crate::yaml::{Style, Value};

/// An object and a schema, by their addresses in memory.
type ObjectKey = (usize, usize);

/// A part of a list by its address in memory, the number of the schemas of its cluster, and the kind of its applier.
type PartKey = (usize, usize, usize);

/// The mismatches of a fleet.
pub(super) struct Mismatches<'a> {
    schemas: Schemas<'a>,
    /// The parts of lists with mismatches, or with objects that are not checked.
    parts: Index<PartKey, Judged<'a>>,
    of_object: Index<ObjectKey, Arc<[Mismatch]>>,
    /// Whether the kinds of all objects are known and served.
    has_served: bool,
}

/// The objects of a part that need a closer look.
#[derive(Default)]
struct Judged<'a> {
    /// The positions of the objects with mismatches.
    faulty: Vec<(usize, ObjectKey)>,
    /// The positions of the objects whose version is not served, with their version and kind.
    not_served: Vec<(usize, (&'a str, &'a str))>,
    /// The positions of the objects whose kind depends on an unknown value, with their version and kind.
    of_unknown_kind: Vec<(usize, (&'a str, &'a str))>,
    /// The positions of the objects that are not checked, with their version and kind.
    unchecked: Vec<(usize, (&'a str, &'a str))>,
}

/// The kinds of each cluster. Clusters with the same schemas share them.
struct Schemas<'a> {
    kinds: Vec<Kinds<'a>>,
    /// The number of the kinds of each view.
    of_view: Vec<usize>,
}

/// An object to validate with the schema of its kind.
struct Job<'a> {
    key: ObjectKey,
    object: &'a Object,
    view: &'a View<'a>,
    kind: Arc<Kind>,
}

impl<'a> Mismatches<'a> {
    /// Validates the objects of some clusters. The time is linear in the number of distinct objects and lists.
    pub(super) fn of(views: &'a [View<'a>], is_wanted: impl Fn(usize) -> bool) -> Self {
        let mut schemas = Schemas::of(views);
        let mut seen: Index<PartKey, ()> = Index::default();
        let mut known: Index<ObjectKey, ()> = Index::default();
        let mut judged: Vec<(PartKey, Judged<'a>)> = Vec::new();
        let mut jobs: Vec<Job<'a>> = Vec::new();
        for (view, number) in
            views.iter().zip(schemas.of_view.clone()).enumerate().filter(|(at, _)| is_wanted(*at)).map(|(_, view)| view)
        {
            let Some(kinds) = schemas.kinds.get_mut(number) else { continue };
            for (set, part) in view.applied_sets().flat_map(|set| Part::of(&set.objects).map(|part| (set, part))) {
                let key = part_key(part, number, set);
                if seen.insert(key, ()).is_some() {
                    continue;
                }
                let mut of_part = Judged::default();
                for (at, object) in part.objects().filter(|(_, object)| is_judged(&set.with(object))) {
                    let Some(id) = id_of(object) else { continue };
                    if is_kind_unknown(object) {
                        of_part.of_unknown_kind.push((at, id));
                        continue;
                    }
                    match kinds.of(id, object) {
                        Answer::Nothing => {}
                        Answer::Unchecked(_) => of_part.unchecked.push((at, id)),
                        Answer::NotServed(_) => of_part.not_served.push((at, id)),
                        Answer::Known(kind) => {
                            let key = (memory_address(object), kind.found.schema.identity());
                            of_part.faulty.push((at, key));
                            if known.insert(key, ()).is_none() {
                                jobs.push(Job { key, object, view, kind: kind.clone() });
                            }
                        }
                    }
                }
                judged.push((key, of_part));
            }
        }
        let of_object = run(&jobs);
        for (_, of_part) in &mut judged {
            of_part.faulty.retain(|(_, object)| of_object.contains(object));
        }
        judged.retain(|(_, of_part)| !of_part.is_empty());
        let is_served = |judged: &Judged<'_>| judged.not_served.is_empty() && judged.of_unknown_kind.is_empty();
        let has_served = judged.iter().all(|(_, of_part)| is_served(of_part));
        Self { schemas, parts: judged.into_iter().collect(), of_object, has_served }
    }

    /// Returns whether no object is faulty.
    pub(super) fn is_clean(&self) -> bool {
        self.of_object.is_empty() && self.has_served
    }

    /// Returns whether two clusters have the same schemas.
    pub(super) fn are_alike(&self, one: usize, other: usize) -> bool {
        self.schemas.of_view.get(one) == self.schemas.of_view.get(other)
    }

    /// The mismatches of the objects of a list that a cluster receives, in the order of the list.
    pub(super) fn in_list(
        &self,
        view: usize,
        set: &'a AppliedSet,
    ) -> Vec<(Applied<'a>, &Kind, ObjectKey, &[Mismatch])> {
        let mut faulty: Vec<(usize, ObjectKey)> = self.judged(view, set, |judged| &judged.faulty).collect();
        faulty.sort_unstable();
        let mismatches = |(at, key): (usize, ObjectKey)| {
            let applied = set.at(at)?;
            let Answer::Known(kind) = self.schemas.known(view, id_of(applied.object)?)? else { return None };
            Some((applied, &**kind, key, &**self.of_object.get(&key)?))
        };
        faulty.into_iter().filter_map(mismatches).collect()
    }

    /// The versions and kinds of the objects of a list that are not checked, with the reason.
    pub(super) fn unchecked(
        &self,
        view: usize,
        set: &'a AppliedSet,
    ) -> impl Iterator<Item = ((&'a str, &'a str), &str)> {
        self.judged(view, set, |judged| &judged.unchecked).filter_map(move |(_, id)| {
            match self.schemas.known(view, id)? {
                Answer::Unchecked(reason) => Some((id, &**reason)),
                Answer::Known(_) | Answer::NotServed(_) | Answer::Nothing => None,
            }
        })
    }

    /// The objects of a list whose version is not served, with their addresses and the definitions of their kinds.
    pub(super) fn not_served(&self, view: usize, set: &'a AppliedSet) -> Vec<(Applied<'a>, usize, &Definition)> {
        let mut found: Vec<(usize, (&'a str, &'a str))> = self.judged(view, set, |judged| &judged.not_served).collect();
        found.sort_unstable();
        let not_served = |(at, id): (usize, (&'a str, &'a str))| {
            let applied = set.at(at)?;
            let Answer::NotServed(definition) = self.schemas.known(view, id)? else { return None };
            Some((applied, memory_address(applied.object), &**definition))
        };
        found.into_iter().filter_map(not_served).collect()
    }

    /// The objects of a list whose kind depends on an unknown value, with their addresses.
    pub(super) fn of_unknown_kind(&self, view: usize, set: &'a AppliedSet) -> Vec<(Applied<'a>, usize)> {
        let mut found: Vec<usize> =
            self.judged(view, set, |judged| &judged.of_unknown_kind).map(|(at, _)| at).collect();
        found.sort_unstable();
        found.into_iter().filter_map(|at| set.at(at)).map(|one| (one, memory_address(one.object))).collect()
    }

    /// The facts about the objects of a list, by position. The list may replace objects of its shared part.
    fn judged<'s, T: Copy + 's>(
        &'s self,
        view: usize,
        set: &'a AppliedSet,
        facts: fn(&'s Judged<'a>) -> &'s Vec<(usize, T)>,
    ) -> impl Iterator<Item = (usize, T)> {
        let number = self.schemas.of_view.get(view).copied().unwrap_or_default();
        Part::of(&set.objects).into_iter().flat_map(move |part| {
            let judged =
                self.parts.get(&part_key(part, number, set)).map_or(&[][..], |judged| facts(judged).as_slice());
            let is_replaced = move |at: usize| matches!(part, Part::Shared(_)) && set.objects.is_own(at);
            judged.iter().copied().filter(move |(at, _)| !is_replaced(*at))
        })
    }
}

impl Judged<'_> {
    fn is_empty(&self) -> bool {
        let Self { faulty, not_served, of_unknown_kind, unchecked } = self;
        faulty.is_empty() && not_served.is_empty() && of_unknown_kind.is_empty() && unchecked.is_empty()
    }
}

impl<'a> Schemas<'a> {
    fn of(views: &'a [View<'a>]) -> Self {
        let mut numbers: Index<(usize, BTreeSet<String>), usize> = Index::default();
        let mut kinds: Vec<Kinds<'a>> = Vec::new();
        let patched: Vec<BTreeSet<String>> = views.par_iter().map(patched_definitions).collect();
        let number = |(view, patched): (&'a View<'a>, BTreeSet<String>)| {
            *numbers.entry_or((Arc::as_ptr(view.catalog()).addr(), patched.clone()), || {
                kinds.push(Kinds::new(view.catalog(), patched));
                kinds.len() - 1
            })
        };
        let of_view = views.iter().zip(patched).map(number).collect();
        Self { kinds, of_view }
    }

    fn known(&self, view: usize, id: (&'a str, &'a str)) -> Option<&Answer> {
        self.kinds.get(*self.of_view.get(view)?)?.known(id)
    }
}

/// Validates the distinct contents, and the copies of faulty objects, which have their own positions.
fn run(jobs: &[Job<'_>]) -> Index<ObjectKey, Arc<[Mismatch]>> {
    let contents: Vec<(usize, &Object)> = jobs.iter().map(|job| (job.key.1, job.object)).collect();
    let first = first_alike(&contents);
    let is_first = |at: usize| first.get(at) == Some(&at);
    let rules = Budget::of_request(jobs.len());
    let of_first =
        |(at, job): (usize, &Job<'_>)| if is_first(at) { mismatches(job, rules.clone()) } else { Vec::new() };
    let of_first: Vec<Vec<Mismatch>> = jobs.par_iter().enumerate().map(of_first).collect();
    let own = |((at, job), first): ((usize, &Job<'_>), &usize)| {
        let known = of_first.get(*first).filter(|known| !known.is_empty())?;
        Some((job.key, if at == *first { known.clone() } else { mismatches(job, rules.clone()) }.into()))
    };
    let all: Vec<(ObjectKey, Arc<[Mismatch]>)> = jobs.par_iter().enumerate().zip(&first).filter_map(own).collect();
    all.into_iter().collect()
}

fn mismatches(job: &Job<'_>, rules: Budget) -> Vec<Mismatch> {
    let found = &job.kind.found;
    let is_typed = matches!(&found.origin, Origin::BuiltIn(own) if own.product == Product::Kubernetes);
    let mut all = validate(job.object, &found.schema, found.scope, is_typed, rules);
    if job.object.kind() == "CustomResourceDefinition" {
        all.extend(job.view.written.definitions.of(job.object).iter().flat_map(|own| rejected(job.object, own)));
    }
    all
}

fn part_key(part: Part<'_>, number: usize, set: &AppliedSet) -> PartKey {
    (part.address(), number, set.by.kind as usize)
}

/// The version and kind of an object.
fn id_of(object: &Object) -> Option<(&str, &str)> {
    let text = |field: &str| object.node.get(field).and_then(crate::yaml::Node::text);
    Some((text("apiVersion")?, text("kind")?))
}

/// Returns whether the kind of an object depends on a value that only the cluster knows.
fn is_kind_unknown(object: &Object) -> bool {
    let fields = ["apiVersion", "kind"].into_iter().filter_map(|field| object.node.get(field));
    fields.into_iter().any(|node| matches!(node.value, Value::Scalar(_, Style::Unknown)))
}

fn is_judged(applied: &Applied<'_>) -> bool {
    applied.apply_mode() != ApplyMode::Ignored && is_written(applied.object)
}

/// Returns whether a file contains the object, and not a controller that generates it. A generated mapping has its keys and
/// values at the same places.
fn is_written(object: &Object) -> bool {
    let Some(kind) = object.node.entry("kind") else { return false };
    let written = kind.node.origin.written();
    if written.text().starts_with('#') {
        // The root that `flux bootstrap` will write to a file that contains only comments.
        return false;
    }
    kind.key_span().range() != written.range() || written.text().contains(object.kind())
}

/// The faults of a definition, which the API server rejects.
fn rejected(object: &Object, definition: &Definition) -> Vec<Mismatch> {
    let of_version = |version: &Version| -> Vec<Mismatch> {
        let mismatch = |mistake: &Mistake| Mismatch {
            at: mistake.at.clone(),
            path: format!("spec.versions[name={}].schema", version.name),
            fault: Fault::Value,
            message: format!("is not valid: {}", mistake.message),
            help: None,
            meant: None,
        };
        version.mistakes().iter().map(mismatch).collect()
    };
    let outside = definition_mistakes(object).into_iter().map(|(path, mistake)| Mismatch {
        at: mistake.at,
        path: path.to_owned(),
        fault: Fault::Value,
        message: mistake.message,
        help: None,
        meant: None,
    });
    outside.chain(definition.versions.iter().flat_map(of_version)).collect()
}
