//! `commonAnnotations`: pairs written into the annotations of objects and of their templates.

use crate::base::finding::Finding;
use crate::kustomize::fieldspec::field_spec::{FieldSpec, Make};
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Partial;
use crate::kustomize::text::string_value::set_text;
use crate::yaml::{Entry, Node};

/// Writes the pairs of a mapping into all objects.
pub(crate) fn apply(pairs: &[Entry], specs: &[FieldSpec], partial: &mut Partial) {
    let mut misfits = Vec::new();
    for resource in &mut partial.resources.list {
        for entry in pairs {
            let key = entry.key_span();
            let mut set = |map: Option<&Node>| Ok(map.map(|map| set_text(map, &entry.key, &key, &entry.node)));
            for spec in specs.iter().filter(|spec| spec.matches(&resource.id)) {
                match spec.apply(&resource.node, Make::Map(&key), &mut set) {
                    Ok(changed) => resource.node = changed.unwrap_or_else(|| resource.node.clone()),
                    Err(misfit) => misfits.push(misfit),
                }
            }
        }
    }
    for misfit in misfits {
        partial.fail(Finding::error(FAILED_BUILD, misfit.span, misfit.message));
    }
}
