use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ptr;

use crate::base::finding::{Finding, Label};
use crate::flux::{Applied, Applier, Handling};
use crate::kube::Object;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::tenants::{Tenant, Tenants};
use crate::lint::view::View;
use crate::rbac::{Account, Answer, Guard, Request, acts_as};
use crate::text::Span;

declare! {
    /// A tenant's Kustomization renders an object that its account may not apply.
    ///
    /// ## Why
    ///
    /// Flux applies as the account that the Kustomization names. The API server refuses what this account may not
    /// `create` and `patch`, and then Flux applies nothing of the whole Kustomization: every other change of the tenant
    /// waits behind this object. A role or a binding is refused, too, when it gives more than the account has itself.
    ///
    /// Rights are those of the roles and bindings that the cluster receives, with what Kubernetes and Flux ship and
    /// aggregate into `admin`, `edit` and `view`. Where a chart or something that is not built may give more, and where
    /// a kind's definition is not known, nothing is claimed and the object is counted. What something else brings, too,
    /// need not be made and has only to be changed, or is left as it is with `ssa: IfNotPresent`.
    ///
    /// ## How to fix it
    ///
    /// Take the object out of the tenant's repository and let the platform bring it, or give the account a role that
    /// allows it.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # tenant.yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: backend
    /// ---
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: RoleBinding
    /// metadata:
    ///   name: flux
    ///   namespace: backend
    /// roleRef:
    ///   apiGroup: rbac.authorization.k8s.io
    ///   kind: ClusterRole
    ///   name: admin
    /// subjects:
    ///   - kind: ServiceAccount
    ///     name: flux
    ///     namespace: backend
    /// ---
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: apps
    ///   namespace: backend
    /// spec:
    ///   interval: 1h
    ///   ref:
    ///     branch: main
    ///   url: https://git.example.com/acme/fleet.git
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
    /// # /backend/quota.yaml
    /// apiVersion: v1
    /// kind: ResourceQuota
    /// metadata:
    ///   name: quota
    ///   namespace: backend
    /// spec:
    ///   hard:
    ///     requests.cpu: "64"
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// # tenant.yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: backend
    /// ---
    /// apiVersion: v1
    /// kind: ResourceQuota
    /// metadata:
    ///   name: quota
    ///   namespace: backend
    /// spec:
    ///   hard:
    ///     requests.cpu: "64"
    /// ---
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: RoleBinding
    /// metadata:
    ///   name: flux
    ///   namespace: backend
    /// roleRef:
    ///   apiGroup: rbac.authorization.k8s.io
    ///   kind: ClusterRole
    ///   name: admin
    /// subjects:
    ///   - kind: ServiceAccount
    ///     name: flux
    ///     namespace: backend
    /// ---
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: apps
    ///   namespace: backend
    /// spec:
    ///   interval: 1h
    ///   ref:
    ///     branch: main
    ///   url: https://git.example.com/acme/fleet.git
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
    /// # /backend/service.yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata:
    ///   name: backend
    ///   namespace: backend
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: role-based access control](https://fluxcd.io/flux/components/kustomize/kustomizations/#role-based-access-control),
    /// [Kubernetes: privilege escalation prevention](https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping)
    "tenant-forbidden-object", Error, "a tenant's Kustomization renders an object that its account may not apply",
    Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    let tenants = Tenants::of_cluster(view);
    if tenants.is_empty() {
        return;
    }
    let shared = OnceCell::new();
    for (brought, _) in &view.lists {
        let Some(account) = account(view, &brought.by) else { continue };
        let Some(tenant) = tenants.of_account(&account) else { continue };
        for applied in brought.applied().filter(|applied| applied.handling() != Handling::Ignored) {
            let is_there = || is_home(&applied) || shared.get_or_init(|| Shared::of(view)).has(applied.object);
            judge(view, &Actor { account: &account, tenant }, &applied, is_there, found);
        }
    }
}

/// Who applies.
struct Actor<'a> {
    account: &'a Account,
    tenant: &'a Tenant,
}

/// The objects, by their places in memory, that come from several appliers: each of them may find one there.
struct Shared(BTreeSet<usize>);

impl Shared {
    fn of(view: &View<'_>) -> Self {
        let twice = view.duplicates().filter(|(one, other)| one.by.reference != other.by.reference);
        Self(
            twice
                .flat_map(|(one, other)| [one.object, other.object])
                .map(|object| ptr::from_ref(object).addr())
                .collect(),
        )
    }

    fn has(&self, object: &Object) -> bool {
        self.0.contains(&ptr::from_ref(object).addr())
    }
}

/// Whether an object is the Namespace that its applier lives in.
fn is_home(applied: &Applied<'_>) -> bool {
    let object = applied.object;
    object.is("", "Namespace") && applied.by.reference.namespace.as_deref() == Some(object.name())
}

/// The account that Flux acts as for an applier; `None` where it acts as itself, or on another cluster.
fn account(view: &View<'_>, applier: &Applier) -> Option<Account> {
    let object = applier.object.as_ref()?;
    acts_as(object, object.namespace(), view.tenancy())
}

fn judge(view: &View<'_>, actor: &Actor<'_>, applied: &Applied<'_>, is_there: impl Fn() -> bool, found: &mut Findings) {
    let (object, account) = (applied.object, actor.account);
    let Some(kind) = view.kinds().find(object.group(), object.kind()) else {
        found.unchecked("whether tenants may apply kinds that are not known here");
        return;
    };
    if applied.handling() == Handling::Created && is_there() {
        return;
    }
    let namespace = if kind.is_namespaced() { applied.namespace().unwrap_or("default") } else { "" };
    // To the API server a Namespace is in itself, so that a RoleBinding in it is enough.
    let own = if object.is("", "Namespace") { object.name() } else { namespace };
    let mut missing = Vec::new();
    let mut unknown = None;
    for verb in ["create", "patch"] {
        let request = Request::new(verb, object.group(), &kind.plural).in_namespace(own).named(object.name());
        match view.rbac().can(account, &request) {
            Answer::Allowed(_) => {}
            Answer::Denied => missing.push(verb),
            Answer::Unknown(why) => unknown = Some(why),
        }
    }
    if !missing.is_empty() && is_there() {
        missing.retain(|verb| *verb != "create");
    }
    if !missing.is_empty() {
        let verbs: Vec<String> = missing.iter().map(|verb| format!("`{verb}`")).collect();
        let place = match namespace {
            "" => format!("`{}` of the whole cluster", kind.plural),
            namespace => format!("`{}` in namespace `{namespace}`", kind.plural),
        };
        let why = format!("it may not {} {place}", verbs.join(" or "));
        let help = if kind.is_namespaced() && applied.namespace().is_none() {
            // Flux refuses it whatever the rights are; who names `default` to mend that is refused by these.
            format!(
                "name a namespace of the tenant's in it, or set `spec.targetNamespace`: without one Flux refuses it, and {why}"
            )
        } else {
            format!("let the platform bring it, or bind `{account}` to a role that allows it: {why}")
        };
        found.push(finding(actor, applied, namespace, "", &help));
        return;
    }
    if let Some(why) = unknown {
        found.unchecked(format!("what ServiceAccount `{account}` may apply: {why}"));
        return;
    }
    match view.rbac().may_write(account, applied) {
        Guard::Passed => {}
        Guard::Refused => {
            let help = "the API server lets nobody give rights that he has not himself; let the platform bring it, or \
                        give less";
            found.push(finding(actor, applied, namespace, ", which gives more than it has itself", help));
        }
        Guard::Unknown(why) => found.unchecked(format!("what ServiceAccount `{account}` may give: {why}")),
    }
}

fn finding(actor: &Actor<'_>, applied: &Applied<'_>, namespace: &str, why: &str, help: &str) -> Finding {
    let (object, tenant) = (applied.object, actor.tenant);
    let message =
        format!("ServiceAccount `{}` of {} may not apply {}{why}", actor.account, tenant.called(), object.reference());
    // What is in another one's namespace is there by what says so: an overlay, a patch, the Kustomization.
    let is_elsewhere = !namespace.is_empty() && !tenant.namespaces.contains(namespace);
    let elsewhere = object.node.at_keys(&["metadata", "namespace"]).filter(|_| is_elsewhere);
    let place = |span: &Span| applied.by.place(span);
    let mut finding = match elsewhere {
        Some(node) => {
            let at = Label::new(place(node.span()), format!("not a namespace of {}", tenant.called()));
            Finding::error(RULE.id, at, message).related(place(object.span()), "this object")
        }
        None => Finding::error(RULE.id, Label::new(place(object.span()), "this object"), message),
    };
    finding = finding.help(help);
    let kustomization = applied.by.object.as_ref();
    if let Some(node) = kustomization.and_then(|object| object.node.at_keys(&["spec", "serviceAccountName"])) {
        let at = applied.by.brought_by.as_ref().map_or_else(|| node.span().clone(), |by| by.place(node.span()));
        finding = finding.related(at, format!("{} applies as this account", applied.by.reference));
    }
    finding.about(object.reference())
}
