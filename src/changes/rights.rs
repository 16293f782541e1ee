//! The rights that service accounts gain and lose.

use std::collections::{BTreeMap, BTreeSet};

use crate::flux::{Receiver, Tenancy};
use crate::rbac::{Access, PermissionRow, Rbac};

/// The rights of each account of a cluster: the permissions of each granted role, by the role and its scope.
pub(super) type Rights = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Returns the rights of the accounts of a cluster.
pub(super) fn rights(receiver: &Receiver<'_>, tenancy: &Tenancy) -> Rights {
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
pub(super) fn difference(
    own: &BTreeMap<String, BTreeSet<String>>,
    other: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<String> {
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
