//! One repository → findings.

mod cold_start;
mod descent;
mod found;
mod installation;
mod listing;
mod needs;
mod objects;
mod ownership;
mod presence;
mod reach;
mod rule;
mod rules;
mod run;
mod scope;
mod suppress;
mod view;

pub use found::Found;
pub use presence::Presence;
pub use rule::{Check, Context, Fleet, Rule};
pub use rules::RULES;
pub use run::{Options, Outcome, judge, run};
pub use view::View;

/// The rule of an id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}
