//! The findings that a change introduces.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::ManuallyDrop;

use arcstr::ArcStr;

use super::baseline::{Baseline, BaselineUse};
use super::options::{FormerTenants, Options};
use super::repository::{Outcome, judge_with, record, tenancy_classes};
use crate::base::finding::Finding;
use crate::base::fingerprint::Renames;
use crate::flux::{Receiver, Repo, Tenancy};
use crate::text::{File, Tree};

/// The rules whose findings may follow from findings of another rule, each with that rule.
const FOLLOWING: [(&str, &str); 3] = [
    ("missing-path", "unreachable-object"),
    ("runtime-info-drift", "undefined-variable"),
    ("unreachable-object", "missing-path"),
];

/// Checks a repository with the files of `present`, and reports only the findings that an earlier state does not have.
///
/// Both states are checked with the same options. `read_earlier` reads the earlier state. It is checked only by the rules
/// of the findings.
///
/// A tenant of the earlier state remains a tenant: otherwise, a change that gives its account all rights could also make its
/// namespace one of the platform.
pub fn judge_since<E>(
    repo: &Repo,
    options: &Options,
    present: &Tree,
    read_earlier: impl FnOnce() -> Result<Tree, E>,
) -> Result<Outcome, E> {
    let mut former = Former { read: Some(read_earlier), state: None, repo, present, options };
    let mut options = options.clone();
    options.former_tenants = former_tenants(repo, &options, &mut former)?;
    let mut failure = None;
    let outcome = judge_with(repo, &options, |findings| {
        if findings.is_empty() {
            return BaselineUse::None;
        }
        former.state().map_or_else(
            |error| {
                failure = Some(error);
                BaselineUse::None
            },
            |state| BaselineUse::Compare(state.record_rules_of(findings, repo, &options), state.renames.clone()),
        )
    });
    failure.map_or(Ok(outcome), Err)
}

/// The earlier state, which is read on demand.
struct Former<'a, F> {
    read: Option<F>,
    state: Option<State>,
    repo: &'a Repo,
    present: &'a Tree,
    options: &'a Options,
}

/// An earlier state of a repository.
struct State {
    tree: Tree,
    /// The process ends soon, so freeing a million nodes would only cost time.
    repo: ManuallyDrop<Repo>,
    renames: Renames,
}

impl<E, F: FnOnce() -> Result<Tree, E>> Former<'_, F> {
    fn state(&mut self) -> Result<&State, E> {
        let tree = match self.read.take() {
            Some(read) => read()?,
            None => Tree::default(),
        };
        let load = || {
            let repo = ManuallyDrop::new(Repo::load_beside(&tree, &self.options.settings, self.repo));
            State { renames: renames(self.present, &tree), repo, tree }
        };
        Ok(self.state.get_or_insert_with(load))
    }
}

/// The tenants of the earlier state, for each receiver: the namespaces that have Flux objects and no tenant now, and the
/// repositories of tenants that the platform may apply now.
fn former_tenants<E, F: FnOnce() -> Result<Tree, E>>(
    repo: &Repo,
    options: &Options,
    former: &mut Former<'_, F>,
) -> Result<BTreeMap<String, FormerTenants>, E> {
    let now = tenancy_of_each(repo, options);
    let state = former.state()?;
    let names = state.names_now(repo);
    let lost = |(name, earlier): (String, Tenancy)| {
        let name = names.get(&*name)?.to_string();
        let without_tenant = &now.get(&name)?.without_tenant;
        let lost = earlier.tenants.into_iter().filter(|(namespace, _)| without_tenant.contains(namespace));
        // A tenant without a name has the name of its namespace.
        let namespaces = lost.map(|(namespace, tenant)| (namespace.clone(), tenant.unwrap_or(namespace)));
        let former = FormerTenants { namespaces: namespaces.collect(), repositories: earlier.repositories };
        (former != FormerTenants::default()).then_some((name, former))
    };
    Ok(tenancy_of_each(&state.repo, options).into_iter().filter_map(lost).collect())
}

/// The tenancy of each receiver, by name.
fn tenancy_of_each(repo: &Repo, options: &Options) -> BTreeMap<String, Tenancy> {
    let receivers: Vec<Receiver<'_>> = repo.clusters.iter().flat_map(Receiver::all).collect();
    let receivers: Vec<&Receiver<'_>> = receivers.iter().collect();
    let (of_receiver, tenancies) = tenancy_classes(repo, &receivers, options);
    let tenancy = |class: usize| tenancies.get(class).map(|(_, tenancy)| tenancy.clone()).unwrap_or_default();
    receivers.iter().zip(of_receiver).map(|(receiver, class)| (receiver.to_string(), tenancy(class))).collect()
}

impl State {
    /// Records the findings of the state by the rules of some findings.
    fn record_rules_of(&self, findings: &[Finding], repo: &Repo, options: &Options) -> Baseline {
        let own: BTreeSet<&str> = findings.iter().map(|finding| finding.rule).collect();
        // A finding that follows from another one is not reported in a state with both.
        let causes = FOLLOWING.iter().filter(|(rule, _)| own.contains(rule)).map(|(_, cause)| *cause);
        let rules: BTreeSet<&str> = own.iter().copied().chain(causes).collect();
        let mut options = options.clone();
        options.forget_comments();
        options.read_comments(&self.tree);
        options.only = rules.into_iter().map(str::to_owned).collect();
        options.former_tenants.clear();
        let mut recorded = record(&self.repo, &options);
        recorded.rename_clusters(&self.names_now(repo));
        recorded
    }

    /// The names of the receivers of the state now. A root is identified by the directory that it syncs, since another
    /// cluster may change the name of a cluster; a root that syncs another directory now keeps its name.
    fn names_now(&self, repo: &Repo) -> BTreeMap<ArcStr, ArcStr> {
        let renamed = |folder: &str| {
            let inside = self.renames.range(format!("{folder}/")..).map_while(|(now, before)| {
                let rest = now.strip_prefix(folder).filter(|rest| rest.starts_with('/'))?;
                Some(before.strip_suffix(rest))
            });
            inside.flatten().next().unwrap_or(folder).to_owned()
        };
        let receivers = |repo: &Repo| -> Vec<((String, Option<ArcStr>), ArcStr)> {
            let all = repo.clusters.iter().flat_map(Receiver::all);
            all.map(|one| ((one.cluster.folder.clone(), one.target.clone()), one.to_string().into())).collect()
        };
        let now = receivers(repo).into_iter().map(|((folder, target), name)| ((renamed(&folder), target), name));
        let now: BTreeMap<(String, Option<ArcStr>), ArcStr> = now.collect();
        let names: BTreeSet<&ArcStr> = now.values().collect();
        let earlier = receivers(&self.repo).into_iter().filter_map(|(root, name)| {
            let name_now = now.get(&root).or_else(|| names.get(&name).copied())?;
            Some((name, name_now.clone()))
        });
        earlier.collect()
    }
}

/// The files that only the present state has, with the path of a file with the same text that only the earlier state has.
fn renames(present: &Tree, earlier: &Tree) -> Renames {
    let only_in = |state: &Tree, other: &Tree| -> Vec<File> {
        state.files().filter(|file| other.entry(file.path()).is_none()).cloned().collect()
    };
    let (gone, new) = (only_in(earlier, present), only_in(present, earlier));
    let mut by_text: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in gone.iter().rev() {
        by_text.entry(file.text()).or_default().push(file);
    }
    let renamed = new.iter().filter_map(|file| {
        let former = by_text.get_mut(file.text())?.pop()?;
        Some((file.path().to_owned(), former.path().to_owned()))
    });
    renamed.collect()
}
