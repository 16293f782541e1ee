//! One repository → findings.

mod rule;
mod run;
mod suppress;

pub use rule::{Check, Context, Rule};
pub use run::{Options, Outcome, run};

/// Lists the rules: for each its file in `rules/`, in order of their ids.
macro_rules! rules {
    ($($module:ident),* $(,)?) => {
        mod rules {
            $(pub(super) mod $module;)*
        }

        /// Every rule, in order of their ids.
        pub const RULES: &[Rule] = &[$(rules::$module::RULE),*];
    };
}

rules! {
    duplicate_key,
    failed_build,
    invalid_yaml,
    missing_resource,
    missing_service_account,
    target_namespace_mismatch,
}

/// The rule of an id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}
