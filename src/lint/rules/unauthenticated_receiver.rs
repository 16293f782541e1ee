use crate::base::finding::Finding;
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};

declare! {
    /// A Receiver accepts requests without authentication.
    ///
    /// ## Why
    ///
    /// A Receiver of type `generic` checks neither a signature nor a token. Its path is the only protection, and it
    /// appears in the settings of the sender and in the logs of proxies. With the path, an attacker can make Flux fetch
    /// at any rate.
    ///
    /// ## How to fix it
    ///
    /// Use the type of the sender, `generic-hmac`, which requires a body that is signed with the token, or
    /// `generic-oidc`.
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
    "unauthenticated-receiver", Warning, "a Receiver accepts requests without authentication",
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
    let message = format!("{} accepts requests without authentication", object.reference());
    let help = "use `generic-hmac`, `generic-oidc` or the type of the sender: `generic` checks no signature, so the \
                path is its only protection";
    found.push(Finding::warning(RULE.id, kind.span().clone(), message).help(help).about(object.reference()));
}
