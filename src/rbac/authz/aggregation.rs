//! The rules of a role, with those that it gathers from others.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::cluster::Rbac;
use super::role::{Binding, Role};
use super::rule::Rule;
use crate::kube::selector::Selector;

/// How many roles all roles of a cluster may gather together: each may gather all others, which nobody's do.
const MAX_GATHERED: usize = 4_000_000;

/// What roles come to that gather others, found when it is first asked.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// For each role, those that its rules are written in; `None` where they are too many.
    sources: Vec<OnceLock<Option<Box<[u32]>>>>,
    /// For each role, those that its selectors choose.
    chosen: Vec<OnceLock<Box<[u32]>>>,
    count: AtomicUsize,
}

impl Gathered {
    pub(crate) fn of(roles: usize) -> Self {
        let sources = (0..roles).map(|_| OnceLock::new()).collect();
        Self { sources, chosen: (0..roles).map(|_| OnceLock::new()).collect(), count: AtomicUsize::new(0) }
    }
}

impl Rbac {
    /// The rules that a binding gives, each with the role that it is written in: another one than the binding's where
    /// that one gathers it.
    pub fn rules(&self, binding: &Binding) -> impl Iterator<Item = (&Rule, &Role)> + Clone {
        self.role_at(binding).into_iter().flat_map(|at| self.rules_at(at))
    }

    pub(super) fn rules_at(&self, at: usize) -> impl Iterator<Item = (&Rule, &Role)> + Clone {
        let sources = self.sources(at).unwrap_or_default().iter();
        sources
            .map(|from| &self.roles[*from as usize])
            .flat_map(|role| role.rules.iter().map(move |rule| (&**rule, role)))
    }

    /// Whether a role gathers more than is followed.
    pub(crate) fn gathers_too_much(&self, at: usize) -> bool {
        self.sources(at).is_none()
    }

    /// The roles that the rules of a role are written in: itself, or those that it gathers.
    ///
    /// Kubernetes' controller writes what a role gathers over its rules; where that is nothing, they stay.
    fn sources(&self, at: usize) -> Option<&[u32]> {
        let found = self.gathered.sources[at].get_or_init(|| {
            let (mut sources, mut open) = (Vec::new(), vec![at]);
            let mut seen = vec![false; self.roles.len()];
            seen[at] = true;
            while let Some(role) = open.pop() {
                let chosen = self.chosen(role);
                let count = self.gathered.count.fetch_add(chosen.len(), Ordering::Relaxed);
                if count > MAX_GATHERED {
                    return None;
                }
                for other in chosen {
                    let other_at = *other as usize;
                    if std::mem::replace(&mut seen[other_at], true) {
                        continue;
                    }
                    if self.roles[other_at].gathers.is_empty() {
                        sources.push(*other);
                    } else {
                        open.push(other_at);
                    }
                }
            }
            sources.sort_unstable();
            let is_empty = !sources.iter().any(|from| !self.roles[*from as usize].rules.is_empty());
            Some(if is_empty { narrow(at).into_iter().collect() } else { sources.into() })
        });
        found.as_deref()
    }

    /// The roles that the selectors of a role choose; it does not gather itself.
    fn chosen(&self, at: usize) -> &[u32] {
        self.gathered.chosen[at].get_or_init(|| {
            let selectors = self.roles[at].gathers.iter();
            let mut chosen: Vec<u32> =
                selectors.flat_map(|selector| self.selected(selector)).filter_map(narrow).collect();
            chosen.sort_unstable();
            chosen.dedup();
            chosen.into()
        })
    }

    fn selected(&self, selector: &Selector) -> Vec<usize> {
        let is_selected = |at: &usize| {
            let role = &self.roles[*at];
            role.namespace.is_empty() && selector.selects(|key| role.labels.get(key).map(|value| &**value))
        };
        match selector.required_label() {
            Some(key) => self.roles_by_label.get(key).into_iter().flatten().copied().filter(is_selected).collect(),
            None => (0..self.roles.len()).filter(is_selected).collect(),
        }
    }
}

/// A position, which is below the number of objects of a cluster.
fn narrow(at: usize) -> Option<u32> {
    u32::try_from(at).ok()
}
