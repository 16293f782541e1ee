//! The configuration of transformers: the fields that each transformer changes, by kind.
//!
//! The built-in configuration is merged with `configurations` and `crds`. The configuration of a base is merged into
//! the configuration of its overlay, so the references and variables of the base also apply to the overlay.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::str::Bytes;
use std::sync::Arc;

use super::field_spec::{FieldSpec, Gvk};
use crate::base::finding::Finding;
use crate::kustomize::objects::order::rank;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::text::Span;
use crate::yaml::Name;

/// A field of the configuration, with a list of field specs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ConfigField {
    NamePrefix,
    NameSuffix,
    Namespace,
    CommonLabels,
    Labels,
    TemplateLabels,
    CommonAnnotations,
    VarReference,
    Images,
    Replicas,
}

/// The configuration of all transformers.
#[derive(Debug, Clone, Default)]
pub(crate) struct TransformerConfig {
    pub(crate) fields: BTreeMap<ConfigField, Vec<FieldSpec>>,
    pub(crate) references: Vec<NameReference>,
}

/// The target of a name reference, and the fields that refer to the target.
#[derive(Debug, Clone)]
pub(crate) struct NameReference {
    pub(crate) target: Gvk,
    pub(crate) referrers: Vec<FieldSpec>,
}

/// Two field specs for one path of a kind that differ in `create`.
#[derive(Debug)]
pub(crate) struct Conflict {
    path: Name,
    span: Option<Span>,
    other: Option<Span>,
}

impl Conflict {
    /// The finding about the conflict, at the user's field spec if there is one, else at `otherwise`.
    pub(crate) fn finding(self, otherwise: &Span) -> Finding {
        let message = format!("`{}` has two field specs with different values of `create`", self.path);
        let help = "use the same value in both field specs, or set another kind in one of them";
        let span = self.span.clone().or(self.other.clone());
        let finding = Finding::error(FAILED_BUILD, span.unwrap_or_else(|| otherwise.clone()), message).help(help);
        match (self.span, self.other) {
            (Some(_), Some(other)) => finding.related(other, "the other field spec"),
            _ => finding,
        }
    }
}

impl TransformerConfig {
    /// Returns whether the configuration is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.references.is_empty()
    }

    /// The field specs of a transformer.
    pub(crate) fn specs(&self, config_field: ConfigField) -> &[FieldSpec] {
        self.fields.get(&config_field).map_or(&[], Vec::as_slice)
    }

    /// Merges two configurations, sorted by kind and without duplicates. `self` is empty or the result of a merge.
    pub(crate) fn merge(self: &Arc<Self>, other: &Self) -> Result<Arc<Self>, Conflict> {
        let added = self.additions(other)?;
        if added.is_empty() {
            return Ok(self.clone());
        }
        let mut all = Self::clone(self);
        for (config_field, specs) in added.fields {
            let known = all.fields.entry(config_field).or_default();
            known.extend(specs);
            known.sort_by(|one, other| in_order(&one.gvk, &other.gvk));
        }
        for NameReference { target, referrers } in added.references {
            match all.references.iter_mut().find(|known| known.target == target) {
                Some(known) => known.referrers.extend(referrers),
                None => all.references.push(NameReference { target, referrers }),
            }
        }
        all.references.sort_by(|one, other| in_order(&one.target, &other.target));
        Ok(Arc::new(all))
    }

    /// The field specs and references that another configuration adds.
    fn additions(&self, other: &Self) -> Result<Self, Conflict> {
        let mut added = Self::default();
        for (config_field, specs) in &other.fields {
            let new = new_specs(self.specs(*config_field), specs)?;
            if !new.is_empty() {
                added.fields.insert(*config_field, new);
            }
        }
        for NameReference { target, referrers } in &other.references {
            let referrers = match self.references.iter().find(|known| known.target == *target) {
                Some(known) => Some(new_specs(&known.referrers, referrers)?).filter(|new| !new.is_empty()),
                // kustomize does not compare the first field specs of a target with each other.
                None => Some(referrers.clone()),
            };
            if let Some(referrers) = referrers {
                added.references.push(NameReference { target: target.clone(), referrers });
            }
        }
        Ok(added)
    }

    /// Adds a field spec, unless the configuration contains it.
    pub(crate) fn add(&mut self, config_field: ConfigField, spec: &FieldSpec) -> Result<(), Conflict> {
        let specs = self.fields.entry(config_field).or_default();
        let new = new_specs(specs, std::slice::from_ref(spec))?;
        specs.extend(new);
        Ok(())
    }

    /// Adds a field that refers to a target, unless the configuration contains it.
    pub(super) fn add_reference(&mut self, target: &Gvk, referrer: FieldSpec) -> Result<(), Conflict> {
        if let Some(known) = self.references.iter_mut().find(|known| known.target == *target) {
            let new = new_specs(&known.referrers, &[referrer])?;
            known.referrers.extend(new);
        } else {
            self.references.push(NameReference { target: target.clone(), referrers: vec![referrer] });
        }
        Ok(())
    }
}

/// The field specs of a list that are neither in `known` nor earlier in the list.
fn new_specs(known: &[FieldSpec], list: &[FieldSpec]) -> Result<Vec<FieldSpec>, Conflict> {
    let mut new: Vec<FieldSpec> = Vec::new();
    for spec in list {
        // kustomize treats a new field spec that covers an existing field spec as a duplicate.
        let mut before = known.iter().chain(&new);
        match before.find(|known| spec.path == known.path && spec.gvk.covers(&known.gvk)) {
            Some(known) if known.create != spec.create => {
                let (span, other) = (spec.span.clone(), known.span.clone());
                return Err(Conflict { path: spec.path.clone(), span, other });
            }
            Some(_) => {}
            None => new.push(spec.clone()),
        }
    }
    Ok(new)
}

/// Compares two kinds in the order of objects: by rank, then by group, version and kind as one text.
fn in_order(one: &Gvk, other: &Gvk) -> Ordering {
    fn part<'a>(text: &'a str, empty: &'static str) -> Bytes<'a> {
        if text.is_empty() { empty.bytes() } else { text.bytes() }
    }
    fn bytes(gvk: &Gvk) -> impl Iterator<Item = u8> {
        let (group, version, kind) = (part(&gvk.group, "~G"), part(&gvk.version, "~V"), part(&gvk.kind, "~K"));
        group.chain([b'_']).chain(version).chain([b'_']).chain(kind)
    }
    if one == other {
        return Ordering::Equal;
    }
    rank(&one.kind).cmp(&rank(&other.kind)).then_with(|| bytes(one).cmp(bytes(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wider_field_spec_must_agree_with_a_narrower_one() {
        let mut config = TransformerConfig::default();
        let spec = |kind: &str, create| FieldSpec::new(Gvk::new("", "", kind), "spec/a", create);
        config.add(ConfigField::Labels, &spec("Foo", false)).unwrap();
        config.add(ConfigField::Labels, &spec("Bar", true)).unwrap();
        assert!(config.add(ConfigField::Labels, &spec("", true)).is_err());
    }
}
