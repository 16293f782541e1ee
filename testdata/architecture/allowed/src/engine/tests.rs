//! Tests use all modules of their parent, also through its imports.

use super::run::State;
use super::{Plan, Run};
