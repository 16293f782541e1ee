//! `namePrefix` and `nameSuffix`: text before and after the names of objects.

use crate::kustomize::fieldspec::field_spec::{CreateKind, FieldError, FieldSpec, Gvk};
use crate::kustomize::objects::resources::{Resource, ResourceId, Resources};
use crate::kustomize::state::accumulator::Accumulator;
use crate::kustomize::text::string_value::{new_value, string_style, with_text};
use crate::yaml::{ChangedBy, Name, Node, Value};

/// The position of the added text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Affix {
    Prefix,
    Suffix,
}

/// Adds the text of `value` to the names of all objects.
///
/// Kinds with predetermined names are excluded: `CustomResourceDefinition`, `APIService` and `Namespace`.
pub(crate) fn apply(affix: Affix, value: &Node, specs: &[FieldSpec], accumulator: &mut Accumulator) {
    let Some(text) = value.shared_text() else { return };
    // The name and its previous value, or all fields of the field specs.
    let grown = (1 + specs.len().min(text.len())).saturating_mul(text.len());
    let grown = grown.saturating_mul(accumulator.resources.list.len());
    if accumulator.take_bytes(grown, value.span()) && accumulator.take_fields(specs, 1, value.span()) {
        let result = add_to_all(affix, value, &text, specs, &mut accumulator.resources);
        accumulator.record_error(result);
    }
}

fn add_to_all(
    affix: Affix,
    value: &Node,
    text: &Name,
    specs: &[FieldSpec],
    resources: &mut Resources,
) -> Result<(), FieldError> {
    for resource in &mut resources.list {
        let original = resource.original();
        if is_name_fixed(&original) {
            continue;
        }
        for spec in specs.iter().filter(|spec| spec.matches(&original)) {
            if &*spec.path == "metadata/name" && !text.is_empty() {
                let affixes = match affix {
                    Affix::Prefix => &mut resource.history.prefixes,
                    Affix::Suffix => &mut resource.history.suffixes,
                };
                affixes.push(text.clone());
                resource.store_previous_id();
            }
            if spec.matches(&resource.id) {
                add(affix, value, text, spec, resource)?;
            }
        }
    }
    Ok(())
}

fn is_name_fixed(id: &ResourceId) -> bool {
    let kinds = [
        Gvk::new("", "", "CustomResourceDefinition"),
        Gvk::new("apiregistration.k8s.io", "", "APIService"),
        Gvk::new("", "", "Namespace"),
    ];
    kinds.iter().any(|kind| kind.selects(id))
}

fn add(affix: Affix, value: &Node, text: &Name, spec: &FieldSpec, resource: &mut Resource) -> Result<(), FieldError> {
    let mut change = |node: Option<&Node>| {
        let by = ChangedBy::Field(value.span().clone());
        let Some(node) = node else { return Ok(Some(new_value(Value::Scalar(text.clone(), string_style(value)), by))) };
        let Some(old) = node.text() else {
            let message = format!("`{}` is not a string, so a prefix or suffix cannot be added", spec.path);
            return Err(FieldError { span: node.span().clone(), message });
        };
        let new = match affix {
            Affix::Prefix => format!("{text}{old}"),
            Affix::Suffix => format!("{old}{text}"),
        };
        Ok(Some(with_text(node, &new, by)))
    };
    if let Some(node) = spec.apply(&resource.node, CreateKind::Scalar(value.span()), &mut change)? {
        resource.replace(node);
    }
    Ok(())
}
