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
            "use {types} or the type of the sender: `generic` checks no signature, so the path is its only protection"
        );
        found.push(Finding::warning(RULE.id, kind.span().clone(), message).help(help).about(object.reference()));
    }
}
