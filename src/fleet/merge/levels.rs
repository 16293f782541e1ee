//! Levels of settings. They are merged as nodes, so that every value keeps its origin.
//!
//! | settings | levels, from the lowest to the highest |
//! |---|---|
//! | `values` of the fleet | layout `fleet.values`, fleet.yaml `values` |
//! | `flux` of the fleet | layout `flux`, fleet.yaml `flux` |
//! | a cluster | layout `cluster`, `defaults.cluster`, its environment, the cluster |
//! | an environment | layout `cluster` without expressions, `defaults.cluster`, the environment |
//! | `flux` of a cluster | `flux` of the fleet, then `flux` of the levels of the cluster |
//! | a tenant | layout `tenant`, layout `platform` or `confined`, `defaults.tenant`, the tenant |
//! | a tenant of a restricted file | as a tenant, with the maximum `quota` of the restriction after the layout's levels |
//! | a source | layout `source`, layout `gitSource` or `ociSource`, its repository, the source |
//! | a component | `defaults` of the layout's levels, `defaults.component`, `defaults.tenant.defaults`, the tenant's `defaults`, the component |
//! | a stage | as a component, the layout's `staged` after its `defaults`; then the component, then the stage |
//! | a component or stage on a cluster | the component or stage; `components` of the levels of the cluster, each with the component before its stage |
//! | a namespace | the tenant's `annotations`, `quota`, `limitRange`, `networkPolicy`, `podSecurity`, then the namespace |
//!
//! | value | merge |
//! |---|---|
//! | mapping | by key |
//! | scalar, list | the higher level replaces the lower level |
//! | `patches`, `objects` | the items of the higher level follow the items of the lower level |
//! | `ref`, `bind` | replaced as a whole: their fields exclude each other |
//! | `values`, with everything below | by key; scalars and lists are replaced |
//! | null (`key:` without a value) | removes the value of the lower levels |
//!
//! Stages do not inherit the `path` of their component: two stages would apply the same directory. The layout may
//! derive the paths of stages from the path of the component.

use std::collections::BTreeMap;

use super::expression::Expressions;
use super::policies;
use super::repositories::Repositories;
use crate::base::finding::{Finding, Severity};
use crate::fleet::input::files::Input;
use crate::fleet::input::includes::Restriction;
use crate::fleet::input::layout::Layout;
use crate::text::Index;
use crate::yaml::{Entry, Node, Origin, Reader, Style, Value, to_json};

/// The list fields whose items are added across levels.
const ADDED: [&str; 2] = ["patches", "objects"];
/// The mapping fields with mutually exclusive fields.
const WHOLE: [&str; 2] = ["ref", "bind"];
/// The fields of a component that its stages do not inherit.
const OWN: [&str; 10] =
    ["name", "namespace", "namespaces", "source", "labels", "dependsOn", "stages", "path", "clusters", "environments"];
/// The fields of a namespace that its tenant can also set.
const NAMESPACE: [&str; 5] = ["annotations", "quota", "limitRange", "networkPolicy", "podSecurity"];

/// The merged levels of a fleet.
#[derive(Debug, Clone)]
pub(crate) struct Merged {
    /// The fleet: its `name`, `repository` and `values`.
    pub fleet: Node,
    pub repositories: Repositories,
    pub flux: Node,
    /// The environments: each entry of fleet.yaml with its merged settings.
    pub environments: Vec<(Entry, Node)>,
    pub clusters: Vec<Node>,
    /// The root of each cluster, if the layout sets it.
    pub roots: Vec<Option<Node>>,
    /// The names of the ClusterRoles that the layout defines.
    pub roles: Vec<Node>,
    /// The objects that the layout declares on clusters, without repetitions.
    pub external: Vec<Node>,
    pub tenants: Vec<MergedTenant>,
}

/// The merged levels of a tenant and its parts.
#[derive(Debug, Clone)]
pub(crate) struct MergedTenant {
    pub node: Node,
    pub sources: Vec<Node>,
    pub namespaces: Vec<Node>,
    pub components: Vec<MergedComponent>,
}

/// The merged levels of a component and its stages.
#[derive(Debug, Clone)]
pub(crate) struct MergedComponent {
    pub node: Node,
    pub stages: Vec<Node>,
}

/// The way in which lists and exclusive fields merge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    /// Fields of fleet.yaml.
    Settings,
    /// Free values: every mapping merges by key.
    Values,
}

/// Merges two levels.
pub(crate) fn merge(low: &Node, high: &Node) -> Node {
    merge_content(low, high, Content::Settings)
}

fn merge_content(low: &Node, high: &Node, content: Content) -> Node {
    let (Value::Map(lower), Value::Map(higher)) = (&low.value, &high.value) else { return high.clone() };
    let over: Index<&str, &Entry> = higher.iter().map(|entry| (&*entry.key, entry)).collect();
    let mut seen: Index<&str, ()> = Index::default();
    let mut entries = Vec::with_capacity(lower.len() + higher.len());
    for entry in lower.iter() {
        seen.insert(&entry.key, ());
        match over.get(&*entry.key) {
            Some(above) if above.node.is_null() => {}
            Some(above) => entries.push(merge_entry(entry, above, content)),
            None => entries.push(entry.clone()),
        }
    }
    entries.extend(higher.iter().filter(|entry| !entry.node.is_null() && !seen.contains(&*entry.key)).cloned());
    Node { value: Value::Map(entries.into()), origin: high.origin.clone() }
}

fn merge_entry(low: &Entry, high: &Entry, content: Content) -> Entry {
    let key = &*high.key;
    let below = if key == "values" { Content::Values } else { content };
    let is_free = below == Content::Values;
    match (&low.node.value, &high.node.value) {
        (Value::Seq(lower), Value::Seq(higher)) if !is_free && ADDED.contains(&key) => {
            let items = lower.iter().chain(higher.iter()).cloned().collect();
            high.with_node(Node { value: Value::Seq(items), origin: high.node.origin.clone() })
        }
        (Value::Map(_), Value::Map(_)) if is_free || !WHOLE.contains(&key) => {
            high.with_node(merge_content(&low.node, &high.node, below))
        }
        _ => high.clone(),
    }
}

/// Merges levels from the lowest to the highest. Missing levels and levels that are not mappings are ignored.
fn levels<'a>(at: &Node, levels: impl IntoIterator<Item = Option<&'a Node>>) -> Node {
    let empty = Node { value: Value::Map([].into()), origin: at.origin.clone() };
    levels.into_iter().flatten().filter(|level| level.is_map()).fold(empty, |low, high| merge(&low, high))
}

fn without(node: &Node, keys: &[&str]) -> Node {
    let entries = node.entries().iter().filter(|entry| !keys.contains(&&*entry.key)).cloned().collect();
    Node { value: Value::Map(entries), origin: node.origin.clone() }
}

fn only(node: &Node, keys: &[&str]) -> Node {
    let entries = node.entries().iter().filter(|entry| keys.contains(&&*entry.key)).cloned().collect();
    Node { value: Value::Map(entries), origin: node.origin.clone() }
}

/// Sets a key to a node. The span of the key is the span of the node.
pub(super) fn set(node: &Node, key: &str, value: Node) -> Node {
    let at = value.origin.written().clone();
    node.with(Entry::new(key, &at, value))
}

impl Merged {
    /// Merges all levels of a fleet and evaluates the expressions of its defaults.
    pub(crate) fn of(input: &Input, layout: Option<&Layout>, findings: &mut Vec<Finding>) -> Self {
        let nothing = Node { value: Value::Map([].into()), origin: input.root.origin.clone() };
        let manifest = layout.map_or(&nothing, |layout| &layout.manifest);
        let mut expressions = Expressions::new(layout);
        let lowest = manifest.get("defaults").unwrap_or(&nothing);
        let flux = levels(&input.root, [lowest.get("flux"), input.root.get("flux")]);
        let fleet = levels(&input.root, [lowest.get("fleet"), Some(&input.root)]);
        let fleet = only(&fleet, &["name", "repository", "values"]);
        let repositories = Repositories::of(input);
        let head = set(&fleet, "flux", flux.clone());
        let head = set(&head, "repositories", repositories.list(input.root.span()));
        let merger = Merger { root: &input.root, head, lowest, flux: &flux, repositories: &repositories };
        let clusters = input.clusters.iter().map(|cluster| merger.cluster(cluster, &mut expressions));
        let clusters: Vec<Node> = clusters.map(|cluster| policies::install(&cluster, findings)).collect();
        let environments = input.root.get("environments").map(Node::entries).unwrap_or_default().iter();
        let environments = environments.map(|entry| (entry.clone(), merger.environment(&entry.node))).collect();
        let root = manifest.get("root").filter(|root| root.is_map());
        let roots = clusters.iter().map(|cluster| {
            let cluster = Repositories::in_context(cluster, repositories.of_cluster(cluster));
            let known = [("cluster", &cluster), ("fleet", &merger.head)];
            root.map(|root| expressions.fill(root, &known))
        });
        let roots = roots.collect();
        let roles = manifest.get("clusterRoles").map(|list| expressions.fill(list, &[("fleet", &merger.head)]));
        let roles = roles.map(|list| list.items().to_vec()).unwrap_or_default();
        let declared = manifest.get("externalObjects").map(Node::items).unwrap_or_default();
        let mut external: BTreeMap<String, Node> = BTreeMap::new();
        for (cluster, object) in clusters.iter().flat_map(|cluster| declared.iter().map(move |it| (cluster, it))) {
            let object = expressions.fill(object, &[("cluster", cluster), ("fleet", &merger.head)]);
            external.insert(to_json(&object, Reader::Core).to_string(), object);
        }
        let external = external.into_values().collect();
        let tenants = input.tenants.iter().zip(&input.restrictions);
        let tenants = tenants.map(|(tenant, restrictions)| {
            let maximum = maximum_quota(tenant, restrictions);
            merger.tenant(tenant, maximum.as_ref(), &mut expressions)
        });
        let tenants = tenants.collect();
        // A value that is missing in fleet.yaml also breaks the layout's expressions; report it once.
        let failed = findings.iter().any(|finding| finding.severity == Severity::Error);
        let mistakes = expressions.finish().into_iter();
        findings
            .extend(mistakes.filter(|mistake| !failed || !layout.is_some_and(|layout| layout.sets(&mistake.at.span))));
        Self { fleet, repositories, flux, environments, clusters, roots, roles, external, tenants }
    }
}

/// Returns the level with the maximum quota of a tenant in a restricted file, which is also its default quota.
fn maximum_quota(tenant: &Node, restrictions: &[Restriction]) -> Option<Node> {
    let quotas = restrictions.iter().filter_map(|restriction| restriction.allow.entry("quota"));
    let empty = Node { value: Value::Map([].into()), origin: tenant.origin.clone() };
    quotas.map(|quota| empty.with(quota.clone())).reduce(|low, high| merge(&low, &high))
}

struct Merger<'a> {
    root: &'a Node,
    /// The variables of the fleet in expressions.
    head: Node,
    /// The `defaults` of the layout.
    lowest: &'a Node,
    flux: &'a Node,
    repositories: &'a Repositories,
}

impl Merger<'_> {
    fn default(&self, of: &str) -> Option<&Node> {
        self.root.at_keys(&["defaults", of])
    }

    /// Merges the settings that the clusters of an environment share.
    fn environment(&self, environment: &Node) -> Node {
        let lowest = self.lowest.get("cluster").and_then(without_expressions);
        levels(environment, [lowest.as_ref(), self.default("cluster"), Some(environment)])
    }

    fn cluster(&self, cluster: &Node, expressions: &mut Expressions) -> Node {
        let environment = [Some(cluster), self.lowest.get("cluster")];
        let environment = environment.into_iter().flatten().find_map(|level| level.get("environment")?.text());
        let environment = environment.and_then(|name| self.root.at_keys(&["environments", name]));
        let merged = levels(cluster, [self.lowest.get("cluster"), self.default("cluster"), environment, Some(cluster)]);
        let flux = levels(cluster, [Some(self.flux), merged.get("flux")]);
        // The settings of components on clusters are merged later, over those of the components.
        let merged = set(&merged.without("components"), "flux", flux);
        let repository = self.repositories.of_cluster(&merged);
        let branch = repository.and_then(|repository| repository.get("branch"));
        let merged = match (merged.get("branch"), branch) {
            (None, Some(branch)) => set(&merged, "branch", branch.clone()),
            _ => merged,
        };
        let known = Repositories::in_context(&merged, repository);
        expressions.fill(&merged, &[("cluster", &known), ("fleet", &self.head)])
    }

    fn tenant(&self, tenant: &Node, maximum: Option<&Node>, expressions: &mut Expressions) -> MergedTenant {
        let common = self.lowest.get("tenant");
        let role = [Some(tenant), common].into_iter().flatten().find_map(|level| level.get("role")?.text());
        let role = if role == Some("platform") { "platform" } else { "confined" };
        let (by_role, fleet) = (self.lowest.get(role), self.default("tenant"));
        let said = without(tenant, &["source", "sources", "components", "namespaces"]);
        let merged = levels(tenant, [common, by_role, maximum, fleet, Some(&said)]);
        let node = without(&merged, &["defaults", "staged"]);
        let node = expressions.fill(&node, &[("tenant", &node), ("fleet", &self.head)]);

        let from_layout = |key: &str| [common, by_role].map(|level| level.and_then(|level| level.get(key)));
        let [common_defaults, role_defaults] = from_layout("defaults");
        let [common_staged, role_staged] = from_layout("staged");
        let (component, of_tenants) = (self.default("component"), fleet.and_then(|fleet| fleet.get("defaults")));
        let own = tenant.get("defaults");
        let whole = levels(tenant, [common_defaults, role_defaults, component, of_tenants, own]);
        let below = [common_defaults, role_defaults, common_staged, role_staged, component, of_tenants, own];
        let in_stages = levels(tenant, below).without("namespace");

        let components = tenant.get("components").map(Node::items).unwrap_or_default().iter();
        let components = components.map(|component| {
            let merged = merge(&whole, &without(component, &["stages"]));
            let fleet = ("fleet", &self.head);
            let stages = component.get("stages").map(Node::items).unwrap_or_default().iter();
            let stages = stages.map(|stage| {
                let merged = levels(stage, [Some(&in_stages), Some(&without(component, &OWN)), Some(stage)]);
                expressions.fill(&merged, &[("tenant", &node), ("component", component), ("stage", stage), fleet])
            });
            let stages: Vec<Node> = stages.collect();
            let known = [("tenant", &node), ("component", component), fleet];
            if stages.is_empty() {
                return MergedComponent { node: expressions.fill(&merged, &known), stages };
            }
            // The other defaults apply to the stages.
            let namespace = expressions.fill(&only(&merged, &["namespace"]), &known);
            MergedComponent { node: merge(&namespace, &component.without("stages")), stages }
        });
        let components: Vec<MergedComponent> = components.collect();
        MergedTenant {
            sources: self.sources(tenant, &node, expressions),
            namespaces: namespaces(tenant, &node, &components),
            components,
            node,
        }
    }

    fn sources(&self, tenant: &Node, merged: &Node, expressions: &mut Expressions) -> Vec<Node> {
        let further = tenant.get("sources").map(Node::items).unwrap_or_default();
        let first = tenant.get("source").filter(|source| !source.is_null());
        // A layout that derives the URL gives every tenant a source.
        let derived = self.lowest.at_keys(&["source", "url"]).filter(|_| first.is_none() && further.is_empty());
        let derived = derived
            .and_then(|_| tenant.get("name"))
            .map(|name| Node { value: Value::Map([].into()), origin: name.origin.clone() });
        let all = first.or(derived.as_ref()).into_iter().chain(further);
        let merge_source = |(index, source): (usize, &Node)| {
            let inherited = self.repositories.source_level(source);
            let url = inherited.as_ref().unwrap_or(source).get("url");
            let oci = url.and_then(Node::text).is_some_and(|url| url.starts_with("oci://"));
            let common = self
                .lowest
                .get("source")
                .map(|common| if index == 0 { common.clone() } else { common.without("name") });
            let by_kind = self.lowest.get(if oci { "ociSource" } else { "gitSource" });
            let node = levels(source, [common.as_ref(), by_kind, inherited.as_ref(), Some(source)]);
            let node = expressions.fill(&node, &[("tenant", merged), ("source", source), ("fleet", &self.head)]);
            // The first source has the name of the tenant unless the layout sets a name.
            match tenant.entry("name").filter(|_| index == 0 && node.get("name").is_none()) {
                Some(name) => node.with(name.clone()),
                None => node,
            }
        };
        all.enumerate().map(merge_source).collect()
    }
}

/// Returns a node without expressions, which need a cluster.
fn without_expressions(node: &Node) -> Option<Node> {
    let value = match &node.value {
        Value::Scalar(text, _) if text.contains("{{") => return None,
        Value::Scalar(..) => return Some(node.clone()),
        Value::Seq(items) => Value::Seq(items.iter().filter_map(without_expressions).collect()),
        Value::Map(entries) => {
            Value::Map(entries.iter().filter_map(|e| Some(e.with_node(without_expressions(&e.node)?))).collect())
        }
    };
    Some(Node { value, origin: node.origin.clone() })
}

/// Returns the namespaces of a tenant, then those of a confined tenant's components, merged over the tenant's settings.
fn namespaces(tenant: &Node, merged: &Node, components: &[MergedComponent]) -> Vec<Node> {
    let is_platform = merged.get("role").and_then(Node::text) == Some("platform");
    let components = if is_platform { &[] } else { components };
    let common = only(merged, &NAMESPACE);
    let listed = tenant.get("namespaces").map(Node::items).unwrap_or_default();
    let mut seen: Index<String, ()> = Index::default();
    let mut nodes = Vec::new();
    for namespace in listed.iter().filter(|namespace| namespace.is_map()) {
        if let Some(name) = namespace.get("name").and_then(Node::text) {
            seen.insert(name.to_owned(), ());
        }
        nodes.push(merge(&common, namespace));
    }
    for component in components {
        let Some(name) = namespace_of(&component.node) else { continue };
        let Some(text) = name.text() else { continue };
        if seen.insert(text.to_owned(), ()).is_none() {
            let at = namespace_place(&component.node).unwrap_or(&name.origin).clone();
            nodes.push(set(&common, "name", Node { value: name.value.clone(), origin: at }));
        }
    }
    for further in components.iter().flat_map(|component| further_namespaces(&component.node)) {
        let Some(text) = further.text() else { continue };
        if seen.insert(text.to_owned(), ()).is_none() {
            nodes.push(set(&common, "name", further.clone()));
        }
    }
    nodes
}

/// The name of a component's namespace: its merged `namespace`, or its `name` if the layout sets no default.
pub(crate) fn namespace_of(component: &Node) -> Option<&Node> {
    let said = component.get("namespace").filter(|namespace| !namespace.is_null());
    said.or_else(|| component.get("name"))
        .filter(|name| matches!(name.value, Value::Scalar(_, style) if style != Style::Unknown))
}

/// The names of a component's further namespaces.
pub(crate) fn further_namespaces(component: &Node) -> &[Node] {
    component.get("namespaces").map(Node::items).unwrap_or_default()
}

/// Returns the place to report for a component's namespace: the component's `name` if the layout sets the namespace.
pub(crate) fn namespace_place(component: &Node) -> Option<&Origin> {
    let name = component.get("name")?;
    let written = component.get("namespace").filter(|node| node.span().file() == name.span().file());
    Some(&written.unwrap_or(name).origin)
}
