//! Roles and bindings, from files or shipped with a product.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::rule::Rule;
use super::subject::{Account, Subject};
use crate::base::finding::ObjectRef;
use crate::kube::selector::Selector;
use crate::kube::{Object, groups, is_encrypted_value};
use crate::text::Span;
use crate::yaml::{Name, Node, Style, Value};

/// The origin of a role or binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefinedIn {
    /// A file.
    Written(Span),
    /// A product that creates the role or binding.
    Shipped(Product),
}

impl DefinedIn {
    /// The position in a file; `None` for shipped objects.
    pub fn written(&self) -> Option<&Span> {
        match self {
            Self::Written(span) => Some(span),
            Self::Shipped(_) => None,
        }
    }
}

/// A product that creates roles and bindings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Product {
    /// Kubernetes, whose API server creates the objects at startup.
    Kubernetes,
    /// Flux, whose installation contains the objects.
    Flux,
    /// Flux Operator, whose chart contains the objects.
    FluxOperator,
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kubernetes => "Kubernetes",
            Self::Flux => "Flux",
            Self::FluxOperator => "Flux Operator",
        })
    }
}

/// A Role or ClusterRole.
#[derive(Debug, Clone)]
pub struct Role {
    /// The namespace of a Role; empty for a ClusterRole.
    pub namespace: Name,
    /// The name.
    pub name: Name,
    /// The origin.
    pub place: DefinedIn,
    /// The rules of the role itself, without the rules of aggregated roles.
    pub(crate) rules: Vec<Arc<Rule>>,
    pub(crate) labels: BTreeMap<Name, Name>,
    /// The selectors of the aggregated roles.
    pub(crate) aggregates: Vec<Selector>,
    /// Whether the role contains unknown values, such as variables.
    pub is_opaque: bool,
    /// Whether the repository does not show the name.
    pub has_hidden_name: bool,
    /// The labels whose values the repository does not show.
    pub(crate) hidden_labels: Vec<Name>,
}

impl Role {
    /// The kind.
    pub fn kind(&self) -> &'static str {
        if self.namespace.is_empty() { "ClusterRole" } else { "Role" }
    }

    /// The kind and name, as messages show them.
    pub fn reference(&self) -> String {
        label(self.kind(), &self.namespace, &self.name)
    }

    /// The reference to the object.
    pub fn object(&self) -> ObjectRef {
        object(self.kind(), &self.namespace, &self.name)
    }

    /// Returns whether a rule of the role itself grants all permissions.
    pub fn is_everything(&self) -> bool {
        self.rules.iter().any(|rule| rule.is_everything())
    }

    /// Reads a role; `place` maps a position to the position on the cluster.
    pub(crate) fn read(object: &Object, namespace: &str, place: impl Fn(&Span) -> Span) -> Self {
        let rules = object.node.get("rules").map_or(&[][..], Node::items).iter().map(|node| {
            let mut rule = Rule::read(node);
            rule.place = rule.place.map(|span| place(&span));
            Arc::new(rule)
        });
        let labels = object.node.at_keys(&["metadata", "labels"]).map_or(&[][..], Node::entries);
        let selectors = object.node.at_keys(&["aggregationRule", "clusterRoleSelectors"]);
        let selectors = selectors.map_or(&[][..], Node::items).iter().map(Selector::of);
        // If a selector is invalid, Kubernetes does not aggregate roles, and the rules remain.
        let aggregates = selectors.collect::<Option<Vec<Selector>>>().unwrap_or_default();
        let is_opaque = ["rules", "aggregationRule"].iter().filter_map(|key| object.node.get(key)).any(is_unknown);
        Self {
            namespace: namespace.into(),
            name: object.name().into(),
            place: DefinedIn::Written(place(object.span())),
            rules: rules.collect(),
            labels: labels.iter().filter_map(|label| Some((label.key.clone(), label.node.shared_text()?))).collect(),
            aggregates,
            is_opaque,
            has_hidden_name: object.node.at_keys(&["metadata", "name"]).is_some_and(is_hidden),
            hidden_labels: labels
                .iter()
                .filter(|label| is_hidden(&label.node))
                .map(|label| label.key.clone())
                .collect(),
        }
    }
}

/// A RoleBinding or ClusterRoleBinding.
#[derive(Debug, Clone)]
pub struct Binding {
    /// The namespace of a RoleBinding, to which the granted rights are limited; empty for a ClusterRoleBinding.
    pub namespace: Name,
    /// The name.
    pub name: Name,
    /// The origin.
    pub place: DefinedIn,
    /// The role that the binding grants.
    pub role: RoleRef,
    /// The subjects.
    pub subjects: Vec<BoundSubject>,
    /// Whether the binding has unknown subjects, such as variables.
    pub is_opaque: bool,
}

/// A subject of a binding, with its position.
#[derive(Debug, Clone)]
pub struct BoundSubject {
    /// The subject.
    pub subject: Subject,
    /// The position of the subject.
    pub place: DefinedIn,
}

/// The reference of a binding to a role.
#[derive(Debug, Clone)]
pub struct RoleRef {
    /// Whether the role is a ClusterRole. If not, the role is a Role in the namespace of the binding.
    pub is_cluster_role: bool,
    /// The name.
    pub name: Name,
    /// Whether the repository does not show the name or the kind: it comes from a variable of a Secret, or is encrypted.
    pub is_hidden: bool,
    /// The position of the reference.
    pub place: DefinedIn,
}

impl Binding {
    /// The kind.
    pub fn kind(&self) -> &'static str {
        if self.namespace.is_empty() { "ClusterRoleBinding" } else { "RoleBinding" }
    }

    /// The kind and name, as messages show them.
    pub fn reference(&self) -> String {
        label(self.kind(), &self.namespace, &self.name)
    }

    /// The reference to the object.
    pub fn object(&self) -> ObjectRef {
        object(self.kind(), &self.namespace, &self.name)
    }

    /// Returns whether a file contains the binding.
    pub fn is_written(&self) -> bool {
        self.place.written().is_some()
    }

    /// The kind and name of the role, as messages show them.
    pub fn role_name(&self) -> String {
        if self.role.is_cluster_role {
            label("ClusterRole", "", &self.role.name)
        } else {
            label("Role", &self.namespace, &self.role.name)
        }
    }

    /// Reads a binding; `place` maps a position to the position on the cluster. `None` if the API server rejects the
    /// `roleRef`.
    pub(crate) fn read(object: &Object, namespace: &str, place: impl Fn(&Span) -> Span) -> Option<Self> {
        let reference = object.node.get("roleRef")?;
        let name = reference.get("name")?;
        let kind = reference.get("kind")?;
        let is_cluster_role = match kind.text()? {
            "ClusterRole" => true,
            "Role" => false,
            _ if is_hidden(kind) => true,
            _ => return None,
        };
        let written = |node: &Node| DefinedIn::Written(place(node.span()));
        let items = object.node.get("subjects").map_or(&[][..], Node::items);
        let subjects = items.iter().filter_map(|item| {
            let place = written(item.get("name").unwrap_or(item));
            Some(BoundSubject { subject: subject(item, namespace)?, place })
        });
        Some(Self {
            namespace: namespace.into(),
            name: object.name().into(),
            place: DefinedIn::Written(place(object.span())),
            role: RoleRef {
                is_cluster_role,
                name: name.shared_text()?,
                is_hidden: is_hidden(name) || is_hidden(kind),
                place: written(name),
            },
            subjects: subjects.collect(),
            is_opaque: items.iter().any(is_unknown),
        })
    }
}

fn object(kind: &str, namespace: &Name, name: &Name) -> ObjectRef {
    let namespace = Some(namespace.clone()).filter(|namespace| !namespace.is_empty());
    ObjectRef { api_version: format!("{}/v1", groups::RBAC).into(), kind: kind.into(), namespace, name: name.clone() }
}

fn label(kind: &str, namespace: &str, name: &str) -> String {
    if namespace.is_empty() { format!("{kind} `{name}`") } else { format!("{kind} `{namespace}/{name}`") }
}

/// The subject of an item of `subjects`. The namespace of an account defaults to the namespace of the binding.
fn subject(item: &Node, namespace: &str) -> Option<Subject> {
    let text = |key: &str| item.get(key).and_then(Node::shared_text).filter(|text| !text.is_empty());
    let name = text("name")?;
    match &*text("kind")? {
        "User" => Some(Subject::User(name)),
        "Group" => Some(Subject::Group(name)),
        "ServiceAccount" => {
            let namespace = text("namespace").unwrap_or_else(|| namespace.into());
            (!namespace.is_empty()).then(|| Account::new(namespace, name).user())
        }
        _ => None,
    }
}

/// Returns whether the repository does not show a text: Flux replaces a part of it, or decrypts it.
fn is_hidden(node: &Node) -> bool {
    is_unknown(node) || node.text().is_some_and(is_encrypted_value)
}

/// Returns whether a node contains an unknown value.
fn is_unknown(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(text, style) => *style == Style::Unknown || text.contains("${"),
        Value::Seq(items) => items.iter().any(is_unknown),
        Value::Map(entries) => entries.iter().any(|entry| is_unknown(&entry.node)),
    }
}
