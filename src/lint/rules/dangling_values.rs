use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::{Finding, Severity};
use crate::flux::Applied;
use crate::kube::{ObjectId, groups};
use crate::lint::facts::suspension::is_suspended;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::presence::keys::known_keys;
use crate::lint::presence::missing::MissingSearch;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::presence::own_inputs::secrets_of_sources;
use crate::lint::refs::values_reference::{ValuesReference, values_of};
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;

declare! {
    /// `valuesFrom` or `substituteFrom` references an object or a key that the cluster does not receive.
    ///
    /// ## Why
    ///
    /// If the object is missing and the reference does not set `optional: true`, Flux does not upgrade the HelmRelease,
    /// or does not apply any object of the Kustomization. The object must be in the namespace of the HelmRelease or
    /// Kustomization. A HelmRelease in `apps` cannot read a ConfigMap in `flux-system`.
    ///
    /// A HelmRelease also fails if the object does not have the key that `valuesKey` sets, by default `values.yaml`.
    ///
    /// The severity is warning for Secrets, because users often create them by hand, and for a ConfigMap that no
    /// cluster of the repository receives: a program that creates clusters, such as Terraform, often creates such a
    /// ConfigMap.
    ///
    /// The rule does not report an object in these cases:
    ///
    /// - One of these may create the object: an ExternalSecret, a SealedSecret, a certificate, Kyverno, reflector
    ///   annotations, the `copyFrom` of a ResourceSet, the operator of a database, a custom resource with the name of the
    ///   object or with the object as its output, a chart in that namespace, or a source without a local copy. A chart or
    ///   a source counts only if Flux applies it first, since Flux reads the variables of a Kustomization before it
    ///   applies the objects of the Kustomization.
    /// - The configuration declares the object as `external`.
    /// - A role allows an account to write the object by name.
    /// - Another program of the repository creates the object, such as a script, a Taskfile, Ansible or Terraform.
    ///
    /// On a remote cluster (`spec.kubeConfig`), the rule reports only a name with a typing error, as a warning: other
    /// programs may create other objects there.
    ///
    /// ## How to fix it
    ///
    /// Add the object in that namespace, correct the name, or set `optional: true`. If another tool creates the object,
    /// declare it below `external` in `.fleetwright.yaml`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: cache
    ///   namespace: shop
    /// spec:
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: cache
    ///   interval: 1h
    ///   valuesFrom:
    ///     - kind: ConfigMap
    ///       name: cache-values
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: cache-values
    ///   namespace: shop
    /// data:
    ///   values.yaml: |
    ///     replicas: 2
    /// ---
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: cache
    ///   namespace: shop
    /// spec:
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: cache
    ///   interval: 1h
    ///   valuesFrom:
    ///     - kind: ConfigMap
    ///       name: cache-values
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: values references](https://fluxcd.io/flux/components/helm/helmreleases/#values-references)
    "dangling-values", Error, "`valuesFrom` or `substituteFrom` references an object or a key that the cluster does not receive", Check::Fleet(check),
    fixes: [Unsafe],
}

/// A reference to an object that a cluster does not receive.
struct Dangling<'a> {
    wanted: ObjectId<'a>,
    finding: Finding,
    is_mistake: bool,
    /// Whether the repository has no similar object.
    is_unexplained: bool,
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    let all: Vec<(Vec<Dangling<'_>>, Findings)> = fleet.of_views(judge);
    let mut certain: BTreeMap<ObjectId<'_>, bool> = BTreeMap::new();
    let mut namespaces: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for Dangling { wanted, is_unexplained, .. } in all.iter().flat_map(|(dangling, _)| dangling) {
        if *is_unexplained {
            namespaces.entry((wanted.kind, wanted.name)).or_default().insert(wanted.namespace);
        }
    }
    for dangling in all.iter().flat_map(|(dangling, _)| dangling) {
        let is_certain =
            certain.entry(dangling.wanted).or_insert_with(|| is_received_somewhere(fleet, dangling.wanted));
        *is_certain |= dangling.is_mistake;
    }
    for (dangling, of_view) in all {
        found.merge(of_view);
        for Dangling { wanted, mut finding, is_unexplained, .. } in dangling {
            let of_name = namespaces.get(&(wanted.kind, wanted.name)).filter(|_| is_unexplained);
            if of_name.is_some_and(|namespaces| namespaces.len() > 1) {
                finding = of_several(finding, wanted);
            }
            // Users often create Secrets by hand. Programs that create clusters often create the objects that
            // every cluster needs.
            if wanted.kind == "Secret" || certain.get(&wanted) != Some(&true) {
                finding.severity = finding.severity.min(Severity::Warning);
            }
            found.push(finding);
        }
    }
}

/// Gives a finding the cause that an object with one name is missing in several namespaces.
fn of_several(finding: Finding, wanted: ObjectId<'_>) -> Finding {
    let ObjectId { kind, name, .. } = wanted;
    let summary =
        format!(" places reference {kind} `{name}` of several namespaces, which the cluster does not receive");
    let help = format!(
        "add the {kind} to each of the namespaces, or set `optional: true`: without it, Flux does not reconcile the \
         referencing objects; if another tool creates the {kind}, declare it below `external` in `.fleetwright.yaml`"
    );
    finding.caused_by(format!("{kind} {name}"), "", summary).help_for_all(help)
}

/// Returns whether a cluster of the repository has an object.
///
/// If a cluster has the object, the author probably forgot it on other clusters.
fn is_received_somewhere(fleet: &Fleet<'_>, wanted: ObjectId<'_>) -> bool {
    let has = |view: &View<'_>| match view.presence(wanted.group, wanted.kind, wanted.namespace, wanted.name) {
        Presence::Received(_) => true,
        Presence::Produced(produced) => produced.by.is_some(),
        Presence::BuiltIn | Presence::Unknown(_) | Presence::Missing => false,
    };
    let is_checked = |name: &str| fleet.views.iter().any(|view| *view.receiver.cluster.name == *name);
    let others = fleet.repo.clusters.iter().filter(|cluster| !is_checked(&cluster.name));
    fleet.distinct().any(has)
        || others
            .flat_map(|cluster| &cluster.applied_sets)
            .any(|set| set.objects.iter().any(|object| ObjectId::of(object) == wanted))
}

fn judge<'a>(view: &View<'a>, found: &mut Findings) -> Vec<Dangling<'a>> {
    let mut search = MissingSearch::on(view);
    let secrets = OnceCell::new();
    let mut dangling = Vec::new();
    let mut known = BTreeSet::new();
    let releases = view.of_kind(groups::HELM, "HelmRelease");
    for applied in view.of_kind(groups::KUSTOMIZE, "Kustomization").chain(releases) {
        for reference in values_of(applied.object).filter(|reference| !reference.optional) {
            let wanted = reference.target;
            if let Some(finding) = missing_key(view, &applied, &reference) {
                found.push(on_cluster(view, of_suspended(&applied, finding)));
                continue;
            }
            let is_of_source = || secrets.get_or_init(|| secrets_of_sources(view)).contains(&wanted);
            if view.get(wanted).is_some() || (wanted.kind == "Secret" && is_of_source()) {
                continue;
            }
            let Some(missing) = search.missing(wanted, Some(applied.object), found) else { continue };
            let by = applied.object.reference();
            let place = applied.by.place(reference.node.span());
            // Several Kustomizations may apply the same directory.
            if !known.insert((
                place.file().root().cloned(),
                place.file().path().to_owned(),
                place.range().start,
                by.clone(),
                wanted,
            )) {
                continue;
            }
            let message = format!("{by} reads values from {wanted}, which the cluster does not receive");
            let help = format!(
                "add the {} to namespace `{}`, or set `optional: true`: without it, Flux does not reconcile the \
                 referencing object; if another tool creates the {}, declare it below `external` in \
                 `.fleetwright.yaml`",
                wanted.kind, wanted.namespace, wanted.kind
            );
            let finding = Finding::error(RULE.id, place, message).about(by);
            let finding = finding.fixed_at(missing.fix(reference.node), |span| applied.by.place(span));
            let finding = on_cluster(view, of_suspended(&applied, missing.explain(finding, &help)));
            // Programs that create clusters often create the objects with variables, even if an object with the same
            // name exists in another namespace.
            let is_mistake = applied.object.kind() == "HelmRelease" && missing.is_certain_mistake();
            let is_unexplained = !missing.is_mistake() && !missing.is_elsewhere();
            dangling.push(Dangling { wanted, finding, is_mistake, is_unexplained });
        }
    }
    dangling
}

/// Returns the finding for a key that a HelmRelease reads and that an object certainly lacks.
fn missing_key(view: &View<'_>, applied: &Applied<'_>, reference: &ValuesReference<'_>) -> Option<Finding> {
    let key = reference.key?;
    view.get(reference.target)?;
    let keys = known_keys(view, reference.target)?;
    if keys.has(key) || key.contains('$') {
        return None;
    }
    let place = applied.by.place(reference.key_node.unwrap_or(reference.node).span());
    let by = applied.object.reference();
    let message = format!("{by} reads key `{key}` of {}, which does not have this key", reference.target);
    let help = match keys.names.len() {
        0 => "add the key, or set `optional: true`: without the key, Flux does not install the release".to_owned(),
        1 => format!(
            "set `valuesKey: {}`, add the key, or set `optional: true`: without the key, Flux does not install the \
             release",
            keys.listed()
        ),
        _ => format!(
            "add the key, set `valuesKey` to one of `{}`, or set `optional: true`: without the key, Flux does not \
             install the release",
            keys.listed()
        ),
    };
    let finding = Finding::error(RULE.id, place, message).help(help).about(by);
    Some(finding.related(keys.place, "the key is missing here"))
}

/// Lowers the finding of a suspended object, which fails only when a user resumes it.
fn of_suspended(applied: &Applied<'_>, mut finding: Finding) -> Finding {
    if is_suspended(applied) {
        finding.severity = finding.severity.min(Severity::Warning);
    }
    finding
}

fn on_cluster(view: &View<'_>, mut finding: Finding) -> Finding {
    if view.is_whole() {
        finding.clusters.push(view.receiver.to_string().into());
    }
    finding
}
