use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::finding::Finding;
use crate::flux::{Applier, State};
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// The service account that Flux impersonates is not defined in that namespace.
    ///
    /// ## Why
    ///
    /// Flux uses the account of that name in the namespace of the object. An account that does not exist has no
    /// permissions, so Flux applies nothing. If the object is deleted, the objects that it applied stay, because Flux
    /// skips the deletion if the account does not exist. Sources, image repositories and providers cannot use the
    /// credentials of the account.
    ///
    /// The rule ignores the accounts of Kubernetes, Flux and Flux Operator. It also ignores an account that a chart, a
    /// policy or an unbuilt input may create. With `kubeConfig`, the account is one of the remote cluster, so the rule
    /// ignores it too.
    ///
    /// ## How to fix it
    ///
    /// Correct the name, or add the ServiceAccount and its RoleBinding to the objects that the cluster receives.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ServiceAccount
    /// metadata:
    ///   name: flux
    ///   namespace: backend
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
    ///   serviceAccountName: fluxx
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: apps
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ServiceAccount
    /// metadata:
    ///   name: flux
    ///   namespace: backend
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
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: role-based access control](https://fluxcd.io/flux/components/kustomize/kustomizations/#role-based-access-control),
    /// [fluxcd/pkg: impersonation](https://github.com/fluxcd/pkg/blob/main/runtime/client/impersonator.go)
    "unknown-service-account", Error, "the service account that Flux impersonates is not defined",
    Check::Cluster(check),
}

/// The kinds that reference an account of their own namespace, and the path of the reference.
const NAMING: [(&str, &str, &[&str]); 10] = [
    (groups::KUSTOMIZE, "Kustomization", &["spec", "serviceAccountName"]),
    (groups::KUSTOMIZE, "Kustomization", &["spec", "decryption", "serviceAccountName"]),
    (groups::HELM, "HelmRelease", &["spec", "serviceAccountName"]),
    (groups::FLUX_OPERATOR, "ResourceSet", &["spec", "serviceAccountName"]),
    (groups::FLUX_OPERATOR, "ResourceSetInputProvider", &["spec", "serviceAccountName"]),
    (groups::SOURCE, "GitRepository", &["spec", "serviceAccountName"]),
    (groups::SOURCE, "OCIRepository", &["spec", "serviceAccountName"]),
    (groups::SOURCE, "Bucket", &["spec", "serviceAccountName"]),
    (groups::IMAGE, "ImageRepository", &["spec", "serviceAccountName"]),
    (groups::NOTIFICATION, "Provider", &["spec", "serviceAccountName"]),
];

fn check(view: &View<'_>, found: &mut Findings) {
    // A remote cluster also receives the objects of its own Flux.
    if !view.is_whole() || view.receiver.target.is_some() {
        return;
    }
    let mut makers: Option<Makers<'_>> = None;
    for (group, kind, path) in NAMING {
        for applied in view.of_kind(group, kind) {
            let object = applied.object;
            let Some(node) = object.node.at_keys(path) else { continue };
            let Some(name) = node.text().filter(|name| !name.is_empty() && !name.contains('$')) else { continue };
            let Some(namespace) = applied.namespace() else { continue };
            // With `kubeConfig`, only the account that applies is one of the remote cluster. Flux fetches the key on
            // this one.
            let acts = path == ["spec", "serviceAccountName"];
            let is_remote = acts && object.node.at_keys(&["spec", "kubeConfig"]).is_some_and(Node::is_map);
            let mut is_known = || match view.presence("", "ServiceAccount", namespace, name) {
                Presence::Missing => false,
                Presence::Unknown(_) => makers.get_or_insert_with(|| Makers::of(view)).may_make(namespace, name),
                Presence::Received(_) | Presence::Produced(_) | Presence::BuiltIn => true,
            };
            if is_remote || is_known() {
                continue;
            }
            if view.generator("ServiceAccount").is_some() {
                found.unchecked("service accounts that a policy may generate");
                continue;
            }
            let message = format!("ServiceAccount `{name}` is not defined in namespace `{namespace}`");
            let help = "correct the name, or add the account to the objects that the cluster receives: without it, \
                        Flux has no permissions";
            let finding = Finding::error(RULE.id, applied.by.place(node.span()), message).help(help);
            let place = applied.by.place(object.span());
            let summary =
                format!(" objects of namespace `{namespace}` reference ServiceAccount `{name}`, which is not defined");
            let finding = finding.caused_by(format!("{namespace}/{name}"), "", summary);
            found.push(finding.related(place, format!("this {kind}")).about(object.reference()));
        }
    }
}

/// The charts and unbuilt inputs that may create unknown accounts.
struct Makers<'a> {
    tenants: &'a BTreeMap<String, Option<String>>,
    all: Vec<Maker<'a>>,
}

/// A chart or an unbuilt input.
struct Maker<'a> {
    /// The namespace of the chart or input, and the account in that namespace that Flux uses for it.
    namespace: &'a str,
    account: Option<&'a str>,
    /// The namespace of its objects, if it is known.
    target: Option<&'a str>,
    /// The applier of the chart or input.
    by: Option<&'a Arc<Applier>>,
}

impl<'a> Makers<'a> {
    fn of(view: &View<'a>) -> Self {
        let unbuilt = view.appliers().filter(|applier| applier.state != State::Built);
        let unbuilt = unbuilt.map(|applier| {
            let text = |field: &str| applier.object.as_ref().and_then(|object| object.text_at(&["spec", field]));
            let namespace = applier.reference.namespace.as_deref().unwrap_or_default();
            let (account, target) = (text("serviceAccountName"), text("targetNamespace"));
            Maker { namespace, account, target, by: applier.parent_applier.as_ref() }
        });
        let releases = view.of_kind(groups::HELM, "HelmRelease");
        let releases = releases.filter(|applied| applied.object.node.at_keys(&["spec", "kubeConfig"]).is_none());
        let releases = releases.map(|applied| {
            let text = |field: &str| applied.object.text_at(&["spec", field]);
            let namespace = applied.namespace().unwrap_or_default();
            let target = text("targetNamespace").or(Some(namespace));
            Maker { namespace, account: text("serviceAccountName"), target, by: Some(applied.by) }
        });
        Self { tenants: &view.tenancy().tenants, all: unbuilt.chain(releases).collect() }
    }

    /// Whether a chart or input may create an account. It cannot create the account that it needs itself, and a tenant
    /// cannot create accounts in namespaces of others.
    fn may_make(&self, namespace: &str, account: &str) -> bool {
        let tenant = |namespace: &str| self.tenants.get(namespace);
        self.all.iter().any(|maker| {
            let is_other_tenant = tenant(maker.namespace)
                .is_some_and(|own| maker.namespace != namespace && (own.is_none() || tenant(namespace) != Some(own)));
            let reaches = maker.target.is_none_or(|target| target == namespace);
            reaches && !is_other_tenant && !maker.needs(namespace, account)
        })
    }
}

impl Maker<'_> {
    /// Whether the chart or input needs an account: Flux uses the account for it, or for one of the appliers above it.
    fn needs(&self, namespace: &str, account: &str) -> bool {
        let above = std::iter::successors(self.by, |applier| applier.parent_applier.as_ref());
        let acts = |applier: &Arc<Applier>| {
            let object = applier.object.as_ref();
            applier.reference.namespace.as_deref() == Some(namespace)
                && object.and_then(|object| object.text_at(&["spec", "serviceAccountName"])) == Some(account)
        };
        (self.namespace == namespace && self.account == Some(account)) || above.into_iter().any(acts)
    }
}
