//! The references and the authentication of GitRepositories.

use super::fault::Fault;
use crate::kube::Object;
use crate::lint::fields::{known_text, text_of};
use crate::yaml::Node;

/// The lengths of the hashes of commits: SHA-1 and SHA-256.
const HASHES: [usize; 2] = [40, 64];

/// The fault of `spec.ref`.
pub(super) fn reference<'a>(object: &Object, spec: &'a Node) -> Option<Fault<'a>> {
    let reference = spec.get("ref")?;
    // A commit has precedence over a name.
    match text_of(reference, "commit") {
        Some(_) => commit(object, reference.get("commit")?),
        None => name(object, reference),
    }
}

fn commit<'a>(object: &Object, node: &'a Node) -> Option<Fault<'a>> {
    let hash = known_text(node)?;
    let is_full = HASHES.contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    (!is_full).then(|| Fault {
        node,
        message: format!("`ref.commit: {hash}` of {} is not the full hash of a commit", object.reference()),
        help:
            "write all 40 digits of the hash: Flux does not search for short hashes, so the source never becomes ready"
                .to_owned(),
    })
}

fn name<'a>(object: &Object, reference: &'a Node) -> Option<Fault<'a>> {
    let node = reference.get("name")?;
    let name = known_text(node)?;
    let is_full = (name.starts_with("refs/") || name == "HEAD") && !name.ends_with('/');
    if is_full {
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

/// The fault of a GitRepository that needs a Secret, but references none.
pub(super) fn without_secret<'a>(object: &Object, spec: &'a Node) -> Option<Fault<'a>> {
    if spec.get("secretRef").is_some_and(|node| !node.is_null()) {
        return None;
    }
    let url = spec.get("url")?;
    if known_text(url)?.starts_with("ssh://") {
        return Some(Fault {
            node: url,
            message: format!("{} has an SSH URL, but no `secretRef`", object.reference()),
            help: "reference a Secret with the keys `identity` and `known_hosts`, or write an `https://` URL if the repository is \
                   public: otherwise the source never becomes ready"
                .to_owned(),
        });
    }
    let provider = spec.get("provider").filter(|node| known_text(node) == Some("github"))?;
    Some(Fault {
        node: provider,
        message: format!("{} has `provider: github`, but no `secretRef`", object.reference()),
        help: "reference a Secret with the data of the GitHub App, or remove `provider`: otherwise the source never becomes ready"
            .to_owned(),
    })
}
