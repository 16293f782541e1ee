//! The events that webhooks of a type send, as far as Flux compares them with those that a Receiver names.

use crate::base::finding::did_you_mean;

/// What GitHub calls its events.
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

/// What GitLab calls those that people mean.
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

/// What Bitbucket Server calls those that people mean.
///
/// Source: <https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html>
const BITBUCKET: [&str; 6] =
    ["diagnostics:ping", "pr:merged", "pr:opened", "project:modified", "repo:modified", "repo:refs_changed"];

/// What can be said of the name of an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// It may be one.
    MayCome,
    /// It is none, and looks like this one.
    Meant(&'static str),
    /// It is none: they look like this one.
    Foreign(&'static str),
}

/// Tells whether a Receiver of a type does not look at the names of events.
pub(super) fn ignores_events(sender: &str) -> bool {
    let all = ["generic", "generic-hmac", "generic-oidc", "harbor", "dockerhub", "quay", "gcr", "nexus", "acr"];
    all.contains(&sender)
}

/// Judges an event of a Receiver of a type. New ones come up, so that only what no event of that sender looks like is none.
///
/// Source: notification-controller compares them whatever their case.
pub(crate) fn judge(sender: &str, event: &str) -> Event {
    let lower = event.to_ascii_lowercase();
    let (known, fits): (&[&'static str], bool) = match sender {
        "github" => {
            let is_plain = lower.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'0'..=b'9'));
            (&GITHUB, is_plain && !lower.ends_with("_hook"))
        }
        "gitlab" => (&GITLAB, lower.ends_with(" hook")),
        "bitbucket" => (&BITBUCKET, lower.contains(':')),
        "cdevents" => (&[], lower.starts_with("dev.cdevents.")),
        _ => return Event::MayCome,
    };
    if known.iter().any(|known| known.eq_ignore_ascii_case(event)) {
        return Event::MayCome;
    }
    let slip = || did_you_mean(&lower, known.iter().copied()).and_then(|meant| known.iter().find(|one| **one == meant));
    if fits {
        // One letter off is a slip; anything else may be new.
        let near = slip().filter(|meant| meant.len().abs_diff(event.len()) <= 1 && event.len() > 3);
        return near.map_or(Event::MayCome, |meant| Event::Meant(meant));
    }
    let word = |one: &str| one.to_ascii_lowercase().replace([' ', ':', '_', '-'], "").replace("hook", "");
    let same = known.iter().find(|one| word(one) == word(event));
    match (same, sender) {
        (Some(meant), _) => Event::Meant(meant),
        (None, "github") => Event::Foreign("push"),
        (None, "gitlab") => Event::Foreign("Push Hook"),
        (None, "bitbucket") => Event::Foreign("repo:refs_changed"),
        (None, _) => Event::Foreign("dev.cdevents.change.merged.0.2.0"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_told_by_how_a_sender_calls_them() {
        assert_eq!(judge("github", "Push"), Event::MayCome);
        assert_eq!(judge("github", "something_new"), Event::MayCome);
        assert_eq!(judge("github", "Push Hook"), Event::Meant("push"));
        assert_eq!(judge("github", "pusch"), Event::Meant("push"));
        assert_eq!(judge("gitlab", "push"), Event::Meant("Push Hook"));
        assert_eq!(judge("gitlab", "tag_push"), Event::Meant("Tag Push Hook"));
        assert_eq!(judge("gitlab", "Emoji Hook"), Event::MayCome);
        assert_eq!(judge("bitbucket", "push"), Event::Foreign("repo:refs_changed"));
        assert_eq!(judge("bitbucket", "pr:deleted"), Event::MayCome);
        assert_eq!(judge("cdevents", "push"), Event::Foreign("dev.cdevents.change.merged.0.2.0"));
    }
}
