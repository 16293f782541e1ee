//! Names variants, associated functions and a neighbour of its parent.

use super::super::plan::{Kind, Plan as Steps};
use crate::engine::plan;

pub struct Run { pub plan: Steps }

pub fn run() -> Run {
    let kind = plan::Kind::Small;
    matches!(kind, Kind::Large);
    Run { plan: Steps::new(kind) }
}
