//! The rules of a role, with those that it gathers from others.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::cluster::Rbac;
use super::role::{Binding, Role};
use super::rule::Rule;
use super::selector::Selector;

/// A rule that a role has, and the role that it is written in.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) rule: Arc<Rule>,
    pub(super) from: usize,
}

impl Rbac {
    /// The rules that a binding gives, each with the role that it is written in: another one than the binding's where
    /// that one gathers it.
    pub fn rules(&self, binding: &Binding) -> impl Iterator<Item = (&Rule, &Role)> + Clone {
        let held = self.role_at(binding).into_iter().flat_map(|at| self.rules_at(at));
        held.map(|held| (&*held.rule, &self.roles[held.from]))
    }

    pub(super) fn rules_at(&self, at: usize) -> &[Held] {
        let own = |at: usize| {
            let rules = self.roles[at].rules.iter();
            rules.map(move |rule| Held { rule: rule.clone(), from: at })
        };
        self.gathered[at].get_or_init(|| {
            // Kubernetes' controller writes what a role gathers over its rules; where that is nothing, they stay.
            let (mut held, mut seen, mut open) = (Vec::new(), BTreeSet::from([at]), vec![at]);
            while let Some(role) = open.pop() {
                let found = self.matching(role);
                for other in found.into_iter().filter(|other| *other != role) {
                    if !seen.insert(other) {
                        continue;
                    }
                    if self.roles[other].gathers.is_empty() {
                        held.extend(own(other));
                    } else {
                        open.push(other);
                    }
                }
            }
            if held.is_empty() { own(at).collect() } else { held }
        })
    }

    /// The roles that a role gathers.
    fn matching(&self, at: usize) -> BTreeSet<usize> {
        let selectors = self.roles[at].gathers.iter();
        selectors.flat_map(|selector| self.selected(selector)).collect()
    }

    fn selected(&self, selector: &Selector) -> Vec<usize> {
        let is_selected =
            |at: &usize| self.roles[*at].namespace.is_empty() && selector.matches(&self.roles[*at].labels);
        match selector.needs() {
            Some(key) => self.roles_by_label.get(key).into_iter().flatten().copied().filter(is_selected).collect(),
            None => (0..self.roles.len()).filter(is_selected).collect(),
        }
    }
}
