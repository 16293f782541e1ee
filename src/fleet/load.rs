//! Loads fleet.yaml: returns a fleet and a layout, or findings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;

use super::check;
use super::model::{DEFAULT_LAYOUT, Role};
use crate::base::finding::{Finding, Severity};
use crate::config;
use crate::config::{Declared, DeclaredRoot, Exception, Lint, RootConfig};
use crate::fleet::input::files::Input;
use crate::fleet::input::layout::Layout;
use crate::fleet::merge::crossing::Crossings;
use crate::fleet::merge::extend;
use crate::fleet::merge::levels::Merged;
use crate::fleet::merge::placement;
use crate::fleet::resolve::dependencies::Graph;
use crate::fleet::resolve::derive::resolve;
use crate::fleet::resolve::fleet::{Fleet, Repository};
use crate::fleet::rule_ids::{INVALID_FLEET, INVALID_LAYOUT};
use crate::kube::groups;
use crate::text::{Span, Tree};
use crate::yaml::{Node, Reader, Style, Value, from_json};

/// The result of loading a fleet.yaml.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The fleet; `None` if a finding is an error.
    pub fleet: Option<Fleet>,
    /// The layout, if its name is valid.
    pub layout: Option<Layout>,
    /// The configuration of the linter for the rendered files. It is read even if other sections have errors.
    pub lint: Lint,
    /// The findings, sorted by position.
    pub findings: Vec<Finding>,
    /// The paths of the files that were read: fleet.yaml, then the included files, sorted.
    pub inputs: Vec<String>,
    /// The incomplete fleet, if fleet.yaml has errors. Rendering this fleet reports further errors in the same run.
    pub draft: Option<Fleet>,
    /// The root node of fleet.yaml, if it is a mapping.
    pub(super) root: Option<Node>,
    /// The included files, each with the glob that matched it.
    pub(super) included: BTreeMap<String, Span>,
    /// The merged levels, which keep the origin of each value.
    pub(super) merged: Option<Merged>,
    /// The settings of components on each cluster.
    pub(super) crossings: Vec<Arc<Crossings>>,
}

impl Loaded {
    /// Returns the roots of clusters that the layout declares, for the linter.
    pub fn declared_roots(&self) -> Vec<DeclaredRoot> {
        let Some(fleet) = &self.fleet else { return Vec::new() };
        let declared = fleet.clusters.iter().filter_map(|cluster| {
            let root = cluster.root.as_ref()?;
            let namespace = cluster.flux.namespace.as_ref().map_or(groups::FLUX_NAMESPACE, |namespace| &namespace.0);
            let path = root.path.clone().unwrap_or_else(|| cluster.path.clone());
            let node = Node::at(Value::Scalar(path.clone().into(), Style::Double), cluster.span.clone());
            let config = RootConfig {
                path,
                source: root.source.clone().unwrap_or_else(|| groups::FLUX_NAMESPACE.to_owned()),
                namespace: root.namespace.clone().unwrap_or_else(|| namespace.to_owned()),
            };
            let named = |one: &&Repository| root.repository.as_ref() == Some(&one.name);
            let repository = fleet.repositories.iter().find(named).unwrap_or(&cluster.repository);
            let repository = repository.folder().unwrap_or_default();
            Some(DeclaredRoot { cluster: cluster.name.clone(), root: config, path: node, repository })
        });
        declared.collect()
    }

    /// Returns the URL and the directory of each repository whose root is a directory of the rendered files.
    pub fn rendered_repositories(&self) -> Vec<(String, String)> {
        let Some(fleet) = &self.fleet else { return Vec::new() };
        let rendered = fleet.repositories.iter().filter_map(|one| Some((one.url.clone(), one.folder()?)));
        rendered.filter(|(_, folder)| !folder.is_empty()).collect()
    }

    /// Returns the objects that the layout declares on every cluster, and the Secrets of fleet.yaml, for the linter.
    pub fn external_objects(&self) -> Vec<Declared> {
        let objects = self.merged.iter().flat_map(|merged| merged.external.iter().cloned());
        let declared = objects.chain(self.fleet.iter().flat_map(secrets)).filter_map(|node| {
            let external = crate::yaml::decode(&node, Reader::Core).ok()?;
            Some(Declared { external, node })
        });
        declared.collect()
    }
}

/// Loads the fleet from the file at `path` in a tree.
pub fn load(tree: &Tree, path: &str) -> Loaded {
    let (input, mut findings) = Input::read(tree, path);
    let mut inputs = vec![path.to_owned()];
    let Some(input) = input else {
        crate::base::group_findings::sort(&mut findings);
        return Loaded {
            fleet: None,
            layout: None,
            lint: Lint::default(),
            findings,
            inputs,
            draft: None,
            root: None,
            included: BTreeMap::new(),
            merged: None,
            crossings: Vec::new(),
        };
    };
    inputs.extend(input.included.keys().cloned());
    let layout = layout(&input, tree, &mut findings);
    let mut merged = Merged::of(&input, layout.as_ref(), &mut findings);
    placement::apply(&mut merged, &mut findings);
    let crossings = Crossings::of(&input, &merged, layout.as_ref(), &mut findings);
    let graph = Graph::of(&merged, &mut findings);
    check::check(&input, &merged, &crossings, &graph, layout.as_ref(), &mut findings);
    let of_layout = layout.as_ref().and_then(|layout| layout.manifest.get("lint"));
    findings.extend(input.root.get("lint").map(|section| config::check(section, INVALID_FLEET)).unwrap_or_default());
    findings.extend(of_layout.map(|section| config::check(section, INVALID_LAYOUT)).unwrap_or_default());
    let failed = findings.iter().any(|finding| finding.severity == Severity::Error);
    // In a fleet with errors, these errors explain the values that cannot be decoded.
    let mut undecoded = Vec::new();
    let resolved = resolve(&input, &merged, &crossings, &graph, &mut undecoded);
    if !failed {
        findings.extend(undecoded);
    }
    let failed = findings.iter().any(|finding| finding.severity == Severity::Error);
    let (fleet, draft) = if failed { (None, resolved.map(Fleet::without_repetitions)) } else { (resolved, None) };
    crate::base::group_findings::sort(&mut findings);
    let lint = input.root.get("lint").map_or_else(Lint::default, Lint::read);
    let mut lint = lint.over(of_layout.map_or_else(Lint::default, Lint::read).of_layout());
    lint.exceptions.extend(fleet.iter().flat_map(several_namespaces));
    let (root, included) = (Some(input.root.clone()), input.included.clone());
    Loaded { fleet, layout, lint, findings, inputs, draft, root, included, merged: Some(merged), crossings }
}

/// Returns the Secrets of repositories and sources in the namespace of Flux, where a user creates them.
fn secrets(fleet: &Fleet) -> Vec<Node> {
    let repositories = fleet.repositories.iter().filter_map(|repository| repository.secret.as_deref());
    let sources = fleet.tenants.iter().flat_map(|tenant| &tenant.sources);
    let names = sources.flat_map(|source| {
        let keys = source.verify.as_ref().and_then(|verify| verify.secret.as_ref()).map(|secret| secret.0.as_str());
        source.secret.as_deref().into_iter().chain(keys)
    });
    let names: BTreeSet<&str> = repositories.chain(names).collect();
    let namespaces = fleet.clusters.iter().map(|cluster| cluster.flux.namespace.as_ref());
    let namespaces: BTreeSet<&str> =
        namespaces.map(|namespace| namespace.map_or(groups::FLUX_NAMESPACE, |namespace| &namespace.0)).collect();
    let all = namespaces.iter().flat_map(|namespace| names.iter().map(move |name| (namespace, name)));
    let object = |(namespace, name)| json!({ "kind": "Secret", "namespace": namespace, "name": name });
    all.map(|named| from_json(&object(named), &fleet.span)).collect()
}

/// Returns an exception for each component with several namespaces, which no single `targetNamespace` suits.
fn several_namespaces(fleet: &Fleet) -> impl Iterator<Item = Exception> {
    let components = fleet.tenants.iter().filter(|tenant| tenant.role == Role::Tenant).flat_map(|one| &one.components);
    components.filter(|component| component.namespaces.len() > 1).map(|component| Exception {
        rule: "target-namespace-mismatch".into(),
        reason: "fleet.yaml sets several namespaces for the component".into(),
        objects: vec![format!("Kustomization/{}/*", component.namespace)],
        paths: Vec::new(),
        at: component.span.clone(),
        of_layout: true,
        bearings: Arc::default(),
    })
}

fn layout(input: &Input, tree: &Tree, findings: &mut Vec<Finding>) -> Option<Layout> {
    let said = input.root.get("layout").filter(|layout| !layout.is_null());
    // The schema reports a layout that is not a string.
    let (name, at) = match said {
        Some(said) => (said.text()?, said.span().clone()),
        None => (
            DEFAULT_LAYOUT,
            input.root.get("name").map_or_else(|| input.root.span().clone(), |name| Node::span(name).clone()),
        ),
    };
    let (layout, mistakes) = extend::load(name, &at, &input.folder, tree);
    findings.extend(mistakes);
    layout
}
