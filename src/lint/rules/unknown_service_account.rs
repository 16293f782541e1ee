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
    /// A `serviceAccountName` names an account that nothing makes in that namespace.
    ///
    /// ## Why
    ///
    /// Flux acts as the account of that name in the object's own namespace. One that is not there has no rights, so nothing
    /// is applied; and when the object is deleted, what it applied before stays, since Flux skips that for an account which
    /// it cannot find. Sources, image repositories and providers cannot get its credentials.
    ///
    /// Silent for accounts that come with Kubernetes, with Flux and with its operator, where a chart, a policy or something
    /// that was not built may make the account, and with `kubeConfig`, where the account is another cluster's.
    ///
    /// ## How to fix it
    ///
    /// Correct the name, or add the ServiceAccount, and the RoleBinding that it needs, to what the cluster receives.
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
    "unknown-service-account", Error, "an account that Flux shall act as is made by nothing",
    Check::Cluster(check),
}

/// The kinds that name an account of their own namespace, and where.
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
    // Another cluster has what its own Flux brings, too.
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
            // Only what it acts as is another cluster's: the key is fetched here.
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
                found.unchecked("accounts that a policy may generate");
                continue;
            }
            let message = format!("nothing makes the ServiceAccount `{name}` of namespace `{namespace}`");
            let help = "correct the name, or add the account to what this cluster receives; without it Flux has no rights \
                        there";
            let finding = Finding::error(RULE.id, applied.by.place(node.span()), message).help(help);
            let place = applied.by.place(object.span());
            found.push(finding.related(place, format!("this {kind}")).about(object.reference()));
        }
    }
}

/// What may bring accounts that nobody sees.
struct Makers<'a> {
    tenants: &'a BTreeMap<String, Option<String>>,
    all: Vec<Maker<'a>>,
}

/// A chart, or something that was not built.
struct Maker<'a> {
    /// The namespace it stands in, and the account of it that it acts as.
    namespace: &'a str,
    account: Option<&'a str>,
    /// The namespace that it puts objects into, where that is one.
    target: Option<&'a str>,
    /// Who brings it.
    by: Option<&'a Arc<Applier>>,
}

impl<'a> Makers<'a> {
    fn of(view: &View<'a>) -> Self {
        let unbuilt = view.appliers().filter(|applier| applier.state != State::Built);
        let unbuilt = unbuilt.map(|applier| {
            let said = |field: &str| applier.object.as_ref().and_then(|object| object.text_at(&["spec", field]));
            let namespace = applier.reference.namespace.as_deref().unwrap_or_default();
            let (account, target) = (said("serviceAccountName"), said("targetNamespace"));
            Maker { namespace, account, target, by: applier.brought_by.as_ref() }
        });
        let releases = view.of_kind(groups::HELM, "HelmRelease");
        let releases = releases.filter(|applied| applied.object.node.at_keys(&["spec", "kubeConfig"]).is_none());
        let releases = releases.map(|applied| {
            let said = |field: &str| applied.object.text_at(&["spec", field]);
            let namespace = applied.namespace().unwrap_or_default();
            let target = said("targetNamespace").or(Some(namespace));
            Maker { namespace, account: said("serviceAccountName"), target, by: Some(applied.by) }
        });
        Self { tenants: &view.tenancy().tenants, all: unbuilt.chain(releases).collect() }
    }

    /// Tells whether any of them may make an account. What acts as that account cannot, nor can what such a one brings, and
    /// tenants make nothing in namespaces that are not theirs.
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
    /// Tells whether it is not there without an account: it acts as that one, or somebody who brings it does.
    fn needs(&self, namespace: &str, account: &str) -> bool {
        let above = std::iter::successors(self.by, |applier| applier.brought_by.as_ref());
        let acts = |applier: &Arc<Applier>| {
            let object = applier.object.as_ref();
            applier.reference.namespace.as_deref() == Some(namespace)
                && object.and_then(|object| object.text_at(&["spec", "serviceAccountName"])) == Some(account)
        };
        (self.namespace == namespace && self.account == Some(account)) || above.into_iter().any(acts)
    }
}
