use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ptr;

use crate::base::finding::{Finding, Label};
use crate::flux::{Applied, Applier, ApplyMode};
use crate::kube::Object;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::rbac::{Account, Answer, Guard, Request, Tenant, acts_as};
use crate::text::Span;

declare! {
    /// A Kustomization of a tenant contains an object that its account is not allowed to apply.
    ///
    /// ## Why
    ///
    /// Flux applies objects with the permissions of the account in `serviceAccountName`. If this account does not have
    /// the permission to `create` and `patch` an object, the API server rejects the object. Flux then does not apply
    /// the Kustomization, so all other changes of the tenant wait. The API server also rejects a role or binding that
    /// grants more permissions than the account has.
    ///
    /// The rule reads the roles and bindings that the cluster receives, and the built-in roles of Kubernetes and Flux,
    /// including the permissions that Kubernetes aggregates into `admin`, `edit` and `view`. It does not report an
    /// object if a chart or an unbuilt input may grant more permissions, or if the CRD of its kind is unknown. The
    /// summary counts these objects. An object that another Kustomization also contains already exists. Therefore, the
    /// account only needs the permission to change it, or no permission with `ssa: IfNotPresent`.
    ///
    /// ## How to fix it
    ///
    /// Move the object from the tenant's repository to the platform, or bind the account to a role that allows it.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: role-based access control](https://fluxcd.io/flux/components/kustomize/kustomizations/#role-based-access-control),
    /// [Kubernetes: privilege escalation prevention](https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping)
    "tenant-forbidden-object", Error, "a Kustomization of a tenant contains an object that its account is not allowed to apply",
    Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    let tenants = view.tenants();
    if tenants.is_empty() {
        return;
    }
    let shared = OnceCell::new();
    for (brought, _) in &view.lists {
        let Some(account) = account(view, &brought.by) else { continue };
        let Some(tenant) = tenants.of_account(&account) else { continue };
        for applied in brought.applied().filter(|applied| applied.apply_mode() != ApplyMode::Ignored) {
            let exists = || is_home(&applied) || shared.get_or_init(|| Shared::of(view)).has(applied.object);
            judge(view, &Actor { account: &account, tenant }, &applied, exists, found);
        }
    }
}

/// An account that applies objects, with its tenant.
struct Actor<'a> {
    account: &'a Account,
    tenant: &'a Tenant,
}

/// The memory addresses of the objects that several appliers contain. Such an object may already exist on the cluster.
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

/// Returns whether an object is the Namespace that contains its applier.
fn is_home(applied: &Applied<'_>) -> bool {
    let object = applied.object;
    object.is("", "Namespace") && applied.by.reference.namespace.as_deref() == Some(object.name())
}

/// The account that Flux uses for an applier.
///
/// The result is `None` if Flux uses its own account, or applies objects to a remote cluster.
fn account(view: &View<'_>, applier: &Applier) -> Option<Account> {
    let object = applier.object.as_ref()?;
    acts_as(object, object.namespace(), view.tenancy())
}

fn judge(view: &View<'_>, actor: &Actor<'_>, applied: &Applied<'_>, exists: impl Fn() -> bool, found: &mut Findings) {
    let (object, account) = (applied.object, actor.account);
    let Some(kind) = view.kinds().find(object.group(), object.kind()) else {
        found.unchecked("objects of tenants whose kind is unknown");
        return;
    };
    if applied.apply_mode() == ApplyMode::Created && exists() {
        return;
    }
    let namespace = match applied.namespace() {
        _ if !kind.is_namespaced() => "",
        Some(namespace) => namespace,
        // Flux rejects the object before it asks the API server; `default-namespace` reports it.
        None => return,
    };
    // The API server authorizes a request for a Namespace in that namespace, so a RoleBinding there is sufficient.
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
    if !missing.is_empty() && exists() {
        missing.retain(|verb| *verb != "create");
    }
    if !missing.is_empty() {
        let verbs: Vec<String> = missing.iter().map(|verb| format!("`{verb}`")).collect();
        let place = match namespace {
            "" => format!("`{}` on the whole cluster", kind.plural),
            namespace => format!("`{}` in namespace `{namespace}`", kind.plural),
        };
        let why = format!("the account is not allowed to {} {place}", verbs.join(" or "));
        let help =
            format!("move the object to the platform, or bind `{account}` to a role that allows the object: {why}");
        found.push(finding(actor, applied, namespace, "", &help));
        return;
    }
    if let Some(why) = unknown {
        found.unchecked(format!("the permissions of ServiceAccount `{account}`: {why}"));
        return;
    }
    match view.rbac().may_write(account, applied) {
        Guard::Passed => {}
        Guard::Refused => {
            let help = "move the object to the platform, or grant fewer permissions: the API server prevents an account \
                        from granting permissions that it does not have";
            found.push(finding(
                actor,
                applied,
                namespace,
                ", which grants more permissions than the account has",
                help,
            ));
        }
        Guard::Unknown(why) => {
            found.unchecked(format!("the permissions that ServiceAccount `{account}` can grant: {why}"));
        }
    }
}

fn finding(actor: &Actor<'_>, applied: &Applied<'_>, namespace: &str, why: &str, help: &str) -> Finding {
    let (object, tenant) = (applied.object, actor.tenant);
    let message = format!(
        "ServiceAccount `{}` of {} is not allowed to apply {}{why}",
        actor.account,
        tenant.called(),
        object.reference()
    );
    // If an object is in a namespace that does not belong to the tenant, the cause is an overlay, a patch or the
    // Kustomization.
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
        let at = applied.by.parent_applier.as_ref().map_or_else(|| node.span().clone(), |by| by.place(node.span()));
        finding = finding.related(at, format!("{} applies objects as this account", applied.by.reference));
    }
    let scope = match namespace {
        "" => "cluster-scoped objects".to_owned(),
        namespace => format!("objects in namespace `{namespace}`"),
    };
    let before = format!("ServiceAccount `{}` of {} is not allowed to apply ", actor.account, tenant.called());
    let key = format!("{} {namespace}{why}", actor.account);
    let why_all = if why.is_empty() { "" } else { ", which grant more permissions than the account has" };
    finding.about(object.reference()).caused_by(key, before, format!(" {scope}{why_all}"))
}
