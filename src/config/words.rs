//! What the patterns and formats of the configuration's schema mean, in words.

use super::glob::GLOB;
use crate::schema::{Fault, Word};

/// The pattern of a rule's id.
pub(super) const RULE_ID: &str = "^[a-z0-9]+(-[a-z0-9]+)*$";
/// The pattern of a text that says something.
pub(super) const SAID: &str = r"\S";
/// The pattern of a namespace's name.
pub(super) const NAMESPACE: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
/// The pattern of a service account, as `namespace/name`.
pub(super) const ACCOUNT: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";
/// The pattern of a version of Flux.
pub(super) const FLUX_VERSION: &str = r"^v?[0-9]+(\.[0-9]+){0,2}(\.x)?$";
/// The format of the path of a copy.
pub(super) const COPY_PATH: &str = "copy-path";

/// What those of the `lint` section mean, which fleet.yaml has too.
pub const WORDS: &[Word] = &[
    Word { mark: RULE_ID, fault: rule_id },
    Word { mark: SAID, fault: said },
    Word { mark: GLOB, fault: super::glob::fault },
    Word { mark: NAMESPACE, fault: namespace },
    Word { mark: ACCOUNT, fault: account },
];

/// What those of the whole file mean.
pub(super) const ALL_WORDS: &[Word] = &[
    WORDS[0],
    WORDS[1],
    WORDS[2],
    WORDS[3],
    WORDS[4],
    Word { mark: FLUX_VERSION, fault: flux_version },
    Word { mark: COPY_PATH, fault: copy_path },
];

#[expect(clippy::unnecessary_wraps, reason = "it is called for texts that do not fit")]
fn rule_id(text: &str) -> Option<Fault> {
    let message = format!("is `{text}`, which is no rule's id");
    let help = "ids are words with `-` between them, as findings show them: `missing-prune`";
    Some(Fault { rule: None, message, help: help.into() })
}

#[expect(clippy::unnecessary_wraps, reason = "it is called for texts that do not fit")]
fn said(_: &str) -> Option<Fault> {
    Some(Fault {
        rule: None,
        message: "is empty".into(),
        help: "say why it is right here; the next reader will ask".into(),
    })
}

#[expect(clippy::unnecessary_wraps, reason = "it is called for texts that do not fit")]
fn namespace(text: &str) -> Option<Fault> {
    let message = format!("is `{text}`, which is no name of a namespace");
    let help = "names have lower-case letters, digits and `-`, begin and end with a letter or digit";
    Some(Fault { rule: None, message, help: help.into() })
}

#[expect(clippy::unnecessary_wraps, reason = "it is called for texts that do not fit")]
fn account(text: &str) -> Option<Fault> {
    let message = format!("is `{text}`, which is no service account");
    Some(Fault { rule: None, message, help: "say it with its namespace, as `flux-system/team-a`".into() })
}

#[expect(clippy::unnecessary_wraps, reason = "it is called for texts that do not fit")]
fn flux_version(text: &str) -> Option<Fault> {
    let message = format!("is `{text}`, which is no version of Flux");
    Some(Fault { rule: None, message, help: "for example `2.9` or `2.9.4`".into() })
}

/// An absolute path, or one of Windows, which no other system reads the same way.
fn copy_path(text: &str) -> Option<Fault> {
    let is_absolute = text.starts_with(['/', '\\', '~']) || text.get(1..2) == Some(":");
    let message = match (is_absolute, text.contains('\\')) {
        (true, _) => format!("is `{text}`, an absolute path"),
        (false, true) => format!("is `{text}`, a path with backslashes"),
        (false, false) => return None,
    };
    let help = "write it relative to this file and with `/`, as `vendor/apps`, or name the directory on the command line \
                with `--source URL=DIR`";
    Some(Fault { rule: None, message, help: help.into() })
}
