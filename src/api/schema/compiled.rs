//! Compiled CEL rules.

use crate::cel::{Program, Type};

/// The compiled rules of a schema.
#[derive(Debug)]
pub struct CompiledRules {
    /// The type of `self`.
    pub self_type: Type,
    /// The rules in their order; `None` for a rule that does not compile or that compares with an older object.
    pub rules: Box<[Option<CompiledRule>]>,
}

/// A compiled rule.
#[derive(Debug)]
pub struct CompiledRule {
    /// The expression.
    pub program: Program,
    /// The expression of the message.
    pub message: Option<Program>,
}
