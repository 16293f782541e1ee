//! Compiled CEL rules.

use crate::cel::{Program, Type};

/// The compiled rules of a schema.
#[derive(Debug)]
pub struct CompiledRules {
    /// The type of `self`.
    pub self_type: Type,
    /// The rules in their order.
    pub rules: Box<[CompiledRule]>,
}

/// A compiled rule.
#[derive(Debug)]
pub enum CompiledRule {
    /// A rule for every object.
    Rule {
        /// The expression.
        program: Box<Program>,
        /// The expression of the message.
        message: Option<Box<Program>>,
    },
    /// A rule about a transition, which does not run when an object is created.
    Transition,
    /// A rule that does not compile, with the reason.
    Faulty(String),
}
