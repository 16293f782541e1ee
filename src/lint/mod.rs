//! One repository → findings.

mod artifacts;
mod automation;
mod before;
mod charts;
mod circles;
mod cold_start;
mod controllers;
mod dependency;
mod descent;
mod fields;
mod fold;
mod found;
mod generators;
mod installation;
mod listing;
mod makers;
mod missing;
mod needs;
mod objects;
mod ownership;
mod pods;
mod presence;
mod private_values;
mod reach;
mod receiver_events;
mod rule;
mod rules;
mod run;
mod runtime_info;
mod scope;
mod settings;
mod source_reference;
mod suppress;
mod tenants;
mod values_reference;
mod view;
mod wanted;

pub use found::Found;
pub use presence::Presence;
pub use private_values::private_values;
pub use rule::{Check, Context, Fleet, Rule};
pub use rules::RULES;
pub use run::{Options, Outcome, judge, run, tenancies};
pub use settings::{unknown_clusters, unknown_rules, unused_skips, with_rules};
pub use view::View;

/// The rule of an id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}
