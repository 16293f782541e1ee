//! A rule of a role: the requests that it allows, and the rules that it covers.
//!
//! Source: the matching of rules in `k8s.io/kubernetes/pkg/apis/rbac/v1`, and the comparison of rules in
//! `k8s.io/component-helpers/auth/rbac/validation`; `testdata/oracles/rbac` records the answers of both.

use super::request::{Request, Resource, Target};
use crate::text::Span;
use crate::yaml::{Name, Node};

/// The wildcard for verbs, groups, resources and paths.
const ALL: &str = "*";

/// A rule of a role.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(default)]
pub struct Rule {
    /// The allowed verbs.
    pub verbs: Vec<Name>,
    /// The API groups.
    pub groups: Vec<Name>,
    /// The resources and subresources.
    pub resources: Vec<Name>,
    /// The names of the objects; any name if empty.
    pub names: Vec<Name>,
    /// The non-resource paths.
    pub urls: Vec<Name>,
    /// The position in a file; `None` for shipped rules.
    #[serde(skip)]
    pub place: Option<Span>,
}

impl Rule {
    /// Reads a rule from a manifest.
    pub(crate) fn read(node: &Node) -> Self {
        let list = |key: &str| {
            let items = node.get(key).map_or(&[][..], Node::items);
            items.iter().filter_map(Node::shared_text).collect()
        };
        Self {
            verbs: list("verbs"),
            groups: list("apiGroups"),
            resources: list("resources"),
            names: list("resourceNames"),
            urls: list("nonResourceURLs"),
            place: Some(node.span().clone()),
        }
    }

    /// Returns whether the rule allows a request. The namespace depends on the binding, and is not checked here.
    pub fn allows(&self, request: &Request<'_>) -> bool {
        let has_verb = has(&self.verbs, request.verb);
        has_verb
            && match &request.target {
                Target::Resource(resource) => self.matches(resource),
                Target::Path(path) => self.urls.iter().any(|url| covers_path(url, path)),
            }
    }

    fn matches(&self, resource: &Resource<'_>) -> bool {
        has(&self.groups, resource.group)
            && self.resources.iter().any(|own| is_resource(own, resource))
            && (self.names.is_empty() || self.names.iter().any(|name| &**name == resource.object))
    }

    /// Returns whether the rule includes a resource of a group, for any verb, object or subresource.
    pub fn mentions(&self, group: &str, resource: &str) -> bool {
        has(&self.groups, group) && self.resources.iter().any(|own| &**own == ALL || &**own == resource)
    }

    /// Returns whether the rule allows an account to create objects.
    pub(crate) fn creates(&self) -> bool {
        has(&self.verbs, "create") && !self.resources.is_empty()
    }

    /// Returns whether the rule allows every verb on every resource.
    pub fn is_everything(&self) -> bool {
        let all = |list: &[Name]| list.iter().any(|item| &**item == ALL);
        all(&self.verbs) && all(&self.groups) && all(&self.resources) && self.names.is_empty()
    }

    /// Returns whether the rule covers a part of another rule.
    fn covers(&self, part: &RulePart<'_>) -> bool {
        has(&self.verbs, part.verb)
            && match part.target {
                PartTarget::Resource { group, resource, name } => {
                    has(&self.groups, group)
                        && self.resources.iter().any(|own| covers_resource(own, resource))
                        && (self.names.is_empty()
                            || name.is_some_and(|name| self.names.iter().any(|own| &**own == name)))
                }
                PartTarget::Path(path) => self.urls.iter().any(|own| covers_path(own, path)),
            }
    }

    /// The number of parts.
    fn size(&self) -> usize {
        let parts = self.groups.len().saturating_mul(self.resources.len()).saturating_mul(self.names.len().max(1));
        parts.saturating_add(self.urls.len()).saturating_mul(self.verbs.len())
    }

    /// The parts of the rule: every combination of a verb with a resource or path.
    fn parts(&self) -> impl Iterator<Item = RulePart<'_>> {
        let names = || self.names.iter().map(|name| Some(&**name)).chain(self.names.is_empty().then_some(None));
        let resources = self.groups.iter().flat_map(move |group| {
            let of_group = self.resources.iter();
            of_group.flat_map(move |resource| names().map(move |name| PartTarget::Resource { group, resource, name }))
        });
        let targets = resources.chain(self.urls.iter().map(|url| PartTarget::Path(url)));
        targets.flat_map(|target| self.verbs.iter().map(move |verb| RulePart { verb, target }))
    }
}

/// A part of a rule: a single verb on a single resource or path.
#[derive(Clone, Copy)]
struct RulePart<'a> {
    verb: &'a str,
    target: PartTarget<'a>,
}

#[derive(Clone, Copy)]
enum PartTarget<'a> {
    Resource { group: &'a str, resource: &'a str, name: Option<&'a str> },
    Path(&'a str),
}

/// The maximum number of comparisons between rules; no real role needs so many.
const MAX_COMPARISONS: usize = 5_000_000;

/// Returns whether rules allow everything that other rules allow; `None` if there are too many rules to compare.
///
/// The API server makes this check before it accepts a role or a binding. The API server splits the requested rules
/// into parts. For each part, the API server requires one rule that covers the part, so only `*` covers `*`.
pub fn covers<'a, 'b>(
    own: &(impl Iterator<Item = &'a Rule> + Clone),
    requested: impl Iterator<Item = &'b Rule> + Clone,
) -> Option<bool> {
    let parts = requested.clone().map(Rule::size).fold(0, usize::saturating_add);
    let sizes =
        own.clone().map(|rule| rule.resources.len() + rule.verbs.len() + rule.groups.len() + rule.names.len() + 1);
    if parts.saturating_mul(sizes.sum()) > MAX_COMPARISONS {
        return None;
    }
    Some(requested.flat_map(Rule::parts).all(|part| own.clone().any(|rule| rule.covers(&part))))
}

fn has(list: &[Name], item: &str) -> bool {
    list.iter().any(|own| &**own == ALL || &**own == item)
}

/// Returns whether a resource of a rule matches the resource of a request. `*/scale` matches the subresource
/// `scale` of any resource; `pods/*` matches nothing.
fn is_resource(own: &str, resource: &Resource<'_>) -> bool {
    if own == ALL {
        return true;
    }
    let (name, subresource) = own.split_once('/').unwrap_or((own, ""));
    (name == resource.name && subresource == resource.subresource && !own.ends_with('/'))
        || (name == ALL && !resource.subresource.is_empty() && subresource == resource.subresource)
}

fn covers_resource(own: &str, resource: &str) -> bool {
    let of_any = || resource.split_once('/').map(|(_, subresource)| subresource);
    own == ALL || own == resource || (own.strip_prefix("*/").is_some() && own.strip_prefix("*/") == of_any())
}

/// Returns whether a path of a rule, which may end with `*`, matches a path.
fn covers_path(own: &str, path: &str) -> bool {
    own == path || (own.ends_with('*') && path.starts_with(own.trim_end_matches('*')))
}
