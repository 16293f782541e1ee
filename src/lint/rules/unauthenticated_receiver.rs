use crate::base::finding::Finding;
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;

declare! {
    /// A Receiver accepts requests without authentication.
    ///
    /// ## Why
    ///
    /// Flux does not check a signature or a token for a Receiver of type `generic`. The path of the Receiver is its
    /// only protection, and the path is visible in the settings of the sender and in the logs of proxies. An attacker
    /// who knows the path can trigger reconciliations at any rate.
    ///
    /// ## How to fix it
    ///
    /// Use the type of the sender, `generic-hmac` or `generic-oidc`. With `generic-hmac`, the sender must sign the body
    /// with the token.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. `generic-oidc` exists from Flux 2.9 on.
    ///
    /// ## Source
    ///
    /// [Flux: generic receivers](https://fluxcd.io/flux/components/notification/receivers/#generic-receiver)
    "unauthenticated-receiver", Warning, "a Receiver accepts requests without authentication",
    Check::Cluster(check),
}

/// The first release of Flux with Receivers of type `generic-oidc`.
const OIDC_SINCE: (u64, u64) = (2, 9);

fn check(view: &View<'_>, found: &mut Findings) {
    for applied in view.of_kind(groups::NOTIFICATION, "Receiver") {
        let object = applied.object;
        let kind = object.node.at_keys(&["spec", "type"]).filter(|kind| kind.text() == Some("generic"));
        let Some(kind) = kind.filter(|_| !applied.completion.mentions("type")) else { continue };
        let message = format!("{} accepts requests without authentication", object.reference());
        let types = match view.has_flux(OIDC_SINCE) {
            Some(true) => "`generic-hmac`, `generic-oidc`",
            Some(false) => "`generic-hmac`",
            None => "`generic-hmac`, `generic-oidc` (since Flux 2.9)",
        };
        let help = format!(
            "use {types} or the type of the sender: Flux does not check a signature for `generic`, so the path is the \
             only protection"
        );
        found.push(Finding::warning(RULE.id, kind.span().clone(), message).help(help).about(object.reference()));
    }
}
