//! The patterns and formats of the configuration schema, with a message for values that do not match.

use super::glob::GLOB;
use crate::base::date::Date;
use crate::schema::{FormatError, TextFormat};

/// The pattern of a rule id.
pub(super) const RULE_ID: &str = "^[a-z0-9]+(-[a-z0-9]+)*$";
/// The pattern of a text that is not blank.
pub(super) const NOT_BLANK: &str = r"\S";
/// The pattern of a namespace name.
pub(super) const NAMESPACE: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
/// The pattern of a service account, as `namespace/name`.
pub(super) const ACCOUNT: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";
/// The pattern of a Flux version.
pub(super) const FLUX_VERSION: &str = r"^v?[0-9]+(\.[0-9]+){0,2}(\.x)?$";
/// The pattern of a Kubernetes version.
pub(super) const KUBERNETES_VERSION: &str = r"^v?1\.[0-9]+(\.[0-9]+)?$";
/// The pattern of the name of a source, with an optional kind.
pub(super) const SOURCE_NAME: &str = "^((GitRepository|OCIRepository|Bucket)/)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";
/// The format of a date.
pub(super) const DATE: &str = "date";
/// The format of the path of a root.
pub(super) const ROOT_PATH: &str = "root-path";
/// The format of the path of a source copy.
pub(super) const COPY_PATH: &str = "copy-path";

/// The patterns and formats of the `lint` section, which fleet.yaml shares.
pub const WORDS: &[TextFormat] = &[
    TextFormat { keyword: RULE_ID, check: rule_id },
    TextFormat { keyword: NOT_BLANK, check: blank },
    TextFormat { keyword: GLOB, check: super::glob::fault },
    TextFormat { keyword: NAMESPACE, check: namespace },
    TextFormat { keyword: ACCOUNT, check: account },
    TextFormat { keyword: DATE, check: date },
];

/// The patterns and formats of `.fleetwright.yaml`.
pub(super) const ALL_WORDS: &[TextFormat] = &[
    WORDS[0],
    WORDS[1],
    WORDS[2],
    WORDS[3],
    WORDS[4],
    WORDS[5],
    TextFormat { keyword: FLUX_VERSION, check: flux_version },
    TextFormat { keyword: KUBERNETES_VERSION, check: kubernetes_version },
    TextFormat { keyword: COPY_PATH, check: copy_path },
    TextFormat { keyword: SOURCE_NAME, check: source_name },
    TextFormat { keyword: ROOT_PATH, check: root_path },
];

#[expect(clippy::unnecessary_wraps, reason = "all formats have this signature")]
fn rule_id(text: &str) -> Option<FormatError> {
    let message = format!("is `{text}`, which is not a valid rule id");
    let help = "use an id as shown in findings, for example `missing-prune`";
    Some(FormatError { rule: None, message, help: help.into() })
}

#[expect(clippy::unnecessary_wraps, reason = "all formats have this signature")]
fn blank(_: &str) -> Option<FormatError> {
    Some(FormatError { rule: None, message: "is empty".into(), help: "state the reason for the next reader".into() })
}

#[expect(clippy::unnecessary_wraps, reason = "all formats have this signature")]
fn namespace(text: &str) -> Option<FormatError> {
    let message = format!("is `{text}`, which is not a valid namespace name");
    let help = "use lower-case letters, digits and `-`, and start and end with a letter or digit";
    Some(FormatError { rule: None, message, help: help.into() })
}

#[expect(clippy::unnecessary_wraps, reason = "all formats have this signature")]
fn account(text: &str) -> Option<FormatError> {
    let message = format!("is `{text}`, which is not a valid service account");
    Some(FormatError { rule: None, message, help: "include the namespace, for example `flux-system/team-a`".into() })
}

fn date(text: &str) -> Option<FormatError> {
    if Date::parse(text).is_some() {
        return None;
    }
    let message = format!("is `{text}`, which is not a date");
    Some(FormatError { rule: None, message, help: "write it as `2027-01-31`".into() })
}

#[expect(clippy::unnecessary_wraps, reason = "all formats have this signature")]
fn flux_version(text: &str) -> Option<FormatError> {
    let message = format!("is `{text}`, which is not a valid Flux version");
    Some(FormatError { rule: None, message, help: "write it as `2.9` or `2.9.4`".into() })
}

#[expect(clippy::unnecessary_wraps, reason = "all formats have this signature")]
fn kubernetes_version(text: &str) -> Option<FormatError> {
    let message = format!("is `{text}`, which is not a valid Kubernetes version");
    Some(FormatError { rule: None, message, help: "write it as `\"1.34\"` or `1.34.2`".into() })
}

/// Rejects absolute paths and Windows paths, which other systems read differently.
fn copy_path(text: &str) -> Option<FormatError> {
    let is_absolute = text.starts_with(['/', '\\', '~']) || text.get(1..2) == Some(":");
    let message = match (is_absolute, text.contains('\\')) {
        (true, _) => format!("is `{text}`, an absolute path"),
        (false, true) => format!("is `{text}`, a path with backslashes"),
        (false, false) => return None,
    };
    let help = "write the path relative to this file, with `/` between directories, as in `vendor/apps`; for a \
                copy of a source, `--source URL=DIR` accepts any directory";
    Some(FormatError { rule: None, message, help: help.into() })
}

#[expect(clippy::unnecessary_wraps, reason = "all formats have this signature")]
fn source_name(text: &str) -> Option<FormatError> {
    let message = format!("is `{text}`, which is not the name of a source");
    let help = "write the name of a GitRepository, or a kind and a name, for example `OCIRepository/flux-system`";
    Some(FormatError { rule: None, message, help: help.into() })
}

/// Rejects paths that are not below the configuration.
fn root_path(text: &str) -> Option<FormatError> {
    let is_absolute = text.starts_with(['/', '~']) || text.get(1..2) == Some(":");
    let message = if is_absolute {
        format!("is `{text}`, an absolute path")
    } else if text.contains('\\') {
        format!("is `{text}`, a path with backslashes")
    } else if text.split('/').any(|segment| segment == "..") {
        format!("is `{text}`, a path with `..`")
    } else {
        return None;
    };
    let help = "write the path relative to this file, with `/` between directories, as in `clusters/staging`";
    Some(FormatError { rule: None, message, help: help.into() })
}
