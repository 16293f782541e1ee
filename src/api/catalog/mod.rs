//! The schemas of the kinds of a cluster, and where they come from.

pub mod pack;
mod built_in;
mod definition;
mod definition_mistakes;
mod lookup;
mod collect;

pub use built_in::{BuiltIn, Product, Releases, built_in, scope_of, versions_of_kind};
pub use collect::definitions_in;
pub use definition::{Definition, Version};
pub use definition_mistakes::{DefinitionMistake, definition_mistakes};
pub use lookup::{Catalog, Definitions, Elsewhere, Found, Lookup, Origin};
