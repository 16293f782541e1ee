//! Uses what is listed below it, and an item of the tests.

use super::step::{Kind, Step};
use super::tests::Fake;

pub struct Plan(Step);
