//! `commonAnnotations`: annotations of objects and of their templates.

use crate::base::finding::Finding;
use crate::kustomize::fieldspec::field_spec::{CreateKind, FieldSpec};
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Accumulator;
use crate::kustomize::text::string_value::set_text_entry;
use crate::yaml::{Entry, Node};

/// Adds annotations to all objects.
pub(crate) fn apply(pairs: &[Entry], specs: &[FieldSpec], accumulator: &mut Accumulator) {
    let mut errors = Vec::new();
    for resource in &mut accumulator.resources.list {
        for entry in pairs {
            let key = entry.key_span();
            let mut set = |map: Option<&Node>| Ok(map.map(|map| set_text_entry(map, &entry.key, &key, &entry.node)));
            for spec in specs.iter().filter(|spec| spec.matches(&resource.id)) {
                match spec.apply(&resource.node, CreateKind::Map(&key), &mut set) {
                    Ok(changed) => resource.node = changed.unwrap_or_else(|| resource.node.clone()),
                    Err(error) => errors.push(error),
                }
            }
        }
    }
    for error in errors {
        accumulator.fail(Finding::error(FAILED_BUILD, error.span, error.message));
    }
}
