//! Modules in the wrong order, imports through this file, and cycles in one directory and across two.

mod build;
mod run;
mod lookup;
mod plan;
mod step;
#[cfg(test)]
mod tests;

pub use plan::Plan;
pub(crate) use lookup::*;
