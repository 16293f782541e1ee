//! A rule of a role: what it allows, and what it covers of another rule.
//!
//! Source: the matching of rules in `k8s.io/kubernetes/pkg/apis/rbac/v1`, and the comparison of rules in
//! `k8s.io/component-helpers/auth/rbac/validation`; `testdata/oracles/rbac` holds answers of both.

use super::request::{Request, Resource, Target};
use crate::text::Span;
use crate::yaml::{Name, Node};

/// What stands for all verbs, groups, resources or paths.
const ALL: &str = "*";

/// A rule of a role.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(default)]
pub struct Rule {
    /// What may be done.
    pub verbs: Vec<Name>,
    /// With which API groups.
    pub groups: Vec<Name>,
    /// With which resources and subresources.
    pub resources: Vec<Name>,
    /// With the objects of which names; of any name when empty.
    pub names: Vec<Name>,
    /// With which paths that are no resources.
    pub urls: Vec<Name>,
    /// Where it is written; `None` for rules that are shipped.
    #[serde(skip)]
    pub place: Option<Span>,
}

impl Rule {
    /// Reads a rule as manifests write it.
    pub(crate) fn of(node: &Node) -> Self {
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

    /// Whether it allows a request. Where it applies is its binding's to say.
    pub fn allows(&self, request: &Request<'_>) -> bool {
        let has_verb = has(&self.verbs, request.verb);
        has_verb
            && match &request.target {
                Target::Resource(resource) => self.is_about(resource),
                Target::Path(path) => self.urls.iter().any(|url| covers_path(url, path)),
            }
    }

    fn is_about(&self, resource: &Resource<'_>) -> bool {
        has(&self.groups, resource.group)
            && self.resources.iter().any(|own| is_resource(own, resource))
            && (self.names.is_empty() || self.names.iter().any(|name| &**name == resource.object))
    }

    /// Whether it allows some request about a group's resource, whatever the verb, the object or the subresource.
    pub fn mentions(&self, group: &str, resource: &str) -> bool {
        has(&self.groups, group) && self.resources.iter().any(|own| &**own == ALL || &**own == resource)
    }

    /// Whether it allows everything with every resource.
    pub fn is_everything(&self) -> bool {
        let all = |list: &[Name]| list.iter().any(|item| &**item == ALL);
        all(&self.verbs) && all(&self.groups) && all(&self.resources) && self.names.is_empty()
    }

    /// Whether it covers one thing of another rule: a verb with a resource, or with a path.
    fn covers(&self, one: &One<'_>) -> bool {
        has(&self.verbs, one.verb)
            && match one.what {
                What::Resource { group, resource, name } => {
                    has(&self.groups, group)
                        && self.resources.iter().any(|own| covers_resource(own, resource))
                        && (self.names.is_empty()
                            || name.is_some_and(|name| self.names.iter().any(|own| &**own == name)))
                }
                What::Path(path) => self.urls.iter().any(|own| covers_path(own, path)),
            }
    }

    /// How many things it allows.
    fn size(&self) -> usize {
        let things = self.groups.len().saturating_mul(self.resources.len()).saturating_mul(self.names.len().max(1));
        things.saturating_add(self.urls.len()).saturating_mul(self.verbs.len())
    }

    /// The things that it allows, one by one.
    fn ones(&self) -> impl Iterator<Item = One<'_>> {
        let names = || self.names.iter().map(|name| Some(&**name)).chain(self.names.is_empty().then_some(None));
        let resources = self.groups.iter().flat_map(move |group| {
            let of_group = self.resources.iter();
            of_group.flat_map(move |resource| names().map(move |name| What::Resource { group, resource, name }))
        });
        let whats = resources.chain(self.urls.iter().map(|url| What::Path(url)));
        whats.flat_map(|what| self.verbs.iter().map(move |verb| One { verb, what }))
    }
}

/// One thing that a rule allows.
#[derive(Clone, Copy)]
struct One<'a> {
    verb: &'a str,
    what: What<'a>,
}

#[derive(Clone, Copy)]
enum What<'a> {
    Resource { group: &'a str, resource: &'a str, name: Option<&'a str> },
    Path(&'a str),
}

/// How many comparisons are made to find out whether rules cover others. More than that is nobody's role.
const MAX_COMPARISONS: usize = 5_000_000;

/// Whether rules allow everything that others allow; `None` where these are too many to compare.
///
/// The API server asks so before it lets somebody write a role or a binding. It takes the wanted rules apart and looks
/// for one rule that covers each piece, so that `*` is covered by `*` alone.
pub fn covers<'a, 'b>(
    own: &(impl Iterator<Item = &'a Rule> + Clone),
    wanted: impl Iterator<Item = &'b Rule> + Clone,
) -> Option<bool> {
    let pieces = wanted.clone().map(Rule::size).fold(0, usize::saturating_add);
    let sizes =
        own.clone().map(|rule| rule.resources.len() + rule.verbs.len() + rule.groups.len() + rule.names.len() + 1);
    if pieces.saturating_mul(sizes.sum()) > MAX_COMPARISONS {
        return None;
    }
    Some(wanted.flat_map(Rule::ones).all(|one| own.clone().any(|rule| rule.covers(&one))))
}

fn has(list: &[Name], item: &str) -> bool {
    list.iter().any(|own| &**own == ALL || &**own == item)
}

/// Whether a resource of a rule is that of a request: `*/scale` is the subresource of any, `pods/*` is none.
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

/// A path of a rule may end with `*`.
fn covers_path(own: &str, path: &str) -> bool {
    own == path || (own.ends_with('*') && path.starts_with(own.trim_end_matches('*')))
}
