//! Roles and bindings, as they are written or shipped.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::rule::Rule;
use super::subject::{Account, Subject};
use crate::base::finding::ObjectRef;
use crate::kube::Object;
use crate::kube::groups;
use crate::kube::selector::Selector;
use crate::text::Span;
use crate::yaml::{Name, Node, Style, Value};

/// Where something stands that gives rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a file.
    Written(Span),
    /// Nobody wrote it: it comes with a program.
    Shipped(Shipper),
}

impl Place {
    /// The place in a file; `None` for what is shipped.
    pub fn written(&self) -> Option<&Span> {
        match self {
            Self::Written(span) => Some(span),
            Self::Shipped(_) => None,
        }
    }
}

/// Who brings roles and bindings that no manifest has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shipper {
    /// The API server, when it starts.
    Kubernetes,
    /// Flux's installation.
    Flux,
    /// The chart of Flux Operator.
    FluxOperator,
}

impl fmt::Display for Shipper {
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
    /// Its name.
    pub name: Name,
    /// Where it stands.
    pub place: Place,
    /// Its own rules; those of a role that gathers others are theirs.
    pub(crate) rules: Vec<Arc<Rule>>,
    pub(super) labels: BTreeMap<Name, Name>,
    /// What it gathers, if it does.
    pub(crate) gathers: Vec<Selector>,
    /// Whether something in it is not known, such as the value of a variable.
    pub(crate) is_opaque: bool,
}

impl Role {
    /// The kind that it is.
    pub fn kind(&self) -> &'static str {
        if self.namespace.is_empty() { "ClusterRole" } else { "Role" }
    }

    /// Its kind and name, as messages name it.
    pub fn reference(&self) -> String {
        referred(self.kind(), &self.namespace, &self.name)
    }

    /// The object that it is.
    pub fn object(&self) -> ObjectRef {
        object(self.kind(), &self.namespace, &self.name)
    }

    /// Reads a role that a cluster receives; `place` tells where a node stands on it.
    pub(crate) fn of(object: &Object, namespace: &str, place: impl Fn(&Span) -> Span) -> Self {
        let rules = object.node.get("rules").map_or(&[][..], Node::items).iter().map(|node| {
            let mut rule = Rule::of(node);
            rule.place = rule.place.map(|span| place(&span));
            Arc::new(rule)
        });
        let labels = object.node.at_keys(&["metadata", "labels"]).map_or(&[][..], Node::entries);
        let selectors = object.node.at_keys(&["aggregationRule", "clusterRoleSelectors"]);
        let selectors = selectors.map_or(&[][..], Node::items).iter().map(Selector::of);
        // With a selector that cannot be read, nothing is gathered, and the rules stay.
        let gathers = selectors.collect::<Option<Vec<Selector>>>().unwrap_or_default();
        let is_opaque = ["rules", "aggregationRule"].iter().filter_map(|key| object.node.get(key)).any(is_unknown);
        Self {
            namespace: namespace.into(),
            name: object.name().into(),
            place: Place::Written(place(object.span())),
            rules: rules.collect(),
            labels: labels.iter().filter_map(|label| Some((label.key.clone(), label.node.shared_text()?))).collect(),
            gathers,
            is_opaque,
        }
    }
}

/// A RoleBinding or ClusterRoleBinding.
#[derive(Debug, Clone)]
pub struct Binding {
    /// The namespace of a RoleBinding, in which alone it gives rights; empty for a ClusterRoleBinding.
    pub namespace: Name,
    /// Its name.
    pub name: Name,
    /// Where it stands.
    pub place: Place,
    /// The role that it gives.
    pub role: RoleRef,
    /// To whom.
    pub subjects: Vec<Bound>,
    /// Whether it names subjects that are not known, such as the value of a variable.
    pub(crate) is_opaque: bool,
}

/// Whom a binding names, and where.
#[derive(Debug, Clone)]
pub struct Bound {
    /// Whom.
    pub subject: Subject,
    /// Where.
    pub place: Place,
}

/// The role that a binding names.
#[derive(Debug, Clone)]
pub struct RoleRef {
    /// Whether it is a ClusterRole; otherwise it is a Role of the binding's namespace.
    pub is_cluster_role: bool,
    /// Its name.
    pub name: Name,
    /// Where it is named.
    pub place: Place,
}

impl Binding {
    /// The kind that it is.
    pub fn kind(&self) -> &'static str {
        if self.namespace.is_empty() { "ClusterRoleBinding" } else { "RoleBinding" }
    }

    /// Its kind and name, as messages name it.
    pub fn reference(&self) -> String {
        referred(self.kind(), &self.namespace, &self.name)
    }

    /// The object that it is.
    pub fn object(&self) -> ObjectRef {
        object(self.kind(), &self.namespace, &self.name)
    }

    /// Whether it stands in a file, and is not shipped.
    pub fn is_written(&self) -> bool {
        self.place.written().is_some()
    }

    /// The kind and name of its role, as messages name it.
    pub fn role_name(&self) -> String {
        if self.role.is_cluster_role {
            referred("ClusterRole", "", &self.role.name)
        } else {
            referred("Role", &self.namespace, &self.role.name)
        }
    }

    /// Reads a binding that a cluster receives; `place` tells where a node stands on it. `None` for one that the API
    /// server refuses for its role.
    pub(crate) fn of(object: &Object, namespace: &str, place: impl Fn(&Span) -> Span) -> Option<Self> {
        let reference = object.node.get("roleRef")?;
        let name = reference.get("name")?;
        let is_cluster_role = match reference.get("kind").and_then(Node::text)? {
            "ClusterRole" => true,
            "Role" => false,
            _ => return None,
        };
        let written = |node: &Node| Place::Written(place(node.span()));
        let items = object.node.get("subjects").map_or(&[][..], Node::items);
        let subjects = items.iter().filter_map(|item| {
            let place = written(item.get("name").unwrap_or(item));
            Some(Bound { subject: subject(item, namespace)?, place })
        });
        Some(Self {
            namespace: namespace.into(),
            name: object.name().into(),
            place: Place::Written(place(object.span())),
            role: RoleRef { is_cluster_role, name: name.shared_text()?, place: written(name) },
            subjects: subjects.collect(),
            is_opaque: items.iter().any(is_unknown),
        })
    }
}

fn object(kind: &str, namespace: &Name, name: &Name) -> ObjectRef {
    let namespace = Some(namespace.clone()).filter(|namespace| !namespace.is_empty());
    ObjectRef { api_version: format!("{}/v1", groups::RBAC).into(), kind: kind.into(), namespace, name: name.clone() }
}

fn referred(kind: &str, namespace: &str, name: &str) -> String {
    if namespace.is_empty() { format!("{kind} `{name}`") } else { format!("{kind} `{namespace}/{name}`") }
}

/// Whom an item of `subjects` names; an account without a namespace is of the binding's.
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

/// Whether a node has a value that nobody can know here.
fn is_unknown(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(text, style) => *style == Style::Unknown || text.contains("${"),
        Value::Seq(items) => items.iter().any(is_unknown),
        Value::Map(entries) => entries.iter().any(|entry| is_unknown(&entry.node)),
    }
}
