//! `namePrefix` and `nameSuffix`.

use crate::kustomize::fieldspec::field_spec::{FieldSpec, Gvk, Make, Misfit};
use crate::kustomize::objects::resources::{Id, Resource, Resources};
use crate::kustomize::text::string_value::{made, renamed, string_style};
use crate::yaml::{ChangedBy, Name, Node, Value};

/// What is added to names, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Affix {
    Prefix,
    Suffix,
}

/// Adds the text of `value` to the names of all objects.
///
/// Kinds whose names mean something elsewhere keep them: custom resource definitions, API services and namespaces.
pub(crate) fn apply(affix: Affix, value: &Node, specs: &[FieldSpec], resources: &mut Resources) -> Result<(), Misfit> {
    let Some(text) = value.shared_text() else { return Ok(()) };
    for resource in &mut resources.list {
        let original = resource.original();
        if keeps_its_name(&original) {
            continue;
        }
        for spec in specs.iter().filter(|spec| spec.matches(&original)) {
            if &*spec.path == "metadata/name" && !text.is_empty() {
                let affixes = match affix {
                    Affix::Prefix => &mut resource.history.prefixes,
                    Affix::Suffix => &mut resource.history.suffixes,
                };
                affixes.push(text.clone());
                resource.remember();
            }
            if spec.matches(&resource.id) {
                add(affix, value, &text, spec, resource)?;
            }
        }
    }
    Ok(())
}

fn keeps_its_name(id: &Id) -> bool {
    let kinds = [
        Gvk::new("", "", "CustomResourceDefinition"),
        Gvk::new("apiregistration.k8s.io", "", "APIService"),
        Gvk::new("", "", "Namespace"),
    ];
    kinds.iter().any(|kind| kind.selects(id))
}

fn add(affix: Affix, value: &Node, text: &Name, spec: &FieldSpec, resource: &mut Resource) -> Result<(), Misfit> {
    let mut change = |node: Option<&Node>| {
        let by = ChangedBy::Field(value.span().clone());
        let Some(node) = node else { return Ok(Some(made(Value::Scalar(text.clone(), string_style(value)), by))) };
        let Some(old) = node.text() else {
            let message = format!("`{}` holds no single value, so nothing can be added to it", spec.path);
            return Err(Misfit { span: node.span().clone(), message });
        };
        let new = match affix {
            Affix::Prefix => format!("{text}{old}"),
            Affix::Suffix => format!("{old}{text}"),
        };
        Ok(Some(renamed(node, &new, by)))
    };
    if let Some(node) = spec.apply(&resource.node, Make::Scalar(value.span()), &mut change)? {
        resource.replace(node);
    }
    Ok(())
}
