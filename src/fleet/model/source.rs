//! Sources: Git repositories and OCI artifacts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fleet::scalar::{DnsLabel, Duration, Text};

/// A source of manifests: a Git repository or an OCI artifact.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The object's name; the first source of a tenant is named after it when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"apps")]
    pub name: Option<DnsLabel>,
    /// Its URL: `https://…`, `ssh://…` or `oci://…`, which decides between GitRepository and OCIRepository.
    #[schemars(extend("format" = "source-url"))]
    #[schemars(example = &"https://github.com/acme/apps.git")]
    pub url: String,
    /// Which revision; the cluster's `sourceBranch` when nothing is said of a Git repository.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"branch": "main"}))]
    pub reference: Option<SourceRef>,
    /// The Secret with the credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"flux-apps")]
    pub secret: Option<DnsLabel>,
    /// How often Flux looks for a new revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"5m")]
    pub interval: Option<Duration>,
    /// How long fetching may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"60s")]
    pub timeout: Option<Duration>,
    /// Who proves who we are: `generic` with a Secret, or the cloud that Flux runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"github")]
    pub provider: Option<Provider>,
    /// Who must have signed what is fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"mode": "HEAD", "secret": "pgp-keys"}))]
    pub verify: Option<Verify>,
    /// Files to leave out, in the format of .gitignore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"*.md\ndocs/\n")]
    pub ignore: Option<String>,
    /// What differs by environment: that is how a version is promoted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"production": {"ref": {"semver": "1.x"}}}))]
    pub environments: Option<BTreeMap<DnsLabel, SourceOverride>>,
}

/// What an environment changes of a source.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceOverride {
    /// Which revision runs there.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"tag": "v1.4.0"}))]
    pub reference: Option<SourceRef>,
    /// Who must have signed what is fetched there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"provider": "cosign"}))]
    pub verify: Option<Verify>,
}

/// A revision of a source: exactly one field.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceRef {
    /// A Git branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"main")]
    pub branch: Option<Text>,
    /// A Git or OCI tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"v1.4.0")]
    pub tag: Option<Text>,
    /// A range of versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &">=1.4.0 <2.0.0")]
    pub semver: Option<Text>,
    /// A Git commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"363a6a8fe6a7f13e05d34c163b0ef02a777da20a")]
    pub commit: Option<Text>,
    /// An OCI digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")]
    pub digest: Option<Text>,
}

/// A signature that a source must carry.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verify {
    /// `cosign` or `notation` for OCI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"cosign")]
    pub provider: Option<Signer>,
    /// What of a Git repository must be signed: `HEAD`, `Tag` or `TagAndHEAD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"HEAD")]
    pub mode: Option<SignedPart>,
    /// The Secret with the public keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"cosign-keys")]
    pub secret: Option<DnsLabel>,
    /// The OIDC identity of the signer: a regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"^https://token\\.actions\\.githubusercontent\\.com$")]
    pub issuer: Option<String>,
    /// The OIDC subject of the signer: a regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"^https://github.com/acme/.*$")]
    pub subject: Option<String>,
}

/// Who authenticates Flux at a source.
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

/// What of a Git repository is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are Flux's")]
pub enum SignedPart {
    #[serde(rename = "HEAD")]
    Head,
    Tag,
    #[serde(rename = "TagAndHEAD")]
    TagAndHead,
}
