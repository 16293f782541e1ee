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
    /// A user who can push to the registry can change the objects on the cluster, since a tag can be moved to other
    /// content at any time. A signature proves the identity of the builder of the artifact. With `verify`, Flux rejects
    /// an artifact without a valid signature.
    ///
    /// ## How to fix it
    ///
    /// Sign the artifacts in CI with cosign or notation, and set `spec.verify`.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: verification](https://fluxcd.io/flux/components/source/ocirepositories/#verification)
    "unverified-artifact", Pedantic, "an OCIRepository does not verify its artifact", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let is_judged = object.is(groups::SOURCE, "OCIRepository") && !applied.completion.mentions("verify");
    if !is_judged || object.node.at_keys(&["spec", "verify", "provider"]).is_some() {
        return;
    }
    let message = format!("{} does not verify its artifact", object.reference());
    let help = "sign the artifact, and set `spec.verify`: otherwise, every user who can push to the registry can change \
                the objects on the cluster";
    let finding = pedantic(RULE.id, missing_in_spec(object, "verify"), message).help(help);
    let finding = finding.caused_by("verify", "", " OCIRepositories do not verify their artifacts");
    found.push(finding.related(object.span().clone(), "this OCIRepository").about(object.reference()));
}
