//! The events of the senders of webhooks, which Flux compares with the events of a Receiver.

use crate::base::similar_names::did_you_mean;

/// The names of the events of GitHub.
///
/// Source: <https://docs.github.com/en/webhooks/webhook-events-and-payloads>; Gitea and Forgejo send some of them.
const GITHUB: [&str; 40] = [
    "check_run",
    "check_suite",
    "code_scanning_alert",
    "commit_comment",
    "create",
    "delete",
    "dependabot_alert",
    "deployment",
    "deployment_status",
    "discussion",
    "fork",
    "gollum",
    "installation",
    "issue_comment",
    "issues",
    "label",
    "member",
    "membership",
    "merge_group",
    "meta",
    "milestone",
    "organization",
    "package",
    "page_build",
    "ping",
    "public",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "push",
    "registry_package",
    "release",
    "repository",
    "repository_dispatch",
    "star",
    "status",
    "watch",
    "workflow_dispatch",
    "workflow_job",
    "workflow_run",
];

/// The names of the common events of GitLab.
///
/// Source: <https://docs.gitlab.com/user/project/integrations/webhook_events/>
const GITLAB: [&str; 12] = [
    "Confidential Issue Hook",
    "Deployment Hook",
    "Issue Hook",
    "Job Hook",
    "Member Hook",
    "Merge Request Hook",
    "Note Hook",
    "Pipeline Hook",
    "Push Hook",
    "Release Hook",
    "Tag Push Hook",
    "Wiki Page Hook",
];

/// The names of the common events of Bitbucket Server.
///
/// Source: <https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html>
const BITBUCKET: [&str; 6] =
    ["diagnostics:ping", "pr:merged", "pr:opened", "project:modified", "repo:modified", "repo:refs_changed"];

/// The result of the check of an event's name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The sender may use the name.
    MayCome,
    /// The sender does not use the name, but uses this similar name.
    Meant(&'static str),
    /// The sender does not use the name. The text is an example of a valid name.
    Foreign(&'static str),
}

/// Returns whether a sender sends an event only to test the webhook.
pub(super) fn is_test(event: &str) -> bool {
    ["ping", "diagnostics:ping"].iter().any(|test| test.eq_ignore_ascii_case(event))
}

/// Returns whether a Receiver of a type ignores the names of events.
pub(super) fn ignores_events(sender: &str) -> bool {
    let all = ["generic", "generic-hmac", "generic-oidc", "harbor", "dockerhub", "quay", "gcr", "nexus", "acr"];
    all.contains(&sender)
}

/// Compares an event of a Receiver with the events of its sender.
///
/// Senders add new events, so an unknown name may be valid. A name is wrong if its form is wrong, or if it is a
/// misspelling of a known name.
///
/// Source: notification-controller ignores the case of the names.
pub(crate) fn judge(sender: &str, event: &str) -> Event {
    let lower = event.to_ascii_lowercase();
    let (known, fits): (&[&'static str], bool) = match sender {
        "github" => {
            let is_plain = lower.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'0'..=b'9'));
            (&GITHUB, is_plain && !lower.ends_with("_hook"))
        }
        "gitlab" => (&GITLAB, lower.ends_with(" hook")),
        "bitbucket" => (&BITBUCKET, lower.contains(':')),
        // The sender of a CDEvent sets its type, and the forms of the types differ between versions.
        _ => return Event::MayCome,
    };
    if known.iter().any(|known| known.eq_ignore_ascii_case(event)) {
        return Event::MayCome;
    }
    let similar =
        || did_you_mean(&lower, known.iter().copied()).and_then(|meant| known.iter().find(|one| **one == meant));
    if fits {
        // A difference of one letter is a typo. Any other name may be a new event.
        let near = similar().filter(|meant| meant.len().abs_diff(event.len()) <= 1 && event.len() > 3);
        return near.map_or(Event::MayCome, |meant| Event::Meant(meant));
    }
    let word = |one: &str| one.to_ascii_lowercase().replace([' ', ':', '_', '-'], "").replace("hook", "");
    // The documentation of GitHub names an event with its action, such as `registry_package.published`.
    let without_action = event.split('.').next().filter(|_| sender == "github").unwrap_or(event);
    let same = known.iter().find(|one| word(one) == word(without_action));
    match (same, sender) {
        (Some(meant), _) => Event::Meant(meant),
        (None, "github") => Event::Foreign("push"),
        (None, "gitlab") => Event::Foreign("Push Hook"),
        (None, _) => Event::Foreign("repo:refs_changed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_events_must_have_the_form_of_the_sender() {
        assert_eq!(judge("github", "Push"), Event::MayCome);
        assert_eq!(judge("github", "something_new"), Event::MayCome);
        assert_eq!(judge("github", "Push Hook"), Event::Meant("push"));
        assert_eq!(judge("github", "pusch"), Event::Meant("push"));
        assert_eq!(judge("github", "registry_package.published"), Event::Meant("registry_package"));
        assert_eq!(judge("github", "made.up"), Event::Foreign("push"));
        assert_eq!(judge("gitlab", "push"), Event::Meant("Push Hook"));
        assert_eq!(judge("gitlab", "tag_push"), Event::Meant("Tag Push Hook"));
        assert_eq!(judge("gitlab", "Emoji Hook"), Event::MayCome);
        assert_eq!(judge("bitbucket", "push"), Event::Foreign("repo:refs_changed"));
        assert_eq!(judge("bitbucket", "pr:deleted"), Event::MayCome);
        assert_eq!(judge("cdevents", "cd.change.merged.v1"), Event::MayCome);
    }
}
