//! Accesses for programs.

use std::io::{self, Write};

use super::description::{AccessOf, means};
use super::document::{
    Account, ActorKind, Chain, Document, Entry, JsonActor, JsonGiven, JsonGrant, JsonMeans, JsonPlace, JsonRow,
    JsonStep, JsonSubject, Thing, VERSION, Way,
};
use crate::rbac::{
    self, Actor, Binding, ChainEnd, EscapeChain, Grant, GrantedRole, Impersonation, Method, PermissionRow, Role,
    Subject,
};
use crate::report::provenance::schema_of;
use crate::text::Span;
use crate::yaml::Name;

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
        grants: access.granted.iter().map(given).collect(),
        may_act_as: access.impersonations.iter().map(|way| self::way(way, &way.to)).collect(),
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

fn given(given: &GrantedRole<'_>) -> JsonGiven {
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

fn row(row: &PermissionRow) -> JsonRow {
    let is_path = row.group.is_none();
    JsonRow {
        api_group: row.group.as_ref().map(ToString::to_string),
        resources: if is_path { Vec::new() } else { texts(&row.resources) },
        resource_names: texts(&row.names),
        non_resource_urls: if is_path { texts(&row.resources) } else { Vec::new() },
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
        description: means(way.method),
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

fn chain(escape: &EscapeChain<'_>) -> Chain {
    let steps = escape
        .steps
        .iter()
        .map(|step| JsonStep { who: actor(&Actor::Account(step.who.clone())), way: way(&step.by, &step.to) });
    let bindings = match &escape.end {
        ChainEnd::Bindings(bindings) => bindings.iter().map(|binding| of_binding(binding)).collect(),
        ChainEnd::Everything | ChainEnd::Namespace(_) => Vec::new(),
    };
    Chain {
        steps: steps.collect(),
        reach: super::description::reach(&escape.end),
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

fn place(place: &rbac::DefinedIn) -> JsonPlace {
    match place {
        rbac::DefinedIn::Written(span) => written(span),
        rbac::DefinedIn::Shipped(by) => {
            JsonPlace { shipped_by: Some(by.to_string()), root: None, path: None, line: None }
        }
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
