//! The admission policies of each cluster, and their answers to the requests of its appliers.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::finding::Finding;
use crate::flux::{Applied, ApplyMode};
use crate::kube::{Object, Scope};
use crate::lint::facts::distinct::memory_address;
use crate::lint::findings::Findings;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::view::View;
use crate::policy::{Decision, LANGUAGES, Objects, Policies, Request, Source};
use crate::rbac::acts_as;
use crate::text::Index;

/// The policies of the clusters. Clusters with the same policies share them.
#[derive(Default)]
pub(crate) struct ClusterPolicies<'a> {
    sets: Vec<Enforced<'a>>,
    /// The set of each cluster, in the order of the views.
    of_view: Vec<usize>,
    /// The policies that the API server rejects, with the clusters that have them.
    pub(crate) invalid: Vec<(Finding, Vec<Arc<str>>)>,
}

/// The policies that some clusters enforce.
struct Enforced<'a> {
    languages: Vec<Box<dyn Policies>>,
    /// The objects of the configuration, which include parameters.
    configured: Vec<&'a Object>,
}

/// The answer to the request for one object.
pub(crate) struct Answer<'a> {
    pub(crate) applied: Applied<'a>,
    pub(crate) decision: Arc<Decision>,
    pub(crate) view: usize,
}

impl<'a> ClusterPolicies<'a> {
    /// Reads the policies of each cluster.
    pub(crate) fn of(views: &[View<'a>], sources: &'a [Source]) -> Self {
        let mut all = Self::default();
        let mut known: Index<Vec<usize>, usize> = Index::default();
        let mut reported: Index<(usize, String), usize> = Index::default();
        for view in views {
            let name = view.receiver.to_string();
            let here = sources.iter().filter(|source| source.declared.is_on(&name));
            let configured: Vec<&'a Object> = here.flat_map(|source| &source.objects).collect();
            let kinds = LANGUAGES.iter().flat_map(|language| language.kinds);
            let received = kinds.flat_map(|(group, kind)| view.of_kind(group, kind)).map(|applied| applied.object);
            let mut objects: Vec<&'a Object> = received.collect();
            let names: BTreeSet<(&str, &str)> = objects.iter().map(|object| (object.kind(), object.name())).collect();
            // A policy that the cluster receives replaces the policy of the configuration.
            let is_new = |object: &&&'a Object| !names.contains(&(object.kind(), object.name()));
            let added: Vec<&'a Object> = configured.iter().filter(is_new).copied().collect();
            objects.extend(added);
            let key: Vec<usize> = objects.iter().map(|object| memory_address(object)).collect();
            let number = *known.entry_or(key, || {
                let mut enforced = Enforced { languages: Vec::new(), configured };
                for language in LANGUAGES {
                    let own: Vec<&Object> = objects.iter().filter(|object| language.has(object)).copied().collect();
                    let (set, findings) = language.read(&own);
                    all.invalid.extend(findings.into_iter().map(|finding| (finding, Vec::new())));
                    enforced.languages.push(set);
                }
                all.sets.push(enforced);
                all.sets.len() - 1
            });
            all.of_view.push(number);
            if view.is_whole() {
                all.name_invalid(&name, &objects, &mut reported);
            }
        }
        all
    }

    /// Adds a cluster to the invalid policies that it has.
    fn name_invalid(&mut self, name: &str, objects: &[&Object], reported: &mut Index<(usize, String), usize>) {
        if self.invalid.is_empty() {
            return;
        }
        let cluster: Arc<str> = name.into();
        for (at, (finding, clusters)) in self.invalid.iter_mut().enumerate() {
            let is_here = objects.iter().any(|object| Some(object.reference()) == finding.object);
            if is_here && reported.insert((at, name.to_owned()), 0).is_none() {
                clusters.push(cluster.clone());
            }
        }
    }

    /// The answers that are not plain consent, for all objects of all clusters.
    pub(crate) fn answers(&self, views: &[View<'a>], found: &mut Findings) -> Vec<Answer<'a>> {
        let mut answers = Vec::new();
        let mut known: Index<(usize, usize, usize, String), Arc<Decision>> = Index::default();
        for (at, view) in views.iter().enumerate() {
            let Some((number, enforced)) =
                self.of_view.get(at).and_then(|number| Some((*number, self.sets.get(*number)?)))
            else {
                continue;
            };
            if enforced.languages.iter().all(|set| set.is_empty()) {
                continue;
            }
            let objects = OnCluster { view, configured: &enforced.configured };
            for set in view.applied_sets() {
                let user = user_of(view, &set.by);
                for applied in set.applied().filter(|applied| applied.apply_mode() != ApplyMode::Ignored) {
                    let request = Incoming::of(view, &applied, user.as_deref());
                    let namespace = request.namespace_object.map_or(0, memory_address);
                    // Parameters may differ between clusters that share an object.
                    let params = if enforced.languages.iter().any(|set| set.reads_parameters()) { at + 1 } else { 0 };
                    let key = (
                        memory_address(applied.object),
                        namespace,
                        number * 1_000_003 + params,
                        user.clone().unwrap_or_default(),
                    );
                    let decision = known.entry_or(key, || {
                        let mut decision = Decision::default();
                        for set in &enforced.languages {
                            let own = set.decide(&request.request(), &objects);
                            decision.violations.extend(own.violations);
                            decision.unknown.extend(own.unknown);
                        }
                        Arc::new(decision)
                    });
                    for unknown in &decision.unknown {
                        found.unchecked(unknown.as_str());
                    }
                    if !decision.violations.is_empty() {
                        answers.push(Answer { applied, decision: decision.clone(), view: at });
                    }
                }
            }
        }
        answers
    }
}

/// The parts of a request, with the texts that it refers to.
struct Incoming<'a, 'u> {
    object: &'a Object,
    resource: String,
    namespace: Option<&'a str>,
    namespace_object: Option<&'a Object>,
    user: Option<&'u str>,
}

impl<'a, 'u> Incoming<'a, 'u> {
    fn of(view: &View<'a>, applied: &Applied<'a>, user: Option<&'u str>) -> Self {
        let object = applied.object;
        let kind = view.kinds().find(object.group(), object.kind());
        let resource = kind.map_or_else(|| crate::policy::plural_of(object.kind()), |kind| kind.plural.to_string());
        let scope = kind.map_or_else(|| view.catalog().scope(object.group(), object.kind()), |kind| kind.scope);
        let namespace = if scope == Scope::Cluster { None } else { applied.namespace() };
        let find = |name: &str| view.find("", "Namespace", "", name).map(|applied| applied.object);
        Self { object, resource, namespace, namespace_object: namespace.and_then(find), user }
    }

    fn request(&self) -> Request<'_> {
        Request {
            object: self.object,
            resource: &self.resource,
            namespace: self.namespace,
            namespace_object: self.namespace_object,
            user: self.user,
            operation: "CREATE",
        }
    }
}

/// The user that an applier acts as; `None` if it is unknown.
fn user_of(view: &View<'_>, applier: &crate::flux::Applier) -> Option<String> {
    let object = applier.object.as_ref()?;
    let account = acts_as(object, object.namespace(), view.tenancy())?;
    let account = account.to_string();
    let (namespace, name) = account.split_once('/')?;
    Some(format!("system:serviceaccount:{namespace}:{name}"))
}

/// The objects of a cluster with those of the configuration.
struct OnCluster<'v, 'a> {
    view: &'v View<'a>,
    configured: &'v [&'a Object],
}

impl<'x, 'a: 'x> Objects<'x> for OnCluster<'_, 'a> {
    fn find(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<&'x Object> {
        let received = self.view.find(group, kind, namespace, name).map(|applied| applied.object);
        let is_it = |object: &&&'a Object| {
            object.is(group, kind) && object.name() == name && object.namespace().unwrap_or_default() == namespace
        };
        received.or_else(|| self.configured.iter().find(is_it).copied())
    }

    fn of_kind(&self, group: &str, kind: &str) -> Vec<&'x Object> {
        let received = self.view.of_kind(group, kind).map(|applied| applied.object);
        received.chain(self.configured.iter().filter(|object| object.is(group, kind)).copied()).collect()
    }

    fn may_have(&self, group: &str, kind: &str, namespace: &str, name: Option<&str>) -> bool {
        let Some(name) = name.filter(|_| self.view.is_whole()) else { return true };
        !matches!(self.view.presence(group, kind, namespace, name), Presence::Missing)
    }
}
