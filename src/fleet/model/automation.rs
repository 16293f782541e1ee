//! Image automation, notifications and webhooks of a tenant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fleet::scalar::{DnsLabel, Duration, RepoPath};

/// The image automation of a tenant. It updates image tags in a source of the tenant.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageAutomation {
    /// Whether image automation is enabled for the tenant. Defaults to `true` if `author` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = false)]
    pub enabled: Option<bool>,
    /// The name of the generated objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"flux-apps")]
    pub name: Option<DnsLabel>,
    /// The name of the tenant's source that image automation updates. Defaults to the tenant's first source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"manifests")]
    pub source: Option<DnsLabel>,
    /// The author of the commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"name": "fleet-bot", "email": "fleet-bot@example.com"}))]
    pub author: Option<Author>,
    /// The branch that Flux checks out. Flux also pushes to it unless `pushBranch` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"main")]
    pub branch: Option<String>,
    /// The branch that Flux pushes to. Defaults to `branch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"image-updates")]
    pub push_branch: Option<String>,
    /// The Go template of the commit message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"update images")]
    pub commit_template: Option<String>,
    /// The directory of the source that contains the manifests to update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"components")]
    pub path: Option<RepoPath>,
    /// The directory of the source that contains the image policies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"update")]
    pub policies_path: Option<RepoPath>,
    /// The interval at which image automation runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"30m")]
    pub interval: Option<Duration>,
    /// The interval at which Flux checks the source for updates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"10m")]
    pub source_interval: Option<Duration>,
    /// The timeout of the Kustomization that applies the image policies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"5m")]
    pub timeout: Option<Duration>,
}

/// The author of the commits of image automation.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Author {
    /// The name of the author.
    #[schemars(example = &"fleet-bot")]
    pub name: String,
    /// The email address of the author.
    #[schemars(example = &"fleet-bot@example.com")]
    pub email: String,
}

/// A notification channel: a Provider and an Alert.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Alert {
    /// The name of the Provider and of the Alert.
    #[schemars(example = &"slack")]
    pub name: DnsLabel,
    /// The type of the Provider, for example `slack`.
    #[serde(rename = "type")]
    #[schemars(example = &"slack")]
    pub kind: AlertKind,
    /// The address that the Provider sends to. Optional if the Secret contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"https://hooks.example.com/flux")]
    pub address: Option<String>,
    /// The channel that the Provider posts to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"apps")]
    pub channel: Option<String>,
    /// The name of the Secret with the token or the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"slack-url")]
    pub secret: Option<DnsLabel>,
    /// The minimum severity of the events to send: `info` or `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"error")]
    pub severity: Option<AlertSeverity>,
}

/// The severity of an Alert.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names describe the values")]
pub enum AlertSeverity {
    Info,
    Error,
}

/// A webhook that triggers the reconciliation of the tenant's sources.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Receiver {
    /// The name of the Receiver.
    #[schemars(example = &"github")]
    pub name: DnsLabel,
    /// The type of the Receiver, for example `github`.
    #[serde(rename = "type")]
    #[schemars(example = &"github")]
    pub kind: ReceiverKind,
    /// The events that trigger a reconciliation. Defaults to all events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!(["ping", "push"]))]
    pub events: Option<Vec<String>>,
    /// The name of the Secret with the token.
    #[schemars(example = &"webhook-token")]
    pub secret: DnsLabel,
}

/// The type of a Provider.
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

/// The type of a Receiver. `generic-oidc` needs no Secret; define such a Receiver in `objects`.
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
