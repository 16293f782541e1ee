//! The built-in policies of `policies/`, with their parameters.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::yaml_file::is_yaml;
use crate::assets;
use crate::kube::Object;
use crate::text::File;
use crate::yaml::{Node, Style, Value};

/// A built-in policy.
#[derive(Debug)]
pub struct BuiltIn {
    /// The name, which is also the name of its objects.
    pub name: String,
    /// The requirement in one sentence.
    pub description: String,
    /// The file, as it is valid on a cluster.
    pub file: File,
    /// The `ValidatingAdmissionPolicy`, its binding, and the `ConfigMap` with its parameters.
    pub objects: Vec<Object>,
}

/// The built-in policies, by name.
pub static BUILT_IN: LazyLock<Vec<BuiltIn>> = LazyLock::new(|| {
    let tree = assets::policies();
    let paths = tree.entries().map(|(path, _)| path).filter(|path| is_yaml(path));
    let mut all: Vec<BuiltIn> = paths.filter_map(|path| BuiltIn::read(tree.file(path).ok()?)).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
});

/// Returns a built-in policy.
pub fn built_in(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|policy| policy.name == name)
}

impl BuiltIn {
    fn read(file: File) -> Option<Self> {
        let documents = crate::yaml::parse(&file).documents;
        let objects: Vec<Object> = documents.into_iter().filter_map(|document| Object::new(document.node)).collect();
        let policy = objects.iter().find(|object| object.kind() == "ValidatingAdmissionPolicy")?;
        let description = policy.annotation("kubernetes.io/description").unwrap_or_default();
        Some(Self { name: policy.name().to_owned(), description: description.to_owned(), file, objects })
    }

    /// The parameters with their defaults.
    pub fn parameters(&self) -> BTreeMap<&str, &str> {
        let data = self.objects.iter().filter(|object| object.kind() == "ConfigMap");
        let entries = data.filter_map(|object| object.node.get("data")).flat_map(Node::entries);
        entries.filter_map(|entry| Some((&*entry.key, entry.node.text()?))).collect()
    }

    /// Returns the objects with other values of the parameters.
    pub fn objects_with(&self, parameters: &BTreeMap<String, String>) -> Vec<Object> {
        let set = |object: &Object| {
            if object.kind() != "ConfigMap" || parameters.is_empty() {
                return object.clone();
            }
            let Some(data) = object.node.get("data") else { return object.clone() };
            let entries = data.entries().iter().map(|entry| match parameters.get(&*entry.key) {
                Some(value) => entry.with_node(Node::scalar(value.as_str(), Style::Double, entry.node.span().clone())),
                None => entry.clone(),
            });
            let data = Node { value: Value::Map(entries.collect()), origin: data.origin.clone() };
            let entries = object.node.entries().iter();
            let entries =
                entries.map(|entry| if &*entry.key == "data" { entry.with_node(data.clone()) } else { entry.clone() });
            Object { node: Node { value: Value::Map(entries.collect()), origin: object.node.origin.clone() } }
        };
        self.objects.iter().map(set).collect()
    }
}
