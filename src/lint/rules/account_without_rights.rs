use std::cell::LazyCell;

use crate::base::finding::{Finding, Label};
use crate::flux::{Applied, State};
use crate::kube::{Object, groups};
use crate::lint::findings::Findings;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::rbac::{Account, Answer, BoundSubject, acts_as};
use crate::text::{Index, Span};
use crate::yaml::{Name, Node};

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
    /// The rule reports an account that the cluster receives, and the account `default` of a namespace that the cluster
    /// receives, if no RoleBinding or ClusterRoleBinding names it, in any namespace, neither by its name nor by a group.
    /// It does not report the account of a Kustomization without objects, since Flux applies none. It does not report an
    /// account if a chart or an unbuilt input may contain the binding. The summary counts these accounts.
    /// `unknown-service-account` reports accounts that do not exist. `tenant-forbidden-object` reports the objects that
    /// tenants are not allowed to apply.
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
    let misnamed = LazyCell::new(|| Misnamed::of(view));
    if !view.is_whole() || view.receiver.target.is_some() {
        return;
    }
    for applied in KINDS.into_iter().flat_map(|(group, kind)| view.of_kind(group, kind)) {
        let object = applied.object;
        let Some(account) = acts_as(object, applied.namespace(), view.tenancy()) else { continue };
        let Some(defined) = definition(view, object, &account) else { continue };
        let is_bound = view.rbac().is_bound(&account) || !view.rbac().foreign_scopes(&account).is_empty();
        if is_bound || is_judged_by_objects(view, &applied, &account) {
            continue;
        }
        match view.rbac().can_create_in(&account, &account.namespace) {
            Answer::Denied => found.push(finding(&applied, &account, defined, misnamed.near(&account))),
            Answer::Unknown(why) => found.unchecked(format!("the permissions of ServiceAccount `{account}`: {why}")),
            Answer::Allowed(_) => {}
        }
    }
}

/// The object that creates an account: its ServiceAccount, or the Namespace of the account `default`, which Kubernetes
/// creates in each namespace. `missing-service-account` judges objects that do not name an account.
fn definition<'a>(view: &View<'a>, object: &Object, account: &Account) -> Option<(Applied<'a>, &'static str)> {
    if let Presence::Received(defined) = view.presence("", "ServiceAccount", &account.namespace, &account.name) {
        return Some((defined, "the account"));
    }
    if object.text_at(&["spec", "serviceAccountName"]) != Some("default") {
        return None;
    }
    match view.presence("", "Namespace", "", &account.namespace) {
        Presence::Received(namespace) => Some((namespace, "Kubernetes creates the account in this namespace")),
        _ => None,
    }
}

/// Returns whether the objects of an applier are known, and there are none, or `tenant-forbidden-object` judges them.
fn is_judged_by_objects(view: &View<'_>, applied: &Applied<'_>, account: &Account) -> bool {
    let Some(set) = view.applied_by(applied.object).filter(|set| set.by.state == State::Built) else { return false };
    set.applied().next().is_none() || view.tenants().of_account(account).is_some()
}

fn finding(
    applied: &Applied<'_>,
    account: &Account,
    (creator, label): (Applied<'_>, &str),
    near: Option<&(Span, Account)>,
) -> Finding {
    let object = applied.object;
    let message =
        format!("{} applies its objects as ServiceAccount `{account}`, which has no rights", object.reference());
    let node = object.node.at_keys(&["spec", "serviceAccountName"]).map_or(object.span(), Node::span);
    let at = Label::new(applied.by.place(node), "no binding names this account");
    let help = match near {
        Some(_) => "correct the subject of the binding: without rights, the API server rejects every object",
        None => {
            "bind the account to a role in the namespace of the objects: without rights, the API server rejects every \
             object"
        }
    };
    let mut finding = Finding::error(RULE.id, at, message).help(help).about(object.reference());
    finding = finding.related(creator.by.place(creator.object.span()), label);
    if let Some((place, other)) = near {
        finding = finding
            .related(place.clone(), format!("this binding names ServiceAccount `{other}`, which does not exist"));
    }
    // A template often creates an account of the same name in each namespace.
    let summary = format!(" objects apply their contents as a ServiceAccount `{}` without rights", account.name);
    finding.caused_by(account.name.to_string(), "", summary)
}

/// The subjects of bindings that are accounts that do not exist, in the order of the bindings.
struct Misnamed {
    subjects: Vec<(Span, Account)>,
    /// The first subject with each name.
    by_name: Index<Name, usize>,
    /// The first subject of each namespace in a binding that grants rights in this namespace.
    by_namespace: Index<Name, usize>,
}

impl Misnamed {
    fn of(view: &View<'_>) -> Self {
        let mut all = Self { subjects: Vec::new(), by_name: Index::default(), by_namespace: Index::default() };
        for binding in view.rbac().bindings().filter(|binding| binding.is_written()) {
            for BoundSubject { subject, place } in &binding.subjects {
                let (Some(account), Some(place)) = (subject.account(), place.written()) else { continue };
                let presence = || view.presence("", "ServiceAccount", &account.namespace, &account.name);
                let is_beside = binding.namespace == account.namespace || binding.namespace.is_empty();
                let is_new = !all.by_name.contains(&account.name)
                    || (is_beside && !all.by_namespace.contains(&account.namespace));
                if !is_new || !presence().is_missing() {
                    continue;
                }
                let at = all.subjects.len();
                all.by_name.entry_or(account.name.clone(), || at);
                if is_beside {
                    all.by_namespace.entry_or(account.namespace.clone(), || at);
                }
                all.subjects.push((place.clone(), account));
            }
        }
        all
    }

    /// The subject that is probably meant to be an account: with the same name, or in a binding of the same namespace.
    fn near(&self, account: &Account) -> Option<&(Span, Account)> {
        let first = [self.by_name.get(&account.name), self.by_namespace.get(&account.namespace)];
        self.subjects.get(*first.into_iter().flatten().min()?)
    }
}
