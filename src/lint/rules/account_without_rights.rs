use crate::base::finding::{Finding, Label};
use crate::flux::{Applied, State};
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::rbac::{Account, Answer, BoundSubject, acts_as};
use crate::text::Span;
use crate::yaml::Node;

declare! {
    /// No binding grants rights to the service account that Flux impersonates.
    ///
    /// ## Why
    ///
    /// Flux applies the objects of a Kustomization with the rights of its `serviceAccountName`. helm-controller also
    /// stores the state of a release with these rights. The API server rejects every request of an account without a
    /// binding, so Flux applies nothing. The usual cause is a binding whose subject has another name or namespace than
    /// the account.
    ///
    /// The rule reports an account that the cluster receives, and that no RoleBinding or ClusterRoleBinding names, in
    /// any namespace, neither by its name nor by a group. It does not report the account of a Kustomization without
    /// objects, since Flux applies none. It does not report an account if a chart or an unbuilt input may contain the
    /// binding. The summary counts these accounts. `unknown-service-account` reports accounts that do not exist.
    /// `tenant-forbidden-object` reports the objects that tenants are not allowed to apply.
    ///
    /// ## How to fix it
    ///
    /// Correct the name or the namespace of the subject, or bind the account to a role in the namespace of the objects.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # tenant.yaml
    /// apiVersion: v1
    /// kind: ServiceAccount
    /// metadata:
    ///   name: flux
    ///   namespace: backend
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
    ///     name: flux-backend
    ///     namespace: backend
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: backend
    ///   namespace: backend
    /// spec:
    ///   interval: 1h
    ///   path: ./deploy
    ///   prune: true
    ///   serviceAccountName: flux
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: backend
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// # tenant.yaml
    /// apiVersion: v1
    /// kind: ServiceAccount
    /// metadata:
    ///   name: flux
    ///   namespace: backend
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
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: backend
    ///   namespace: backend
    /// spec:
    ///   interval: 1h
    ///   path: ./deploy
    ///   prune: true
    ///   serviceAccountName: flux
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: backend
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: role-based access control](https://fluxcd.io/flux/components/kustomize/kustomizations/#role-based-access-control)
    "account-without-rights", Error, "no binding grants rights to the service account that Flux impersonates",
    Check::Cluster(check),
}

/// The kinds whose contents Flux applies as an account.
const KINDS: [(&str, &str); 2] = [(groups::KUSTOMIZE, "Kustomization"), (groups::HELM, "HelmRelease")];

fn check(view: &View<'_>, found: &mut Findings) {
    if !view.is_whole() || view.receiver.target.is_some() {
        return;
    }
    for applied in KINDS.into_iter().flat_map(|(group, kind)| view.of_kind(group, kind)) {
        let object = applied.object;
        let Some(account) = acts_as(object, applied.namespace(), view.tenancy()) else { continue };
        let Presence::Received(defined) = view.presence("", "ServiceAccount", &account.namespace, &account.name) else {
            continue;
        };
        let is_bound = view.rbac().is_bound(&account) || !view.rbac().foreign_scopes(&account).is_empty();
        if is_bound || is_judged_by_objects(view, &applied, &account) {
            continue;
        }
        match view.rbac().can_create_in(&account, &account.namespace) {
            Answer::Denied => found.push(finding(view, &applied, &account, &defined)),
            Answer::Unknown(why) => found.unchecked(format!("the permissions of ServiceAccount `{account}`: {why}")),
            Answer::Allowed(_) => {}
        }
    }
}

/// Returns whether the objects of an applier are known, and there are none, or `tenant-forbidden-object` judges them.
fn is_judged_by_objects(view: &View<'_>, applied: &Applied<'_>, account: &Account) -> bool {
    let Some(set) = view.applied_by(applied.object).filter(|set| set.by.state == State::Built) else { return false };
    set.applied().next().is_none() || view.tenants().of_account(account).is_some()
}

fn finding(view: &View<'_>, applied: &Applied<'_>, account: &Account, defined: &Applied<'_>) -> Finding {
    let object = applied.object;
    let message =
        format!("{} applies its objects as ServiceAccount `{account}`, which has no rights", object.reference());
    let node = object.node.at_keys(&["spec", "serviceAccountName"]).map_or(object.span(), Node::span);
    let at = Label::new(applied.by.place(node), "no binding names this account");
    let near = near_subject(view, account);
    let help = match &near {
        Some(_) => "correct the subject of the binding: without rights, the API server rejects every object",
        None => {
            "bind the account to a role in the namespace of the objects: without rights, the API server rejects every \
             object"
        }
    };
    let mut finding = Finding::error(RULE.id, at, message).help(help).about(object.reference());
    finding = finding.related(defined.by.place(defined.object.span()), "the account");
    if let Some((place, other)) = near {
        finding = finding.related(place, format!("this binding names ServiceAccount `{other}`, which does not exist"));
    }
    // A template often creates an account of the same name in each namespace.
    let summary = format!(" objects apply their contents as a ServiceAccount `{}` without rights", account.name);
    finding.caused_by(account.name.to_string(), "", summary)
}

/// The subject of a binding that is probably meant to be an account: an account that does not exist, with the same
/// name, or in a binding of the same namespace.
fn near_subject(view: &View<'_>, account: &Account) -> Option<(Span, Account)> {
    let bindings = view.rbac().bindings().filter(|binding| binding.is_written());
    let subjects = bindings.flat_map(|binding| binding.subjects.iter().map(move |bound| (binding, bound)));
    let mut near = subjects.filter_map(|(binding, BoundSubject { subject, place })| {
        let other = subject.account()?;
        let is_near = other.name == account.name
            || (other.namespace == account.namespace
                && (binding.namespace == account.namespace || binding.namespace.is_empty()));
        let is_missing = || view.presence("", "ServiceAccount", &other.namespace, &other.name).is_missing();
        (is_near && is_missing()).then(|| Some((place.written()?.clone(), other))).flatten()
    });
    near.next()
}
