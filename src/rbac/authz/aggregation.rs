//! The rules of a role, including the rules of aggregated roles.

use std::sync::atomic::Ordering;

use super::cluster::Rbac;
use crate::kube::selector::Selector;
use crate::rbac::model::role::{Binding, Role};
use crate::rbac::model::rule::Rule;

/// The maximum number of aggregated roles, summed over all roles of a cluster. Each role may aggregate all other roles.
const MAX_AGGREGATED: usize = 4_000_000;

impl Rbac {
    /// The rules that a binding grants, each with the role that defines the rule: the bound role, or a role that the
    /// bound role aggregates.
    pub fn rules(&self, binding: &Binding) -> impl Iterator<Item = (&Rule, &Role)> + Clone {
        self.role_at(binding).into_iter().flat_map(|at| self.rules_at(at))
    }

    pub(super) fn rules_at(&self, at: usize) -> impl Iterator<Item = (&Rule, &Role)> + Clone {
        let sources = self.sources(at).unwrap_or_default().iter();
        sources
            .map(|from| &self.roles[*from as usize])
            .flat_map(|role| role.rules.iter().map(move |rule| (&**rule, role)))
    }

    /// Returns whether a role aggregates more roles than the limit allows.
    pub(crate) fn exceeds_aggregation_limit(&self, at: usize) -> bool {
        self.sources(at).is_none()
    }

    /// The roles that define the rules of a role: the role itself, or the roles that it aggregates.
    ///
    /// The aggregation controller of Kubernetes replaces the role's own rules, unless the aggregated rules are empty.
    fn sources(&self, at: usize) -> Option<&[u32]> {
        let found = self.aggregations.sources[at].get_or_init(|| {
            let (mut sources, mut open) = (Vec::new(), vec![at]);
            let mut seen = vec![false; self.roles.len()];
            seen[at] = true;
            while let Some(role) = open.pop() {
                let selected = self.selected_by(role);
                let count = self.aggregations.count.fetch_add(selected.len(), Ordering::Relaxed);
                if count > MAX_AGGREGATED {
                    return None;
                }
                for other in selected {
                    let other_at = *other as usize;
                    if std::mem::replace(&mut seen[other_at], true) {
                        continue;
                    }
                    if self.roles[other_at].aggregates.is_empty() {
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

    /// The roles that the selectors of a role match, without the role itself.
    fn selected_by(&self, at: usize) -> &[u32] {
        self.aggregations.selected[at].get_or_init(|| {
            let selectors = self.roles[at].aggregates.iter();
            let mut selected: Vec<u32> =
                selectors.flat_map(|selector| self.matching(selector)).filter_map(narrow).collect();
            selected.sort_unstable();
            selected.dedup();
            selected.into()
        })
    }

    fn matching(&self, selector: &Selector) -> Vec<usize> {
        let is_match = |at: &usize| {
            let role = &self.roles[*at];
            role.namespace.is_empty() && selector.selects(|key| role.labels.get(key).map(|value| &**value))
        };
        match selector.required_label() {
            Some(key) => self.roles_by_label.get(key).into_iter().flatten().copied().filter(is_match).collect(),
            None => (0..self.roles.len()).filter(is_match).collect(),
        }
    }
}

/// A position as `u32`; `None` for a position beyond the size of any real cluster.
fn narrow(at: usize) -> Option<u32> {
    u32::try_from(at).ok()
}
