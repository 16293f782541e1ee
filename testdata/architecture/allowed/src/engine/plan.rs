//! Uses items of its parent and nothing else.

use super::Limit;
use std::fmt::Display;

pub enum Kind { Small, Large }

pub struct Plan { pub kind: Kind, limit: Limit }

impl Plan {
    pub fn new(kind: Kind) -> Self {
        Self { kind, limit: limit!(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::Run;
    use super::*;

    fn run(run: Run) -> Plan { run.plan }
}
