//! The JSON document of the rights of accounts.

use schemars::JsonSchema;
use serde::Serialize;

/// The version of the document format; an incompatible change increments it.
pub(super) const VERSION: u32 = 1;

/// The output of `fleetwright access --format json`.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Rights of accounts", deny_unknown_fields)]
pub(super) struct Document {
    /// The version of the document format.
    #[schemars(range(min = 1, max = 1))]
    pub(super) version: u32,
    /// The rights; clusters with equal rights share one entry.
    pub(super) access: Vec<Entry>,
}

/// The accounts of a tenant or a namespace.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Access", deny_unknown_fields)]
pub(super) struct Entry {
    /// The clusters; empty in a repository without a root.
    pub(super) clusters: Vec<String>,
    /// The tenant; null for a namespace without a tenant.
    pub(super) tenant: Option<String>,
    /// The namespaces of the accounts.
    pub(super) namespaces: Vec<String>,
    /// The accounts.
    pub(super) accounts: Vec<Account>,
    /// Chains by which the tenant gains rights outside its namespaces.
    pub(super) escapes: Vec<Chain>,
    /// Descriptions of unknown objects that may grant these accounts more rights.
    pub(super) cannot_be_checked: Vec<String>,
}

/// A service account and its rights.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Account", deny_unknown_fields)]
pub(super) struct Account {
    /// The namespace of the account.
    pub(super) namespace: String,
    /// The name of the account.
    pub(super) name: String,
    /// The rights that bindings grant.
    pub(super) grants: Vec<JsonGiven>,
    /// The other accounts and users that the account may act as.
    pub(super) may_act_as: Vec<Way>,
}

/// The rights that a binding grants.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Given", deny_unknown_fields)]
pub(super) struct JsonGiven {
    /// The namespace of the rights; null for the whole cluster.
    pub(super) namespace: Option<String>,
    /// The subject of the binding that matches the account.
    pub(super) subject: JsonSubject,
    /// The binding.
    pub(super) binding: JsonObject,
    /// The role; `place` is null if the role is not defined here.
    pub(super) role: JsonObject,
    /// The rules of the role.
    pub(super) rules: Vec<JsonRow>,
}

/// The permitted verbs on resources or on paths.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Allowed", deny_unknown_fields)]
pub(super) struct JsonRow {
    /// The API group; empty for the core group, null for paths.
    pub(super) api_group: Option<String>,
    /// The resources; empty for paths.
    pub(super) resources: Vec<String>,
    /// The names of the objects; empty for all objects.
    pub(super) resource_names: Vec<String>,
    /// The non-resource paths; empty for resources.
    #[serde(rename = "nonResourceURLs")]
    pub(super) non_resource_urls: Vec<String>,
    /// The verbs.
    pub(super) verbs: Vec<String>,
}

/// A subject of a binding.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Subject", deny_unknown_fields)]
pub(super) struct JsonSubject {
    /// `ServiceAccount`, `User` or `Group`.
    pub(super) kind: &'static str,
    /// The namespace of a service account; null for other kinds.
    pub(super) namespace: Option<String>,
    /// The name.
    pub(super) name: String,
}

/// A role, a binding or a policy with its position.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Thing", deny_unknown_fields)]
pub(super) struct JsonObject {
    /// The kind of the object.
    pub(super) kind: String,
    /// The namespace; null if the object has none.
    pub(super) namespace: Option<String>,
    /// The name of the object.
    pub(super) name: String,
    /// The position of the object; null if it is not defined here.
    pub(super) place: Option<JsonPlace>,
}

/// The position of an object.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Place", deny_unknown_fields)]
pub(super) struct JsonPlace {
    /// The program that ships the object; null if a file defines it.
    pub(super) shipped_by: Option<String>,
    /// The directory of another repository that `path` is relative to; null for the input directory.
    pub(super) root: Option<String>,
    /// The path of the file relative to `root` or to the input directory; null for a shipped object.
    pub(super) path: Option<String>,
    /// The line, from 1; null for a shipped object.
    #[schemars(range(min = 1))]
    pub(super) line: Option<u32>,
}

/// A way to act as another account or user.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Way", deny_unknown_fields)]
pub(super) struct Way {
    /// The other account or user.
    pub(super) actor: JsonActor,
    /// The means.
    pub(super) means: JsonMeans,
    /// The kind of the object; null for means without an object.
    pub(super) object_kind: Option<&'static str>,
    /// A description of the means.
    pub(super) description: String,
    /// The grants that permit the means.
    pub(super) allowed_by: Vec<JsonGrant>,
    /// A policy that may deny the means; null if there is none.
    pub(super) forbidden_by: Option<JsonObject>,
}

/// An account, a set of accounts, or a user that another account may act as.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Actor", deny_unknown_fields)]
pub(super) struct JsonActor {
    /// The kind of the actor.
    pub(super) kind: ActorKind,
    /// The namespace; null if there is none.
    pub(super) namespace: Option<String>,
    /// The name of an account; null for other kinds.
    pub(super) name: Option<String>,
}

/// The kind of an actor.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum ActorKind {
    /// One account.
    Account,
    /// Every account of the namespace.
    AccountsOfNamespace,
    /// Every account of the cluster.
    AllAccounts,
    /// Every account of this name, in any namespace.
    AccountsNamed,
    /// One user that is not a service account.
    User,
    /// One group.
    Group,
    /// All users and groups.
    #[serde(rename = "anybody")]
    AnyUser,
    /// All groups.
    AnyGroup,
    /// The account itself with all rights in the namespace, or in the whole cluster if `namespace` is null.
    Raised,
    /// The account itself, as a reader of the Secrets of the namespace, or of every namespace if `namespace` is null.
    SecretReader,
}

/// The means of acting as another account or user.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Means")]
pub(super) enum JsonMeans {
    /// An object that references the account, which Flux then impersonates.
    FluxNamed,
    /// An object without a service account, whose objects Flux applies with its own rights.
    FluxUnnamed,
    /// A workload that runs as the account.
    Workload,
    /// The verb `impersonate`.
    Impersonation,
    /// A token of the account.
    Token,
    /// A Secret that Kubernetes fills with a token of the account.
    TokenSecret,
    /// The verb `bind`.
    Bind,
    /// The verb `escalate`.
    Escalate,
    /// A command in a pod of the account.
    Command,
    /// The verbs that read Secrets.
    Secrets,
    /// A change of a source or of a FluxInstance, whose content Flux applies as the account.
    Content,
    /// A client certificate that the account may request and approve.
    Certificate,
}

/// A binding, its role and the matching rule.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Grant", deny_unknown_fields)]
pub(super) struct JsonGrant {
    /// The binding.
    pub(super) binding: JsonObject,
    /// The role of the binding.
    pub(super) role: JsonObject,
    /// The role that contains the matching rule: `role`, or a role that it aggregates.
    pub(super) rule: JsonObject,
}

/// A chain that leads out of a tenant's namespaces.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Escape", deny_unknown_fields)]
pub(super) struct Chain {
    /// The steps; each starts at the account of the step before.
    pub(super) steps: Vec<JsonStep>,
    /// A description of the rights at the end of the chain.
    pub(super) reach: String,
    /// The bindings that grant these rights; empty if the chain ends with all rights.
    pub(super) bindings: Vec<JsonObject>,
    /// `true` if a policy may deny one of the steps.
    pub(super) may_be_forbidden: bool,
}

/// A step of a chain.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Step", deny_unknown_fields)]
pub(super) struct JsonStep {
    /// The account at the start of the step.
    pub(super) who: JsonActor,
    /// The account that it acts as, and the means.
    pub(super) way: Way,
}
