//! JSON output of the rights of accounts.

use std::io::{self, Write};

use super::description::{AccessReport, describe_means};
use super::document::{
    Account, ActorKind, Chain, Document, Entry, JsonActor, JsonGiven, JsonGrant, JsonMeans, JsonObject, JsonPlace,
    JsonRow, JsonStep, JsonSubject, VERSION, Way,
};
use crate::rbac::{
    self, Actor, Binding, ChainEnd, Escape, Grant, GrantedRole, Impersonation, Method, PermissionRow, Role, Subject,
};
use crate::report::provenance::schema_of;
use crate::text::Span;
use crate::yaml::Name;

pub(super) fn write(all: &[AccessReport<'_>], out: &mut dyn Write) -> io::Result<()> {
    let document = Document { version: VERSION, access: all.iter().map(entry).collect() };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// Returns the JSON Schema of the document.
pub fn schema() -> serde_json::Value {
    schema_of::<Document>()
}

fn entry(one: &AccessReport<'_>) -> Entry {
    let accounts = one.accounts.iter().map(|access| Account {
        namespace: access.account.namespace.to_string(),
        name: access.account.name.to_string(),
        grants: access.granted.iter().map(given).collect(),
        may_act_as: access.impersonations.iter().map(|way| self::way(way, &way.to)).collect(),
    });
    Entry {
        clusters: one.clusters.iter().filter(|name| !name.is_empty()).map(ToString::to_string).collect(),
        tenant: one.tenant.as_ref().map(ToString::to_string),
        namespaces: strings(&one.namespaces),
        accounts: accounts.collect(),
        escapes: one.escapes.iter().map(chain).collect(),
        cannot_be_checked: one.unseen.clone(),
    }
}

fn given(given: &GrantedRole<'_>) -> JsonGiven {
    let binding = given.binding;
    let of_role = if binding.role.is_cluster_role { "" } else { &*binding.namespace };
    let kind = if binding.role.is_cluster_role { "ClusterRole" } else { "Role" };
    let missing = || JsonObject {
        kind: kind.into(),
        namespace: non_empty(of_role),
        name: binding.role.name.to_string(),
        place: None,
    };
    JsonGiven {
        namespace: non_empty(&binding.namespace),
        subject: subject(&given.subject),
        binding: binding_object(binding),
        role: given.role.map_or_else(missing, role_object),
        rules: given.rows.iter().map(row).collect(),
    }
}

fn row(row: &PermissionRow) -> JsonRow {
    let is_path = row.group.is_none();
    JsonRow {
        api_group: row.group.as_ref().map(ToString::to_string),
        resources: if is_path { Vec::new() } else { strings(&row.resources) },
        resource_names: strings(&row.names),
        non_resource_urls: if is_path { strings(&row.resources) } else { Vec::new() },
        verbs: strings(&row.verbs),
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

fn way(way: &Impersonation<'_>, to: &Actor) -> Way {
    let (kind, object_kind) = match way.method {
        Method::ServiceAccountName(kind) => (JsonMeans::FluxNamed, Some(kind)),
        Method::Controller(kind) => (JsonMeans::FluxUnnamed, Some(kind)),
        Method::Workload(kind) => (JsonMeans::Workload, Some(kind)),
        Method::Impersonate => (JsonMeans::Impersonation, None),
        Method::Token => (JsonMeans::Token, None),
        Method::TokenSecret => (JsonMeans::TokenSecret, None),
        Method::Bind => (JsonMeans::Bind, None),
        Method::Escalate => (JsonMeans::Escalate, None),
        Method::Command(_) => (JsonMeans::Command, None),
        Method::ReadSecrets => (JsonMeans::Secrets, None),
        Method::Content(kind) => (JsonMeans::Content, Some(kind)),
        Method::Certificate => (JsonMeans::Certificate, None),
    };
    let forbidden_by = way.forbidden_by.map(|policy| JsonObject {
        kind: policy.reference.kind.to_string(),
        namespace: policy.reference.namespace.as_ref().map(ToString::to_string),
        name: policy.reference.name.to_string(),
        place: Some(file_place(&policy.place)),
    });
    Way {
        actor: actor(to),
        means: kind,
        object_kind,
        description: describe_means(way.method),
        allowed_by: way.grants.iter().map(grant).collect(),
        forbidden_by,
    }
}

fn actor(actor: &Actor) -> JsonActor {
    let of = |kind, namespace: &str, name: Option<&Name>| JsonActor {
        kind,
        namespace: non_empty(namespace),
        name: name.map(ToString::to_string),
    };
    match actor {
        Actor::Account(account) => of(ActorKind::Account, &account.namespace, Some(&account.name)),
        Actor::AccountsOf(namespace) => of(ActorKind::AccountsOfNamespace, namespace, None),
        Actor::AllAccounts => of(ActorKind::AllAccounts, "", None),
        Actor::AccountsNamed(name) => of(ActorKind::AccountsNamed, "", Some(name)),
        Actor::Subject(Subject::User(name)) => of(ActorKind::User, "", Some(name)),
        Actor::Subject(Subject::Group(name)) => of(ActorKind::Group, "", Some(name)),
        Actor::AnyUser => of(ActorKind::AnyUser, "", None),
        Actor::AnyGroup => of(ActorKind::AnyGroup, "", None),
        Actor::Raised(namespace) => of(ActorKind::Raised, namespace, None),
        Actor::SecretReader(namespace) => of(ActorKind::SecretReader, namespace, None),
    }
}

fn grant(grant: &Grant<'_>) -> JsonGrant {
    let mut rule = role_object(grant.from);
    if let Some(span) = &grant.rule.place {
        rule.place = Some(file_place(span));
    }
    JsonGrant { binding: binding_object(grant.binding), role: role_object(grant.role), rule }
}

fn chain(escape: &Escape<'_>) -> Chain {
    let is_doubtful = escape.doubt.is_some();
    let escape = &escape.chain;
    let steps = escape
        .steps
        .iter()
        .map(|step| JsonStep { who: actor(&Actor::Account(step.who.clone())), way: way(&step.by, &step.to) });
    let bindings = match &escape.end {
        ChainEnd::Bindings(bindings) => bindings.iter().map(|binding| binding_object(binding)).collect(),
        ChainEnd::Everything | ChainEnd::Namespace(_) | ChainEnd::Secrets(_) => Vec::new(),
    };
    Chain {
        steps: steps.collect(),
        reach: super::description::describe_reach(&escape.end),
        bindings,
        may_be_forbidden: is_doubtful,
    }
}

fn binding_object(binding: &Binding) -> JsonObject {
    let (namespace, name) = (non_empty(&binding.namespace), binding.name.to_string());
    JsonObject { kind: binding.kind().to_owned(), namespace, name, place: Some(place(&binding.place)) }
}

fn role_object(role: &Role) -> JsonObject {
    let (namespace, name) = (non_empty(&role.namespace), role.name.to_string());
    JsonObject { kind: role.kind().to_owned(), namespace, name, place: Some(place(&role.place)) }
}

fn place(place: &rbac::DefinedIn) -> JsonPlace {
    match place {
        rbac::DefinedIn::Written(span) => file_place(span),
        rbac::DefinedIn::Shipped(by) => {
            JsonPlace { shipped_by: Some(by.to_string()), root: None, path: None, line: None }
        }
    }
}

fn file_place(span: &Span) -> JsonPlace {
    JsonPlace {
        shipped_by: None,
        root: span.file().root().map(ToString::to_string),
        path: Some(span.file().path().to_owned()),
        line: Some(span.position().line),
    }
}

fn non_empty(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn strings(names: &[Name]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}
