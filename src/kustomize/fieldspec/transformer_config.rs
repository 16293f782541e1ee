//! The configuration of kustomize's transformers: where in which kinds each of them works.
//!
//! The built-in one is merged with the files of `configurations` and with what `crds` say, and that of a base is merged
//! into that of its overlay, so that references and variables that a base declares are followed there too.

use std::collections::BTreeMap;

use super::field_spec::{FieldSpec, Gvk};
use crate::base::finding::Finding;
use crate::kustomize::objects::order::rank;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::text::Span;
use crate::yaml::Name;

/// What a list of field specifications is for.
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

/// What is referred to by name, and the fields that do.
#[derive(Debug, Clone)]
pub(crate) struct NameReference {
    pub(crate) target: Gvk,
    pub(crate) referrers: Vec<FieldSpec>,
}

/// Two specifications that agree in kind and path and not in whether the field is made.
#[derive(Debug)]
pub(crate) struct Conflict {
    path: Name,
    place: Option<Span>,
    other: Option<Span>,
}

impl Conflict {
    /// What is wrong, at the place that a user wrote, or at `otherwise`.
    pub(crate) fn finding(self, otherwise: &Span) -> Finding {
        let message = format!("`{}` is configured twice, with different values of `create`", self.path);
        let help = "say the same in both, or give the field another kind";
        let place = self.place.clone().or(self.other.clone());
        let finding = Finding::error(FAILED_BUILD, place.unwrap_or_else(|| otherwise.clone()), message).help(help);
        match (self.place, self.other) {
            (Some(_), Some(other)) => finding.related(other, "the other one"),
            _ => finding,
        }
    }
}

impl TransformerConfig {
    /// Whether it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.references.is_empty()
    }

    /// Where the transformer of a topic works.
    pub(crate) fn specs(&self, config_field: ConfigField) -> &[FieldSpec] {
        self.fields.get(&config_field).map_or(&[], Vec::as_slice)
    }

    /// Both, sorted by kind. What is there already is not added again; this one is empty or was merged itself.
    pub(crate) fn merge(&self, other: &Self) -> Result<Self, Conflict> {
        let mut all = self.clone();
        for (config_field, added) in &other.fields {
            let specs = all.fields.entry(*config_field).or_default();
            merge_specs(specs, added)?;
            specs.sort_by_cached_key(|spec| order(&spec.gvk));
        }
        for NameReference { target, referrers } in &other.references {
            all.refer(target, referrers)?;
        }
        if !other.references.is_empty() {
            all.references.sort_by_cached_key(|reference| order(&reference.target));
        }
        Ok(all)
    }

    /// Adds fields that refer to objects by name.
    fn refer(&mut self, target: &Gvk, referrers: &[FieldSpec]) -> Result<(), Conflict> {
        if let Some(known) = self.references.iter_mut().find(|known| known.target == *target) {
            return merge_specs(&mut known.referrers, referrers);
        }
        // kustomize does not compare those that are the first of their target with each other.
        self.references.push(NameReference { target: target.clone(), referrers: referrers.to_vec() });
        Ok(())
    }

    /// Adds a specification that is not there yet.
    pub(crate) fn add(&mut self, config_field: ConfigField, spec: &FieldSpec) -> Result<(), Conflict> {
        merge_specs(self.fields.entry(config_field).or_default(), std::slice::from_ref(spec))
    }

    /// Adds a field that refers to objects by name.
    pub(super) fn add_reference(&mut self, target: &Gvk, referrer: FieldSpec) -> Result<(), Conflict> {
        self.refer(target, &[referrer])
    }
}

fn merge_specs(into: &mut Vec<FieldSpec>, from: &[FieldSpec]) -> Result<(), Conflict> {
    for spec in from {
        // One that is wider covers what is there; kustomize asks no more.
        match into.iter().find(|known| spec.path == known.path && spec.gvk.covers(&known.gvk)) {
            Some(known) if known.create != spec.create => {
                let (place, other) = (spec.place.clone(), known.place.clone());
                return Err(Conflict { path: spec.path.clone(), place, other });
            }
            Some(_) => {}
            None => into.push(spec.clone()),
        }
    }
    Ok(())
}

/// Kinds are ordered as objects are: which come first is known, others follow by group, version and kind.
fn order(gvk: &Gvk) -> (isize, String) {
    let or = |text: &str, empty: &str| if text.is_empty() { empty.to_string() } else { text.to_string() };
    (rank(&gvk.kind), format!("{}_{}_{}", or(&gvk.group, "~G"), or(&gvk.version, "~V"), or(&gvk.kind, "~K")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wider_specification_must_agree_with_a_narrower_one() {
        let mut config = TransformerConfig::default();
        let spec = |kind: &str, create| FieldSpec::new(Gvk::new("", "", kind), "spec/a", create);
        config.add(ConfigField::Labels, &spec("Foo", false)).unwrap();
        config.add(ConfigField::Labels, &spec("Bar", true)).unwrap();
        assert!(config.add(ConfigField::Labels, &spec("", true)).is_err());
    }
}
