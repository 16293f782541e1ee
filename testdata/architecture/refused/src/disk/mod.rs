//! The door to the file system, which does not open the others.

use crate::cli::Args;
use std::env;
use std::fs;
use std::process::Command;
