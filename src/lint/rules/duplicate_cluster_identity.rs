use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::finding::Finding;
use crate::flux::Variable;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::text::Index;

declare! {
    /// Two clusters share a value that must be unique.
    ///
    /// ## Why
    ///
    /// A cluster's name and domain tell it from others: in DNS, in certificates, in what it writes to a shared bucket or sends to
    /// a shared Prometheus. A new cluster is mostly a copy of another one, and where its identity was copied too, both write to
    /// the same places, and each undoes what the other does.
    ///
    /// Which variables are meant says `.fleetwright.yaml`; `CLUSTER_NAME` and `CLUSTER_DOMAIN` when it says nothing. Silent for
    /// clusters that it declares to be a group, such as blue and green, for what a hub hands on to those that it applies to,
    /// and for `cluster.local`, which each cluster is to itself.
    ///
    /// ## How to fix it
    ///
    /// Give each cluster its own value, or declare the group with its reason.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./web
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   postBuild:
    ///     substitute:
    ///       CLUSTER_NAME: production
    /// # /clusters/second/web.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./web
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   postBuild:
    ///     substitute:
    ///       CLUSTER_NAME: production
    /// # /web/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: web
    /// data:
    ///   cluster: ${CLUSTER_NAME}
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./web
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   postBuild:
    ///     substitute:
    ///       CLUSTER_NAME: production
    /// # /clusters/second/web.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./web
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   postBuild:
    ///     substitute:
    ///       CLUSTER_NAME: staging
    /// # /web/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: web
    /// data:
    ///   cluster: ${CLUSTER_NAME}
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: post build variable substitution](https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution)
    "duplicate-cluster-identity", Error, "two clusters share a value that must be unique",
    Check::Fleet(check),
}

/// So many places are shown where there are more.
const MAX_SHOWN: usize = 5;

/// The domain that Services have within their own cluster, whichever it is.
const LOCAL_DOMAIN: &str = "cluster.local";

/// A value of a cluster.
struct Claim<'a> {
    cluster: Arc<str>,
    variable: &'a Variable,
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    let Some(first) = fleet.views.first() else { return };
    let options = &first.context.lint.rules.duplicate_cluster_identity;
    for key in options.keys() {
        let mut by_value: BTreeMap<&str, Vec<Claim<'_>>> = BTreeMap::new();
        let mut of_hub: BTreeSet<&str> = BTreeSet::new();
        for view in fleet.views.iter().filter(|view| view.is_whole()) {
            let is_hub = view.receiver.target.is_none();
            if is_hub {
                of_hub.clear();
            }
            let cluster: Arc<str> = view.receiver.to_string().into();
            for (value, variable) in values(view, key) {
                // A hub comes before those that it applies to, and may hand its own identity on to them.
                if is_hub {
                    of_hub.insert(value);
                } else if of_hub.contains(value) {
                    continue;
                }
                by_value.entry(value).or_default().push(Claim { cluster: cluster.clone(), variable });
            }
        }
        for (value, claims) in by_value {
            let clusters: Vec<&str> = claims.iter().map(|claim| &*claim.cluster).collect();
            if claims.len() > 1 && !options.may_share(&clusters) {
                found.push(finding(key, value, &claims));
            }
        }
    }
}

/// The values that a variable has on a cluster, with one place of each.
fn values<'a>(view: &View<'a>, key: &str) -> BTreeMap<&'a str, &'a Variable> {
    let mut values = BTreeMap::new();
    let mut seen: Index<usize, ()> = Index::default();
    for applier in view.appliers() {
        if seen.insert(Arc::as_ptr(&applier.variables).addr(), ()).is_some() {
            continue;
        }
        let Some(variable) = applier.variables.values.get(key) else { continue };
        let tells = |value: &&str| !value.is_empty() && *value != LOCAL_DOMAIN && !value.contains("${");
        let Some(value) = variable.value.as_deref().filter(tells) else { continue };
        values.entry(value).or_insert(variable);
    }
    values
}

fn finding(key: &str, value: &str, claims: &[Claim<'_>]) -> Finding {
    let names: Vec<String> = claims.iter().take(MAX_SHOWN).map(|claim| format!("`{}`", claim.cluster)).collect();
    let more = claims.len() - names.len();
    let names = if more > 0 { format!("{} and {more} more", names.join(", ")) } else { names.join(", ") };
    let message = format!("clusters {names} share `{key}`: `{value}`");
    let help = "give each its own, since it tells them apart; clusters that may share it can be declared as a group in \
                `.fleetwright.yaml`";
    // The copy comes after what it was copied from, mostly.
    let Some((last, others)) = claims.split_last() else { unreachable!("clusters share it") };
    let mut finding = Finding::error(RULE.id, last.variable.place.clone(), message).help(help);
    for other in others.iter().take(MAX_SHOWN).filter(|other| other.variable.place != last.variable.place) {
        finding = finding.related(other.variable.place.clone(), format!("that of cluster `{}`", other.cluster));
    }
    if let Some(object) = &last.variable.from {
        finding = finding.about(object.clone());
    }
    finding.clusters = claims.iter().map(|claim| claim.cluster.clone()).collect();
    finding
}
