//! `access`: shows the rights of the accounts of a tenant or a namespace, and the accounts that they may act as.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::error::Error;
use super::exit::Exit;
use super::linter;
use super::repository::{Options, join_names, refuse_unread};
use super::source::governing_fleet;
use super::streams::{Lines, Streams};
use crate::base::similar_names::did_you_mean;
use crate::disk;
use crate::flux::{Receiver, Repo, Tenancy};
use crate::rbac::{Account, Rbac, Tenant, Tenants};
use crate::report::access::{AccessFormat, AccessReport, write};
use crate::report::mask::SecretValues;
use crate::text::Index;
use crate::yaml::Name;

/// Shows the rights of the accounts of a tenant or a namespace, and the accounts that they may act as.
///
/// Rights come from Kubernetes RBAC, including the roles and bindings that Kubernetes and Flux ship. An account that
/// may create a Kustomization or HelmRelease in a namespace may act as any account of that namespace, since Flux
/// impersonates the service account that such an object references.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright access apps                          the accounts of tenant or namespace `apps`\n",
    "  fleetwright access apps/flux --cluster staging   one account, on one cluster\n",
    "  fleetwright access apps --format json            for programs; see `schema access`\n\n",
    "Exit codes:\n",
    "  0  printed\n",
    "  2  fleetwright failed: no such directory, cluster, tenant, namespace or account",
))]
pub(super) struct Args {
    /// The tenant, the namespace, or one of its accounts.
    #[arg(value_name = "TENANT|NAMESPACE[/ACCOUNT]")]
    who: String,
    /// The directory of the repository.
    #[arg(long, short = 'C', value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// The output format.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// A table for terminals.
    Table,
    /// JSON for programs.
    Json,
}

/// The maximum number of roles and impersonations that are listed for a cluster. A namespace may have thousands of
/// accounts, and each of them has all roles of the group of its accounts.
const MAX_GRANTS_OF_CLUSTER: usize = 20_000;

/// The maximum number of roles and impersonations that are listed for all clusters.
const MAX_GRANTS: usize = 200_000;

/// A cluster with its tenants and its rights.
struct ClusterRights<'a> {
    receiver: &'a Receiver<'a>,
    tenancy: &'a Tenancy,
    rbac: Rbac,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let repository = args.options.open(&args.dir, streams)?;
    let folder = if disk::is_file(&args.dir) { super::source::folder_of(&args.dir) } else { args.dir.clone() };
    let source = governing_fleet(&args.dir, &repository.tree, &folder)?;
    let source = source.filter(|source| source.loaded.fleet.is_some());
    let options = linter::options(repository.settings.clone(), source.as_ref(), &repository.tree, streams)?;
    let repo = Repo::load(&repository.tree, &options.settings);
    streams.hide(&SecretValues::of(&repository.tree, Some(&repo)))?;
    let receivers = args.options.receivers(&repo.clusters)?;
    let receivers: Vec<&Receiver<'_>> = receivers.iter().collect();
    let tenancies = crate::lint::tenancies(&repo, &receivers, &options);
    let clusters: Vec<ClusterRights<'_>> = receivers
        .iter()
        .zip(&tenancies)
        .map(|(receiver, tenancy)| ClusterRights { receiver, tenancy, rbac: Rbac::on_cluster(receiver, tenancy) })
        .collect();
    let (name, account) = match args.who.split_once('/') {
        Some((namespace, account)) => (namespace, Some(account)),
        None => (args.who.as_str(), None),
    };
    let mut room = MAX_GRANTS;
    let access = |cluster| ClusterRights::access(cluster, name, account, &mut room);
    let found: Vec<AccessReport<'_>> = clusters.iter().filter_map(access).collect();
    if found.is_empty() {
        return Err(unknown_account(&args.who, name, account, &clusters));
    }
    let format = match args.format {
        Format::Table => AccessFormat::Table,
        Format::Json => AccessFormat::Json,
    };
    let found = merge_equal(found, &repository.prefix);
    let lines = if format == AccessFormat::Json { Lines::Json } else { Lines::Text };
    streams.write_as(lines, |out| write(&found, format, &repository.prefix, out))?;
    refuse_unread(&repository.tree, "read")?;
    Ok(Exit::Clean)
}

impl ClusterRights<'_> {
    /// The rights of accounts. Lists no further accounts after `room` roles and impersonations.
    fn access(&self, name: &str, account: Option<&str>, room: &mut usize) -> Option<AccessReport<'_>> {
        let (tenant, namespaces) = self.namespaces(name)?;
        let (mut accounts, mut listed, mut unlisted) = (Vec::new(), 0, 0);
        for known in namespaces.iter().flat_map(|namespace| self.rbac.accounts(namespace)) {
            if account.is_some_and(|account| *known.name != *account) {
                continue;
            }
            if listed > MAX_GRANTS_OF_CLUSTER.min(*room) {
                unlisted += 1;
                continue;
            }
            let access = self.rbac.access(&known);
            let grants = access.impersonations.iter().map(|one| 1 + one.grants.len());
            listed += access.granted.len() + grants.sum::<usize>();
            accounts.push(access);
        }
        *room = room.saturating_sub(listed);
        if accounts.is_empty() {
            return None;
        }
        let is_selected = |known: &Account| {
            namespaces.contains(&known.namespace) && account.is_none_or(|account| *known.name == *account)
        };
        let tenants = Tenants::new(self.tenancy, &self.rbac);
        let escapes = tenants.iter().flat_map(|tenant| {
            let users = tenant.users.iter().filter(|known| is_selected(known)).cloned().collect();
            Tenant { users, ..tenant.clone() }.escapes(&self.rbac)
        });
        let escapes = escapes.collect();
        let mut unseen = self.rbac.unknown_grants(&namespaces);
        if unlisted > 0 {
            unseen.push(format!(
                "{unlisted} further accounts are not listed, since there are too many roles: name an account"
            ));
        }
        Some(AccessReport {
            clusters: vec![self.receiver.to_string().into()],
            tenant,
            unseen,
            namespaces: namespaces.into_iter().collect(),
            accounts,
            escapes,
        })
    }

    /// Returns the namespaces of the tenant with this name, else the namespace with this name.
    fn namespaces(&self, name: &str) -> Option<(Option<Name>, BTreeSet<Name>)> {
        let tenants = self.tenancy.tenants.iter();
        let own: BTreeSet<Name> = tenants
            .filter(|(_, tenant)| tenant.as_deref() == Some(name))
            .map(|(name, _)| name.as_str().into())
            .collect();
        if !own.is_empty() {
            return Some((Some(name.into()), own));
        }
        let is_there = self.rbac.namespaces().any(|known| **known == *name);
        is_there.then(|| (None, BTreeSet::from([name.into()])))
    }
}

/// Merges clusters on which the accounts have equal rights, and therefore equal output.
fn merge_equal<'a>(all: Vec<AccessReport<'a>>, root: &str) -> Vec<AccessReport<'a>> {
    let mut kept: Vec<AccessReport<'a>> = Vec::new();
    let mut known: Index<Vec<u8>, usize> = Index::default();
    for one in all {
        let mut print = Vec::new();
        let nameless = AccessReport { clusters: Vec::new(), ..one.clone() };
        if write(&[nameless], AccessFormat::Json, root, &mut print).is_err() {
            print.clear();
        }
        let at = *known.entry_or(print, || kept.len());
        match kept.get_mut(at) {
            Some(first) => first.clusters.extend(one.clusters),
            None => kept.push(one),
        }
    }
    kept
}

fn unknown_account(typed: &str, name: &str, account: Option<&str>, clusters: &[ClusterRights<'_>]) -> Error {
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut accounts: BTreeSet<String> = BTreeSet::new();
    for cluster in clusters {
        names.extend(cluster.rbac.namespaces().map(ToString::to_string));
        names.extend(cluster.tenancy.tenants.values().flatten().cloned());
        if let Some((_, namespaces)) = cluster.namespaces(name) {
            let known = namespaces.iter().flat_map(|namespace| cluster.rbac.accounts(namespace));
            accounts.extend(known.map(|account| account.name.to_string()));
        }
    }
    let (message, names, wanted) = match account.filter(|_| !accounts.is_empty()) {
        Some(account) => (format!("there is no account `{typed}`"), accounts, account),
        None => (format!("there is no tenant or namespace `{name}`"), names, name),
    };
    let names: Vec<String> = names.into_iter().collect();
    let help = match did_you_mean(wanted, names.iter().map(String::as_str)) {
        _ if names.is_empty() => {
            "pass another directory with `--dir`; no object in this directory has a namespace".to_owned()
        }
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("pass one of the known names: {}", join_names(&names)),
    };
    Error::with_help(message, help)
}
