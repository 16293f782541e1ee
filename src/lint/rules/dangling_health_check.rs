use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::api::catalog::versions_of_kind;
use crate::base::finding::{Finding, Severity};
use crate::flux::{Applied, Applier, NotBuiltReason, State};
use crate::kube::{ObjectId, Scope, groups, scope_of};
use crate::lint::facts::suspension::is_suspended;
use crate::lint::findings::Findings;
use crate::lint::presence::dangling::{Dangling, References};
use crate::lint::presence::missing::{MissingSearch, comes_from_manifests};
use crate::lint::refs::health_check::health_checks;
use crate::lint::refs::reference::Reference;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// The field `healthChecks` of a Kustomization lists an object that the cluster does not receive.
    ///
    /// ## Why
    ///
    /// After Flux applies the Kustomization, it waits until each listed object exists and is ready. If a listed object
    /// never exists, each reconciliation fails after `timeout`, and the Kustomizations that depend on it never start.
    ///
    /// The severity is error for the kinds of Flux, because only manifests define their objects. It is warning for
    /// workloads, because users may create them by hand, and error for a kind that its API group does not have, such as
    /// `Deployment` of `v1`. Without `apiVersion`, Flux looks for the kind in `apps/v1`. The rule does not report an object that an unknown input may
    /// create: a chart in that namespace, a source without a local copy, a ResourceSet with live inputs, or a custom
    /// resource from which an operator may create a workload. For other kinds, the rule reports only probable typing
    /// errors. It ignores suspended Kustomizations and Kustomizations for remote clusters. With `wait: true`, Flux does
    /// not read the list; [ignored-health-checks](ignored-health-checks.md) reports this case.
    ///
    /// ## How to fix it
    ///
    /// Correct the kind, the name or the namespace, or remove the entry. With `wait: true` in place of `healthChecks`,
    /// Flux waits for all objects that the Kustomization applies.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # cache.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: cache
    ///   namespace: flux-system
    /// spec:
    ///   healthChecks:
    ///     - apiVersion: helm.toolkit.fluxcd.io/v2
    ///       kind: HelmRelease
    ///       name: redis
    ///       namespace: flux-system
    ///   interval: 1h
    ///   path: ./clusters/example/cache
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # cache/namespace.yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: cache
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - cache.yaml
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: cache
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/cache
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   wait: true
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: health checks](https://fluxcd.io/flux/components/kustomize/kustomizations/#health-checks)
    "dangling-health-check", Error, "`healthChecks` lists an object that the cluster does not receive",
    Check::Cluster(check), fixes: [Unsafe],
}

fn check(view: &View<'_>, found: &mut Findings) {
    let mut references = References::default();
    // Without its source or its path, Flux does not apply a Kustomization and never runs its health checks.
    let is_not_applied = |applier: &&Arc<Applier>| {
        matches!(applier.state, State::Failed | State::NotBuilt(NotBuiltReason::MissingSource(_)))
    };
    let not_applied: BTreeSet<String> =
        view.appliers().filter(is_not_applied).map(|applier| applier.reference.to_string()).collect();
    for applied in view.of_kind(groups::KUSTOMIZE, "Kustomization") {
        let is_remote = applied.object.node.at_keys(&["spec", "kubeConfig"]).is_some();
        if is_remote
            || not_applied.contains(&applied.object.reference().to_string())
            || is_suspended(&applied)
            || applied.completion.mentions("healthChecks")
        {
            continue;
        }
        let has_namespace =
            |id: ObjectId<'_>| !id.namespace.is_empty() || scope_of(id.group, id.kind) == Scope::Cluster;
        let mut checked = Vec::new();
        for check in health_checks(applied.object) {
            match versions_of_other_groups(check.target) {
                Some(versions) => found.push(of_another_group(&applied, &check, &versions)),
                None => checked.extend(has_namespace(check.target).then_some(check)),
            }
        }
        references.add(applied, checked);
    }
    let operated = OnceCell::new();
    for dangling in references.dangling(&mut MissingSearch::on(view), found) {
        found.extend(finding(&dangling, || operated.get_or_init(|| Operated::on(view))));
    }
}

/// The API versions that have a kind, if the group of a health check certainly does not have it.
///
/// Only Kubernetes has groups without a dot, so no definition can add a kind to them.
fn versions_of_other_groups(id: ObjectId<'_>) -> Option<Vec<String>> {
    if id.group.contains('.') || !id.is_known() || scope_of(id.group, id.kind) != Scope::Unknown {
        return None;
    }
    let versions = versions_of_kind(id.kind);
    (!versions.is_empty()).then_some(versions)
}

/// The finding for a kind in a group that does not have it.
fn of_another_group(applied: &Applied<'_>, check: &Reference<'_>, versions: &[String]) -> Finding {
    let ObjectId { kind, name, .. } = check.target;
    let items = applied.object.node.at_keys(&["spec", "healthChecks"]).map_or(&[][..], Node::items);
    let item = items.iter().find(|item| item.get("name").is_some_and(|node| std::ptr::eq(node, check.node)));
    let written = item.and_then(|item| item.get("apiVersion")).filter(|node| !node.is_null());
    let by = applied.object.reference();
    let message = match written.and_then(Node::text) {
        Some(version) => format!("{by} waits for {kind} `{name}` of `{version}`, which has no kind `{kind}`"),
        None => format!("{by} waits for {kind} `{name}` without an API version, so that Flux looks for `apps/v1`"),
    };
    let help = format!(
        "write `apiVersion: {}`: each reconciliation waits for the missing object and fails after `timeout`",
        versions.join("` or `")
    );
    let place = applied.by.place(written.unwrap_or(check.node).span());
    Finding::error(RULE.id, place, message).help(help).about(by)
}

fn finding<'a>(dangling: &Dangling<'_>, operated: impl FnOnce() -> &'a Operated) -> Option<Finding> {
    let wanted = dangling.target;
    let is_created_by_flux = wanted.is_flux() && comes_from_manifests(wanted);
    let is_judged = is_created_by_flux
        || dangling.missing.is_mistake()
        || (is_workload(wanted) && !operated().may_have_workloads(wanted.namespace));
    let help =
        "correct the entry, or remove it: each reconciliation waits for the missing object and fails after `timeout`";
    let finding = dangling.finding(RULE.id, "waits for", help);
    let severity = if is_created_by_flux { Severity::Error } else { Severity::Warning };
    is_judged.then_some(Finding { severity, ..finding })
}

/// Returns whether manifests usually define the objects of a kind.
fn is_workload(wanted: ObjectId<'_>) -> bool {
    matches!(
        (wanted.group, wanted.kind),
        ("apps" | "batch", _) | ("", "ConfigMap" | "PersistentVolumeClaim" | "Service")
    )
}

/// The namespaces in which operators may create workloads.
struct Operated {
    namespaces: BTreeSet<String>,
    /// Whether a cluster-scoped custom resource exists, for which an operator may create workloads in any namespace.
    anywhere: bool,
}

impl Operated {
    fn on(view: &View<'_>) -> Self {
        let mut operated = Self { namespaces: BTreeSet::new(), anywhere: false };
        for applied in view.objects() {
            let id = ObjectId::of(applied.object);
            if id.is_flux() || scope_of(id.group, id.kind) != Scope::Unknown {
                continue;
            }
            match id.namespace {
                "" => operated.anywhere = true,
                namespace => {
                    operated.namespaces.insert(namespace.to_owned());
                }
            }
        }
        operated
    }

    fn may_have_workloads(&self, namespace: &str) -> bool {
        self.anywhere || self.namespaces.contains(namespace)
    }
}
