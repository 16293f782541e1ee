//! The types of the variables of policies, as `k8s.io/apiserver` declares them.

use std::sync::Arc;

use crate::cel::{Fields, Type};

/// An object with fixed fields.
#[derive(Debug)]
struct Declared {
    name: &'static str,
    fields: Vec<(&'static str, Type)>,
}

impl Fields for Declared {
    fn name(&self) -> &str {
        self.name
    }

    fn field(&self, name: &str) -> Option<Type> {
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, declared)| declared.clone())
    }
}

fn object(name: &'static str, fields: Vec<(&'static str, Type)>) -> Type {
    Type::Object(Arc::new(Declared { name, fields }))
}

fn texts(names: &[&'static str]) -> Vec<(&'static str, Type)> {
    names.iter().map(|name| (*name, Type::String)).collect()
}

/// The type of `request`.
pub(super) fn request() -> Type {
    let list = || Type::list(Type::String);
    let kind = object("kubernetes.GroupVersionKind", texts(&["group", "version", "kind"]));
    let resource = object("kubernetes.GroupVersionResource", texts(&["group", "version", "resource"]));
    let mut user = texts(&["username", "uid"]);
    user.extend([("groups", list()), ("extra", Type::map(Type::String, list()))]);
    let mut fields = texts(&["subResource", "requestSubResource", "name", "namespace", "operation"]);
    fields.extend([
        ("kind", kind.clone()),
        ("resource", resource.clone()),
        ("requestKind", kind),
        ("requestResource", resource),
        ("userInfo", object("kubernetes.UserInfo", user)),
        ("dryRun", Type::Bool),
        ("options", Type::Dyn),
    ]);
    object("kubernetes.AdmissionRequest", fields)
}

/// The type of `namespaceObject`.
pub(super) fn namespace() -> Type {
    let list = || Type::list(Type::String);
    let labels = || Type::map(Type::String, Type::String);
    let mut metadata = texts(&["name", "generateName", "namespace", "UID", "resourceVersion"]);
    metadata.extend([
        ("labels", labels()),
        ("annotations", labels()),
        ("creationTimestamp", Type::Timestamp),
        ("deletionTimestamp", Type::Timestamp),
        ("deletionGracePeriodSeconds", Type::Int),
        ("generation", Type::Int),
        ("finalizers", list()),
    ]);
    let mut condition = texts(&["status", "type", "message", "reason"]);
    condition.push(("lastTransitionTime", Type::Timestamp));
    let conditions = Type::list(object("kubernetes.NamespaceCondition", condition));
    let status = vec![("conditions", conditions), ("phase", Type::String)];
    let fields = vec![
        ("metadata", object("kubernetes.NamespaceMetadata", metadata)),
        ("spec", object("kubernetes.NamespaceSpec", vec![("finalizers", list())])),
        ("status", object("kubernetes.NamespaceStatus", status)),
    ];
    object("kubernetes.Namespace", fields)
}
