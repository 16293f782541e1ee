//! The addresses of HelmRepositories, OCIRepositories and Buckets.

use super::fault::Fault;
use crate::kube::Object;
use crate::lint::fields::known_text;
use crate::yaml::Node;

pub(super) fn helm_repository<'a>(object: &Object, spec: &'a Node) -> Option<Fault<'a>> {
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

/// The tag in the URL of an OCIRepository.
pub(super) fn tag_in_url<'a>(object: &Object, spec: &'a Node) -> Option<Fault<'a>> {
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

/// The digest of an OCIRepository.
pub(super) fn digest<'a>(object: &Object, spec: &'a Node) -> Option<Fault<'a>> {
    let node = spec.at_keys(&["ref", "digest"])?;
    let digest = known_text(node)?;
    let is_hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_valid = digest.strip_prefix("sha256:").is_some_and(|hash| hash.len() == 64 && is_hex(hash));
    (!is_valid).then(|| Fault {
        node,
        message: format!("`ref.digest: {digest}` of {} is not a digest", object.reference()),
        help: "write `sha256:` and the 64 digits of the hash: otherwise Flux pulls no artifact".to_owned(),
    })
}

/// The endpoint of a Bucket, which is a host for all providers with the API of S3.
pub(super) fn bucket<'a>(object: &Object, spec: &'a Node) -> Option<Fault<'a>> {
    let provider = spec.get("provider").filter(|node| !node.is_null()).map_or(Some("generic"), known_text)?;
    let node = spec.get("endpoint").filter(|_| matches!(provider, "generic" | "aws"))?;
    let (scheme, host) = known_text(node)?.split_once("://")?;
    let insecure = if scheme == "http" { ", and set `insecure: true`" } else { "" };
    Some(Fault {
        node,
        message: format!("the endpoint of {} has the scheme `{scheme}`", object.reference()),
        help: format!("write `{host}`{insecure}: otherwise the source never becomes ready"),
    })
}
