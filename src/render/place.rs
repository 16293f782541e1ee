//! The scopes of templates: `[cluster]`, `[tenant]` and other placeholders in a path repeat a template for each item of
//! the fleet.

use crate::fleet::Fleet;
use crate::fleet::resolve::fleet::{Cluster, Component, Environment, Namespace, Repository, Source, Stage, Tenant};
use crate::text::{Span, folder_of};

/// The scope of a rendered template, as indices into the fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Scope {
    /// The repository.
    pub repository: Option<usize>,
    /// The environment.
    pub environment: Option<usize>,
    /// The cluster.
    pub cluster: Option<usize>,
    /// The tenant; in a cluster, a tenant that runs on it.
    pub tenant: Option<usize>,
    /// The component of the tenant.
    pub component: Option<usize>,
    /// The stage of the component.
    pub stage: Option<usize>,
    /// The namespace of the tenant.
    pub namespace: Option<usize>,
    /// The source of the tenant.
    pub source: Option<usize>,
}

impl Scope {
    fn repository(self, fleet: &Fleet) -> Option<&Repository> {
        fleet.repositories.get(self.repository?)
    }

    fn environment(self, fleet: &Fleet) -> Option<&Environment> {
        fleet.environments.get(self.environment?)
    }

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

    fn source(self, fleet: &Fleet) -> Option<&Source> {
        self.tenant(fleet)?.sources.get(self.source?)
    }

    /// Returns the position of the innermost item of the scope in fleet.yaml.
    pub(super) fn span(self, fleet: &Fleet) -> &Span {
        let innermost = self.stage(fleet).map(|stage| &stage.span);
        let innermost = innermost.or_else(|| self.component(fleet).map(|component| &component.span));
        let innermost = innermost.or_else(|| self.namespace(fleet).map(|namespace| &namespace.span));
        let innermost = innermost.or_else(|| self.source(fleet).map(|source| &source.span));
        let innermost = innermost.or_else(|| self.tenant(fleet).map(|tenant| &tenant.span));
        let innermost = innermost.or_else(|| self.cluster(fleet).map(|cluster| &cluster.span));
        let innermost = innermost.or_else(|| self.environment(fleet).map(|environment| &environment.span));
        innermost.or_else(|| self.repository(fleet).map(|repository| &repository.span)).unwrap_or(&fleet.span)
    }

    /// Returns whether a cluster applies the files of the scope.
    pub(super) fn reaches(self, cluster: usize, fleet: &Fleet) -> bool {
        let Some(there) = fleet.clusters.get(cluster) else { return false };
        let in_cluster = self.cluster.is_none_or(|own| own == cluster);
        let in_repository = self.repository(fleet).is_none_or(|own| own.name == there.repository.name);
        let in_environment = self.environment(fleet).is_none_or(|own| own.name == there.environment);
        let runs = self.tenant(fleet).is_none_or(|tenant| there.runs(&tenant.name));
        in_cluster
            && in_repository
            && in_environment
            && runs
            && self.component(fleet).is_none_or(|component| !is_left_out(there, component))
    }
}

fn is_left_out(cluster: &Cluster, component: &Component) -> bool {
    cluster.without_components.iter().any(|left| left.tenant == component.tenant && left.component == component.name)
}

/// The kind of the items over which a template path repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeat {
    Repository,
    Environment,
    Cluster,
    Tenant,
    Component,
    Stage,
    Namespace,
    Source,
}

impl Repeat {
    /// The names in brackets.
    const WORDS: &[(&str, Self)] = &[
        ("repository", Self::Repository),
        ("environment", Self::Environment),
        ("cluster", Self::Cluster),
        ("tenant", Self::Tenant),
        ("component", Self::Component),
        ("stage", Self::Stage),
        ("namespace", Self::Namespace),
        ("source", Self::Source),
    ];
}

/// A path with placeholders.
#[derive(Debug, Clone)]
pub(super) struct Pattern(Vec<Piece>);

#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    Repeat(Repeat),
}

impl Pattern {
    /// Reads a path such as `tenants/[tenant]/components/[component].yaml`; the error is a message.
    pub(super) fn new(path: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = path;
        while let Some((before, after)) = rest.split_once('[') {
            let Some((word, behind)) = after.split_once(']') else {
                return Err("a `[` in the path of the template is not closed".into());
            };
            let Some((_, repeat)) = Repeat::WORDS.iter().find(|(name, _)| *name == word) else {
                let known: Vec<String> = Repeat::WORDS.iter().map(|(name, _)| format!("`[{name}]`")).collect();
                return Err(format!(
                    "unknown placeholder `[{word}]` in the path of the template; use one of {}",
                    known.join(", ")
                ));
            };
            pieces.extend((!before.is_empty()).then(|| Piece::Text(before.into())));
            pieces.push(Piece::Repeat(*repeat));
            rest = behind;
        }
        pieces.extend((!rest.is_empty()).then(|| Piece::Text(rest.into())));
        Ok(Self(pieces))
    }

    /// Returns every scope of the path, in the order of the fleet, or `None` if there are more than `most` scopes.
    pub(super) fn scopes(&self, fleet: &Fleet, most: usize) -> Result<Option<Vec<Scope>>, String> {
        let mut scopes = vec![Scope::default()];
        let mut done: Vec<Repeat> = Vec::new();
        for piece in &self.0 {
            let Piece::Repeat(repeat) = piece else { continue };
            if done.contains(repeat) {
                continue;
            }
            let needs = match repeat {
                Repeat::Repository | Repeat::Environment | Repeat::Cluster | Repeat::Tenant => None,
                Repeat::Component | Repeat::Namespace | Repeat::Source => Some((Repeat::Tenant, "`[tenant]`")),
                Repeat::Stage => Some((Repeat::Component, "`[component]`")),
            };
            if let Some((outer, name)) = needs
                && !done.contains(&outer)
            {
                return Err(format!("a placeholder in the path of the template requires {name} before it"));
            }
            scopes = scopes.into_iter().flat_map(|scope| within(scope, *repeat, fleet)).take(most + 1).collect();
            done.push(*repeat);
        }
        Ok((scopes.len() <= most).then_some(scopes))
    }

    /// Returns the path for a scope.
    pub(super) fn path(&self, scope: Scope, fleet: &Fleet) -> String {
        let mut path = String::new();
        for piece in &self.0 {
            let name = match piece {
                Piece::Text(text) => Some(text.as_str()),
                Piece::Repeat(Repeat::Repository) => scope.repository(fleet).map(|repository| repository.name.as_str()),
                Piece::Repeat(Repeat::Environment) => {
                    scope.environment(fleet).map(|environment| environment.name.as_str())
                }
                Piece::Repeat(Repeat::Cluster) => scope.cluster(fleet).map(|cluster| cluster.name.as_str()),
                Piece::Repeat(Repeat::Tenant) => scope.tenant(fleet).map(|tenant| tenant.name.as_str()),
                Piece::Repeat(Repeat::Component) => scope.component(fleet).map(|component| component.name.as_str()),
                Piece::Repeat(Repeat::Stage) => scope.stage(fleet).map(|stage| stage.name.as_str()),
                Piece::Repeat(Repeat::Namespace) => scope.namespace(fleet).map(|namespace| namespace.name.as_str()),
                Piece::Repeat(Repeat::Source) => scope.source(fleet).map(|source| source.name.as_str()),
            };
            path.push_str(name.unwrap_or_default());
        }
        path
    }
}

/// Returns the scopes of a placeholder within a scope.
fn within(scope: Scope, repeat: Repeat, fleet: &Fleet) -> Vec<Scope> {
    let here = scope.cluster(fleet);
    let tenant = scope.tenant(fleet);
    let found: Vec<Scope> = match repeat {
        Repeat::Repository => {
            let repositories = fleet.repositories.iter().enumerate();
            let own = repositories.filter(|(_, own)| here.is_none_or(|here| here.repository.name == own.name));
            return own.map(|(at, _)| Scope { repository: Some(at), ..scope }).collect();
        }
        Repeat::Environment => {
            let environments = fleet.environments.iter().enumerate();
            let own = environments.filter(|(_, own)| here.is_none_or(|here| here.environment == own.name));
            return own.map(|(at, _)| Scope { environment: Some(at), ..scope }).collect();
        }
        Repeat::Cluster => {
            let clusters = 0..fleet.clusters.len();
            clusters.filter(|at| scope.reaches(*at, fleet)).map(|at| Scope { cluster: Some(at), ..scope }).collect()
        }
        Repeat::Tenant => {
            let tenants = fleet.tenants.iter().enumerate();
            let running = tenants.filter(|(_, tenant)| here.is_none_or(|here| here.runs(&tenant.name)));
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
        Repeat::Source => {
            let sources = tenant.map_or(0, |tenant| tenant.sources.len());
            (0..sources).map(|at| Scope { source: Some(at), ..scope }).collect()
        }
    };
    if (scope.environment.is_none() && scope.repository.is_none()) || here.is_some() {
        return found;
    }
    // An environment or repository has the tenants and components of its clusters.
    found.into_iter().filter(|scope| (0..fleet.clusters.len()).any(|at| scope.reaches(at, fleet))).collect()
}

/// Returns whether a file of a layout is only included by other files: it is below a directory named `_partials`.
pub(super) fn is_partial(path: &str) -> bool {
    folder_of(path).split('/').any(|segment| segment == "_partials")
}
