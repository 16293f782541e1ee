//! The command line, which names the items of a module where that module shows them.

use crate::disk;
use crate::engine::{self, Kind, Plan};
use std::env;
use std::process::{ExitCode, Termination};
pub fn keep(ignore: bool) -> bool { ignore }
pub fn all() -> engine::Run { Plan::new(Kind::Small); engine::run() }
