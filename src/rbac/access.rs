//! What accounts may do where, put together for people and programs to read.

use std::collections::{BTreeMap, BTreeSet};

use crate::rbac::authz::cluster::Rbac;
use crate::rbac::authz::role::{Binding, Role};
use crate::rbac::authz::rule::Rule;
use crate::rbac::authz::subject::{Account, Subject};
use crate::rbac::escalation::impersonation::Become;
use crate::yaml::Name;

/// What an account may do, and as whom it may act.
#[derive(Debug, Clone)]
pub struct Access<'a> {
    /// Who.
    pub account: Account,
    /// What its bindings give it: the whole cluster first, then by namespace.
    pub given: Vec<Given<'a>>,
    /// As whom it may act.
    pub becomes: Vec<Become<'a>>,
}

/// What a binding gives an account.
#[derive(Debug, Clone)]
pub struct Given<'a> {
    /// The binding.
    pub binding: &'a Binding,
    /// The subject of it that the account is, or is in.
    pub subject: Subject,
    /// The role; `None` when nobody brings it.
    pub role: Option<&'a Role>,
    /// What the role allows.
    pub rows: Vec<Row>,
}

/// What may be done with some resources, or some paths.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// The API group; `None` for paths.
    pub group: Option<Name>,
    /// The resources, or the paths.
    pub what: Vec<Name>,
    /// The objects of which names; of any when empty.
    pub names: Vec<Name>,
    /// What may be done.
    pub verbs: Vec<Name>,
}

/// What of a role is put together, counted by resources with their verbs and names; a role with more is listed rule by rule.
const MAX_TOGETHER: usize = 200_000;

/// The usual verbs in their usual order; others follow by name.
const VERBS: [&str; 9] = ["*", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

impl Rbac {
    /// What an account may do.
    pub fn access(&self, account: &Account) -> Access<'_> {
        let subjects = account.subjects();
        let mut given: Vec<Given<'_>> = subjects
            .iter()
            .flat_map(|subject| self.bindings_of(subject).map(move |binding| (subject, binding)))
            .map(|(subject, binding)| Given {
                binding,
                subject: subject.clone(),
                role: self.role(binding),
                rows: rows(self.rules(binding).map(|(rule, _)| rule), &binding.namespace),
            })
            .collect();
        given.sort_by(|a, b| {
            let key = |given: &Given<'_>| (given.binding.namespace.clone(), given.subject.is_everybody());
            key(a).cmp(&key(b)).then_with(|| a.binding.name.cmp(&b.binding.name))
        });
        given.dedup_by(|later, kept| std::ptr::eq(later.binding, kept.binding));
        Access { account: account.clone(), given, becomes: self.becomes(account) }
    }

    /// What is not seen and may give the accounts of namespaces more, in words.
    pub fn unseen(&self, namespaces: &BTreeSet<Name>) -> Vec<String> {
        let bring = self.unseen.of_namespaces(namespaces).map(|who| format!("{who} may bring roles and bindings"));
        let open = self.open.map(|at| &self.bindings[at]);
        let open = open.map(|binding| format!("{} binds subjects that are not known", binding.reference()));
        bring.chain(open).collect()
    }
}

/// What resources have in common that stand in one row: group, names, verbs.
type Alike = (Option<Name>, Vec<Name>, Vec<Name>);

/// The rules of a role by what they allow with what.
fn rows<'a>(rules: impl Iterator<Item = &'a Rule> + Clone, namespace: &str) -> Vec<Row> {
    // Requests for paths are of no namespace: a binding of one gives none.
    let apart = |rule| by_group(rule).into_iter().filter(|row| row.group.is_some() || namespace.is_empty());
    let each = |rule: &Rule| rule.verbs.len() + rule.names.len() + 1;
    let size = |rule: &Rule| rule.groups.len().saturating_mul(rule.resources.len()).saturating_mul(each(rule));
    if rules.clone().map(size).fold(0, usize::saturating_add) > MAX_TOGETHER {
        return rules.flat_map(apart).collect();
    }
    let mut verbs: BTreeMap<(Option<Name>, Name, Vec<Name>), BTreeSet<Name>> = BTreeMap::new();
    for row in rules.flat_map(apart) {
        for what in row.what {
            verbs.entry((row.group.clone(), what, row.names.clone())).or_default().extend(row.verbs.iter().cloned());
        }
    }
    let mut together: BTreeMap<Alike, Vec<Name>> = BTreeMap::new();
    for ((group, what, names), verbs) in verbs {
        let verbs = if verbs.contains("*") { vec![Name::from("*")] } else { ordered(verbs) };
        together.entry((group, names, verbs)).or_default().push(what);
    }
    let rows = together.into_iter().map(|((group, names, verbs), what)| Row { group, what, names, verbs });
    let mut rows: Vec<Row> = rows.collect();
    // Paths come last: they matter least.
    rows.sort_by_key(|row| row.group.is_none());
    rows
}

/// A rule, by its groups.
fn by_group(rule: &Rule) -> Vec<Row> {
    let row = |group: Option<Name>, what: &[Name]| Row {
        group,
        what: what.to_vec(),
        names: rule.names.clone(),
        verbs: ordered(rule.verbs.iter().cloned().collect()),
    };
    let mut rows: Vec<Row> = rule.groups.iter().map(|group| row(Some(group.clone()), &rule.resources)).collect();
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
