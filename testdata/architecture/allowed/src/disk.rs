//! The door to the file system.

use crate::text::File;
use ignore::WalkBuilder;
use std::os::unix::fs::symlink;
use std::{fs, process::Command};
