//! The form of accesses for programs.

use schemars::JsonSchema;
use serde::Serialize;

/// The version of the document's shape; a change that a reader could trip over raises it.
pub(super) const VERSION: u32 = 1;

/// What `fleetwright access --format json` writes.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Who may do what", deny_unknown_fields)]
pub(super) struct Document {
    /// The version of this document's shape.
    #[schemars(range(min = 1, max = 1))]
    pub(super) version: u32,
    /// One entry for the clusters on which the accounts may do the same.
    pub(super) access: Vec<Entry>,
}

/// The accounts of a tenant or a namespace.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Access", deny_unknown_fields)]
pub(super) struct Entry {
    /// The clusters; empty in a repository without a root.
    pub(super) clusters: Vec<String>,
    /// The tenant; null where a namespace was asked for that is nobody's.
    pub(super) tenant: Option<String>,
    /// The namespaces whose accounts these are.
    pub(super) namespaces: Vec<String>,
    /// The accounts.
    pub(super) accounts: Vec<Account>,
    /// Chains by which the tenant comes to rights outside its namespaces.
    pub(super) escapes: Vec<Chain>,
    /// What is not seen and may give these accounts more, in words.
    pub(super) cannot_be_checked: Vec<String>,
}

/// A service account and what it may do.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Account", deny_unknown_fields)]
pub(super) struct Account {
    /// Its namespace.
    pub(super) namespace: String,
    /// Its name.
    pub(super) name: String,
    /// What bindings give it.
    pub(super) grants: Vec<JsonGiven>,
    /// As whom it may act.
    pub(super) may_act_as: Vec<Way>,
}

/// What a binding gives.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Given", deny_unknown_fields)]
pub(super) struct JsonGiven {
    /// The namespace in which it gives rights; null for the whole cluster.
    pub(super) namespace: Option<String>,
    /// The binding's subject that the account is, or is in.
    pub(super) subject: JsonSubject,
    /// The binding.
    pub(super) binding: Thing,
    /// The role; its place is null when nothing here brings it.
    pub(super) role: Thing,
    /// What the role allows.
    pub(super) rules: Vec<JsonRow>,
}

/// What may be done with some resources, or some paths.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Allowed", deny_unknown_fields)]
pub(super) struct JsonRow {
    /// The API group, empty for the core group; null for paths.
    pub(super) api_group: Option<String>,
    /// The resources; empty for paths.
    pub(super) resources: Vec<String>,
    /// The names of the objects; empty for any.
    pub(super) resource_names: Vec<String>,
    /// The paths that are no resources; empty for resources.
    #[serde(rename = "nonResourceURLs")]
    pub(super) non_resource_urls: Vec<String>,
    /// The verbs.
    pub(super) verbs: Vec<String>,
}

/// Whom a binding names.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Subject", deny_unknown_fields)]
pub(super) struct JsonSubject {
    /// `ServiceAccount`, `User` or `Group`.
    pub(super) kind: &'static str,
    /// The namespace of an account; null for others.
    pub(super) namespace: Option<String>,
    /// The name.
    pub(super) name: String,
}

/// A role, a binding or a policy, and where it stands.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Thing", deny_unknown_fields)]
pub(super) struct Thing {
    /// Its kind.
    pub(super) kind: String,
    /// Its namespace; null for objects without one.
    pub(super) namespace: Option<String>,
    /// Its name.
    pub(super) name: String,
    /// Where it stands; null for one that nothing here brings.
    pub(super) place: Option<JsonPlace>,
}

/// Where something stands.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Place", deny_unknown_fields)]
pub(super) struct JsonPlace {
    /// The program that brings it, when no file does; null otherwise.
    pub(super) shipped_by: Option<String>,
    /// The folder of another repository that `path` starts in; null for the folder that was read.
    pub(super) root: Option<String>,
    /// The file, relative to the folder that was read or to `root`; null for what is shipped.
    pub(super) path: Option<String>,
    /// The line, from 1; null for what is shipped.
    #[schemars(range(min = 1))]
    pub(super) line: Option<u32>,
}

/// A way to act as somebody else.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Way", deny_unknown_fields)]
pub(super) struct Way {
    /// As whom.
    pub(super) actor: JsonActor,
    /// By what.
    pub(super) means: JsonMeans,
    /// The kind of the object that does it; null for means without one.
    pub(super) object_kind: Option<&'static str>,
    /// The same in words.
    pub(super) description: String,
    /// What allows it.
    pub(super) allowed_by: Vec<JsonGrant>,
    /// A policy that may forbid it; null when none is seen.
    pub(super) forbidden_by: Option<Thing>,
}

/// As whom somebody may act.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Actor", deny_unknown_fields)]
pub(super) struct JsonActor {
    /// What it is.
    pub(super) kind: ActorKind,
    /// The namespace; null where there is none.
    pub(super) namespace: Option<String>,
    /// The name of an account; null for others.
    pub(super) name: Option<String>,
}

/// Kinds of actors.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum ActorKind {
    /// One account.
    Account,
    /// Every account of the namespace.
    AccountsOfNamespace,
    /// Every account of the cluster.
    AllAccounts,
    /// All users and groups.
    Anybody,
    /// The account itself, with any rights in the namespace, or without one in the whole cluster.
    Raised,
}

/// Means to act as somebody else.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Means")]
pub(super) enum JsonMeans {
    /// An object that names the account, which Flux then acts as.
    FluxNamed,
    /// An object that names no account: Flux acts as itself.
    FluxUnnamed,
    /// A workload that runs as the account.
    Workload,
    /// The verb `impersonate`.
    Impersonation,
    /// A token of the account.
    Token,
    /// A Secret in which Kubernetes puts a token of the account.
    TokenSecret,
    /// The verb `bind`.
    Bind,
    /// The verb `escalate`.
    Escalate,
}

/// A binding, and the role whose rule allows.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Grant", deny_unknown_fields)]
pub(super) struct JsonGrant {
    /// The binding.
    pub(super) binding: Thing,
    /// The role that it gives.
    pub(super) role: Thing,
    /// The rule that allows, in that role or in one that it gathers.
    pub(super) rule: Thing,
}

/// A chain that leads out of a tenant's namespaces.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Escape", deny_unknown_fields)]
pub(super) struct Chain {
    /// The steps, each from the account that the one before led to.
    pub(super) steps: Vec<JsonStep>,
    /// What it leads to, in words.
    pub(super) reach: String,
    /// The bindings that give it; empty where it is everything.
    pub(super) bindings: Vec<Thing>,
    /// Whether a policy may forbid one of the steps.
    pub(super) may_be_forbidden: bool,
}

/// A step of a chain.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Step", deny_unknown_fields)]
pub(super) struct JsonStep {
    /// The account that takes it.
    pub(super) who: JsonActor,
    /// As whom it acts then, and by what.
    pub(super) way: Way,
}
