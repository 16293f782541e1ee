mod flux_rights;
mod preparation;

use std::collections::BTreeMap;

use self::flux_rights::cannot_use_flux;
use self::preparation::preparation;
use crate::base::finding::{Finding, Label, ObjectRef, Severity};
use crate::flux::{
    Applied, CONTROLLER_KINDS, CONTROLLERS, CROSS_NAMESPACE, DEFAULT_ACCOUNT, DEFAULT_CONTROLLERS, Locks, REMOTE_BASES,
    components, controller_of, locks_of_instance, reverting_places,
};
use crate::kube::{Object, groups};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, missing_in_spec};
use crate::lint::view::View;
use crate::rbac::{Escape, Method, Policy};
use crate::text::Span;
use crate::yaml::{Entry, Node};

declare! {
    /// Tenants share a cluster that does not have the multi-tenancy lockdown of Flux.
    ///
    /// ## Why
    ///
    /// A tenant that can create Flux objects in its namespace can omit `serviceAccountName`. Flux then applies the
    /// tenant's repository with the permissions of a cluster admin. The tenant can also reference a source of another
    /// namespace. Flux then reads the source with the credentials of that namespace.
    ///
    /// The severity is warning if no account of a tenant can write Kustomizations or HelmReleases, according to the bindings
    /// in Git.
    ///
    /// A FluxInstance enables the lockdown with `multitenant: true`. Without the operator, the lockdown consists of
    /// three flags: `--no-cross-namespace-refs` on all controllers except source-controller, `--no-remote-bases` on
    /// kustomize-controller, and `--default-service-account` on kustomize-controller and helm-controller.
    ///
    /// Flux Operator applies the patches of a FluxInstance after the patches for `multitenant: true`, and the last of
    /// several equal flags takes effect. Therefore, a patch can revert the lockdown. A patch of the command or of other
    /// arguments can also prevent that a controller reads a flag. The rule reports the argument or the command of such a
    /// patch.
    ///
    /// The severity is warning if only `--no-remote-bases` is missing, or if an admission policy of the cluster that
    /// checks `serviceAccountName` may restrict the tenants. It is also warning if nothing names the tenants, and none of
    /// their namespaces has a Kustomization for a source outside of the platform: the platform may use these namespaces
    /// itself. Flux 0.30 introduced `--no-remote-bases`.
    ///
    /// The rule does not run if no tenants are known, or if the configuration contains a reason for the missing
    /// lockdown: `lint.tenancy.lockdown: {mode: none, reason: …}`. If the repository does not contain the installation
    /// of Flux, the rule cannot check the lockdown.
    ///
    /// ## How to fix it
    ///
    /// Prepare the platform first. Set a `serviceAccountName` with the rights of Flux in the Kustomizations and
    /// HelmReleases of the platform. The default account does not have any rights, and without an account, the sync of
    /// a cluster can no longer reconcile the commit that repairs it. Copy remote bases into the repository, and add a
    /// source to each namespace that uses a source of another namespace.
    ///
    /// Then set `spec.cluster.multitenant: true`, or patch the flags into the controllers.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: backend
    ///   labels:
    ///     toolkit.fluxcd.io/tenant: apps
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: backend
    ///   namespace: backend
    /// spec:
    ///   interval: 1h
    ///   path: ./backend
    ///   prune: true
    ///   serviceAccountName: flux
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: apps
    ///   targetNamespace: backend
    /// # flux-system/flux.yaml
    /// apiVersion: fluxcd.controlplane.io/v1
    /// kind: FluxInstance
    /// metadata:
    ///   name: flux
    ///   namespace: flux-system
    /// spec:
    ///   distribution:
    ///     registry: ghcr.io/fluxcd
    ///     version: 2.x
    ///   sync:
    ///     kind: GitRepository
    ///     path: clusters/example
    ///     ref: refs/heads/main
    ///     url: https://git.example.com/acme/fleet.git
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: backend
    ///   labels:
    ///     toolkit.fluxcd.io/tenant: apps
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: backend
    ///   namespace: backend
    /// spec:
    ///   interval: 1h
    ///   path: ./backend
    ///   prune: true
    ///   serviceAccountName: flux
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: apps
    ///   targetNamespace: backend
    /// # flux-system/flux.yaml
    /// apiVersion: fluxcd.controlplane.io/v1
    /// kind: FluxInstance
    /// metadata:
    ///   name: flux
    ///   namespace: flux-system
    /// spec:
    ///   cluster:
    ///     multitenant: true
    ///   distribution:
    ///     registry: ghcr.io/fluxcd
    ///     version: 2.x
    ///   sync:
    ///     kind: GitRepository
    ///     path: clusters/example
    ///     ref: refs/heads/main
    ///     url: https://git.example.com/acme/fleet.git
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: multi-tenancy lockdown](https://fluxcd.io/flux/installation/configuration/multitenancy/),
    /// [Flux Operator: cluster configuration](https://fluxoperator.dev/docs/crd/fluxinstance/#cluster-configuration)
    "lockdown-missing", Error, "tenants share a cluster that does not have the multi-tenancy lockdown of Flux",
    Check::Cluster(check),
}

/// The missing flags, each with the controllers that lack the flag.
type Lacking = BTreeMap<&'static str, Vec<String>>;

fn check(view: &View<'_>, found: &mut Findings) {
    let tenancy = view.tenancy();
    if !tenancy.multi_tenant || view.receiver.target.is_some() || tenancy.unlocked.is_some() {
        return;
    }
    let tenants = tenants(view);
    if tenants.is_empty() {
        return;
    }
    let instances: Vec<Applied<'_>> = view.of_kind(groups::FLUX_OPERATOR, "FluxInstance").collect();
    if !instances.is_empty() {
        found.extend(instances.iter().filter_map(|instance| judge_instance(view, &tenants, instance)));
        return;
    }
    let deployments = deployments(view);
    let brought = view.installations.iter().find(|installation| installation.brings_controllers);
    let lacking = if let Some(first) = deployments.first() {
        let lacking = deployments.iter().map(|applied| (applied.object.name(), controller_of(applied.object), applied));
        let lacking = lacking.filter_map(|(name, controller, of)| Some((name, controller?, Locks::read(of.object))));
        let place = brought.map(|installation| installation.place.clone());
        Some((lacking.collect(), place.unwrap_or_else(|| arguments(first))))
    } else {
        // The image controllers are optional, and without Deployments, it is unknown whether they are installed.
        let names = DEFAULT_CONTROLLERS.iter().copied();
        brought.map(|brought| (names.map(|name| (name, name, brought.locks(name))).collect(), brought.place.clone()))
    };
    let lacking = lacking.map(|(workloads, place): (Vec<(&str, &str, Locks)>, Span)| {
        let all = lacking_of(workloads.iter().map(|(name, controller, _)| (*name, *controller, Locks::default())));
        (known_flags(view, lacking_of(workloads.into_iter())), all, place)
    });
    match lacking {
        Some((lacking, all, place)) if !lacking.is_empty() => {
            found.push(finding(view, &tenants, place, &lacking, &all));
        }
        None if view.is_whole() => found.unchecked("the arguments of the Flux controllers"),
        Some(_) | None => {}
    }
}

fn judge_instance(view: &View<'_>, tenants: &[&str], applied: &Applied<'_>) -> Option<Finding> {
    let instance = applied.object;
    let multitenant = instance.node.at_keys(&["spec", "cluster", "multitenant"]);
    let is_unknown = multitenant.and_then(Node::text).is_some_and(|text| text.contains('$'));
    if is_unknown || applied.completion.mentions("multitenant") {
        return None;
    }
    let locks = locks_of_instance(instance);
    let names = components(instance);
    let all = names.iter().map(|name| (*name, *name, locks.get(*name).cloned().unwrap_or_default()));
    let lacking = lacking_of(all);
    if lacking.is_empty() {
        return None;
    }
    if multitenant.and_then(Node::text) == Some("true") {
        return Some(reverted(tenants, applied, &names, &lacking));
    }
    let cluster = instance.node.at_keys(&["spec"]).and_then(|spec| spec.entry("cluster"));
    let label = match (multitenant, cluster) {
        (Some(multitenant), _) => Label::new(applied.by.place(multitenant.span()), "not `true`"),
        (None, Some(cluster)) => Label::new(applied.by.place(&cluster.key_span()), "no `multitenant` here"),
        (None, None) => missing_in_spec(instance, "cluster.multitenant"),
    };
    let message =
        format!("{} does not enable the multi-tenancy lockdown, and {}", instance.reference(), in_words(tenants));
    let first = preparation(view, |flag| lacking.contains_key(flag));
    let help = format!(
        "{first}set `spec.cluster.multitenant` to `true`: otherwise Flux applies an object without \
         `serviceAccountName` with its own permissions; if that is intended, set a reason in \
         `lint.tenancy.lockdown` of `.fleetwright.yaml`"
    );
    let mut finding = Finding::error(RULE.id, label, message).help(help).about(instance.reference());
    if are_supposed(view, tenants) || cannot_use_flux(view) {
        finding.severity = Severity::Warning;
    }
    Some(finding)
}

/// Returns whether all namespaces may belong to the platform itself.
fn are_supposed(view: &View<'_>, tenants: &[&str]) -> bool {
    tenants.iter().all(|namespace| view.tenancy().supposed.contains(*namespace))
}

/// Returns the finding for patches of a FluxInstance that revert its lockdown.
fn reverted(tenants: &[&str], applied: &Applied<'_>, names: &[&str], lacking: &Lacking) -> Finding {
    let instance = applied.object;
    let mut places: Vec<Span> =
        names.iter().flat_map(|name| reverting_places(instance, name)).map(|(_, place)| place).collect();
    places.sort_by_key(|place| (place.file().path().to_owned(), place.range().start));
    places.dedup();
    let mut places = places.into_iter().map(|place| applied.by.place(&place));
    let first = places.next().unwrap_or_else(|| applied.by.place(instance.span()));
    let reference = instance.reference();
    let message = format!("a patch of {reference} disables {}, and {}", in_flags(lacking), in_words(tenants));
    let help = "remove this part of the patch: Flux applies patches after the arguments of `multitenant: true`, and the \
                last argument takes effect, so tenants are not restricted; if that is intended, set a reason in \
                `lint.tenancy.lockdown` of `.fleetwright.yaml`";
    let parts: Vec<(Span, String)> =
        std::iter::once(first.clone()).chain(places.clone()).map(|place| (place, in_flags(lacking))).collect();
    let finding = Finding::error(RULE.id, first, message).help(help).about(reference).with_faults(parts);
    places.fold(finding, |finding, place| finding.related(place, "this argument too"))
}

/// The missing flags, each with its controllers, as text for a message.
fn in_flags(lacking: &Lacking) -> String {
    let flags = lacking.iter().map(|(flag, names)| format!("`{flag}` ({})", names.join(", ")));
    flags.collect::<Vec<_>>().join(", ")
}

/// The missing flags that the controllers of the cluster support. A controller does not start with an unknown flag.
///
/// Source: the change log of kustomize-controller, 0.25.0, which is part of Flux 0.30.0.
fn known_flags(view: &View<'_>, mut lacking: Lacking) -> Lacking {
    if view.has_flux((0, 30)) == Some(false) {
        lacking.remove(REMOTE_BASES);
    }
    lacking
}

/// The missing flags. Clusters with other controllers have the same fault if all their controllers lack the flags, so a flag has
/// controllers only if others have it. `all` are the controllers that know each flag.
fn in_common_flags(lacking: &Lacking, all: &Lacking) -> String {
    let flags = lacking.iter().map(|(flag, names)| {
        let lack_all = all.get(flag).is_some_and(|all| all == names);
        if lack_all { format!("`{flag}`") } else { format!("`{flag}` ({})", names.join(", ")) }
    });
    flags.collect::<Vec<_>>().join(", ")
}

/// Returns the finding for a cluster. `all` are the controllers that know each flag.
fn finding(view: &View<'_>, tenants: &[&str], place: Span, lacking: &Lacking, all: &Lacking) -> Finding {
    let flags = in_flags(lacking);
    let message = format!("the Flux controllers lack {flags}, and {}", in_words(tenants));
    let effect = if lacking.contains_key(DEFAULT_ACCOUNT) {
        "Flux applies an object without `serviceAccountName` with its own permissions"
    } else if lacking.contains_key(CROSS_NAMESPACE) {
        "an object of a tenant can use the sources of other namespaces, with their credentials"
    } else {
        "a kustomization.yaml of a tenant can load manifests from any URL"
    };
    let policy = policy(view);
    let otherwise = match &policy {
        Some(policy) => format!("unless {policy} prevents it, {effect}"),
        None => format!("otherwise {effect}"),
    };
    let first = preparation(view, |flag| lacking.contains_key(flag));
    // Source: the change log of kustomize-controller, 0.20.0, which is part of Flux 0.26.0.
    let knows = view.has_flux((0, 26)) != Some(false);
    let what = if knows {
        format!("{first}add the arguments with a patch of the Deployments")
    } else {
        "upgrade Flux to 0.26 or later, and then add the arguments with a patch of the Deployments: older controllers do \
         not start with these arguments"
            .to_owned()
    };
    let separator = if knows { ':' } else { ';' };
    let help = format!(
        "{what}{separator} {otherwise}; if that is intended, set a reason in `lint.tenancy.lockdown` of `.fleetwright.yaml`"
    );
    let common = in_common_flags(lacking, all);
    let count = format!(" clusters with tenants run Flux controllers without {common}");
    let mut finding = Finding::error(RULE.id, place, message).help(help).caused_by(common, "", count);
    let is_guarded = policy.is_some() || lacking.keys().all(|flag| *flag == REMOTE_BASES);
    if is_guarded || are_supposed(view, tenants) || cannot_use_flux(view) {
        finding.severity = Severity::Warning;
    }
    finding
}

/// The admission policy that may prevent tenants from using the rights of Flux.
///
/// The result is `None` if policies do not restrict all tenants.
fn policy(view: &View<'_>) -> Option<ObjectRef> {
    let is_unnamed =
        |escape: &Escape<'_>| escape.chain.steps.iter().any(|step| matches!(step.by.method, Method::Controller(_)));
    let escapes = view.tenants().iter().flat_map(|tenant| tenant.escapes(view.rbac())).filter(is_unnamed);
    let policies: Vec<Option<&Policy>> = escapes.map(|escape| escape.chain.forbidden_by()).collect();
    let policies: Option<Vec<&Policy>> = policies.into_iter().collect();
    policies?.first().map(|policy| policy.reference.clone())
}

/// The namespaces of tenants that exist on the cluster. The configuration may also list tenants of other clusters.
fn tenants<'a>(view: &View<'a>) -> Vec<&'a str> {
    let namespaces = view.tenancy().tenants.keys();
    namespaces.map(String::as_str).filter(|namespace| !view.namespace(namespace).is_missing()).collect()
}

/// The tenants as text for a message, with the first namespace and the number of others.
fn in_words(tenants: &[&str]) -> String {
    let first = tenants.first().copied().unwrap_or_default();
    match tenants.len() {
        1 => format!("a tenant uses namespace `{first}`"),
        2 => format!("tenants use namespace `{first}` and one other namespace"),
        count => format!("tenants use namespace `{first}` and {} other namespaces", count - 1),
    }
}

/// The workloads of Flux controllers on the cluster, including shards, in the order of the controllers.
fn deployments<'a>(view: &View<'a>) -> Vec<Applied<'a>> {
    let homes = &view.tenancy().flux_namespaces;
    let is_home = |applied: &Applied<'_>| applied.namespace().is_some_and(|namespace| homes.contains(namespace));
    let all = CONTROLLER_KINDS.iter().flat_map(|kind| view.of_kind("apps", kind)).filter(is_home);
    let mut found: Vec<(usize, Applied<'a>)> = all
        .filter_map(|applied| {
            let controller = controller_of(applied.object)?;
            Some((CONTROLLERS.iter().position(|name| *name == controller)?, applied))
        })
        .collect();
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, applied)| applied).collect()
}

/// The missing flags of workloads, each with its name, its controller and its lockdown.
fn lacking_of<'a>(workloads: impl Iterator<Item = (&'a str, &'a str, Locks)>) -> Lacking {
    let mut lacking = Lacking::new();
    for (name, controller, locks) in workloads {
        for flag in locks.lacking(controller) {
            lacking.entry(flag).or_default().push(name.to_string());
        }
    }
    lacking
}

/// The position of the arguments of a controller.
fn arguments(applied: &Applied<'_>) -> Span {
    let object: &Object = applied.object;
    let containers = object.node.at_keys(&["spec", "template", "spec", "containers"]).map_or(&[][..], Node::items);
    let place = containers.first().and_then(|container| container.entry("args")).map(Entry::key_span);
    applied.by.place(&place.unwrap_or_else(|| object.span().clone()))
}
