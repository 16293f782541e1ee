//! The command line.

use crate::disk;
use std::env;
use std::process::{ExitCode, Termination};
pub fn keep(ignore: bool) -> bool { ignore }
