//! `namespace`: the namespace of objects and of references to namespaces.

use crate::kustomize::fieldspec::field_spec::{CreateKind, FieldError, FieldSpec, Gvk, each_item};
use crate::kustomize::objects::resources::{NO_NAMESPACE, Resource, Resources};
use crate::kustomize::text::string_value::{new_value, string_style};
use crate::text::Span;
use crate::yaml::{By, Entry, Node, Value};

/// The options of the transformer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    /// Whether fields with a namespace are excluded.
    pub(crate) unset_only: bool,
    pub(crate) subjects: Subjects,
}

/// The subjects of role bindings that get the namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subjects {
    /// Subjects with the name `default`.
    NamedDefault,
    /// Service accounts.
    ServiceAccounts,
    /// No subjects.
    None,
}

impl Options {
    /// The options for the field `namespace` of a kustomization.
    pub(super) const KUSTOMIZATION_FIELD: Self = Self { unset_only: false, subjects: Subjects::NamedDefault };
}

/// Sets the namespace of all objects to `value`; `key` is the position of created keys.
pub(crate) fn apply(
    resources: &mut Resources,
    key: &Span,
    value: &Node,
    specs: &[FieldSpec],
    options: Options,
) -> Result<(), FieldError> {
    let metadata_spec = FieldSpec::new(Gvk::new("", "", ""), "metadata/namespace", true);
    let write = Write { key, value, unset_only: options.unset_only };
    for resource in &mut resources.list {
        resource.store_previous_id();
        let node = set_namespace(resource, &metadata_spec, &write, specs, options)?;
        resource.replace(node);
    }
    Ok(())
}

fn set_namespace(
    resource: &Resource,
    metadata_spec: &FieldSpec,
    write: &Write<'_>,
    specs: &[FieldSpec],
    options: Options,
) -> Result<Node, FieldError> {
    let id = &resource.id;
    let mut node = resource.node.clone();
    if &*id.namespace != NO_NAMESPACE {
        node = write.set_at(metadata_spec, &node)?;
    }
    let is_binding = matches!(&*id.kind, "RoleBinding" | "ClusterRoleBinding");
    if is_binding && options.subjects != Subjects::None {
        node = subjects(&node, write, options.subjects)?;
    }
    let is_core = id.group.is_empty() && &*id.version == "v1";
    for spec in specs.iter().filter(|spec| spec.matches(id)) {
        let is_handled = match &*spec.path {
            "metadata/namespace" => true,
            // A kind `Namespace` of another API keeps its name.
            "metadata/name" => !is_core,
            "subjects/namespace" => is_binding && matches!(&*spec.gvk.kind, "RoleBinding" | "ClusterRoleBinding"),
            _ => false,
        };
        if !is_handled {
            node = write.set_at(spec, &node)?;
        }
    }
    Ok(node)
}

/// The namespace, and the options for writing it.
struct Write<'a> {
    key: &'a Span,
    value: &'a Node,
    unset_only: bool,
}

impl Write<'_> {
    fn set_at(&self, spec: &FieldSpec, node: &Node) -> Result<Node, FieldError> {
        let mut change = |old: Option<&Node>| self.new_value(old);
        Ok(spec.apply(node, CreateKind::Scalar(self.key), &mut change)?.unwrap_or_else(|| node.clone()))
    }

    /// The namespace that replaces a value; `None` if the value stays.
    fn new_value(&self, old: Option<&Node>) -> Result<Option<Node>, FieldError> {
        let Some(text) = self.value.shared_text() else { return Ok(None) };
        let value = Value::Scalar(text.clone(), string_style(self.value));
        let by = By::Field(self.value.span().clone());
        match old {
            None => Ok(Some(new_value(value, by))),
            Some(old) if !matches!(old.value, Value::Scalar(..)) => {
                let message = "a namespace cannot be set here, because the field is not a scalar".to_string();
                Err(FieldError { span: old.span().clone(), message })
            }
            Some(old) if old.is_null() => Ok(Some(old.changed(value, by))),
            Some(old) if old.text() == Some(&text) => Ok(None),
            Some(old) if self.unset_only && old.text().is_some_and(|text| !text.is_empty()) => Ok(None),
            Some(old) => Ok(Some(old.changed(value, by))),
        }
    }
}

fn subjects(node: &Node, write: &Write<'_>, selected: Subjects) -> Result<Node, FieldError> {
    let Some(entry) = node.entry("subjects").filter(|entry| !entry.node.is_null()) else { return Ok(node.clone()) };
    let Value::Seq(items) = &entry.node.value else {
        let message = "`subjects` must be a list".to_string();
        return Err(FieldError { span: entry.node.span().clone(), message });
    };
    let list = each_item(&entry.node, items, |subject| {
        let (field, expected) = match selected {
            Subjects::ServiceAccounts => ("kind", "ServiceAccount"),
            Subjects::NamedDefault | Subjects::None => ("name", "default"),
        };
        if subject.get(field).and_then(Node::text) != Some(expected) {
            return Ok(None);
        }
        let old = subject.entry("namespace");
        Ok(write.new_value(old.map(|entry| &entry.node))?.map(|new| match old {
            Some(entry) => subject.with(entry.with_node(new)),
            None => subject.with(Entry::new("namespace", write.key, new)),
        }))
    })?;
    Ok(list.map_or_else(|| node.clone(), |list| node.with(entry.with_node(list))))
}
