//! The admission policies of each cluster, and their answers to the requests of its appliers.

use std::collections::BTreeSet;
use std::sync::Arc;

use arcstr::ArcStr;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::base::finding::{Finding, ObjectRef};
use crate::cel::Budget;
use crate::flux::{Applied, ApplyMode};
use crate::kube::{Object, Scope};
use crate::lint::facts::content::first_alike;
use crate::lint::facts::distinct::memory_address;
use crate::lint::findings::Findings;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::view::View;
use crate::policy::{Decision, LANGUAGES, Objects, Policies, Request, Source};
use crate::rbac::acts_as;
use crate::text::Index;

/// The policies of the clusters. Clusters with the same policies share them.
#[derive(Default)]
pub struct ClusterPolicies<'a> {
    sets: Vec<Enforced<'a>>,
    /// The set of each cluster, in the order of the views.
    of_view: Vec<usize>,
    /// The policies that the API server rejects, with the clusters that have them.
    pub(crate) invalid: Vec<(Finding, Vec<ArcStr>)>,
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
        let cluster: ArcStr = name.into();
        let here: BTreeSet<ObjectRef> = objects.iter().map(|object| object.reference()).collect();
        for (at, (finding, clusters)) in self.invalid.iter_mut().enumerate() {
            let is_here = finding.object.as_ref().is_some_and(|object| here.contains(object));
            if is_here && reported.insert((at, name.to_owned()), 0).is_none() {
                clusters.push(cluster.clone());
            }
        }
    }

    /// The answers that are not plain consent, for all objects of all clusters.
    pub(crate) fn answers(&self, views: &[View<'a>], found: &mut Findings) -> Vec<Answer<'a>> {
        let Requests { distinct, all } = self.requests(views);
        let decisions = self.decide(views, &distinct);
        let mut answers = Vec::new();
        for (view, applied, number) in all {
            let Some(decision) = decisions.get(number) else { continue };
            for unknown in &decision.unknown {
                found.unchecked(unknown.as_str());
            }
            if !decision.violations.is_empty() {
                answers.push(Answer { applied, decision: decision.clone(), view });
            }
        }
        answers
    }

    /// The policies of a view, with their number.
    fn enforced(&self, view: usize) -> Option<(usize, &Enforced<'a>)> {
        let number = *self.of_view.get(view)?;
        let enforced = self.sets.get(number)?;
        enforced.languages.iter().any(|set| !set.is_empty()).then_some((number, enforced))
    }

    fn requests(&self, views: &[View<'a>]) -> Requests<'a> {
        let mut requests = Requests { distinct: Vec::new(), all: Vec::new() };
        let mut groups: Index<GroupKey<'a>, usize> = Index::default();
        let mut known: Index<(usize, usize), usize> = Index::default();
        for (at, view) in views.iter().enumerate() {
            let Some((number, enforced)) = self.enforced(at) else { continue };
            // Parameters may differ between clusters that share an object.
            let parameters_of = enforced.languages.iter().any(|set| set.reads_parameters()).then_some(at);
            let mut resources: Index<(&str, &str), (ArcStr, Scope)> = Index::default();
            for set in view.applied_sets() {
                let user: Option<ArcStr> = user_of(view, &set.by).map(Into::into);
                for applied in set.applied().filter(|applied| applied.apply_mode() != ApplyMode::Ignored) {
                    let object = applied.object;
                    let id = (object.group(), object.kind());
                    let (resource, scope) = resources.entry_or(id, || resource_of(view, object)).clone();
                    let namespace = if scope == Scope::Cluster { None } else { applied.namespace() };
                    let find = |name: &str| view.find("", "Namespace", "", name).map(|applied| applied.object);
                    let namespace_object = namespace.and_then(find);
                    let group_key =
                        (namespace_object.map(memory_address), namespace, number, parameters_of, user.clone());
                    let next = groups.len();
                    let group = *groups.entry_or(group_key, || next);
                    let of_object = *known.entry_or((memory_address(object), group), || {
                        let user = user.clone();
                        requests.distinct.push(Incoming {
                            view: at,
                            group,
                            object,
                            resource,
                            namespace,
                            namespace_object,
                            user,
                        });
                        requests.distinct.len() - 1
                    });
                    requests.all.push((at, applied, of_object));
                }
            }
        }
        requests
    }

    /// The decisions on requests. A request with the same content as another one repeats only a refusal, since the position
    /// of its violations differs.
    fn decide(&self, views: &[View<'a>], requests: &[Incoming<'a>]) -> Vec<Arc<Decision>> {
        let contents: Vec<(usize, &Object)> = requests.iter().map(|request| (request.group, request.object)).collect();
        let first = first_alike(&contents);
        let decide = |request: &Incoming<'a>, limit: &Budget| {
            let (mut decision, mut budget) = (Decision::default(), limit.clone());
            let enforced = self.enforced(request.view).zip(views.get(request.view));
            let Some(((_, Enforced { languages, configured }), view)) = enforced else { return (decision, 0) };
            for set in languages {
                decision.merge(set.decide(&request.request(), &OnCluster { view, configured }, &mut budget));
            }
            (decision, budget.spent())
        };
        let is_first = |at: usize| first.get(at) == Some(&at);
        let mut open: Vec<usize> = (0..requests.len()).filter(|at| is_first(*at)).collect();
        let mut decided: Vec<Option<(Arc<Decision>, Budget)>> = vec![None; requests.len()];
        let (mut limit, mut spent) = (Budget::of_request(requests.len()), 0);
        loop {
            let of_open: Vec<(Decision, u64)> = open.par_iter().map(|at| decide(&requests[*at], &limit)).collect();
            let mut over = Vec::new();
            for (at, (decision, steps)) in open.into_iter().zip(of_open) {
                spent += steps;
                if decision.over_limit.is_some() {
                    over.push(at);
                }
                decided[at] = Some((Arc::new(decision), limit.clone()));
            }
            open = over;
            // Most requests take few steps, so that the others can have more.
            let Some(more) = limit.with_rest(open.len(), spent) else { break };
            limit = more;
        }
        let own = |(at, request): (usize, &Incoming<'a>)| {
            let (known, limit) = first.get(at).and_then(|first| decided.get(*first)?.clone()).unwrap_or_default();
            if is_first(at) || known.violations.is_empty() { known } else { Arc::new(decide(request, &limit).0) }
        };
        requests.par_iter().enumerate().map(own).collect()
    }
}

/// The parts of a request that determine its answer beside the object: its Namespace and the name of it, the number of the
/// policies, the view whose parameters they read, and the user.
type GroupKey<'a> = (Option<usize>, Option<&'a str>, usize, Option<usize>, Option<ArcStr>);

/// The requests for the objects of a fleet.
struct Requests<'a> {
    /// The distinct requests.
    distinct: Vec<Incoming<'a>>,
    /// The objects of each view, with the number of the request.
    all: Vec<(usize, Applied<'a>, usize)>,
}

/// The parts of a request, with the texts that it refers to.
struct Incoming<'a> {
    /// The number of the first view with the request.
    view: usize,
    /// The number of the parts that other requests share.
    group: usize,
    object: &'a Object,
    resource: ArcStr,
    namespace: Option<&'a str>,
    namespace_object: Option<&'a Object>,
    user: Option<ArcStr>,
}

impl Incoming<'_> {
    fn request(&self) -> Request<'_> {
        Request {
            object: self.object,
            resource: &self.resource,
            namespace: self.namespace,
            namespace_object: self.namespace_object,
            user: self.user.as_deref(),
            operation: "CREATE",
        }
    }
}

/// The resource of the kind of an object, and the scope of the kind.
fn resource_of(view: &View<'_>, object: &Object) -> (ArcStr, Scope) {
    if let Some(kind) = view.kinds().find(object.group(), object.kind()) {
        return (kind.plural.to_string().into(), kind.scope);
    }
    let scope = view.catalog().scope(object.group(), object.kind());
    (crate::policy::plural_of(object.kind()).into(), scope)
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
