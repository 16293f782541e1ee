use crate::base::finding::{Finding, Label};
use crate::flux::Applied;
use crate::kube::{Object, groups};
use crate::lint::context::Context;
use crate::lint::fields::{known_text, text_of};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::yaml::Node;

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
    /// - the URL of an OCIRepository with a tag;
    /// - `spec.image` of an ImageRepository with a scheme, a tag, a digest or uppercase letters.
    ///
    /// [`invalid-git-url`](invalid-git-url.md) reports URLs of GitRepositories.
    ///
    /// ## How to fix it
    ///
    /// Set `type: oci`; write the full reference, or set `branch` or `tag`; write the image without a scheme and a tag; move the tag of a
    /// URL to `spec.ref`.
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
    ///
    /// ## Source
    ///
    /// [Flux: Helm OCI repository](https://fluxcd.io/flux/components/source/helmrepositories/#helm-oci-repository),
    /// [Flux: reference name](https://fluxcd.io/flux/components/source/gitrepositories/#name-example),
    /// [Flux: image](https://fluxcd.io/flux/components/image/imagerepositories/#image);
    /// `reconcileSource` and `buildFromHelmRepository` of source-controller, `cloneRefName` of
    /// `github.com/fluxcd/pkg/git/gogit`, `parseRepository` of source-controller,
    /// `ParseImageReference` of image-reflector-controller
    "invalid-source", Error, "Flux rejects the address or the reference of a source", Check::Object(check),
}

/// The field that Flux rejects, with the reason and the remedy.
struct Fault<'a> {
    node: &'a Node,
    message: String,
    help: String,
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let Some(spec) = object.node.get("spec") else { return };
    let fault = match (object.group(), object.kind()) {
        (groups::SOURCE, "HelmRepository") if !applied.completion.mentions("type") => helm_repository(object, spec),
        (groups::SOURCE, "GitRepository") if !applied.completion.mentions("ref") => git_repository(object, spec),
        (groups::SOURCE, "OCIRepository") if !applied.completion.mentions("url") => oci_repository(object, spec),
        (groups::IMAGE, "ImageRepository") if !applied.completion.mentions("image") => image_repository(object, spec),
        _ => None,
    };
    let Some(Fault { node, message, help }) = fault else { return };
    let label = Label::new(applied.by.place(node.span()), "Flux rejects this value");
    found.push(Finding::error(RULE.id, label, message).help(help).about(object.reference()));
}

fn helm_repository<'a>(object: &Object, spec: &'a Node) -> Option<Fault<'a>> {
    let node = spec.get("url")?;
    let is_oci_url = known_text(node)?.starts_with("oci://");
    let kind = match spec.get("type").filter(|node| !node.is_null()) {
        Some(node) => known_text(node)?,
        None => "default",
    };
    let reference = object.reference();
    match (is_oci_url, kind) {
        (true, "default") => Some(Fault {
            node,
            message: format!("{reference} has an `oci://` URL, but not `type: oci`"),
            help: "set `type: oci`: otherwise the HelmRepository never becomes ready".to_owned(),
        }),
        (false, "oci") => Some(Fault {
            node,
            message: format!("{reference} has `type: oci`, but its URL does not start with `oci://`"),
            help: "write `oci://`, or remove `type: oci`: otherwise Flux pulls no chart".to_owned(),
        }),
        _ => None,
    }
}

fn git_repository<'a>(object: &Object, spec: &'a Node) -> Option<Fault<'a>> {
    let reference = spec.get("ref")?;
    let node = reference.get("name")?;
    let name = known_text(node)?;
    // A commit has precedence over a name.
    let is_full = (name.starts_with("refs/") || name == "HEAD") && !name.ends_with('/');
    if is_full || text_of(reference, "commit").is_some() {
        return None;
    }
    let short = name.trim_matches('/').trim_start_matches("heads/").trim_start_matches("tags/");
    let is_version = short.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
    let help = if is_version || name.starts_with("tags/") {
        format!("write `refs/tags/{short}`, or set `tag: {short}`")
    } else {
        format!("write `refs/heads/{short}`, or set `branch: {short}`")
    };
    Some(Fault {
        node,
        message: format!("`ref.name: {name}` of {} is not a full Git reference", object.reference()),
        help: format!("{help}: otherwise Flux does not find the reference"),
    })
}

fn oci_repository<'a>(object: &Object, spec: &'a Node) -> Option<Fault<'a>> {
    let node = spec.get("url")?;
    let address = known_text(node)?.strip_prefix("oci://")?;
    let (registry, repository) = address.split_once('/')?;
    let (name, tag) = repository.split_once(':').filter(|_| !repository.contains('@'))?;
    Some(Fault {
        node,
        message: format!("the URL of {} contains the tag `{tag}`", object.reference()),
        help: format!("write `oci://{registry}/{name}`, and set `ref.tag`: otherwise Flux pulls no artifact"),
    })
}

fn image_repository<'a>(object: &Object, spec: &'a Node) -> Option<Fault<'a>> {
    let node = spec.get("image")?;
    let image = known_text(node)?;
    let (why, meant) = rejected_image(image)?;
    let message = format!("the image `{image}` of {} {why}", object.reference());
    let help = match meant {
        Some(meant) => format!("write `{meant}`: otherwise Flux reads no tags"),
        None => "correct the name: otherwise Flux reads no tags".to_owned(),
    };
    Some(Fault { node, message, help })
}

/// The reason why Flux rejects an image, and the image that the author probably means.
fn rejected_image(image: &str) -> Option<(&'static str, Option<String>)> {
    if let Some((_, rest)) = image.split_once("://") {
        let meant = rejected_image(rest).map_or_else(|| Some(rest.to_owned()), |(_, meant)| meant);
        return Some(("has a scheme", meant));
    }
    let is_registry = |host: &str| host.contains(['.', ':']) || host == "localhost";
    let repository = image.split_once('/').filter(|(host, _)| is_registry(host)).map_or(image, |(_, rest)| rest);
    if let Some((name, _)) = repository.split_once(['@', ':']) {
        let registry = image.strip_suffix(repository).unwrap_or_default();
        let why = if repository.contains('@') { "has a digest" } else { "has a tag" };
        return Some((why, Some(format!("{registry}{name}"))));
    }
    if repository.contains(|c: char| c.is_ascii_uppercase()) {
        let registry = image.strip_suffix(repository).unwrap_or_default();
        return Some(("has uppercase letters", Some(format!("{registry}{}", repository.to_lowercase()))));
    }
    let is_valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-' | '.' | '/');
    (!repository.chars().all(is_valid)).then_some(("has an invalid character", None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_of_a_registry_is_not_a_tag() {
        for valid in ["ghcr.io/acme/web", "localhost:5000/web", "web", "library/nginx", "10.0.0.1:80/a/b_c-d.e"] {
            assert_eq!(rejected_image(valid), None, "{valid}");
        }
        let meant = |image| rejected_image(image).and_then(|(_, meant)| meant);
        assert_eq!(meant("web:latest").as_deref(), Some("web"));
        assert_eq!(meant("localhost:5000/web:1").as_deref(), Some("localhost:5000/web"));
        assert_eq!(meant("docker://ghcr.io/acme/web:1").as_deref(), Some("ghcr.io/acme/web"));
        assert_eq!(meant("ghcr.io/acme/web@sha256:00").as_deref(), Some("ghcr.io/acme/web"));
        assert_eq!(meant("ghcr.io/Acme/web").as_deref(), Some("ghcr.io/acme/web"));
        assert!(rejected_image("ghcr.io/acme/web app").is_some());
    }
}
