use crate::base::finding::{Finding, Label, Safety};
use crate::base::similar_names::did_you_mean;
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::yaml::{Node, fix};

declare! {
    /// A role grants a verb that does not exist, but whose name is similar to that of an existing verb.
    ///
    /// ## Why
    ///
    /// Kubernetes accepts a role with any verb and does not compare it with a list of verbs. Verbs are case-sensitive. A
    /// misspelt verb never equals the verb of a request, so the role does not grant the intended permission. An account
    /// that needs the permission fails later, in another place.
    ///
    /// The rule ignores other unknown verbs, since extensions of Kubernetes may define verbs.
    ///
    /// ## How to fix it
    ///
    /// Correct the verb. The verbs of requests for objects are `get`, `list`, `watch`, `create`, `update`, `patch`,
    /// `delete` and `deletecollection`. Kubernetes also defines `approve`, `attest`, `bind`, `escalate`, `impersonate`,
    /// `sign` and `use` for some resources. The verbs for `nonResourceURLs` are HTTP methods in lower case.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: Role
    /// metadata:
    ///   name: deployer
    ///   namespace: backend
    /// rules:
    ///   - apiGroups: [apps]
    ///     resources: [deployments]
    ///     verbs: [get, list, udpate]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: Role
    /// metadata:
    ///   name: deployer
    ///   namespace: backend
    /// rules:
    ///   - apiGroups: [apps]
    ///     resources: [deployments]
    ///     verbs: [get, list, update]
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Kubernetes: request verbs](https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb)
    "unknown-verb", Warning, "a role grants a verb that does not exist", Check::Object(check),
    fixes: [Unsafe],
}

/// The verbs of requests for objects, with those that Kubernetes defines for some resources.
///
/// Source: `k8s.io/apiserver/pkg/endpoints/request/requestinfo.go`, and the documentation of authorization.
const OF_RESOURCES: [&str; 15] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "approve",
    "attest",
    "bind",
    "escalate",
    "impersonate",
    "sign",
    "use",
];

/// The verbs of requests for other paths.
const OF_PATHS: [&str; 7] = ["get", "head", "post", "put", "patch", "delete", "options"];

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    if object.group() != groups::RBAC || !matches!(object.kind(), "Role" | "ClusterRole") {
        return;
    }
    for rule in object.node.get("rules").map_or(&[][..], Node::items) {
        let own = if rule.get("nonResourceURLs").is_some() { &OF_PATHS[..] } else { &OF_RESOURCES[..] };
        for node in rule.get("verbs").map_or(&[][..], Node::items) {
            let is_known = |verb: &&str| OF_RESOURCES.contains(verb) || OF_PATHS.contains(verb);
            let Some(verb) = node.text().filter(|verb| !is_known(verb)) else { continue };
            // An extension may define the opposite of a verb, such as `unbind`.
            let meant = did_you_mean(verb, own.iter().copied()).filter(|meant| !verb.ends_with(meant));
            let Some(meant) = meant else { continue };
            let message = format!("{} grants the verb `{verb}`, which does not exist", object.reference());
            let help = format!("did you mean `{meant}`? Kubernetes accepts any verb, but no request has this one");
            let finding = Finding::warning(RULE.id, Label::new(applied.by.place(node.span()), "unknown"), message)
                .help(help)
                .about(object.reference())
                .fixed_at(fix::replace(node, meant, Safety::Unsafe), |span| applied.by.place(span));
            let summary = format!(" rules grant the verb `{verb}`, which does not exist");
            found.push(finding.caused_by(verb, "", summary));
        }
    }
}
