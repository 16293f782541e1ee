//! One repository → findings.

mod installation;
mod objects;
mod reach;
mod rule;
mod rules;
mod run;
mod settings;
mod suppress;

pub use rule::{Check, Context, Rule};
pub use rules::RULES;
pub use run::{Options, Outcome, judge, run};
pub use settings::{unknown_rules, unused_skips, with_rules};

/// The rule of an id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}
