use crate::base::finding::{Finding, Safety};
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::yaml::fix;
use crate::yaml::{Style, Value};

declare! {
    /// Flux cannot parse the URL of a GitRepository.
    ///
    /// ## Why
    ///
    /// Git accepts `git@host:org/repo`, in which a path follows the colon. Flux accepts only URLs, in which a port
    /// follows the colon. In `ssh://git@host:org/repo`, the port is `org`, which is not valid, so the source never
    /// becomes ready. The API server rejects a URL without a scheme.
    ///
    /// The rule checks the URL after variable substitution. It ignores numeric ports.
    ///
    /// ## How to fix it
    ///
    /// Write `ssh://git@host/org/repo`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 10m
    ///   ref:
    ///     branch: main
    ///   url: ssh://git@git.example.com:acme/apps.git
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 10m
    ///   ref:
    ///     branch: main
    ///   url: ssh://git@git.example.com/acme/apps.git
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: Git repositories, URL](https://fluxcd.io/flux/components/source/gitrepositories/#url),
    /// [RFC 3986: authority](https://datatracker.ietf.org/doc/html/rfc3986#section-3.2)
    "invalid-git-url", Error, "Flux cannot parse the URL of a GitRepository",
    Check::Object(check), fixes: [Safe],
}

/// The URL schemes that a GitRepository supports.
const SCHEMES: [&str; 3] = ["http", "https", "ssh"];

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    if !object.is(groups::SOURCE, "GitRepository") {
        return;
    }
    let Some(node) = object.node.at_keys(&["spec", "url"]) else { return };
    let Value::Scalar(url, style) = &node.value else { return };
    if *style == Style::Unknown || url.is_empty() || url.contains("${") {
        return;
    }
    if let Some(meant) = with_braces(url) {
        let message = format!("the URL of {} contains `$(`, which Flux does not replace", object.reference());
        let help = format!("write `{}`: otherwise the source never becomes ready", without_password(&meant));
        found.push(Finding::error(RULE.id, node.span().clone(), message).help(help).about(object.reference()));
        return;
    }
    let Some((why, meant)) = fault(url) else { return };
    let message = format!("Flux cannot parse the URL `{}` of {}: {why}", without_password(url), object.reference());
    let help = format!("write `{}`; otherwise the source never becomes ready", without_password(&meant));
    let finding = Finding::error(RULE.id, node.span().clone(), message).help(help).about(object.reference());
    found.push(finding.fixed_by(fix::replace(node, &meant, Safety::Safe)));
}

/// The URL with `${…}` instead of `$(…)`; `None` if it contains no such variable.
fn with_braces(url: &str) -> Option<String> {
    let (before, rest) = url.split_once("$(")?;
    let (variable, after) = rest.split_once(')')?;
    variable
        .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        .then(|| format!("{before}${{{variable}}}{after}"))
}

/// Returns the fault of a URL and the URL that the author probably intended.
fn fault(url: &str) -> Option<(String, String)> {
    if let Some(meant) = with_slashes(url) {
        let why = "one slash is missing after the scheme".to_owned();
        return Some((why, fault(&meant).map_or(meant, |(_, meant)| meant)));
    }
    let Some((scheme, rest)) = url.split_once("://") else {
        let why = "it has no scheme".to_owned();
        // In Git's short form, a path follows the colon. Any other text may be a placeholder.
        if let Some((host, path)) = url.split_once(':').filter(|(host, _)| !host.contains('/')) {
            return Some((why, format!("ssh://{host}/{}", path.trim_start_matches('/'))));
        }
        return is_host(url.split('/').next()?).then(|| (why, format!("https://{url}")));
    };
    if !SCHEMES.contains(&scheme) {
        let meant = format!("{}://{rest}", if scheme.contains("ssh") { "ssh" } else { "https" });
        return Some((format!("its scheme is `{scheme}`, not `https` or `ssh`"), meant));
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end)?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // The colons of an IPv6 address are in brackets.
    let after = host.rsplit_once(']').map_or(host, |(_, after)| after);
    let (_, port) = after.split_once(':')?;
    if port.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let before = authority.strip_suffix(port)?.strip_suffix(':')?;
    Some((format!("`{port}` is not a valid port"), format!("{scheme}://{before}/{port}{path}")))
}

/// The URL with two slashes after its scheme, if it has one.
fn with_slashes(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once(":/")?;
    (SCHEMES.contains(&scheme) && !rest.starts_with('/')).then(|| format!("{scheme}://{rest}"))
}

/// Returns whether a word is a host name of several labels, with a letter in the last label.
fn is_host(word: &str) -> bool {
    let is_label =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let top = word.rsplit('.').next().unwrap_or_default();
    word.contains('.') && word.split('.').all(is_label) && top.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// A URL with its password replaced by `…`.
fn without_password(url: &str) -> String {
    let rest = url.split_once(":/").map_or(url, |(_, rest)| rest.trim_start_matches('/'));
    let scheme = url.strip_suffix(rest).unwrap_or_default();
    match rest.split_once('@') {
        Some((user, host)) if user.contains(':') && !user.contains('/') => {
            format!("{scheme}{}:…@{host}", user.split(':').next().unwrap_or_default())
        }
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_has_braces() {
        assert_eq!(with_braces("https://$(HOST:=a.example)/b").as_deref(), Some("https://${HOST:=a.example}/b"));
        assert_eq!(with_braces("https://a.example/$1"), None);
    }

    #[test]
    fn a_path_after_the_colon_is_not_a_port() {
        let meant = |url: &str| fault(url).map(|(_, meant)| meant);
        assert_eq!(meant("ssh://git@host:org/repo").as_deref(), Some("ssh://git@host/org/repo"));
        assert_eq!(meant("https://host:org/repo").as_deref(), Some("https://host/org/repo"));
        assert_eq!(meant("git@host:org/repo.git").as_deref(), Some("ssh://git@host/org/repo.git"));
        assert_eq!(meant("github.com/org/repo").as_deref(), Some("https://github.com/org/repo"));
        assert_eq!(meant("git+ssh://git@host/org/repo").as_deref(), Some("ssh://git@host/org/repo"));
        assert_eq!(meant("https:/host/org/repo").as_deref(), Some("https://host/org/repo"));
        assert_eq!(meant("ssh:/git@host:org/repo").as_deref(), Some("ssh://git@host/org/repo"));
        for valid in [
            "ssh://git@host:22/org/repo",
            "https://host:8443/x",
            "ssh://git@[::1]:22/x",
            "https://u:p@host/x",
            "https://host:/x",
            "PREFIX/repo",
        ] {
            assert_eq!(meant(valid), None, "{valid}");
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        for url in
            ["https://bob:hunter2@a.example/b", "https:/bob:hunter2@a.example/b", "git+ssh://bob:hunter2@a.example/b"]
        {
            assert_eq!(without_password(url), url.replace("hunter2", "…"));
        }
    }
}
