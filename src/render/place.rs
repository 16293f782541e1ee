//! Where templates land: `[cluster]` and its like in a path repeat over what the fleet has.

use crate::fleet::Fleet;
use crate::fleet::resolve::fleet::{Cluster, Component, Namespace, Stage, Tenant};
use crate::text::{Span, folder_of};

/// What a template repeats over at one place; indices into the fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Scope {
    /// The cluster.
    pub cluster: Option<usize>,
    /// The tenant; in a cluster, one that runs there.
    pub tenant: Option<usize>,
    /// The component of the tenant.
    pub component: Option<usize>,
    /// The stage of the component.
    pub stage: Option<usize>,
    /// The namespace of the tenant.
    pub namespace: Option<usize>,
}

impl Scope {
    pub(super) fn cluster(self, fleet: &Fleet) -> Option<&Cluster> {
        fleet.clusters.get(self.cluster?)
    }

    pub(super) fn tenant(self, fleet: &Fleet) -> Option<&Tenant> {
        fleet.tenants.get(self.tenant?)
    }

    pub(super) fn component(self, fleet: &Fleet) -> Option<&Component> {
        self.tenant(fleet)?.components.get(self.component?)
    }

    fn stage(self, fleet: &Fleet) -> Option<&Stage> {
        self.component(fleet)?.stages.get(self.stage?)
    }

    fn namespace(self, fleet: &Fleet) -> Option<&Namespace> {
        self.tenant(fleet)?.namespaces.get(self.namespace?)
    }

    /// The name in fleet.yaml that is responsible for what is rendered here.
    pub(super) fn span(self, fleet: &Fleet) -> &Span {
        let innermost = self.stage(fleet).map(|stage| &stage.span);
        let innermost = innermost.or_else(|| self.component(fleet).map(|component| &component.span));
        let innermost = innermost.or_else(|| self.namespace(fleet).map(|namespace| &namespace.span));
        let innermost = innermost.or_else(|| self.tenant(fleet).map(|tenant| &tenant.span));
        innermost.or_else(|| self.cluster(fleet).map(|cluster| &cluster.span)).unwrap_or(&fleet.span)
    }

    /// Tells whether what is rendered here reaches a cluster.
    pub(super) fn reaches(self, cluster: usize, fleet: &Fleet) -> bool {
        let Some(there) = fleet.clusters.get(cluster) else { return false };
        let in_cluster = self.cluster.is_none_or(|own| own == cluster);
        let runs = self.tenant(fleet).is_none_or(|tenant| there.tenants.contains(&tenant.name));
        in_cluster && runs && self.component(fleet).is_none_or(|component| !is_left_out(there, component))
    }
}

fn is_left_out(cluster: &Cluster, component: &Component) -> bool {
    cluster.without_components.iter().any(|left| left.tenant == component.tenant && left.component == component.name)
}

/// What a template path repeats over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeat {
    Cluster,
    Tenant,
    Component,
    Stage,
    Namespace,
}

impl Repeat {
    /// The words that may stand in brackets.
    const WORDS: &[(&str, Self)] = &[
        ("cluster", Self::Cluster),
        ("tenant", Self::Tenant),
        ("component", Self::Component),
        ("stage", Self::Stage),
        ("namespace", Self::Namespace),
    ];
}

/// A path with its repetitions.
#[derive(Debug, Clone)]
pub(super) struct Pattern(Vec<Piece>);

#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    Repeat(Repeat),
}

impl Pattern {
    /// Reads a path such as `tenants/[tenant]/components/[component].yaml`; an error says what is wrong.
    pub(super) fn new(path: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = path;
        while let Some((before, after)) = rest.split_once('[') {
            let Some((word, behind)) = after.split_once(']') else {
                return Err("a `[` in its path is not closed".into());
            };
            let Some((_, repeat)) = Repeat::WORDS.iter().find(|(name, _)| *name == word) else {
                let known: Vec<String> = Repeat::WORDS.iter().map(|(name, _)| format!("`[{name}]`")).collect();
                return Err(format!("its path repeats over `[{word}]`; there are {}", known.join(", ")));
            };
            pieces.extend((!before.is_empty()).then(|| Piece::Text(before.into())));
            pieces.push(Piece::Repeat(*repeat));
            rest = behind;
        }
        pieces.extend((!rest.is_empty()).then(|| Piece::Text(rest.into())));
        Ok(Self(pieces))
    }

    /// Every scope that the path repeats over, in the fleet's order.
    pub(super) fn scopes(&self, fleet: &Fleet) -> Result<Vec<Scope>, String> {
        let mut scopes = vec![Scope::default()];
        let mut done: Vec<Repeat> = Vec::new();
        for piece in &self.0 {
            let Piece::Repeat(repeat) = piece else { continue };
            if done.contains(repeat) {
                continue;
            }
            let needs = match repeat {
                Repeat::Cluster | Repeat::Tenant => None,
                Repeat::Component | Repeat::Namespace => Some((Repeat::Tenant, "`[tenant]`")),
                Repeat::Stage => Some((Repeat::Component, "`[component]`")),
            };
            if let Some((outer, name)) = needs
                && !done.contains(&outer)
            {
                return Err(format!("its path repeats over something that only a {name} before it has"));
            }
            scopes = scopes.into_iter().flat_map(|scope| within(scope, *repeat, fleet)).collect();
            done.push(*repeat);
        }
        Ok(scopes)
    }

    /// The path at a scope.
    pub(super) fn path(&self, scope: Scope, fleet: &Fleet) -> String {
        let mut path = String::new();
        for piece in &self.0 {
            let name = match piece {
                Piece::Text(text) => Some(text.as_str()),
                Piece::Repeat(Repeat::Cluster) => scope.cluster(fleet).map(|cluster| cluster.name.as_str()),
                Piece::Repeat(Repeat::Tenant) => scope.tenant(fleet).map(|tenant| tenant.name.as_str()),
                Piece::Repeat(Repeat::Component) => scope.component(fleet).map(|component| component.name.as_str()),
                Piece::Repeat(Repeat::Stage) => scope.stage(fleet).map(|stage| stage.name.as_str()),
                Piece::Repeat(Repeat::Namespace) => scope.namespace(fleet).map(|namespace| namespace.name.as_str()),
            };
            path.push_str(name.unwrap_or_default());
        }
        path
    }
}

/// The scopes that a repetition makes of one: what it names in the innermost scope that has it.
fn within(scope: Scope, repeat: Repeat, fleet: &Fleet) -> Vec<Scope> {
    let here = scope.cluster(fleet);
    let tenant = scope.tenant(fleet);
    match repeat {
        Repeat::Cluster => {
            let clusters = 0..fleet.clusters.len();
            clusters.filter(|at| scope.reaches(*at, fleet)).map(|at| Scope { cluster: Some(at), ..scope }).collect()
        }
        Repeat::Tenant => {
            let tenants = fleet.tenants.iter().enumerate();
            let running = tenants.filter(|(_, tenant)| here.is_none_or(|here| here.tenants.contains(&tenant.name)));
            running.map(|(at, _)| Scope { tenant: Some(at), ..scope }).collect()
        }
        Repeat::Component => {
            let components = tenant.map_or(&[][..], |tenant| &tenant.components).iter().enumerate();
            let running = components.filter(|(_, component)| here.is_none_or(|here| !is_left_out(here, component)));
            running.map(|(at, _)| Scope { component: Some(at), ..scope }).collect()
        }
        Repeat::Stage => {
            let stages = scope.component(fleet).map_or(0, |component| component.stages.len());
            (0..stages).map(|at| Scope { stage: Some(at), ..scope }).collect()
        }
        Repeat::Namespace => {
            let namespaces = tenant.map_or(0, |tenant| tenant.namespaces.len());
            (0..namespaces).map(|at| Scope { namespace: Some(at), ..scope }).collect()
        }
    }
}

/// Tells whether a file of a layout is only there to be included: it lies below a folder named `_partials`.
pub(super) fn is_partial(path: &str) -> bool {
    folder_of(path).split('/').any(|segment| segment == "_partials")
}
