//! Reached through the macro, so it is read.

use ignore::WalkBuilder;
use std::process::Command;
