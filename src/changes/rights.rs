//! The rights that service accounts gain and lose.

use std::collections::{BTreeMap, BTreeSet};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::model::RightsChange;
use super::received::Pair;
use super::side::Side;
use crate::flux::{Receiver, Tenancy};
use crate::lint::tenancy_classes;
use crate::rbac::{Access, PermissionRow, Rbac, determines_rights};
use crate::yaml::Name;

/// The rights of each account of a cluster: the permissions of each granted role, by the role and its scope.
type Rights = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// The changes of rights, each with its clusters.
#[derive(Default)]
pub(super) struct AllRights {
    pub(super) changes: Vec<RightsChange>,
    /// The positions of the changes, by account, gained and lost rights.
    known: BTreeMap<(String, Vec<String>, Vec<String>), usize>,
}

/// A cluster whose rights may change.
pub(super) struct Affected {
    pub(super) cluster: Name,
    /// The numbers of its receivers in both states.
    pub(super) receivers: [usize; 2],
    /// Whether an applier has a build only in the later state, so that gained rights are unknown.
    pub(super) hides_gains: bool,
    /// Whether an applier has a build only in the earlier state, so that lost rights are unknown.
    pub(super) hides_losses: bool,
}

impl AllRights {
    /// The changes of rights on some clusters.
    ///
    /// Clusters that are alike have the same rights, so that the rights of each class are computed once.
    pub(super) fn of(before: &Side<'_>, after: &Side<'_>, clusters: &[Affected]) -> Self {
        let mut all = Self::default();
        if clusters.is_empty() {
            return all;
        }
        let (earlier, later) = (Classes::of(before), Classes::of(after));
        let classes = |numbers: &[usize; 2]| [earlier.class(numbers[0]), later.class(numbers[1])];
        let distinct: BTreeSet<[usize; 2]> = clusters.iter().map(|one| classes(&one.receivers)).collect();
        let distinct: Vec<[usize; 2]> = distinct.into_iter().collect();
        let change = |pair: &[usize; 2]| (*pair, changes(&earlier.rights(pair[0]), &later.rights(pair[1])));
        let changed: BTreeMap<[usize; 2], Vec<RightsChange>> = distinct.par_iter().map(change).collect();
        for one in clusters {
            for change in changed.get(&classes(&one.receivers)).into_iter().flatten() {
                let mut change = change.clone();
                change.gained.retain(|_| !one.hides_gains);
                change.lost.retain(|_| !one.hides_losses);
                if !change.gained.is_empty() || !change.lost.is_empty() {
                    all.add(&one.cluster, &change);
                }
            }
        }
        all
    }

    fn add(&mut self, cluster: &Name, change: &RightsChange) {
        let Self { changes, known } = self;
        let RightsChange { account, gained, lost, .. } = change.clone();
        let at = *known.entry((account, gained, lost)).or_insert_with(|| {
            changes.push(change.clone());
            changes.len() - 1
        });
        if let Some(change) = changes.get_mut(at).filter(|_| !cluster.is_empty()) {
            change.clusters.push(cluster.clone());
        }
    }
}

/// The classes of the receivers of a state.
struct Classes<'s, 'a> {
    side: &'s Side<'a>,
    of_receiver: Vec<usize>,
    /// The first receiver of each class with its tenancy.
    first: Vec<(usize, Tenancy)>,
}

impl<'s, 'a> Classes<'s, 'a> {
    fn of(side: &'s Side<'a>) -> Self {
        let receivers: Vec<&Receiver<'a>> = side.receivers.iter().collect();
        let (of_receiver, first) = tenancy_classes(side.repo, &receivers, side.options);
        Self { side, of_receiver, first }
    }

    fn class(&self, receiver: usize) -> usize {
        self.of_receiver.get(receiver).copied().unwrap_or_default()
    }

    fn rights(&self, class: usize) -> Rights {
        let Some((first, tenancy)) = self.first.get(class) else { return Rights::default() };
        self.side.receivers.get(*first).map_or_else(Rights::default, |receiver| rights(receiver, tenancy))
    }
}

/// Returns whether the rights on a cluster may depend on an object.
pub(super) fn depend_on(pair: &Pair<'_>) -> bool {
    match (&pair.before, &pair.after) {
        // The object may be the only one of its namespace, whose default account may have rights.
        (Some(_), None) | (None, Some(_)) => true,
        (before, after) => before.iter().chain(after).any(|applied| determines_rights(applied.object)),
    }
}

/// The changes of the rights of the accounts of a cluster.
fn changes(before: &Rights, after: &Rights) -> Vec<RightsChange> {
    let none = BTreeMap::new();
    let accounts: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change = |account: &String| {
        let (former, own) = (before.get(account).unwrap_or(&none), after.get(account).unwrap_or(&none));
        let (gained, lost) = (difference(own, former), difference(former, own));
        let is_changed = !gained.is_empty() || !lost.is_empty();
        is_changed.then(|| RightsChange { account: account.clone(), gained, lost, clusters: Vec::new() })
    };
    accounts.into_iter().filter_map(change).collect()
}

/// Returns the rights of the accounts of a cluster.
fn rights(receiver: &Receiver<'_>, tenancy: &Tenancy) -> Rights {
    let rbac = Rbac::on_cluster(receiver, tenancy);
    let accounts = rbac.namespaces().flat_map(|namespace| rbac.accounts(namespace));
    let entries = accounts.map(|account| {
        let name = format!("{}/{}", account.namespace, account.name);
        (name, by_role(&rbac.access(&account)))
    });
    entries.filter(|(_, rights)| !rights.is_empty()).collect()
}

fn by_role(access: &Access<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let mut rights: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for granted in access.granted.iter().filter(|granted| !granted.subject.is_everybody()) {
        let scope = match &*granted.binding.namespace {
            "" => "in all namespaces".to_owned(),
            namespace => format!("in namespace `{namespace}`"),
        };
        let role = &granted.binding.role;
        let kind = if role.is_cluster_role { "ClusterRole" } else { "Role" };
        let permissions = rights.entry(format!("{kind} `{}` {scope}", role.name)).or_default();
        permissions.extend(granted.rows.iter().map(permission));
    }
    rights
}

fn permission(row: &PermissionRow) -> String {
    let names = if row.names.is_empty() { String::new() } else { format!(" named {}", row.names.join(", ")) };
    let group = match row.group.as_deref() {
        None | Some("") => String::new(),
        Some(group) => format!(" of {group}"),
    };
    format!("{} {}{group}{names}", row.verbs.join(", "), row.resources.join(", "))
}

/// Returns the rights that only `own` contains: whole roles, and permissions of roles that both contain.
fn difference(own: &BTreeMap<String, BTreeSet<String>>, other: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut found = Vec::new();
    for (role, permissions) in own {
        match other.get(role) {
            None => found.push(role.clone()),
            Some(known) => {
                found.extend(permissions.difference(known).map(|permission| format!("{permission} by {role}")));
            }
        }
    }
    found
}
