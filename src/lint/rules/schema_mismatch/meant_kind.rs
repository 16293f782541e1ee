//! The kinds that authors of unknown kinds meant.

use std::collections::{BTreeMap, BTreeSet};

use super::kinds::is_group_of_flux;
use crate::api::catalog::Product;
use crate::base::finding::{Finding, Severity};
use crate::base::similar_names::differ_in_one;
use crate::flux::Applied;
use crate::lint::view::View;

/// The kind that the author of an unknown kind meant.
#[derive(Debug, Clone, Copy)]
pub(super) enum MeantKind<'k> {
    /// Other objects of the group have this kind, which differs in one character.
    OfOthers(&'k str),
    /// Kubernetes or Flux defines all kinds of the group, and this one differs in case, number or one character.
    InGroup(&'static str),
    /// Kubernetes or Flux defines all kinds of the group, and another group has the kind.
    InOtherGroup(&'static str),
    /// The core group has the kind, but only in version `v1`.
    OfCore,
    /// Flux defines all kinds of the group, and none is similar.
    Nothing,
}

impl<'k> MeantKind<'k> {
    /// The meant kind of an unknown kind. `kinds` are the numbers of the objects of each kind.
    pub(super) fn of(kinds: &BTreeMap<(&'k str, &'k str), usize>, group: &str, kind: &str) -> Option<Self> {
        let products = || [Product::Kubernetes, Product::Flux].into_iter().flat_map(|one| one.pack().kinds.iter());
        let of_group = || products().filter(|known| &*known.group == group);
        if of_group().any(|known| &*known.kind == kind) {
            return group.is_empty().then_some(Self::OfCore);
        }
        if of_group().next().is_some() {
            let same = |known: &str| known.eq_ignore_ascii_case(kind);
            let is_meant = |known: &str, plural: &str| same(known) || same(plural) || differ_in_one(kind, known);
            let meant = of_group().find(|known| is_meant(&known.kind, &known.plural));
            let other = || products().find(|known| &*known.kind == kind && &*known.group != group);
            let meant = meant.map(|known| Self::InGroup(&known.kind));
            let other = || other().map(|known| Self::InOtherGroup(&known.group));
            return meant.or_else(other).or_else(|| is_group_of_flux(group).then_some(Self::Nothing));
        }
        let own = kinds.get(&(group, kind)).copied().unwrap_or_default();
        let of_group = kinds.iter().filter(|((known, _), count)| *known == group && **count > own);
        of_group.map(|((_, known), _)| *known).find(|known| differ_in_one(kind, known)).map(Self::OfOthers)
    }

    /// The finding for an object with the unknown kind.
    pub(super) fn finding(self, rule: &'static str, view: &View<'_>, applied: &Applied<'_>) -> Finding {
        let object = applied.object;
        let at = object.node.get("kind").unwrap_or(&object.node).span();
        let (reference, group) = (object.reference(), object.group());
        let rejects = "the API server rejects an object of a kind that no definition has";
        let named = |group: &str| if group.is_empty() { "the core group".to_owned() } else { format!("`{group}`") };
        let (severity, message, help) = match self {
            Self::OfOthers(meant) => (
                Severity::Warning,
                format!("{reference} has an unknown kind, and other objects of `{group}` have kind {meant}"),
                format!("did you mean `{meant}`? The API server rejects an object of a kind that no definition has"),
            ),
            Self::InGroup(meant) => (
                Severity::Error,
                format!("{reference} has a kind that {} does not have", named(group)),
                format!("set `kind: {meant}`: {rejects}, so Flux applies neither it nor the objects beside it"),
            ),
            Self::OfCore => (
                Severity::Error,
                format!("{reference} has version `{}`, which the core group does not have", object.api_version()),
                format!("set `apiVersion: v1`: {rejects}, so Flux applies neither it nor the objects beside it"),
            ),
            Self::InOtherGroup(other) => (
                Severity::Error,
                format!("{reference} has a kind that {} does not have", named(group)),
                format!(
                    "set an `apiVersion` of {}: {rejects}, so Flux applies neither it nor the objects beside it",
                    named(other)
                ),
            ),
            Self::Nothing => {
                let known = Product::Flux.pack().kinds.iter().filter(|known| &*known.group == group);
                let known: BTreeSet<&str> = known.map(|known| &*known.kind).collect();
                let known: Vec<String> = known.into_iter().map(|kind| format!("`{kind}`")).collect();
                (
                    Severity::Error,
                    format!("{reference} has a kind that {} does not have", named(group)),
                    format!(
                        "the group has {}: {rejects}, so Flux applies neither it nor the objects beside it",
                        known.join(", ")
                    ),
                )
            }
        };
        let mut finding = Finding::error(rule, applied.by.place(at), message).help(help).about(reference);
        finding.severity = severity;
        finding.clusters.push(view.receiver.to_string().into());
        finding
    }
}
