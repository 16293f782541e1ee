mod fault;
mod artifacts;
mod git;
mod images;

use crate::base::finding::{Finding, Label};
use crate::flux::{Applied, ApplyMode};
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use fault::Fault;

declare! {
    /// Flux rejects the address or the reference of a source.
    ///
    /// ## Why
    ///
    /// The API server accepts these values, and Flux rejects them, so the source never becomes ready:
    ///
    /// - the URL of a HelmRepository that starts with `oci://` without `type: oci`, and `type: oci` with another URL;
    /// - `spec.ref.name` of a GitRepository that is not a full reference: Flux compares it with the references of the
    ///   repository, such as `refs/heads/main`;
    /// - `spec.ref.commit` of a GitRepository that is no full hash, since Flux does not search for short hashes;
    /// - a GitRepository with an SSH URL or with `provider: github` that references no Secret: Flux needs the key of an
    ///   account, even if the repository is public;
    /// - the URL of an OCIRepository with a tag, and a digest that is not `sha256:` with 64 hexadecimal digits;
    /// - the endpoint of a Bucket of `generic` or `aws` with a scheme: it is a host, with `insecure: true` for HTTP;
    /// - `spec.image` of an ImageRepository with a scheme, a tag, a digest or uppercase letters.
    ///
    /// [`invalid-git-url`](invalid-git-url.md) reports URLs of GitRepositories.
    ///
    /// ## How to fix it
    ///
    /// Set `type: oci`; write the full reference or hash, or set `branch` or `tag`; write the image without a scheme and a tag; move the
    /// tag of a URL to `spec.ref`; reference a Secret, or use the HTTPS URL of a public repository; remove the scheme of an endpoint.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: HelmRepository
    /// metadata:
    ///   name: charts
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   url: oci://registry.example.com/charts
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: HelmRepository
    /// metadata:
    ///   name: charts
    ///   namespace: flux-system
    /// spec:
    ///   type: oci
    ///   url: oci://registry.example.com/charts
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. Before Flux 2.2, a HelmRepository of the default type fails when Flux reads its index.
    /// `provider: github` exists from Flux 2.5 on.
    ///
    /// ## Source
    ///
    /// [Flux: Helm OCI repository](https://fluxcd.io/flux/components/source/helmrepositories/#helm-oci-repository),
    /// [Flux: reference name](https://fluxcd.io/flux/components/source/gitrepositories/#name-example),
    /// [Flux: image](https://fluxcd.io/flux/components/image/imagerepositories/#image);
    /// `reconcileSource` and `buildFromHelmRepository` of source-controller, `cloneRefName` of
    /// `github.com/fluxcd/pkg/git/gogit`, `parseRepository` of source-controller,
    /// `ParseImageReference` of image-reflector-controller; `cloneCommit` of `gogit`, `AuthOptions.Validate` of
    /// `github.com/fluxcd/pkg/git`, `getAuthOpts` of source-controller, `New` of `github.com/minio/minio-go`
    "invalid-source", Error, "Flux rejects the address or the reference of a source", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let Some(spec) = object.node.get("spec") else { return };
    let mentions = |field: &str| applied.completion.mentions(field);
    let fault = match (object.group(), object.kind()) {
        (groups::SOURCE, "HelmRepository") if !mentions("type") => artifacts::helm_repository(object, spec),
        (groups::SOURCE, "GitRepository") => {
            let reference = git::reference(object, spec).filter(|_| !mentions("ref"));
            let is_whole = applied.apply_mode() == ApplyMode::Applied && !mentions("secretRef");
            reference.or_else(|| git::without_secret(object, spec).filter(|_| is_whole))
        }
        (groups::SOURCE, "OCIRepository") if !mentions("url") => artifacts::tag_in_url(object, spec)
            .or_else(|| artifacts::digest(object, spec).filter(|_| !mentions("digest"))),
        (groups::SOURCE, "Bucket") if !mentions("endpoint") => artifacts::bucket(object, spec),
        (groups::IMAGE, "ImageRepository") if !mentions("image") => images::image_repository(object, spec),
        _ => None,
    };
    let Some(Fault { node, message, help }) = fault else { return };
    let label = Label::new(applied.by.place(node.span()), "Flux rejects this value");
    found.push(Finding::error(RULE.id, label, message).help(help).about(object.reference()));
}
