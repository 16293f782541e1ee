//! Values of expressions.

mod trail;
mod data;
mod lazy;
mod record;
mod compare;
mod escape;

pub(super) use compare::{compare, contains, has_same_keys, is_equal, lookup_steps, number_key};
pub use data::{List, Map, MapKey, Value};
pub(super) use escape::unescape;
pub use record::{Field, Record};
pub use trail::Read;
