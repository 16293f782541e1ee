//! The rights that service accounts gain and lose.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::model::RightsChange;
use super::received::Pair;
use super::side::Side;
use crate::flux::{Receiver, Tenancy};
use crate::lint::tenancy_classes;
use crate::rbac::{Binding, PermissionRow, Rbac, Subject, determines_rights};
use crate::yaml::Name;

/// The rights of the accounts of a cluster.
#[derive(Default)]
struct Rights {
    /// The granted roles of each account, each with its scope.
    accounts: BTreeMap<String, BTreeSet<Arc<str>>>,
    /// The permissions of each granted role in its scope.
    roles: BTreeMap<Arc<str>, BTreeSet<String>>,
    /// The roles of each account that no file binds to it. The state assumes that an installation of Flux binds them.
    assumed: BTreeMap<String, BTreeSet<Arc<str>>>,
}

/// The maximum number of roles of accounts in a state, summed over all clusters that are compared.
const MAX_GRANTS: usize = 10_000_000;

/// The maximum number of roles of accounts in a state of one cluster.
const MAX_GRANTS_OF_CLUSTER: usize = 2_000_000;

/// The maximum size of the changes of rights in bytes, summed over all clusters that are compared.
const MAX_TEXT: usize = 256 << 20;

/// The maximum size of the changes of rights on one cluster in bytes.
const MAX_TEXT_OF_CLUSTER: usize = 16 << 20;

/// The changes of rights, each with its clusters.
#[derive(Default)]
pub(super) struct AllRights {
    pub(super) changes: Vec<RightsChange>,
    /// The clusters with too many rights to compare.
    pub(super) uncompared: Vec<Name>,
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
        // A share of the limit does not depend on the order of threads.
        let room = Room {
            grants: (MAX_GRANTS / distinct.len()).min(MAX_GRANTS_OF_CLUSTER),
            text: (MAX_TEXT / distinct.len()).min(MAX_TEXT_OF_CLUSTER),
        };
        let change = |pair: &[usize; 2]| {
            let rights = || Some((earlier.rights(pair[0], room.grants)?, later.rights(pair[1], room.grants)?));
            (*pair, rights().and_then(|(before, after)| changes(&before, &after, room.text)))
        };
        let changed: BTreeMap<[usize; 2], Option<Vec<RightsChange>>> = distinct.par_iter().map(change).collect();
        for one in clusters {
            let changed = changed.get(&classes(&one.receivers)).and_then(Option::as_ref);
            if changed.is_none() {
                all.uncompared.push(one.cluster.clone());
            }
            for change in changed.into_iter().flatten() {
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
        let Self { changes, known, .. } = self;
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

    /// The rights in a class; `None` if the accounts have more than `most` roles.
    fn rights(&self, class: usize, most: usize) -> Option<Rights> {
        let Some((first, tenancy)) = self.first.get(class) else { return Some(Rights::default()) };
        let Some(receiver) = self.side.receivers.get(*first) else { return Some(Rights::default()) };
        rights(&Rbac::on_cluster(receiver, tenancy), most)
    }
}

/// The limits of a cluster.
struct Room {
    grants: usize,
    text: usize,
}

/// Returns whether the rights on a cluster may depend on an object.
pub(super) fn depend_on(pair: &Pair<'_>) -> bool {
    match (&pair.before, &pair.after) {
        // The object may be the only one of its namespace, whose default account may have rights.
        (Some(_), None) | (None, Some(_)) => true,
        (before, after) => before.iter().chain(after).any(|applied| determines_rights(applied.object)),
    }
}

/// The changes of the rights of the accounts of a cluster; `None` if their texts are larger than `room`.
fn changes(before: &Rights, after: &Rights, mut room: usize) -> Option<Vec<RightsChange>> {
    let (gains, losses) = (gained_by_role(after, before), gained_by_role(before, after));
    let accounts: BTreeSet<&String> = before.accounts.keys().chain(after.accounts.keys()).collect();
    let mut changes = Vec::new();
    for account in accounts {
        // A change of what is assumed, such as a removed gotk-components.yaml, is not a change of rights.
        let assumed: BTreeSet<&Arc<str>> =
            [before, after].iter().filter_map(|state| state.assumed.get(account)).flatten().collect();
        let known = |state: &Rights| -> BTreeSet<Arc<str>> {
            let roles = state.accounts.get(account).into_iter().flatten();
            roles.filter(|role| !assumed.contains(role)).cloned().collect()
        };
        let (former, own) = (known(before), known(after));
        let gained = difference(&own, &former, &gains, &mut room)?;
        let lost = difference(&former, &own, &losses, &mut room)?;
        if !gained.is_empty() || !lost.is_empty() {
            changes.push(RightsChange { account: account.clone(), gained, lost, clusters: Vec::new() });
        }
    }
    Some(changes)
}

/// Returns the rights of the accounts of a cluster; `None` if they have more than `most` roles or too many permissions.
fn rights(rbac: &Rbac, most: usize) -> Option<Rights> {
    let mut rights = Rights::default();
    // Bindings share roles, and each role in a scope has the same permissions.
    let mut known: BTreeMap<(bool, Name, Name), Arc<str>> = BTreeMap::new();
    let mut count = 0;
    for account in rbac.namespaces().flat_map(|namespace| rbac.accounts(namespace)) {
        let own: Vec<Subject> = account.subjects().into_iter().filter(|subject| !subject.is_everybody()).collect();
        let granted = rbac.granted(&own);
        count += granted.len();
        if count > most {
            return None;
        }
        let (mut roles, mut assumed) = (BTreeSet::new(), BTreeSet::new());
        for (binding, _) in granted {
            let key = (binding.role.is_cluster_role, binding.role.name.clone(), binding.namespace.clone());
            let title = if let Some(title) = known.get(&key) {
                title.clone()
            } else {
                let title: Arc<str> = title(binding).into();
                let permissions = rbac.permissions(binding)?.iter().map(permission).collect();
                rights.roles.insert(title.clone(), permissions);
                known.insert(key, title.clone());
                title
            };
            if binding.place.written().is_none() {
                assumed.insert(title.clone());
            }
            roles.insert(title);
        }
        let name = format!("{}/{}", account.namespace, account.name);
        if !assumed.is_empty() {
            rights.assumed.insert(name.clone(), assumed);
        }
        if !roles.is_empty() {
            rights.accounts.insert(name, roles);
        }
    }
    Some(rights)
}

/// A role in a scope, in words.
fn title(binding: &Binding) -> String {
    let scope = match &*binding.namespace {
        "" => "in all namespaces".to_owned(),
        namespace => format!("in namespace `{namespace}`"),
    };
    let role = &binding.role;
    let kind = if role.is_cluster_role { "ClusterRole" } else { "Role" };
    format!("{kind} `{}` {scope}", role.name)
}

fn permission(row: &PermissionRow) -> String {
    let names = if row.names.is_empty() { String::new() } else { format!(" named {}", row.names.join(", ")) };
    let group = match row.group.as_deref() {
        None | Some("") => String::new(),
        Some(group) => format!(" of {group}"),
    };
    format!("{} {}{group}{names}", row.verbs.join(", "), row.resources.join(", "))
}

/// The permissions that only `own` contains, of each role that both contain.
fn gained_by_role(own: &Rights, other: &Rights) -> BTreeMap<Arc<str>, Vec<String>> {
    let of_both = own.roles.iter().filter_map(|(role, permissions)| Some((role, permissions, other.roles.get(role)?)));
    let gained = of_both.map(|(role, permissions, known)| {
        let gained = permissions.difference(known).map(|permission| format!("{permission} by {role}"));
        (role.clone(), gained.collect::<Vec<String>>())
    });
    gained.filter(|(_, gained)| !gained.is_empty()).collect()
}

/// Returns the rights that only `own` contains: whole roles, and permissions of roles that both contain. Returns `None` if
/// the texts are larger than `room`.
fn difference(
    own: &BTreeSet<Arc<str>>,
    other: &BTreeSet<Arc<str>>,
    gained: &BTreeMap<Arc<str>, Vec<String>>,
    room: &mut usize,
) -> Option<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    for role in own {
        let before = found.len();
        if other.contains(role) {
            let gained = gained.get(role).map_or(&[][..], Vec::as_slice);
            *room = room.checked_sub(gained.iter().map(String::len).sum())?;
            found.extend(gained.iter().cloned());
        } else {
            found.push(role.to_string());
            *room = room.checked_sub(role.len())?;
        }
        *room = room.checked_sub(8 * (found.len() - before))?;
    }
    Some(found)
}
