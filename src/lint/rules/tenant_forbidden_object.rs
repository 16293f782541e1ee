use crate::finding::{Finding, Label};
use crate::flux::{Applied, Applier};
use crate::lint::rule::declare;
use crate::lint::tenants::{Tenant, Tenants};
use crate::lint::{Check, Found, View};
use crate::rbac::{Account, Answer, Guard, Request, acts_as};
use crate::yaml::Node;

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
    /// a kind's definition is not known, nothing is claimed and the object is counted.
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

fn check(view: &View<'_>, found: &mut Found) {
    let tenants = Tenants::of(view);
    if tenants.is_empty() {
        return;
    }
    for (brought, _) in &view.lists {
        let Some(account) = account(view, &brought.by) else { continue };
        let Some(tenant) = tenants.of_account(&account) else { continue };
        for applied in brought.applied().filter(|applied| !is_left_alone(applied)) {
            judge(view, &account, tenant, &applied, found);
        }
    }
}

/// The account that Flux acts as for an applier; `None` where it acts as itself, or on another cluster.
fn account(view: &View<'_>, applier: &Applier) -> Option<Account> {
    let object = applier.object.as_ref()?;
    acts_as(object, object.namespace(), view.tenancy())
}

/// Whether Flux does not apply an object at all.
fn is_left_alone(applied: &Applied<'_>) -> bool {
    let annotations = applied.object.node.at_keys(&["metadata", "annotations"]);
    let says = |key: &str, value: &str| {
        let said = annotations.and_then(|annotations| annotations.get(key)).and_then(Node::text);
        said.is_some_and(|said| said.eq_ignore_ascii_case(value))
    };
    says("kustomize.toolkit.fluxcd.io/reconcile", "disabled") || says("kustomize.toolkit.fluxcd.io/ssa", "ignore")
}

fn judge(view: &View<'_>, account: &Account, tenant: &Tenant, applied: &Applied<'_>, found: &mut Found) {
    let object = applied.object;
    let Some(kind) = view.kinds().find(object.group(), object.kind()) else {
        found.unchecked("whether tenants may apply kinds that are not known here");
        return;
    };
    let namespace = if kind.is_namespaced { applied.namespace().unwrap_or("default") } else { "" };
    let request = |verb| Request::new(verb, object.group(), &kind.plural).in_namespace(namespace).named(object.name());
    let mut missing = Vec::new();
    let mut unknown = None;
    for verb in ["create", "patch"] {
        match view.rbac().can(account, &request(verb)) {
            Answer::Allowed(_) => {}
            Answer::Denied => missing.push(format!("`{verb}`")),
            Answer::Unknown(why) => unknown = Some(why),
        }
    }
    let place = match namespace {
        "" => format!("`{}` of the whole cluster", kind.plural),
        namespace => format!("`{}` in namespace `{namespace}`", kind.plural),
    };
    if !missing.is_empty() {
        let why = format!("it may not {} {place}", missing.join(" or "));
        let help = format!("let the platform bring it, or bind `{account}` to a role that allows it: {why}");
        found.push(finding(account, tenant, applied, "may not apply", &help));
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
            found.push(finding(account, tenant, applied, "has not what is given by", help));
        }
        Guard::Unknown(why) => found.unchecked(format!("what ServiceAccount `{account}` may give: {why}")),
    }
}

fn finding(account: &Account, tenant: &Tenant, applied: &Applied<'_>, verb: &str, help: &str) -> Finding {
    let object = applied.object;
    let place = applied.by.place(object.span());
    let message = format!("ServiceAccount `{account}` of {} {verb} {}", tenant.called(), object.reference());
    let mut finding = Finding::error(RULE.id, Label::new(place, "this object"), message).help(help);
    let kustomization = applied.by.object.as_ref();
    if let Some(node) = kustomization.and_then(|object| object.node.at_keys(&["spec", "serviceAccountName"])) {
        let at = applied.by.brought_by.as_ref().map_or_else(|| node.span().clone(), |by| by.place(node.span()));
        finding = finding.related(at, format!("{} applies as this account", applied.by.reference));
    }
    finding.about(object.reference())
}
