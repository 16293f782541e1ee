//! Chains by which somebody comes to rights outside his namespaces: he may act as somebody who has them, or as somebody
//! who may act as such a one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::flux_identity::Unnamed;
use super::guard::Guard;
use super::impersonation::{Actor, Become, Means};
use crate::rbac::admission::policy::Policy;
use crate::rbac::authz::cluster::Rbac;
use crate::rbac::authz::role::Binding;
use crate::rbac::authz::subject::Account;
use crate::yaml::Name;

/// A chain, each step from the one before.
#[derive(Debug, Clone)]
pub struct Escape<'a> {
    /// Who begins.
    pub from: Account,
    /// The steps; the last one leads out.
    pub steps: Vec<Step<'a>>,
    /// What it leads to.
    pub reach: Reach<'a>,
}

/// A step of a chain.
#[derive(Debug, Clone)]
pub struct Step<'a> {
    /// Who takes it.
    pub who: Account,
    /// By what.
    pub by: Become<'a>,
    /// As whom he acts then.
    pub to: Actor,
}

/// What a chain leads to.
#[derive(Debug, Clone)]
pub enum Reach<'a> {
    /// Everything: he may act as anybody.
    Everything,
    /// Everything in a namespace that is not his.
    Namespace(Name),
    /// What these bindings give.
    Bindings(Vec<&'a Binding>),
}

impl<'a> Escape<'a> {
    /// A policy that may forbid one of its steps.
    pub fn forbidden_by(&self) -> Option<&'a Policy> {
        self.steps.iter().find_map(|step| step.by.forbidden_by)
    }
}

impl Rbac {
    /// The shortest chain from some accounts to each actor with rights that none of them has, outside some namespaces.
    /// Of chains of one length the one goes first that no policy may forbid.
    pub fn escapes<'a>(&'a self, from: &[Account], namespaces: &BTreeSet<Name>) -> Vec<Escape<'a>> {
        let starts: Vec<&Account> = from.iter().filter(|account| !self.may_do_everything(account)).collect();
        let mut holders: BTreeMap<Name, Vec<&Account>> = BTreeMap::new();
        for start in &starts {
            let scopes: BTreeSet<Name> = start.subjects().iter().flat_map(|subject| self.scopes_of(subject)).collect();
            for scope in scopes {
                holders.entry(scope).or_default().push(start);
            }
        }
        Search { rbac: self, starts: &starts, holders: &holders, namespaces }.run()
    }

    /// Who is not seen and may bring an admission policy that forbids steps of chains, in words.
    pub fn unseen_policies(&self) -> Option<&str> {
        self.unseen.policies().map(String::as_str)
    }

    /// Whether an account may do everything in the whole cluster.
    pub fn may_do_everything(&self, account: &Account) -> bool {
        let subjects = account.subjects();
        let bindings = subjects.iter().flat_map(|subject| self.bindings_in(subject, ""));
        bindings.flat_map(|binding| self.rules(binding)).any(|(rule, _)| rule.is_everything())
    }
}

struct Search<'a, 'b> {
    rbac: &'a Rbac,
    starts: &'b [&'b Account],
    /// Those who begin, by the namespaces that they have rights in.
    holders: &'b BTreeMap<Name, Vec<&'b Account>>,
    namespaces: &'b BTreeSet<Name>,
}

impl<'a> Search<'a, '_> {
    fn run(&self) -> Vec<Escape<'a>> {
        let mut reached: BTreeMap<Account, Option<Step<'a>>> = BTreeMap::new();
        let mut open: VecDeque<Account> = VecDeque::new();
        for start in self.starts {
            reached.insert((*start).clone(), None);
            open.push_back((*start).clone());
        }
        let mut ends: Vec<(Step<'a>, Reach<'a>)> = Vec::new();
        let mut known: BTreeSet<Actor> = BTreeSet::new();
        while let Some(who) = open.pop_front() {
            let mut ways = self.rbac.becomes(&who);
            ways.sort_by_key(|way| way.forbidden_by.is_some());
            for by in ways {
                for to in self.actors(&by) {
                    let step = || Step { who: who.clone(), by: by.clone(), to: to.clone() };
                    let reach = match &to {
                        Actor::Account(account) => {
                            if reached.contains_key(account) {
                                continue;
                            }
                            let outside = self.outside(account);
                            if outside.is_empty() {
                                reached.insert(account.clone(), Some(step()));
                                open.push_back(account.clone());
                                continue;
                            }
                            Reach::Bindings(outside)
                        }
                        Actor::Raised(namespace) if !namespace.is_empty() => Reach::Namespace(namespace.clone()),
                        _ => Reach::Everything,
                    };
                    if known.insert(to.clone()) {
                        ends.push((step(), reach));
                    }
                }
            }
        }
        let chain = |(last, reach): (Step<'a>, Reach<'a>)| {
            let mut steps = vec![last];
            while let Some(Some(before)) = steps.last().map(|step| reached.get(&step.who).cloned().flatten()) {
                steps.push(before);
            }
            steps.reverse();
            let from = steps.first().map(|step| step.who.clone())?;
            Some(Escape { from, steps, reach })
        };
        let mut chains: Vec<Escape<'a>> = ends.into_iter().filter_map(chain).collect();
        chains.sort_by_key(|chain| (chain.forbidden_by().is_some(), chain.steps.len()));
        chains
    }

    /// The single actors that a way leads to.
    fn actors(&self, by: &Become<'a>) -> Vec<Actor> {
        let accounts = |namespace: &str| self.rbac.accounts(namespace).into_iter().map(Actor::Account).collect();
        match &by.to {
            Actor::AccountsOf(namespace) => accounts(namespace),
            // Who may act as every account may act as the mightiest.
            Actor::AllAccounts => self.rbac.mightiest(|_| true).into_iter().map(Actor::Account).collect(),
            Actor::Raised(namespace) if self.namespaces.contains(namespace) => {
                let mut actors: Vec<Actor> = accounts(namespace);
                let controllers = self.rbac.acting.programs().filter_map(|unnamed| match unnamed {
                    Unnamed::Itself(account) => Some(Actor::Account(account.clone())),
                    Unnamed::Default | Unnamed::Unknown => None,
                });
                actors.extend(controllers);
                actors
            }
            Actor::Account(_) | Actor::Anybody | Actor::Raised(_) => vec![by.to.clone()],
        }
    }

    /// The bindings that give an account rights outside the namespaces, which none has who begins.
    fn outside(&self, account: &Account) -> Vec<&'a Binding> {
        let subjects = account.subjects();
        let own = subjects.iter().filter(|subject| !subject.is_everybody());
        let bindings = own.flat_map(|subject| self.rbac.bindings_of(subject));
        let outside = bindings.filter(|binding| !self.namespaces.contains(&binding.namespace));
        let holders = |binding: &Binding| {
            let wide = self.holders.get("").into_iter().flatten();
            let narrow = self.holders.get(&binding.namespace).filter(|_| !binding.namespace.is_empty());
            wide.chain(narrow.into_iter().flatten())
        };
        let is_new = |binding: &&Binding| {
            let rules = || self.rbac.rules(binding).map(|(rule, _)| rule);
            rules().next().is_some()
                && !holders(binding).any(|start| self.rbac.has(start, &binding.namespace, rules()) == Guard::Passed)
        };
        outside.filter(is_new).collect()
    }
}

impl Means {
    /// Whether an admission policy may forbid it by looking at objects.
    pub fn may_be_forbidden(self) -> bool {
        matches!(self, Self::Named(_) | Self::Unnamed(_) | Self::Workload(_))
    }
}
