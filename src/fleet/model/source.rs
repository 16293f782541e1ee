//! Sources: Git repositories and OCI artifacts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fleet::scalar::{DnsLabel, Duration, Raw, Text, VersionRange};

/// A source of manifests: a Git repository or an OCI artifact.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The name of the source. The first source of a tenant has a default name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"apps")]
    pub name: Option<DnsLabel>,
    /// The URL of the source: `https://…`, `ssh://…` or `oci://…`. The scheme selects GitRepository or OCIRepository. Required unless the layout derives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "source-url"))]
    #[schemars(example = &"https://github.com/acme/apps.git")]
    pub url: Option<String>,
    /// The name of a repository of the fleet, instead of `url`: an entry of `repositories`, or `fleet` for the repository of fleet.yaml. The source inherits its `url`, `branch`, `secret`, `provider` and `interval`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"fleet")]
    pub repository: Option<DnsLabel>,
    /// The revision to fetch. For a Git repository, defaults to the cluster's `sourceBranch`.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"branch": "main"}))]
    pub reference: Option<SourceRef>,
    /// The name of the Secret with the credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"flux-apps")]
    pub secret: Option<DnsLabel>,
    /// The interval at which Flux checks for updates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"5m")]
    pub interval: Option<Duration>,
    /// The timeout of fetch operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"60s")]
    pub timeout: Option<Duration>,
    /// The authentication provider: `generic` for a Secret, or the cloud provider of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"github")]
    pub provider: Option<Provider>,
    /// The verification of the source's signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"mode": "HEAD", "secret": "pgp-keys"}))]
    pub verify: Option<Verify>,
    /// The files to exclude, in the `.gitignore` pattern format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"*.md\ndocs/\n")]
    pub ignore: Option<String>,
    /// The overrides by environment. Use them to promote a version from one environment to the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"production": {"ref": {"semver": "1.x"}}}))]
    pub environments: Option<BTreeMap<DnsLabel, SourceOverride>>,
    /// Free settings for the templates of the layout. They merge key by key. The layout can define their schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"deployKey": true}))]
    pub values: Option<Raw>,
}

/// The overrides of a source for an environment.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceOverride {
    /// The revision to fetch in the environment.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"tag": "v1.4.0"}))]
    pub reference: Option<SourceRef>,
    /// The verification of the signature in the environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"provider": "cosign"}))]
    pub verify: Option<Verify>,
}

/// A revision of a source. Set exactly one field.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceRef {
    /// The Git branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"main")]
    pub branch: Option<Text>,
    /// The Git tag or OCI tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"v1.4.0")]
    pub tag: Option<Text>,
    /// The range of versions, as SemVer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &">=1.4.0 <2.0.0")]
    #[schemars(with = "Option<VersionRange>")]
    pub semver: Option<Text>,
    /// The Git commit SHA.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"363a6a8fe6a7f13e05d34c163b0ef02a777da20a")]
    pub commit: Option<Text>,
    /// The OCI digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")]
    pub digest: Option<Text>,
}

/// The verification of a source's signature.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verify {
    /// The tool that signed the OCI artifact: `cosign` or `notation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"cosign")]
    pub provider: Option<Signer>,
    /// The Git objects to verify: `HEAD`, `Tag` or `TagAndHEAD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"HEAD")]
    pub mode: Option<SignedPart>,
    /// The name of the Secret with the public keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"cosign-keys")]
    pub secret: Option<DnsLabel>,
    /// The regular expression that matches the OIDC issuer of the signer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"^https://token\\.actions\\.githubusercontent\\.com$")]
    pub issuer: Option<String>,
    /// The regular expression that matches the OIDC subject of the signer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"^https://github.com/acme/.*$")]
    pub subject: Option<String>,
}

/// The provider that authenticates Flux to a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are Flux's")]
pub enum Provider {
    Generic,
    Aws,
    Azure,
    Gcp,
    Github,
}

/// The tool that signs OCI artifacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are Flux's")]
pub enum Signer {
    Cosign,
    Notation,
}

/// The Git objects to verify.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are Flux's")]
pub enum SignedPart {
    #[serde(rename = "HEAD")]
    Head,
    Tag,
    #[serde(rename = "TagAndHEAD")]
    TagAndHead,
}
