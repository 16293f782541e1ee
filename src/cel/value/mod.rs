//! Values of expressions.

mod trail;
mod data;
mod compare;
mod escape;

pub(super) use compare::{compare, contains, has_same_keys, is_equal, lookup_steps, number_key};
pub use data::{Field, List, Map, MapKey, Record, Value};
pub(super) use escape::{RESERVED, unescape};
pub use trail::Read;
