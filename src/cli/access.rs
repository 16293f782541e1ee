//! `access`: a tenant, a namespace or an account → who may do what where, and as whom he may act.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::error::Error;
use super::exit::Exit;
use super::judge;
use super::lint::governing;
use super::repository::{Options, listed};
use super::streams::Streams;
use crate::base::finding::did_you_mean;
use crate::disk;
use crate::flux::{Receiver, Tenancy};
use crate::rbac::Rbac;
use crate::report::access::{AccessFormat, AccessOf, write};
use crate::text::Index;
use crate::yaml::Name;

/// Says what the accounts of a tenant or a namespace may do, by which binding and role, and as whom they may act.
///
/// Rights are those of Kubernetes' RBAC, with what Kubernetes and Flux ship. Who may bring a Kustomization or HelmRelease
/// into a namespace acts as any account there, since Flux applies as the account that such an object names.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright access apps                          the accounts of tenant or namespace `apps`\n",
    "  fleetwright access apps/flux --cluster staging   one account, on one cluster\n",
    "  fleetwright access apps --format json            for programs; `schema access` describes it\n\n",
    "Exit codes:\n",
    "  0  said\n",
    "  2  the work could not be done: no such folder, cluster, tenant, namespace or account",
))]
pub(super) struct Args {
    /// The tenant, the namespace, or one account of it.
    #[arg(value_name = "TENANT|NAMESPACE[/ACCOUNT]")]
    who: String,
    /// The folder of the repository.
    #[arg(long, short = 'C', value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// How it is printed.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// A cluster: its tenants and its rights.
struct Ground<'a> {
    receiver: &'a Receiver<'a>,
    tenancy: &'a Tenancy,
    rbac: Rbac,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let repository = args.options.open(&args.dir, streams)?;
    let folder = if disk::is_file(&args.dir) { super::source::folder_of(&args.dir) } else { args.dir.clone() };
    let source = governing(None, &args.dir, &repository.tree, &folder)?;
    let source = source.filter(|source| source.loaded.fleet.is_some());
    let repo = repository.load();
    let receivers = args.options.receivers(&repo.clusters)?;
    let receivers: Vec<&Receiver<'_>> = receivers.iter().collect();
    let options = judge::options(repository.settings.clone(), source.as_ref(), streams)?;
    let tenancies = crate::lint::tenancies(&repo, &receivers, &options);
    let grounds: Vec<Ground<'_>> = receivers
        .iter()
        .zip(&tenancies)
        .map(|(receiver, tenancy)| Ground { receiver, tenancy, rbac: Rbac::on_cluster(receiver, tenancy) })
        .collect();
    let (whose, account) = match args.who.split_once('/') {
        Some((namespace, account)) => (namespace, Some(account)),
        None => (args.who.as_str(), None),
    };
    let found: Vec<AccessOf<'_>> = grounds.iter().filter_map(|ground| ground.access(whose, account)).collect();
    if found.is_empty() {
        return Err(unknown(&args.who, whose, account, &grounds));
    }
    let format = match args.format {
        Format::Table => AccessFormat::Table,
        Format::Json => AccessFormat::Json,
    };
    let found = together(found, &repository.shown);
    streams.write(|out| write(&found, format, &repository.shown, out))?;
    Ok(Exit::Clean)
}

impl Ground<'_> {
    fn access(&self, whose: &str, account: Option<&str>) -> Option<AccessOf<'_>> {
        let (tenant, namespaces) = self.namespaces(whose)?;
        let mut accounts = Vec::new();
        for known in namespaces.iter().flat_map(|namespace| self.rbac.accounts(namespace)) {
            if account.is_none_or(|account| *known.name == *account) {
                accounts.push(self.rbac.access(&known));
            }
        }
        if accounts.is_empty() {
            return None;
        }
        let is_tenants = tenant.is_some() || namespaces.iter().all(|name| self.tenancy.tenants.contains_key(&**name));
        let starts: Vec<_> =
            namespaces.iter().flat_map(|namespace| self.rbac.impersonated_accounts(namespace)).collect();
        let starts = starts.into_iter().filter(|start| account.is_none_or(|account| *start.name == *account));
        let starts: Vec<_> = starts.filter(|_| is_tenants).collect();
        let escapes = self.rbac.escape_chains(&starts, &namespaces);
        Some(AccessOf {
            clusters: vec![self.receiver.to_string().into()],
            tenant,
            unseen: self.rbac.unknown_grants(&namespaces),
            namespaces: namespaces.into_iter().collect(),
            accounts,
            escapes,
        })
    }

    /// The namespaces that a name stands for: those of the tenant of that name, else the namespace.
    fn namespaces(&self, whose: &str) -> Option<(Option<Name>, BTreeSet<Name>)> {
        let tenants = self.tenancy.tenants.iter();
        let own: BTreeSet<Name> = tenants
            .filter(|(_, tenant)| tenant.as_deref() == Some(whose))
            .map(|(name, _)| name.as_str().into())
            .collect();
        if !own.is_empty() {
            return Some((Some(whose.into()), own));
        }
        let is_there = self.rbac.namespaces().any(|name| **name == *whose);
        is_there.then(|| (None, BTreeSet::from([whose.into()])))
    }
}

/// Clusters on which accounts may do the same, put together: what is printed of them is equal.
fn together<'a>(all: Vec<AccessOf<'a>>, root: &str) -> Vec<AccessOf<'a>> {
    let mut kept: Vec<AccessOf<'a>> = Vec::new();
    let mut known: Index<Vec<u8>, usize> = Index::default();
    for one in all {
        let mut print = Vec::new();
        let nameless = AccessOf { clusters: Vec::new(), ..one.clone() };
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

fn unknown(typed: &str, whose: &str, account: Option<&str>, grounds: &[Ground<'_>]) -> Error {
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut accounts: BTreeSet<String> = BTreeSet::new();
    for ground in grounds {
        names.extend(ground.rbac.namespaces().map(ToString::to_string));
        names.extend(ground.tenancy.tenants.values().flatten().cloned());
        if let Some((_, namespaces)) = ground.namespaces(whose) {
            let known = namespaces.iter().flat_map(|namespace| ground.rbac.accounts(namespace));
            accounts.extend(known.map(|account| account.name.to_string()));
        }
    }
    let (message, names, wanted) = match account.filter(|_| !accounts.is_empty()) {
        Some(account) => (format!("nothing speaks of an account `{typed}`"), accounts, account),
        None => (format!("there is no tenant or namespace `{whose}`"), names, whose),
    };
    let names: Vec<String> = names.into_iter().collect();
    let help = match did_you_mean(wanted, names.iter().map(String::as_str)) {
        _ if names.is_empty() => "nothing in this folder has a namespace".to_owned(),
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there are {}", listed(&names)),
    };
    Error::said(message, help)
}
