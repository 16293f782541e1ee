use crate::base::finding::Finding;
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};

declare! {
    /// A Receiver takes requests from anybody.
    ///
    /// ## Why
    ///
    /// A Receiver of type `generic` looks neither at a signature nor at a token: who knows its path, which stands in the
    /// settings of the sender and in logs of proxies, can have Flux fetch as often as they like.
    ///
    /// ## How to fix it
    ///
    /// Use the type of the sender, `generic-hmac`, which wants the body signed with the token, or `generic-oidc`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: notification.toolkit.fluxcd.io/v1
    /// kind: Receiver
    /// metadata:
    ///   name: push
    ///   namespace: flux-system
    /// spec:
    ///   type: generic
    ///   resources:
    ///     - kind: GitRepository
    ///       name: flux-system
    ///   secretRef:
    ///     name: webhook-token
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: notification.toolkit.fluxcd.io/v1
    /// kind: Receiver
    /// metadata:
    ///   name: push
    ///   namespace: flux-system
    /// spec:
    ///   type: generic-hmac
    ///   resources:
    ///     - kind: GitRepository
    ///       name: flux-system
    ///   secretRef:
    ///     name: webhook-token
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: generic receivers](https://fluxcd.io/flux/components/notification/receivers/#generic-receiver)
    "unauthenticated-receiver", Warning, "a Receiver takes requests from anybody",
    Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    if !object.is(groups::NOTIFICATION, "Receiver") || applied.completion.mentions("type") {
        return;
    }
    let Some(kind) = object.node.at_keys(&["spec", "type"]).filter(|kind| kind.text() == Some("generic")) else {
        return;
    };
    let message = format!("{} takes requests from anybody", object.reference());
    let help = "use `generic-hmac`, `generic-oidc` or the type of the sender; `generic` looks at no signature, so whoever \
                learns the path can call it";
    found.push(Finding::warning(RULE.id, kind.span().clone(), message).help(help).about(object.reference()));
}
