//! `super` within a top-level module.

use super::tag::Tag;
