//! The repositories of tenants that Flux applies with the rights of the platform.

use crate::base::finding::{Finding, Label, Severity};
use crate::flux::{Applied, TenantRepository};
use crate::kube::{Object, groups};
use crate::lint::findings::Findings;
use crate::lint::refs::source_reference::source_of;
use crate::lint::view::View;
use crate::rbac::acts_as;
use crate::text::Span;
use crate::yaml::Node;

/// Reports objects outside of the namespaces of tenants that apply the repository of a tenant with all rights.
pub(super) fn check_repositories(view: &View<'_>, rule: &'static str, found: &mut Findings) {
    let tenancy = view.tenancy();
    if tenancy.repositories.is_empty() || !tenancy.multi_tenant || view.receiver.target.is_some() {
        return;
    }
    for (group, kind) in [(groups::KUSTOMIZE, "Kustomization"), (groups::HELM, "HelmRelease")] {
        for applied in view.of_kind(group, kind) {
            let is_of_tenant = |namespace: &&str| tenancy.tenants.contains_key(*namespace);
            let Some(namespace) = applied.namespace().filter(|namespace| !is_of_tenant(namespace)) else { continue };
            let Some(repository) = tenancy.repositories.applied_by(applied.object, namespace) else { continue };
            found.extend(judge(view, rule, &applied, repository));
        }
    }
}

fn judge(view: &View<'_>, rule: &'static str, applied: &Applied<'_>, repository: &TenantRepository) -> Option<Finding> {
    let (object, tenancy) = (applied.object, view.tenancy());
    let account = acts_as(object, applied.namespace(), tenancy);
    let rights = match &account {
        Some(account) if tenancy.accounts.contains_key(&account.to_string()) => return None,
        Some(account) => {
            let is_powerful = view.rbac().may_do_everything(account);
            is_powerful.then(|| format!("as ServiceAccount `{account}`, which has all permissions on the cluster"))?
        }
        // Only the cluster knows the name of the account.
        None if object.text_at(&["spec", "serviceAccountName"]).is_some_and(|name| !name.is_empty()) => return None,
        None => "with the permissions of Flux itself, since it has no `spec.serviceAccountName`".to_owned(),
    };
    let reference = source_of(object)?;
    let source = view.get(reference.target).map(|source| source.object)?;
    if is_pinned(source) {
        return None;
    }
    let tenant = tenancy.tenants.get(&repository.namespace).and_then(Option::as_deref);
    let has_name = tenant.is_some();
    let tenant = match tenant {
        Some(tenant) => format!("tenant `{tenant}`"),
        None => format!("the tenant of namespace `{}`", repository.namespace),
    };
    let message = format!("{} applies the repository of {tenant} {rights}", object.reference());
    let place = reference.node.span().clone();
    let mut finding = Finding::error(rule, Label::new(place, "the source with the repository"), message)
        .related(object.span().clone(), format!("this {}", object.kind()))
        .help(
            "set `spec.serviceAccountName` to an account with only the rights of the tenant: a user who can write to the \
             repository controls the cluster",
        )
        .about(object.reference());
    if let Some(url) = url_place(source) {
        finding = finding.related(url, "the repository");
    }
    // A namespace that nothing assigns to a tenant may be one of the platform. The tenant may not be able to write to the other
    // directories of a repository, or to sign a commit.
    let is_verified = source.node.at_keys(&["spec", "verify"]).is_some_and(Node::is_map);
    if !has_name || is_verified || !repository.shares_files_with(object) {
        finding.severity = Severity::Warning;
    }
    Some(finding)
}

/// Returns whether a source fetches a state of its repository that a push cannot change.
fn is_pinned(source: &Object) -> bool {
    let text = |key: &str| source.text_at(&["spec", "ref", key]).filter(|text| !text.is_empty());
    match source.kind() {
        "GitRepository" => text("commit").is_some(),
        "OCIRepository" => text("digest").is_some(),
        _ => false,
    }
}

fn url_place(source: &Object) -> Option<Span> {
    let field = if source.kind() == "Bucket" { "bucketName" } else { "url" };
    Some(source.node.at_keys(&["spec", field])?.span().clone())
}
