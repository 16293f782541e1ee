use std::collections::BTreeSet;

use crate::base::finding::{Finding, Label};
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::namespace_change::NamespaceChange;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;

declare! {
    /// The field `namespace` of a kustomization replaces another namespace of the cluster.
    ///
    /// ## Why
    ///
    /// kustomize sets the namespace of all objects of the build, also of objects that set a namespace themselves. If a Role
    /// or a network policy is meant for another namespace of the cluster, kustomize moves it silently: the other namespace
    /// lacks the right or the protection, and the new one has it. The field `targetNamespace` of a Flux Kustomization does
    /// the same.
    ///
    /// The rule reports only kinds that act on their own namespace (roles and their bindings, policies, quotas, reference
    /// grants), since the author often intends to move other objects. It reports an object only if its manifest
    /// names a namespace for which the cluster receives other objects. It ignores the namespace `default`, and an object that
    /// the cluster also receives in the namespace of the manifest: the overlays of several namespaces may share a base.
    ///
    /// ## How to fix it
    ///
    /// List the object in a kustomization without `namespace`, or remove the namespace from its manifest if the new one is
    /// intended. A transformer `NamespaceTransformer` with `unsetOnly: true` keeps the namespaces of manifests.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # objects.yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: shop
    /// ---
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: proxy
    /// ---
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: shop
    ///   namespace: shop
    /// # proxy/kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// namespace: proxy
    /// resources:
    ///   - role.yaml
    /// # proxy/role.yaml
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: Role
    /// metadata:
    ///   name: read
    ///   namespace: shop
    /// rules:
    ///   - apiGroups: [""]
    ///     resources: [configmaps]
    ///     verbs: [get]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// # objects.yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: shop
    /// ---
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: proxy
    /// ---
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: shop
    ///   namespace: shop
    /// # proxy/kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - role.yaml
    /// # proxy/role.yaml
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: Role
    /// metadata:
    ///   name: read
    ///   namespace: shop
    /// rules:
    ///   - apiGroups: [""]
    ///     resources: [configmaps]
    ///     verbs: [get]
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [kustomize: namespace](https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/namespace/)
    "replaced-namespace", Warning, "the field `namespace` of a kustomization replaces another namespace of the cluster",
    Check::Cluster(check),
}

/// The kinds that grant, restrict or protect in their own namespace.
const OF_NAMESPACE: [(&str, &str); 12] = [
    ("", "LimitRange"),
    ("", "ResourceQuota"),
    ("cilium.io", "CiliumNetworkPolicy"),
    ("gateway.networking.k8s.io", "ReferenceGrant"),
    ("kyverno.io", "Policy"),
    ("networking.k8s.io", "NetworkPolicy"),
    ("policy", "PodDisruptionBudget"),
    (groups::RBAC, "Role"),
    (groups::RBAC, "RoleBinding"),
    ("security.istio.io", "AuthorizationPolicy"),
    ("security.istio.io", "PeerAuthentication"),
    ("security.istio.io", "RequestAuthentication"),
];

fn check(view: &View<'_>, found: &mut Findings) {
    if !view.is_whole() {
        return;
    }
    let namespaces: BTreeSet<&str> = view.namespaces().map(|(name, _)| &**name).collect();
    for applied in OF_NAMESPACE.into_iter().flat_map(|(group, kind)| view.of_kind(group, kind)) {
        let Some(namespace) = applied.object.namespace() else { continue };
        let Some(change) = NamespaceChange::of(&applied, "namespace") else { continue };
        let own = change.written.text().trim_matches(['"', '\'']);
        // The overlays of several namespaces may share a base that names one of them.
        let is_applied_there = || {
            let object = applied.object;
            view.find(object.group(), object.kind(), own, object.name()).is_some()
        };
        if own != namespace && own != "default" && namespaces.contains(own) && !is_applied_there() {
            found.push(finding(&applied, namespace, own, &change));
        }
    }
}

fn finding(applied: &Applied<'_>, namespace: &str, own: &str, change: &NamespaceChange<'_>) -> Finding {
    let object = applied.object.reference();
    let NamespaceChange { field, of, place, written } = change;
    let message =
        format!("`{field}: {namespace}` of {of} replaces namespace `{own}` of {} `{}`", object.kind, object.name);
    let help = format!(
        "apply the object without `{field}`, or remove the namespace from its manifest if the new one is intended"
    );
    let summary = format!(" objects lose namespace `{own}` by `{field}: {namespace}` of {of}");
    Finding::warning(RULE.id, Label::new((*written).clone(), "replaced"), message)
        .help(help)
        .related(applied.by.place(place), "by this namespace")
        .caused_by(format!("{of} {own} {namespace}"), "", summary)
        .about(object)
}
