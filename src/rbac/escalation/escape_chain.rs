//! Chains of impersonations that give an account rights outside its namespaces.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ptr;

use super::actor::Actor;
use super::guard::Guard;
use super::impersonation::Impersonation;
use super::method::Method;
use crate::rbac::admission::policy::Policy;
use crate::rbac::authz::cluster::Rbac;
use crate::rbac::identity::flux_identity::DefaultIdentity;
use crate::rbac::model::role::Binding;
use crate::rbac::model::subject::{Account, Subject};
use crate::yaml::Name;

/// A chain of impersonations.
#[derive(Debug, Clone)]
pub struct EscapeChain<'a> {
    /// The account at the start.
    pub from: Account,
    /// The steps; the last step leaves the namespaces.
    pub steps: Vec<ChainStep<'a>>,
    /// The rights at the end.
    pub end: ChainEnd<'a>,
}

/// A step of a chain.
#[derive(Debug, Clone)]
pub struct ChainStep<'a> {
    /// The account before the step.
    pub who: Account,
    /// The impersonation.
    pub by: Impersonation<'a>,
    /// The identity after the step.
    pub to: Actor,
}

/// The rights at the end of a chain.
#[derive(Debug, Clone)]
pub enum ChainEnd<'a> {
    /// All rights, since any identity can be assumed.
    Everything,
    /// All rights in a foreign namespace.
    Namespace(Name),
    /// The Secrets of a namespace, or of every namespace if it is empty.
    Secrets(Name),
    /// The rights of these bindings.
    Bindings(Vec<&'a Binding>),
}

impl<'a> EscapeChain<'a> {
    /// A policy that may forbid one of the steps.
    pub fn forbidden_by(&self) -> Option<&'a Policy> {
        self.steps.iter().find_map(|step| step.by.forbidden_by)
    }
}

impl Rbac {
    /// The shortest chains from some accounts to each identity with further rights outside some namespaces.
    ///
    /// Chains that a policy may forbid come last.
    pub fn escape_chains<'a>(&'a self, from: &[Account], namespaces: &BTreeSet<Name>) -> Vec<EscapeChain<'a>> {
        let starts: Vec<&Account> = from.iter().filter(|account| !self.may_do_everything(account)).collect();
        let mut holders: BTreeMap<Name, Vec<&Account>> = BTreeMap::new();
        for start in &starts {
            let scopes: BTreeSet<Name> = start.subjects().iter().flat_map(|subject| self.scopes_of(subject)).collect();
            for scope in scopes {
                holders.entry(scope).or_default().push(start);
            }
        }
        ChainSearch { rbac: self, starts: &starts, holders: &holders, namespaces, new_rights: RefCell::default() }.run()
    }

    /// The text that messages use for an unknown source that may contain an admission policy against steps of chains.
    pub fn unknown_policy_source(&self) -> Option<String> {
        self.unknown_rights.of_policies().map(ToString::to_string)
    }

    /// Returns whether an account has only the rights that all accounts of its namespace have. A namespace may have
    /// thousands of such accounts.
    pub fn has_rights_of_namespace(&self, account: &Account) -> bool {
        self.bindings_of(&account.user()).next().is_none()
    }

    /// Returns whether an account has all rights in the whole cluster.
    pub fn may_do_everything(&self, account: &Account) -> bool {
        let subjects = account.subjects();
        let bindings = subjects.iter().flat_map(|subject| self.bindings_in(subject, ""));
        bindings.flat_map(|binding| self.rules(binding)).any(|(rule, _)| rule.is_everything())
    }
}

/// A breadth-first search over identities.
struct ChainSearch<'a, 'b> {
    rbac: &'a Rbac,
    starts: &'b [&'b Account],
    /// The starting accounts, by the namespaces in which they have rights.
    holders: &'b BTreeMap<Name, Vec<&'b Account>>,
    namespaces: &'b BTreeSet<Name>,
    /// Whether a binding grants rights that no starting account has, by the memory address of the binding. A group may
    /// be the subject of many bindings, and have many accounts.
    new_rights: RefCell<BTreeMap<usize, bool>>,
}

impl<'a> ChainSearch<'a, '_> {
    fn run(&self) -> Vec<EscapeChain<'a>> {
        let mut reached: BTreeMap<Account, Option<ChainStep<'a>>> = BTreeMap::new();
        let mut open: VecDeque<Account> = VecDeque::new();
        for start in self.starts {
            reached.insert((*start).clone(), None);
            open.push_back((*start).clone());
        }
        let mut ends: Vec<(ChainStep<'a>, ChainEnd<'a>)> = Vec::new();
        // A lockdown may end the chains that use the account of a controller, but not the others.
        let mut known: BTreeSet<(Actor, bool)> = BTreeSet::new();
        // The first impersonation of an identity is part of the shortest chains; further ones lead to nothing new.
        let mut assumed: BTreeSet<(Actor, bool)> = BTreeSet::new();
        let mut expanded: BTreeSet<Name> = BTreeSet::new();
        let mut outside_of: BTreeMap<Name, Vec<&'a Binding>> = BTreeMap::new();
        while let Some(who) = open.pop_front() {
            if self.rbac.has_rights_of_namespace(&who) && !expanded.insert(who.namespace.clone()) {
                continue;
            }
            let mut ways = self.rbac.impersonations(&who);
            ways.sort_by_key(|way| way.forbidden_by.is_some());
            for by in ways {
                let is_of_controller = matches!(by.method, Method::Controller(_));
                if !assumed.insert((by.to.clone(), is_of_controller)) {
                    continue;
                }
                for to in self.actors(&by) {
                    let step = || ChainStep { who: who.clone(), by: by.clone(), to: to.clone() };
                    let end = match &to {
                        Actor::Account(account) => {
                            if reached.contains_key(account) {
                                continue;
                            }
                            let outside = || self.outside(&account.subjects());
                            let outside = if self.rbac.has_rights_of_namespace(account) {
                                outside_of.entry(account.namespace.clone()).or_insert_with(outside).clone()
                            } else {
                                outside()
                            };
                            if outside.is_empty() {
                                reached.insert(account.clone(), Some(step()));
                                open.push_back(account.clone());
                                continue;
                            }
                            ChainEnd::Bindings(outside)
                        }
                        Actor::Subject(subject) if !subject.is_master() => {
                            let outside = self.outside(std::slice::from_ref(subject));
                            if outside.is_empty() {
                                continue;
                            }
                            ChainEnd::Bindings(outside)
                        }
                        Actor::Raised(namespace) if !namespace.is_empty() => ChainEnd::Namespace(namespace.clone()),
                        Actor::SecretReader(namespace) => ChainEnd::Secrets(namespace.clone()),
                        _ => ChainEnd::Everything,
                    };
                    if known.insert((to.clone(), is_of_controller)) {
                        ends.push((step(), end));
                    }
                }
            }
        }
        let chain = |(last, end): (ChainStep<'a>, ChainEnd<'a>)| {
            let mut steps = vec![last];
            while let Some(Some(before)) = steps.last().map(|step| reached.get(&step.who).cloned().flatten()) {
                steps.push(before);
            }
            steps.reverse();
            let from = steps.first().map(|step| step.who.clone())?;
            Some(EscapeChain { from, steps, end })
        };
        let mut chains: Vec<EscapeChain<'a>> = ends.into_iter().filter_map(chain).collect();
        chains.sort_by_key(|chain| (chain.forbidden_by().is_some(), chain.steps.len()));
        // An account that controls Flux reads its Secrets, too. A lockdown may end the chains that use the account of a
        // controller.
        let is_of_flux = |chain: &EscapeChain<'_>| matches!(&chain.end, ChainEnd::Secrets(scope) if !scope.is_empty());
        let is_sure =
            |chain: &EscapeChain<'_>| chain.steps.iter().all(|step| !matches!(step.by.method, Method::Controller(_)));
        if chains.iter().any(|chain| is_sure(chain) && self.is_everything(&chain.end)) {
            chains.retain(|chain| !is_of_flux(chain));
        }
        chains
    }

    /// Returns whether a chain ends with all rights on the cluster.
    fn is_everything(&self, end: &ChainEnd<'_>) -> bool {
        match end {
            ChainEnd::Everything => true,
            ChainEnd::Namespace(_) | ChainEnd::Secrets(_) => false,
            ChainEnd::Bindings(bindings) => {
                let everywhere = bindings.iter().filter(|binding| binding.namespace.is_empty());
                everywhere.flat_map(|binding| self.rbac.rules(binding)).any(|(rule, _)| rule.is_everything())
            }
        }
    }

    /// The single identities of an impersonation.
    fn actors(&self, by: &Impersonation<'a>) -> Vec<Actor> {
        let accounts = |namespace: &str| self.rbac.accounts(namespace).into_iter().map(Actor::Account).collect();
        match &by.to {
            Actor::AccountsOf(namespace) => accounts(namespace),
            Actor::AccountsNamed(name) => self.rbac.accounts_named(name).into_iter().map(Actor::Account).collect(),
            // The most powerful accounts represent all accounts.
            Actor::AllAccounts => self.rbac.most_powerful(|_| true).into_iter().map(Actor::Account).collect(),
            Actor::Raised(namespace) if self.namespaces.contains(namespace) => {
                let mut actors: Vec<Actor> = accounts(namespace);
                let controllers = self.rbac.flux_identities.defaults().filter_map(|identity| match identity {
                    DefaultIdentity::Controller(account) => Some(Actor::Account(account.clone())),
                    DefaultIdentity::DefaultAccount | DefaultIdentity::Unknown => None,
                });
                actors.extend(controllers);
                actors
            }
            Actor::SecretReader(namespace) if self.namespaces.contains(namespace) => Vec::new(),
            Actor::Account(_)
            | Actor::Subject(_)
            | Actor::AnyUser
            | Actor::AnyGroup
            | Actor::Raised(_)
            | Actor::SecretReader(_) => vec![by.to.clone()],
        }
    }

    /// The bindings that grant subjects rights outside the namespaces, without the rights that a starting account
    /// already has.
    fn outside(&self, subjects: &[Subject]) -> Vec<&'a Binding> {
        let own = subjects.iter().filter(|subject| !subject.is_everybody());
        let bindings = own.flat_map(|subject| self.rbac.bindings_of(subject));
        let outside = bindings.filter(|binding| !self.namespaces.contains(&binding.namespace));
        let is_new = |binding: &&Binding| {
            let key = ptr::from_ref::<Binding>(binding).addr();
            *self.new_rights.borrow_mut().entry(key).or_insert_with(|| self.grants_new_rights(binding))
        };
        outside.filter(is_new).collect()
    }

    /// Returns whether a binding grants rights that no starting account has.
    fn grants_new_rights(&self, binding: &Binding) -> bool {
        let wide = self.holders.get("").into_iter().flatten();
        let narrow = self.holders.get(&binding.namespace).filter(|_| !binding.namespace.is_empty());
        let mut holders = wide.chain(narrow.into_iter().flatten());
        let rules = || self.rbac.rules(binding).map(|(rule, _)| rule);
        rules().next().is_some()
            && !holders.any(|start| self.rbac.has(start, &binding.namespace, rules()) == Guard::Passed)
    }
}
