//! Modules in order, an item that they share, and imports for other modules.

macro_rules! limit {
    ($limit:expr) => {
        Limit($limit)
    };
}

/// An item that the children use, while no code of this file uses a child.
pub struct Limit(usize);

mod plan;
mod run;
#[cfg(test)]
mod tests;

pub use plan::{Kind, Plan};
pub use run::{Run, run};
