use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, missing_in_spec, pedantic};

declare! {
    /// An OCIRepository has no `verify`.
    ///
    /// ## Why
    ///
    /// Whoever can push to the registry decides what the cluster runs, and a tag can be moved to something else at any time. A
    /// signature says who built the artifact; Flux refuses what is not signed as it was told.
    ///
    /// ## How to fix it
    ///
    /// Sign what CI pushes with cosign or notation, and set `spec.verify`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: OCIRepository
    /// metadata:
    ///   name: shop
    ///   namespace: shop
    /// spec:
    ///   interval: 10m
    ///   url: oci://registry.example.com/shop
    ///   ref:
    ///     tag: 1.4.2
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: OCIRepository
    /// metadata:
    ///   name: shop
    ///   namespace: shop
    /// spec:
    ///   interval: 10m
    ///   url: oci://registry.example.com/shop
    ///   ref:
    ///     tag: 1.4.2
    ///   verify:
    ///     provider: cosign
    ///     matchOIDCIdentity:
    ///       - issuer: ^https://token.actions.githubusercontent.com$
    ///         subject: ^https://github.com/acme/shop.*$
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: verification](https://fluxcd.io/flux/components/source/ocirepositories/#verification)
    "unverified-artifact", Pedantic, "an OCI artifact is not verified", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let is_judged = object.is(groups::SOURCE, "OCIRepository") && !applied.completion.mentions("verify");
    if !is_judged || object.node.at_keys(&["spec", "verify", "provider"]).is_some() {
        return;
    }
    let message = format!("{} does not verify what it fetches", object.reference());
    let help = "sign what is pushed, and set `spec.verify`: whoever can push to the registry decides what runs";
    let finding = pedantic(RULE.id, missing_in_spec(object, "verify"), message).help(help);
    found.push(finding.related(object.span().clone(), "this OCIRepository").about(object.reference()));
}
