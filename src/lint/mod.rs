//! One repository → findings.

mod found;
mod scope;
mod refs;
mod facts;
mod order;
mod rule;
mod view;
mod rules;
mod run;

pub use facts::private_values::private_values;
pub use found::Found;
pub use refs::presence::Presence;
pub use rule::{Check, Context, Fleet, Rule};
pub use rules::RULES;
pub use run::repository::{Options, Outcome, judge, run, tenancies};
pub use run::settings::{unknown_clusters, unknown_rules, unused_skips, with_rules};
pub use view::View;

/// The rule of an id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}
