//! A function, a module and a field of one name are three things.

mod run;
mod state;

pub use run::{Run, run};
pub(super) use state::State;
