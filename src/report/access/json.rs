//! Accesses for programs.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::{AccessOf, means};
use crate::rbac::{self, Actor, Become, Binding, Escape, Given, Grant, Means, Reach, Role, Row, Subject};
use crate::report::provenance::schema_of;
use crate::text::Span;
use crate::yaml::Name;

/// The version of the document's shape; a change that a reader could trip over raises it.
const VERSION: u32 = 1;

/// What `fleetwright access --format json` writes.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Who may do what", deny_unknown_fields)]
struct Document {
    /// The version of this document's shape.
    #[schemars(range(min = 1, max = 1))]
    version: u32,
    /// One entry for the clusters on which the accounts may do the same.
    access: Vec<Entry>,
}

/// The accounts of a tenant or a namespace.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Access", deny_unknown_fields)]
struct Entry {
    /// The clusters; empty in a repository without a root.
    clusters: Vec<String>,
    /// The tenant; null where a namespace was asked for that is nobody's.
    tenant: Option<String>,
    /// The namespaces whose accounts these are.
    namespaces: Vec<String>,
    /// The accounts.
    accounts: Vec<Account>,
    /// Chains by which the tenant comes to rights outside its namespaces.
    escapes: Vec<Chain>,
    /// What is not seen and may give these accounts more, in words.
    cannot_be_checked: Vec<String>,
}

/// A service account and what it may do.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Account", deny_unknown_fields)]
struct Account {
    /// Its namespace.
    namespace: String,
    /// Its name.
    name: String,
    /// What bindings give it.
    grants: Vec<JsonGiven>,
    /// As whom it may act.
    may_act_as: Vec<Way>,
}

/// What a binding gives.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Given", deny_unknown_fields)]
struct JsonGiven {
    /// The namespace in which it gives rights; null for the whole cluster.
    namespace: Option<String>,
    /// The binding's subject that the account is, or is in.
    subject: JsonSubject,
    /// The binding.
    binding: Thing,
    /// The role; its place is null when nothing here brings it.
    role: Thing,
    /// What the role allows.
    rules: Vec<JsonRow>,
}

/// What may be done with some resources, or some paths.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Allowed", deny_unknown_fields)]
struct JsonRow {
    /// The API group, empty for the core group; null for paths.
    api_group: Option<String>,
    /// The resources; empty for paths.
    resources: Vec<String>,
    /// The names of the objects; empty for any.
    resource_names: Vec<String>,
    /// The paths that are no resources; empty for resources.
    #[serde(rename = "nonResourceURLs")]
    non_resource_urls: Vec<String>,
    /// The verbs.
    verbs: Vec<String>,
}

/// Whom a binding names.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Subject", deny_unknown_fields)]
struct JsonSubject {
    /// `ServiceAccount`, `User` or `Group`.
    kind: &'static str,
    /// The namespace of an account; null for others.
    namespace: Option<String>,
    /// The name.
    name: String,
}

/// A role, a binding or a policy, and where it stands.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Thing", deny_unknown_fields)]
struct Thing {
    /// Its kind.
    kind: String,
    /// Its namespace; null for objects without one.
    namespace: Option<String>,
    /// Its name.
    name: String,
    /// Where it stands; null for one that nothing here brings.
    place: Option<JsonPlace>,
}

/// Where something stands.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Place", deny_unknown_fields)]
struct JsonPlace {
    /// The program that brings it, when no file does; null otherwise.
    shipped_by: Option<String>,
    /// The folder of another repository that `path` starts in; null for the folder that was read.
    root: Option<String>,
    /// The file, relative to the folder that was read or to `root`; null for what is shipped.
    path: Option<String>,
    /// The line, from 1; null for what is shipped.
    #[schemars(range(min = 1))]
    line: Option<u32>,
}

/// A way to act as somebody else.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Way", deny_unknown_fields)]
struct Way {
    /// As whom.
    actor: JsonActor,
    /// By what.
    means: JsonMeans,
    /// The kind of the object that does it; null for means without one.
    object_kind: Option<&'static str>,
    /// The same in words.
    description: String,
    /// What allows it.
    allowed_by: Vec<JsonGrant>,
    /// A policy that may forbid it; null when none is seen.
    forbidden_by: Option<Thing>,
}

/// As whom somebody may act.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Actor", deny_unknown_fields)]
struct JsonActor {
    /// What it is.
    kind: ActorKind,
    /// The namespace; null where there is none.
    namespace: Option<String>,
    /// The name of an account; null for others.
    name: Option<String>,
}

/// Kinds of actors.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum ActorKind {
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
enum JsonMeans {
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
struct JsonGrant {
    /// The binding.
    binding: Thing,
    /// The role that it gives.
    role: Thing,
    /// The rule that allows, in that role or in one that it gathers.
    rule: Thing,
}

/// A chain that leads out of a tenant's namespaces.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Escape", deny_unknown_fields)]
struct Chain {
    /// The steps, each from the account that the one before led to.
    steps: Vec<JsonStep>,
    /// What it leads to, in words.
    reach: String,
    /// The bindings that give it; empty where it is everything.
    bindings: Vec<Thing>,
    /// Whether a policy may forbid one of the steps.
    may_be_forbidden: bool,
}

/// A step of a chain.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Step", deny_unknown_fields)]
struct JsonStep {
    /// The account that takes it.
    who: JsonActor,
    /// As whom it acts then, and by what.
    way: Way,
}

pub(super) fn write(all: &[AccessOf<'_>], out: &mut dyn Write) -> io::Result<()> {
    let document = Document { version: VERSION, access: all.iter().map(entry).collect() };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// The JSON Schema of the document.
pub fn schema() -> serde_json::Value {
    schema_of::<Document>()
}

fn entry(one: &AccessOf<'_>) -> Entry {
    let accounts = one.accounts.iter().map(|access| Account {
        namespace: access.account.namespace.to_string(),
        name: access.account.name.to_string(),
        grants: access.given.iter().map(given).collect(),
        may_act_as: access.becomes.iter().map(|way| self::way(way, &way.to)).collect(),
    });
    Entry {
        clusters: one.clusters.iter().filter(|name| !name.is_empty()).map(ToString::to_string).collect(),
        tenant: one.tenant.as_ref().map(ToString::to_string),
        namespaces: texts(&one.namespaces),
        accounts: accounts.collect(),
        escapes: one.escapes.iter().map(chain).collect(),
        cannot_be_checked: one.unseen.clone(),
    }
}

fn given(given: &Given<'_>) -> JsonGiven {
    let binding = given.binding;
    let of_role = if binding.role.is_cluster_role { "" } else { &*binding.namespace };
    let kind = if binding.role.is_cluster_role { "ClusterRole" } else { "Role" };
    let missing =
        || Thing { kind: kind.into(), namespace: some(of_role), name: binding.role.name.to_string(), place: None };
    JsonGiven {
        namespace: some(&binding.namespace),
        subject: subject(&given.subject),
        binding: of_binding(binding),
        role: given.role.map_or_else(missing, of_role_object),
        rules: given.rows.iter().map(row).collect(),
    }
}

fn row(row: &Row) -> JsonRow {
    let is_path = row.group.is_none();
    JsonRow {
        api_group: row.group.as_ref().map(ToString::to_string),
        resources: if is_path { Vec::new() } else { texts(&row.what) },
        resource_names: texts(&row.names),
        non_resource_urls: if is_path { texts(&row.what) } else { Vec::new() },
        verbs: texts(&row.verbs),
    }
}

fn subject(subject: &Subject) -> JsonSubject {
    match (subject, subject.account()) {
        (_, Some(account)) => JsonSubject {
            kind: "ServiceAccount",
            namespace: Some(account.namespace.to_string()),
            name: account.name.to_string(),
        },
        (Subject::User(name), None) => JsonSubject { kind: "User", namespace: None, name: name.to_string() },
        (Subject::Group(name), None) => JsonSubject { kind: "Group", namespace: None, name: name.to_string() },
    }
}

fn way(way: &Become<'_>, to: &Actor) -> Way {
    let (kind, object_kind) = match way.means {
        Means::Named(kind) => (JsonMeans::FluxNamed, Some(kind)),
        Means::Unnamed(kind) => (JsonMeans::FluxUnnamed, Some(kind)),
        Means::Workload(kind) => (JsonMeans::Workload, Some(kind)),
        Means::Impersonation => (JsonMeans::Impersonation, None),
        Means::Token => (JsonMeans::Token, None),
        Means::TokenSecret => (JsonMeans::TokenSecret, None),
        Means::Bind => (JsonMeans::Bind, None),
        Means::Escalate => (JsonMeans::Escalate, None),
    };
    let forbidden_by = way.forbidden_by.map(|policy| Thing {
        kind: policy.reference.kind.to_string(),
        namespace: policy.reference.namespace.as_ref().map(ToString::to_string),
        name: policy.reference.name.to_string(),
        place: Some(written(&policy.place)),
    });
    Way {
        actor: actor(to),
        means: kind,
        object_kind,
        description: means(way.means),
        allowed_by: way.grants.iter().map(grant).collect(),
        forbidden_by,
    }
}

fn actor(actor: &Actor) -> JsonActor {
    let of = |kind, namespace: &str, name: Option<&Name>| JsonActor {
        kind,
        namespace: some(namespace),
        name: name.map(ToString::to_string),
    };
    match actor {
        Actor::Account(account) => of(ActorKind::Account, &account.namespace, Some(&account.name)),
        Actor::AccountsOf(namespace) => of(ActorKind::AccountsOfNamespace, namespace, None),
        Actor::AllAccounts => of(ActorKind::AllAccounts, "", None),
        Actor::Anybody => of(ActorKind::Anybody, "", None),
        Actor::Raised(namespace) => of(ActorKind::Raised, namespace, None),
    }
}

fn grant(grant: &Grant<'_>) -> JsonGrant {
    let mut rule = of_role_object(grant.from);
    if let Some(span) = &grant.rule.place {
        rule.place = Some(written(span));
    }
    JsonGrant { binding: of_binding(grant.binding), role: of_role_object(grant.role), rule }
}

fn chain(escape: &Escape<'_>) -> Chain {
    let steps = escape
        .steps
        .iter()
        .map(|step| JsonStep { who: actor(&Actor::Account(step.who.clone())), way: way(&step.by, &step.to) });
    let bindings = match &escape.reach {
        Reach::Bindings(bindings) => bindings.iter().map(|binding| of_binding(binding)).collect(),
        Reach::Everything | Reach::Namespace(_) => Vec::new(),
    };
    Chain {
        steps: steps.collect(),
        reach: super::reach(&escape.reach),
        bindings,
        may_be_forbidden: escape.forbidden_by().is_some(),
    }
}

fn of_binding(binding: &Binding) -> Thing {
    let (namespace, name) = (some(&binding.namespace), binding.name.to_string());
    Thing { kind: binding.kind().to_owned(), namespace, name, place: Some(place(&binding.place)) }
}

fn of_role_object(role: &Role) -> Thing {
    let (namespace, name) = (some(&role.namespace), role.name.to_string());
    Thing { kind: role.kind().to_owned(), namespace, name, place: Some(place(&role.place)) }
}

fn place(place: &rbac::Place) -> JsonPlace {
    match place {
        rbac::Place::Written(span) => written(span),
        rbac::Place::Shipped(by) => JsonPlace { shipped_by: Some(by.to_string()), root: None, path: None, line: None },
    }
}

fn written(span: &Span) -> JsonPlace {
    JsonPlace {
        shipped_by: None,
        root: span.file().root().map(ToString::to_string),
        path: Some(span.file().path().to_owned()),
        line: Some(span.position().line),
    }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn texts(names: &[Name]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}
