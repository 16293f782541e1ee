//! Image automation, notifications and webhooks of a tenant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fleet::scalar::{DnsLabel, Duration, RepoPath};

/// Image automation of a tenant's source.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageAutomation {
    /// Whether the tenant has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = false)]
    pub enabled: Option<bool>,
    /// The name of its objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"flux-apps")]
    pub name: Option<DnsLabel>,
    /// Who commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"name": "fleet-bot", "email": "fleet-bot@example.com"}))]
    pub author: Option<Author>,
    /// The branch that is checked out and pushed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"image-updates")]
    pub branch: Option<String>,
    /// The Go template of the commit message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"update images")]
    pub commit_template: Option<String>,
    /// The folder of the source that it updates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"components")]
    pub path: Option<RepoPath>,
    /// The folder of the source with the image policies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"update")]
    pub policies_path: Option<RepoPath>,
    /// How often it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"30m")]
    pub interval: Option<Duration>,
    /// How often its source is polled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"10m")]
    pub source_interval: Option<Duration>,
}

/// Who commits.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Author {
    /// The name.
    #[schemars(example = &"fleet-bot")]
    pub name: String,
    /// The e-mail address.
    #[schemars(example = &"fleet-bot@example.com")]
    pub email: String,
}

/// Notifications: a Provider and an Alert.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Alert {
    /// The name of both objects.
    #[schemars(example = &"slack")]
    pub name: DnsLabel,
    /// The type of the Provider, for example `slack`.
    #[serde(rename = "type")]
    #[schemars(example = &"slack")]
    pub kind: AlertKind,
    /// Where it sends to, where the Secret does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"https://hooks.example.com/flux")]
    pub address: Option<String>,
    /// The channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"apps")]
    pub channel: Option<String>,
    /// The Secret with its token or address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"slack-url")]
    pub secret: Option<DnsLabel>,
    /// From which severity on: `info` or `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"error")]
    pub severity: Option<AlertSeverity>,
}

/// The severity of an Alert.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum AlertSeverity {
    Info,
    Error,
}

/// A webhook that makes the tenant's sources reconcile at once.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Receiver {
    /// The name of the Receiver.
    #[schemars(example = &"github")]
    pub name: DnsLabel,
    /// Its type, for example `github`.
    #[serde(rename = "type")]
    #[schemars(example = &"github")]
    pub kind: ReceiverKind,
    /// The events that count; all when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!(["ping", "push"]))]
    pub events: Option<Vec<String>>,
    /// The Secret with its token.
    #[schemars(example = &"webhook-token")]
    pub secret: DnsLabel,
}

/// What notifications are sent to, as a Provider names it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are Flux's")]
pub enum AlertKind {
    Slack,
    Discord,
    MsTeams,
    Rocket,
    Generic,
    #[serde(rename = "generic-hmac")]
    GenericHmac,
    Github,
    Gitlab,
    Gitea,
    GiteaPullRequestComment,
    BitbucketServer,
    Bitbucket,
    AzureDevOps,
    GoogleChat,
    GooglePubSub,
    Webex,
    Sentry,
    AzureEventHub,
    Telegram,
    Lark,
    Matrix,
    Opsgenie,
    Alertmanager,
    Grafana,
    GithubDispatch,
    GithubPullRequestComment,
    GitlabMergeRequestComment,
    PagerDuty,
    Datadog,
    Nats,
    Zulip,
    Otel,
    Zoom,
    #[serde(rename = "incident.io")]
    IncidentIo,
}

/// Who calls a webhook, as a Receiver names it; `generic-oidc` has no Secret and is left to raw objects.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are Flux's")]
pub enum ReceiverKind {
    Generic,
    #[serde(rename = "generic-hmac")]
    GenericHmac,
    Github,
    Gitlab,
    Bitbucket,
    Harbor,
    DockerHub,
    Quay,
    Gcr,
    Nexus,
    Acr,
    Cdevents,
}
