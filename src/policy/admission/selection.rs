//! The requests that a policy or a binding selects: `matchConstraints` and `matchResources`.
//!
//! Source: `k8s.io/apiserver/pkg/admission/plugin/policy/matching`.

use crate::kube::selector::Selector;
use crate::policy::request::Request;
use crate::yaml::{Name, Node};

/// The requests that a policy or a binding selects.
#[derive(Debug, Clone, Default)]
pub(super) struct Selection {
    rules: Option<Vec<ResourceRule>>,
    excluded: Vec<ResourceRule>,
    /// `None` if the API server rejects the selector.
    namespaces: Option<Selector>,
    objects: Option<Selector>,
    is_exact: bool,
}

/// The answer to whether a selection contains a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Selected {
    Yes,
    No,
    /// The labels of the namespace are not in the repository.
    Unknown,
}

#[derive(Debug, Clone)]
struct ResourceRule {
    groups: Vec<Name>,
    versions: Vec<Name>,
    operations: Vec<Name>,
    resources: Vec<Name>,
    names: Vec<Name>,
    scope: Option<Name>,
}

impl Selection {
    /// Reads the field of a policy or a binding. An absent field selects every request.
    pub(super) fn of(node: Option<&Node>) -> Self {
        let field = |name: &str| node.and_then(|node| node.get(name)).filter(|node| !node.is_null());
        let rules =
            |name: &str| field(name).map(|rules| rules.items().iter().map(ResourceRule::of).collect::<Vec<_>>());
        let selector = |name: &str| field(name).map_or(Some(Selector::default()), Selector::of);
        Self {
            rules: rules("resourceRules"),
            excluded: rules("excludeResourceRules").unwrap_or_default(),
            namespaces: selector("namespaceSelector"),
            objects: selector("objectSelector"),
            is_exact: field("matchPolicy").and_then(Node::text) == Some("Exact"),
        }
    }

    /// Returns whether the selection contains a request.
    pub(super) fn selects(&self, request: &Request<'_>) -> Selected {
        let is_listed = |rules: &[ResourceRule]| rules.iter().any(|rule| rule.lists(request, self.is_exact));
        // An empty list of a binding does not restrict the policy.
        let by_rules = self.rules.as_deref().is_none_or(|rules| rules.is_empty() || is_listed(rules));
        if !by_rules || is_listed(&self.excluded) {
            return Selected::No;
        }
        let label = |key: &str| request.object.label(key);
        if !self.objects.as_ref().is_some_and(|selector| selector.selects(label)) {
            return Selected::No;
        }
        match &self.namespaces {
            None => Selected::No,
            Some(selector) => selects_namespace(selector, request),
        }
    }
}

/// Returns whether a selector selects the namespace of a request. It selects other cluster-scoped objects always.
fn selects_namespace(selector: &Selector, request: &Request<'_>) -> Selected {
    if selector.is_empty() {
        return Selected::Yes;
    }
    let (name, labels) = match request.namespace {
        // The API server adds this label to each namespace.
        Some(namespace) => (namespace, request.namespace_object),
        None if request.object.is("", "Namespace") => (request.object.name(), Some(request.object)),
        None => return Selected::Yes,
    };
    let of_name = |key: &str| (key == NAME_LABEL).then_some(name);
    let Some(object) = labels else {
        let reads_other = selector.keys().any(|key| key != NAME_LABEL);
        return if reads_other { Selected::Unknown } else { yes_or_no(selector.selects(of_name)) };
    };
    yes_or_no(selector.selects(|key| of_name(key).or_else(|| object.label(key))))
}

const NAME_LABEL: &str = "kubernetes.io/metadata.name";

fn yes_or_no(is_selected: bool) -> Selected {
    if is_selected { Selected::Yes } else { Selected::No }
}

impl ResourceRule {
    fn of(node: &Node) -> Self {
        let list = |field: &str| {
            let items = node.get(field).map_or(&[][..], Node::items);
            items.iter().filter_map(Node::shared_text).collect()
        };
        Self {
            groups: list("apiGroups"),
            versions: list("apiVersions"),
            operations: list("operations"),
            resources: list("resources"),
            names: list("resourceNames"),
            scope: node.get("scope").and_then(Node::shared_text),
        }
    }

    fn lists(&self, request: &Request<'_>, is_exact: bool) -> bool {
        let has = |list: &[Name], item: &str| list.iter().any(|own| &**own == item || &**own == "*");
        let is_in_scope = match self.scope.as_deref() {
            Some("Namespaced") => request.namespace.is_some(),
            Some("Cluster") => request.namespace.is_none(),
            _ => true,
        };
        // A rule for one version of a resource also selects its other versions, unless `matchPolicy` is `Exact`.
        let is_version = !is_exact || has(&self.versions, request.version());
        let is_resource = has(&self.resources, request.resource) || self.resources.iter().any(|own| &**own == "*/*");
        has(&self.groups, request.object.group())
            && is_version
            && has(&self.operations, request.operation)
            && is_resource
            && (self.names.is_empty() || self.names.iter().any(|name| **name == *request.object.name()))
            && is_in_scope
    }
}
