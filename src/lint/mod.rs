//! The linter: checks a repository and returns findings.

mod context;
mod fields;
mod findings;
mod refs;
mod facts;
mod view;
mod presence;
mod cluster_policies;
mod fleet;
mod apis;
mod automation;
mod order;
mod rule;
mod rules;
mod run;
mod upgrade;

pub use context::Context;
pub use facts::artifacts::generates;
pub use facts::private_values::private::{Evidence, Private};
pub use facts::private_values::search::private_values;
pub use facts::unknown_sources::UnknownSource;
pub use findings::Findings;
pub use fleet::Fleet;
pub use presence::on_cluster::Presence;
pub use refs::all::{Relation, references};
pub use refs::reference::Reference;
pub use rule::{Check, Rule};
pub use rules::{PLAINTEXT_SECRET, RULES, rule};
pub use run::baseline::{Baseline, BaselineOutcome, BaselineUse, Entry};
pub use run::fix::{Fixed, Unfixed, fix};
pub use run::options::{ABOUT_EXCEPTIONS, Options};
pub use run::repository::{Outcome, judge, run, tenancies};
pub use run::settings::{unknown_clusters, unknown_rules, unused_skips, with_rules};
pub use upgrade::{Upgrade, upgrade};
pub use view::View;
