//! The patterns and formats of the schemas, with a message for values that do not match.

use super::kube_formats;
use crate::schema::{FormatError, TextFormat};
use crate::text::normalize;

/// The rule id for names that Kubernetes rejects.
pub(super) const INVALID_NAME: &str = "invalid-name";
/// The rule id for paths outside the repository.
pub(super) const PATH_OUTSIDE_REPOSITORY: &str = "path-outside-repository";

/// The pattern of a DNS label.
pub(super) const DNS_LABEL: &str = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";
/// The pattern of a duration.
pub(super) const DURATION: &str = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$";
/// The pattern of a variable name.
pub(super) const VARIABLE: &str = "^[_a-zA-Z][_a-zA-Z0-9]*$";
/// The pattern of `component` or `component/stage`.
pub(super) const DEPENDENCY: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(/[a-z0-9]([-a-z0-9]*[a-z0-9])?)?$";
/// The pattern of `tenant/component`.
pub(super) const COMPONENT: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?/[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
/// The pattern of `tenant/component` or `tenant/component/stage`.
pub(super) const COMPONENT_TARGET: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(/[a-z0-9]([-a-z0-9]*[a-z0-9])?){1,2}$";
/// The format of a path in a repository.
pub(super) const REPOSITORY_PATH: &str = "repository-path";
/// The format of the URL of a source.
pub(super) const SOURCE_URL: &str = "source-url";

/// The patterns and formats of fleet.yaml.
pub(crate) const WORDS: &[TextFormat] = &[
    TextFormat { keyword: DNS_LABEL, check: dns_label },
    TextFormat { keyword: DURATION, check: duration },
    TextFormat { keyword: VARIABLE, check: variable },
    TextFormat { keyword: DEPENDENCY, check: dependency },
    TextFormat { keyword: COMPONENT, check: component },
    TextFormat { keyword: COMPONENT_TARGET, check: component_target },
    TextFormat { keyword: REPOSITORY_PATH, check: repository_path },
    TextFormat { keyword: SOURCE_URL, check: source_url },
    kube_formats::QUANTITY_FORMAT,
    kube_formats::VERSION_RANGE_FORMAT,
    kube_formats::LABEL_VALUE_FORMAT,
    kube_formats::LABEL_KEY_FORMAT,
    kube_formats::RESOURCE_FORMAT,
    kube_formats::QUOTA_RESOURCE_FORMAT,
    crate::config::WORDS[0],
    crate::config::WORDS[1],
    crate::config::WORDS[2],
    crate::config::WORDS[3],
    crate::config::WORDS[5],
];

fn fault(rule: Option<&'static str>, message: String, help: impl Into<String>) -> FormatError {
    FormatError { rule, message, help: help.into() }
}

pub(crate) fn is_dns_label(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&text.len()) && text.bytes().all(allowed) && !text.starts_with('-') && !text.ends_with('-')
}

/// Returns the nearest DNS label to a text, if any characters remain.
fn as_dns_label(text: &str) -> Option<String> {
    let mut label = String::new();
    for (at, character) in text.char_indices() {
        let starts_word = character.is_ascii_uppercase()
            && text
                .get(..at)
                .and_then(|before| before.chars().next_back())
                .is_some_and(|last| last.is_ascii_lowercase());
        if (starts_word || !character.is_ascii_alphanumeric()) && !label.ends_with('-') {
            label.push('-');
        }
        if character.is_ascii_alphanumeric() {
            label.push(character.to_ascii_lowercase());
        }
    }
    let cut: String = label.trim_matches('-').chars().take(63).collect();
    let cut = cut.trim_end_matches('-').to_owned();
    (!cut.is_empty()).then_some(cut)
}

fn dns_label(text: &str) -> Option<FormatError> {
    if is_dns_label(text) {
        return None;
    }
    let rule =
        "a DNS label has at most 63 lower-case letters, digits and `-`, and starts and ends with a letter or digit";
    let help = match as_dns_label(text) {
        Some(label) => format!("for example `{label}`: {rule}"),
        None => rule.to_owned(),
    };
    Some(fault(Some(INVALID_NAME), format!("is `{text}`, which is not a valid DNS label"), help))
}

#[expect(clippy::unnecessary_wraps, reason = "all formats have this signature")]
fn duration(text: &str) -> Option<FormatError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let help = if digits && !text.is_empty() {
        format!("add a unit: `{text}s`, `{text}m` or `{text}h`")
    } else if text.ends_with('d') {
        "Flux does not support days; use hours: `24h`".to_owned()
    } else {
        "use numbers with the units `h`, `m`, `s` or `ms`, without spaces: `90s`, `10m`, `1h30m`".to_owned()
    };
    Some(fault(None, format!("is `{text}`, which is not a valid duration"), help))
}

#[expect(clippy::unnecessary_wraps, reason = "all formats have this signature")]
fn variable(text: &str) -> Option<FormatError> {
    let fixed: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    let fixed = if fixed.starts_with(|c: char| c.is_ascii_digit()) { format!("_{fixed}") } else { fixed };
    let help = format!(
        "use letters, digits and `_`, without a leading digit, for example `{fixed}`; Flux ignores other names"
    );
    Some(fault(Some(INVALID_NAME), format!("is `{text}`, which is not a valid variable name"), help))
}

#[expect(clippy::unnecessary_wraps, reason = "all formats have this signature")]
fn dependency(text: &str) -> Option<FormatError> {
    let help = "write `component`, `component/stage`, or, for another tenant, `{tenant: …, component: …}`";
    Some(fault(None, format!("is `{text}`, which is not a valid component reference"), help))
}

#[expect(clippy::unnecessary_wraps, reason = "all formats have this signature")]
fn component(text: &str) -> Option<FormatError> {
    Some(fault(None, format!("is `{text}`, which is not a valid component reference"), "write `tenant/component`"))
}

#[expect(clippy::unnecessary_wraps, reason = "all formats have this signature")]
fn component_target(text: &str) -> Option<FormatError> {
    let help = "write `tenant/component` or `tenant/component/stage`";
    Some(fault(None, format!("is `{text}`, which is not a valid component reference"), help))
}

pub(crate) fn repository_path(text: &str) -> Option<FormatError> {
    let rule = Some(PATH_OUTSIDE_REPOSITORY);
    if text.contains(char::is_control) {
        let message = format!("is `{}`, a path with control characters", text.escape_debug());
        return Some(fault(None, message, "remove line breaks and other control characters"));
    }
    if text.starts_with('/') {
        let help = format!("write a path relative to the root of the repository: `{}`", text.trim_start_matches('/'));
        return Some(fault(rule, format!("is `{text}`, an absolute path"), help));
    }
    if normalize(text).is_none() {
        let help = "write a path relative to the root of the repository";
        return Some(fault(rule, format!("is `{text}`, a path outside the repository"), help));
    }
    None
}

fn source_url(text: &str) -> Option<FormatError> {
    let invalid = |message: &str, help: String| Some(fault(None, format!("is `{text}`, {message}"), help));
    let schemes = "`https://`, `http://`, `ssh://` and `oci://`";
    let Some((scheme, rest)) = text.split_once("://") else {
        // An SCP-like address, such as `git@github.com:acme/fleet.git`.
        return match text.split_once(':') {
            Some((host, path)) if host.contains('@') => invalid(
                "the short form of SSH, which Flux does not support",
                format!("write `ssh://{host}/{}`", path.trim_start_matches('/')),
            ),
            _ => invalid("a URL without a scheme", format!("use one of {schemes}")),
        };
    };
    if !matches!(scheme, "https" | "http" | "ssh" | "oci") {
        return invalid("a URL with a scheme that Flux does not support", format!("use one of {schemes}"));
    }
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    if host.is_empty() {
        return invalid("a URL without a host", format!("for example `{scheme}://git.example.com/acme/fleet`"));
    }
    let after_colon = host.rsplit_once('@').map_or(host, |(_, host)| host).split_once(':');
    if let Some((_, port)) = after_colon
        && !host.contains('[')
        && !port.is_empty()
        && !port.bytes().all(|byte| byte.is_ascii_digit())
    {
        let server = host.strip_suffix(port).map_or(host, |server| server.trim_end_matches(':'));
        let rest = if path.is_empty() { port.to_owned() } else { format!("{port}/{path}") };
        return invalid("but a port must follow `:`", format!("write `{scheme}://{server}/{rest}`"));
    }
    if scheme == "oci" && path.rsplit('/').next().is_some_and(|last| last.contains([':', '@'])) {
        let repository = text.rsplit_once(['@', ':']).map_or(text, |(repository, _)| repository);
        return invalid(
            "an OCI URL with a tag or digest",
            format!("write `{repository}` and set the tag or digest in `ref`"),
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_name_has_a_suggested_label() {
        assert_eq!(as_dns_label("Prod_EU").as_deref(), Some("prod-eu"));
        assert_eq!(as_dns_label("myCluster").as_deref(), Some("my-cluster"));
        assert_eq!(as_dns_label("--"), None);
    }

    #[test]
    fn the_short_form_of_ssh_has_a_suggested_url() {
        let help = |url| source_url(url).map(|fault| fault.help);
        assert_eq!(help("ssh://git@github.com:acme/x.git").as_deref(), Some("write `ssh://git@github.com/acme/x.git`"));
        assert_eq!(help("git@github.com:acme/x.git").as_deref(), Some("write `ssh://git@github.com/acme/x.git`"));
        assert_eq!(help("ssh://git@github.com:22/acme/x.git"), None);
        assert_eq!(help("oci://localhost:5000/x"), None);
    }
}
