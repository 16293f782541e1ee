//! The rights of accounts, summarized for output.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use crate::rbac::authz::cluster::Rbac;
use crate::rbac::escalation::impersonation::Impersonation;
use crate::rbac::model::role::{Binding, Role};
use crate::rbac::model::rule::Rule;
use crate::rbac::model::subject::{Account, Subject};
use crate::yaml::Name;

/// The rights of an account, and the identities that it can assume.
#[derive(Debug, Clone)]
pub struct Access<'a> {
    /// The account.
    pub account: Account,
    /// The roles that bindings grant to the account: in the whole cluster first, then by namespace.
    pub granted: Vec<GrantedRole<'a>>,
    /// The identities that the account can assume.
    pub impersonations: Vec<Impersonation<'a>>,
}

/// A role that a binding grants to an account.
#[derive(Debug, Clone)]
pub struct GrantedRole<'a> {
    /// The binding.
    pub binding: &'a Binding,
    /// The subject of the binding that includes the account.
    pub subject: Subject,
    /// The role; `None` if the cluster has no such role.
    pub role: Option<&'a Role>,
    /// The permissions of the role; empty if the permissions of the cluster exceed the limit.
    pub rows: Vec<PermissionRow>,
}

/// The verbs that are allowed on some resources or paths.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PermissionRow {
    /// The API group; `None` for paths.
    pub group: Option<Name>,
    /// The resources, or the paths.
    pub resources: Vec<Name>,
    /// The names of the objects; any object if empty.
    pub names: Vec<Name>,
    /// The allowed verbs.
    pub verbs: Vec<Name>,
}

/// The maximum size of a role whose rules are merged, in resources times verbs and names. A larger role has one row per
/// rule and group.
const MAX_MERGED: usize = 200_000;

/// The maximum size of the permissions that are listed for a cluster, in bytes of their names. Accounts share roles, and a
/// rule has a row for each of its groups, so that a small repository has many permissions.
const MAX_LISTED: usize = 32 << 20;

/// The common verbs in their usual order. Other verbs follow by name.
const VERBS: [&str; 9] = ["*", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

impl Rbac {
    /// The rights of an account.
    pub fn access(&self, account: &Account) -> Access<'_> {
        let granted = self.granted(&account.subjects()).into_iter().map(|(binding, subject)| GrantedRole {
            binding,
            subject,
            role: self.role(binding),
            rows: self.permissions(binding).unwrap_or_default(),
        });
        Access { account: account.clone(), granted: granted.collect(), impersonations: self.impersonations(account) }
    }

    /// The bindings of some subjects, each with a subject that it has: in the whole cluster first, then by namespace.
    pub fn granted(&self, subjects: &[Subject]) -> Vec<(&Binding, Subject)> {
        let bindings_of = |subject| self.bindings_of(subject).map(move |binding| (binding, subject));
        let mut granted: Vec<(&Binding, &Subject)> = subjects.iter().flat_map(bindings_of).collect();
        granted.sort_by(|(binding, subject), (other, other_subject)| {
            let of_scope = binding.namespace.cmp(&other.namespace);
            let of_subject = subject.is_everybody().cmp(&other_subject.is_everybody());
            of_scope.then(of_subject).then_with(|| binding.name.cmp(&other.name))
        });
        granted.dedup_by(|later, kept| std::ptr::eq(later.0, kept.0));
        granted.into_iter().map(|(binding, subject)| (binding, subject.clone())).collect()
    }

    /// The permissions of the role of a binding; `None` if the listed permissions of the cluster exceed the limit.
    pub fn permissions(&self, binding: &Binding) -> Option<Vec<PermissionRow>> {
        if self.listed.load(Ordering::Relaxed) > MAX_LISTED {
            return None;
        }
        let rules = self.rules(binding).map(|(rule, _)| rule);
        let size = rules.clone().map(listed_size).fold(0, usize::saturating_add).min(2 * MAX_LISTED);
        let before = self.listed.fetch_add(size, Ordering::Relaxed);
        (before + size <= MAX_LISTED).then(|| rows(rules, &binding.namespace))
    }

    /// The unknown sources that may grant more rights to the accounts of some namespaces, as messages.
    pub fn unknown_grants(&self, namespaces: &BTreeSet<Name>) -> Vec<String> {
        let sources = self.unknown_rights.of_namespaces(namespaces);
        let sources = sources.map(|source| format!("{source} may contain roles and bindings"));
        let open = self.open_binding.map(|at| &self.bindings[at]);
        let open = open.map(|binding| format!("{} has unknown subjects", binding.reference()));
        let exceeds = self.listed.load(Ordering::Relaxed) > MAX_LISTED;
        let cut = exceeds.then(|| {
            format!("the permissions of some roles are not listed, since they have more than {} MiB", MAX_LISTED >> 20)
        });
        sources.chain(open).chain(cut).collect()
    }
}

/// The size of the rows of a rule in bytes, with a constant for each name.
fn listed_size(rule: &Rule) -> usize {
    let size = |names: &[Name]| names.iter().map(|name| name.len() + 8).fold(8, usize::saturating_add);
    let of_row = size(&rule.names).saturating_add(size(&rule.verbs));
    let of_groups = rule.groups.len().saturating_mul(size(&rule.resources).saturating_add(of_row));
    of_groups.saturating_add(size(&rule.groups)).saturating_add(size(&rule.urls)).saturating_add(of_row)
}

/// The common part of the resources in one row: group, names, verbs.
type RowKey = (Option<Name>, Vec<Name>, Vec<Name>);

/// The rules of a role as rows. Resources with equal verbs and names share a row, unless the role is too large.
fn rows<'a>(rules: impl Iterator<Item = &'a Rule> + Clone, namespace: &str) -> Vec<PermissionRow> {
    // Paths have no namespace, so a RoleBinding does not grant them.
    let rows_of = |rule| by_group(rule).into_iter().filter(|row| row.group.is_some() || namespace.is_empty());
    let each = |rule: &Rule| rule.verbs.len() + rule.names.len() + 1;
    let size = |rule: &Rule| rule.groups.len().saturating_mul(rule.resources.len()).saturating_mul(each(rule));
    if rules.clone().map(size).fold(0, usize::saturating_add) > MAX_MERGED {
        return rules.flat_map(rows_of).collect();
    }
    let mut verbs: BTreeMap<(Option<Name>, Name, Vec<Name>), BTreeSet<Name>> = BTreeMap::new();
    for row in rules.flat_map(rows_of) {
        for resource in row.resources {
            verbs
                .entry((row.group.clone(), resource, row.names.clone()))
                .or_default()
                .extend(row.verbs.iter().cloned());
        }
    }
    let mut merged: BTreeMap<RowKey, Vec<Name>> = BTreeMap::new();
    for ((group, resource, names), verbs) in verbs {
        let verbs = if verbs.contains("*") { vec![Name::from("*")] } else { ordered(verbs) };
        merged.entry((group, names, verbs)).or_default().push(resource);
    }
    let rows =
        merged.into_iter().map(|((group, names, verbs), resources)| PermissionRow { group, resources, names, verbs });
    let mut rows: Vec<PermissionRow> = rows.collect();
    // Paths come last, since they are least important.
    rows.sort_by_key(|row| row.group.is_none());
    rows
}

/// The rows of a rule, one row per group.
fn by_group(rule: &Rule) -> Vec<PermissionRow> {
    let row = |group: Option<Name>, resources: &[Name]| PermissionRow {
        group,
        resources: resources.to_vec(),
        names: rule.names.clone(),
        verbs: ordered(rule.verbs.iter().cloned().collect()),
    };
    let mut rows: Vec<PermissionRow> =
        rule.groups.iter().map(|group| row(Some(group.clone()), &rule.resources)).collect();
    if !rule.urls.is_empty() {
        rows.push(row(None, &rule.urls));
    }
    rows
}

fn ordered(verbs: BTreeSet<Name>) -> Vec<Name> {
    let mut verbs: Vec<Name> = verbs.into_iter().collect();
    verbs.sort_by_key(|verb| VERBS.iter().position(|known| *known == &**verb).unwrap_or(VERBS.len()));
    verbs
}
