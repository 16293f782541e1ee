//! The images of ImageRepositories.

use super::fault::Fault;
use crate::kube::Object;
use crate::lint::fields::known_text;
use crate::yaml::Node;

pub(super) fn image_repository<'a>(object: &Object, spec: &'a Node) -> Option<Fault<'a>> {
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
