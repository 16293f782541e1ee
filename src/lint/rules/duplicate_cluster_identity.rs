use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arcstr::ArcStr;

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
    /// The name and the domain identify a cluster in DNS, in certificates, in a shared bucket and in a shared
    /// Prometheus. A new cluster is often a copy of another cluster. If its identity is also a copy, both clusters
    /// write to the same places, and each cluster reverts the changes of the other.
    ///
    /// `.fleetwright.yaml` lists the variables that must be unique; the default is `CLUSTER_NAME` and `CLUSTER_DOMAIN`.
    /// The rule ignores clusters that the file declares as a group, such as blue and green. It also ignores values that
    /// a hub passes to its remote clusters, and `cluster.local`, which each cluster uses only internally.
    ///
    /// ## How to fix it
    ///
    /// Set a separate value for each cluster, or declare the clusters as a group with a reason in `.fleetwright.yaml`.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: post build variable substitution](https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution)
    "duplicate-cluster-identity", Warning, "two clusters share a value that must be unique",
    Check::Fleet(check),
}

/// The maximum number of clusters that a finding shows.
const MAX_SHOWN: usize = 5;

/// The default domain of Services within every cluster.
const LOCAL_DOMAIN: &str = "cluster.local";

/// A cluster that sets a value.
struct Claim<'a> {
    cluster: ArcStr,
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
            let cluster: ArcStr = view.receiver.to_string().into();
            for (value, variable) in values(view, key) {
                // The views list a hub before its remote clusters, and the hub may pass its own identity to them.
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

/// The values of a variable on a cluster, each with one definition.
fn values<'a>(view: &View<'a>, key: &str) -> BTreeMap<&'a str, &'a Variable> {
    let mut values = BTreeMap::new();
    let mut seen: Index<usize, ()> = Index::default();
    for applier in view.appliers() {
        if seen.insert(Arc::as_ptr(&applier.variables).addr(), ()).is_some() {
            continue;
        }
        let Some(variable) = applier.variables.values.get(key) else { continue };
        let is_identity = |value: &&str| !value.is_empty() && *value != LOCAL_DOMAIN && !value.contains("${");
        let Some(value) = variable.value.as_deref().filter(is_identity) else { continue };
        values.entry(value).or_insert(variable);
    }
    values
}

fn finding(key: &str, value: &str, claims: &[Claim<'_>]) -> Finding {
    let names: Vec<String> = claims.iter().take(MAX_SHOWN).map(|claim| format!("`{}`", claim.cluster)).collect();
    let more = claims.len() - names.len();
    let names = match names.split_last() {
        Some((last, first)) if more == 0 => format!("{} and {last}", first.join(", ")),
        _ => format!("{} and {more} more", names.join(", ")),
    };
    let message = format!("clusters {names} share the value `{value}` of variable `{key}`");
    let help = "set a separate value for each cluster, or declare clusters that may share the value as a group in \
                `.fleetwright.yaml`: otherwise each cluster may revert the changes of the others";
    // The last cluster is usually the copy.
    let Some((last, others)) = claims.split_last() else { unreachable!("two clusters share the value") };
    let mut finding = Finding::warning(RULE.id, last.variable.place.clone(), message).help(help);
    for other in others.iter().take(MAX_SHOWN).filter(|other| other.variable.place != last.variable.place) {
        finding = finding.related(other.variable.place.clone(), format!("value of cluster `{}`", other.cluster));
    }
    if let Some(object) = &last.variable.from {
        finding = finding.about(object.clone());
    }
    finding.clusters = claims.iter().map(|claim| claim.cluster.clone()).collect();
    finding
}
