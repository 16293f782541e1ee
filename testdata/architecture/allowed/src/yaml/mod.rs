//! Re-exports of its own parts, and groups below a module.

mod tag;
mod node;

use crate::text::{File, nested::{self, own}};
use std::{collections::BTreeMap, sync::Arc};

pub use crate::yaml::node::Node;
pub use node::{Entry, Value};
