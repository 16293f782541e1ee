use crate::base::finding::{Finding, Safety, Severity};
use crate::kube::{Object, ObjectId, groups};
use crate::lint::fields::flag;
use crate::lint::findings::Findings;
use crate::lint::order::apply_order::checked_object;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::Node;
use crate::yaml::fix;

declare! {
    /// `wait: true` disables `healthChecks`.
    ///
    /// ## Why
    ///
    /// With `wait: true`, Flux checks the objects that the Kustomization applies, and does not read `healthChecks`. It
    /// does not wait for other objects that `healthChecks` references, such as the Deployment of a chart or an object
    /// of another Kustomization.
    ///
    /// The severity is pedantic if the Kustomization applies all objects in `healthChecks`, directly or possibly
    /// through a HelmRelease, because Flux waits for them in any case: Helm waits for the workloads and the CRDs of its
    /// chart. It is also pedantic if the objects of the
    /// Kustomization are unknown.
    ///
    /// ## How to fix it
    ///
    /// Remove `healthChecks`. To also wait for other objects, remove `wait`, and list the Kustomization's own objects
    /// in `healthChecks`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   healthChecks:
    ///     - apiVersion: apps/v1
    ///       kind: Deployment
    ///       name: shop
    ///       namespace: shop
    ///   interval: 1h
    ///   path: ./clusters/example/shop
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   wait: true
    /// # shop/cart.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: cart
    ///   namespace: flux-system
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/shop
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   wait: true
    /// # shop/cart.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: cart
    ///   namespace: flux-system
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: wait](https://fluxcd.io/flux/components/kustomize/kustomizations/#wait)
    "ignored-health-checks", Warning, "`wait: true` disables `healthChecks`", Check::Cluster(check), fixes: [Safe],
}

fn check(view: &View<'_>, found: &mut Findings) {
    for applied in view.of_kind(groups::KUSTOMIZE, "Kustomization") {
        let (object, completion) = (applied.object, applied.completion);
        if ["wait", "healthChecks"].iter().any(|field| completion.mentions(field)) {
            continue;
        }
        let spec = object.node.get("spec");
        let (Some(wait), Some(checks)) =
            (spec.and_then(|spec| spec.get("wait")), spec.and_then(|spec| spec.entry("healthChecks")))
        else {
            continue;
        };
        if flag(wait) != Some(true) || !is_list(&checks.node) {
            continue;
        }
        let other = object_of_another(view, object, &checks.node);
        let message = match other {
            Some(_) => format!("Flux does not read the `healthChecks` of {}", object.reference()),
            None => format!("the `healthChecks` of {} have no effect", object.reference()),
        };
        let mut finding = Finding::warning(RULE.id, applied.by.place(&checks.key_span()), message)
            .related(applied.by.place(wait.span()), "Flux waits for the objects of the Kustomization")
            .about(object.reference());
        if let Some(other) = other {
            let help = "remove `healthChecks`, or remove `wait` and also list the objects of the Kustomization in \
                        `healthChecks`: with `wait: true`, Flux checks only the objects that the Kustomization applies";
            let place = applied.by.place(other.span());
            finding = finding.related(place, "the Kustomization does not apply this object").help(help);
        } else {
            finding.severity = Severity::Pedantic;
            let help =
                "remove `healthChecks`: with `wait: true`, Flux checks all objects that the Kustomization applies";
            let fix = spec.and_then(|spec| fix::remove(spec, "healthChecks", Safety::Safe));
            finding = finding.help(help).fixed_at(fix, |span| applied.by.place(span));
        }
        let key = if other.is_some() { "other" } else { "own" };
        found.push(finding.caused_by(key, "", " Kustomizations have `healthChecks` that Flux does not read"));
    }
}

/// Returns the first health check of an object that the Kustomization does not wait for.
///
/// The result is `None` if the objects of the Kustomization are unknown.
fn object_of_another<'a>(view: &View<'a>, kustomization: &Object, checks: &'a Node) -> Option<&'a Node> {
    let reference = kustomization.reference();
    let sets = &view.receiver.cluster.applied_sets;
    let own = sets.iter().find(|set| set.by.reference == reference).filter(|set| set.is_complete())?;
    let releases: Vec<&Object> = own.objects.iter().filter(|object| is_awaited_release(object)).collect();
    let installs_definitions = releases.iter().any(|one| one.text_at(&["spec", "install", "crds"]) != Some("Skip"));
    let is_covered = |check: &&Node| {
        let target = checked_object(check, kustomization).settled();
        let is_in_namespace = |release: &&Object| {
            let namespace = release.text_at(&["spec", "targetNamespace"]).or(release.namespace());
            namespace == Some(target.namespace)
        };
        let may_be_of_release = || {
            let id = ObjectId { namespace: "", ..target };
            let mut charts = view.unknown_sources().of(id).filter(|producer| producer.is_chart());
            charts.any(|chart| chart.by.is_some_and(|by| by.at == own.by.at))
        };
        let kind = (target.group, target.kind);
        own.objects.iter().any(|object| ObjectId::of(object).settled() == target)
            || (AWAITED_BY_HELM.contains(&kind) && releases.iter().any(is_in_namespace))
            || (CLUSTER_SCOPED.contains(&kind) && !releases.is_empty() && may_be_of_release())
            || (kind == DEFINITION && installs_definitions && may_be_of_release())
    };
    checks.items().iter().find(|check| !is_covered(check))
}

/// The kinds of a chart's objects in a namespace that Helm waits for, or that are ready as soon as they exist.
const AWAITED_BY_HELM: [(&str, &str); 11] = [
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("apps", "ReplicaSet"),
    ("batch", "Job"),
    ("", "Service"),
    ("", "Pod"),
    ("", "PersistentVolumeClaim"),
    ("", "ConfigMap"),
    ("", "Secret"),
    ("", "ServiceAccount"),
];

/// The kinds of a chart's objects without a namespace that are ready as soon as they exist.
const CLUSTER_SCOPED: [(&str, &str); 5] = [
    ("storage.k8s.io", "StorageClass"),
    ("networking.k8s.io", "IngressClass"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
];

/// The kind of CRDs. Helm waits until the API server serves their kinds.
const DEFINITION: (&str, &str) = ("apiextensions.k8s.io", "CustomResourceDefinition");

/// Returns whether an object is a HelmRelease that becomes ready only after the objects of its chart.
fn is_awaited_release(object: &Object) -> bool {
    let is_set = |keys: &[&str]| object.text_at(keys) == Some("true");
    (object.group(), object.kind()) == (groups::HELM, "HelmRelease")
        && object.node.at_keys(&["spec", "kubeConfig"]).is_none()
        && !["install", "upgrade"].iter().any(|action| is_set(&["spec", action, "disableWait"]))
        && !is_set(&["spec", "suspend"])
}

fn is_list(checks: &Node) -> bool {
    checks.is_seq() && !checks.items().is_empty()
}
