//! The state of an evaluation.

use std::collections::VecDeque;

use arcstr::ArcStr;

use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::syntax::Expr;
use crate::cel::value::{Read, Value};

/// The maximum number of fields that an evaluation remembers. The last ones decide the result.
const MAX_READS: usize = 200;

/// The result of an evaluation, or the reason why there is none.
pub(crate) type Evaluated = Result<Value, Failure>;

/// A function that evaluates an expression.
pub(super) type Step = fn(&Expr, &mut Scope<'_>) -> Evaluated;

/// The variables, the budget and the fields that were read.
pub(crate) struct Scope<'a> {
    variables: &'a [(&'a str, Value)],
    locals: Vec<(ArcStr, Value)>,
    pub(super) budget: &'a mut Budget,
    /// Evaluates a part of the expression.
    pub(super) step: Step,
    reads: VecDeque<Read>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(variables: &'a [(&'a str, Value)], budget: &'a mut Budget, step: Step) -> Self {
        Self { variables, locals: Vec::new(), budget, step, reads: VecDeque::new() }
    }

    /// The value of a variable.
    pub(super) fn variable(&self, name: &str) -> Value {
        let local = self.locals.iter().rev().find(|(own, _)| &**own == name).map(|(_, value)| value);
        let global = || self.variables.iter().find(|(own, _)| *own == name).map(|(_, value)| value);
        local.or_else(global).cloned().unwrap_or(Value::Unknown)
    }

    /// Evaluates with more variables.
    pub(super) fn with<T>(
        &mut self,
        variables: impl IntoIterator<Item = (ArcStr, Value)>,
        evaluate: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let outer = self.locals.len();
        self.locals.extend(variables);
        let result = evaluate(self);
        self.locals.truncate(outer);
        result
    }

    /// Notes a field that was read.
    pub(super) fn read(&mut self, read: Read) {
        // The last read leads to this one: `object.spec` to `object.spec.replicas`.
        if let Some(last) = self.reads.back()
            && last.variable == read.variable
            && read.path.0.starts_with(&last.path.0)
        {
            self.reads.pop_back();
        }
        if self.reads.len() == MAX_READS {
            self.reads.pop_front();
        }
        self.reads.push_back(read);
    }

    /// The fields that were read, each once.
    pub(super) fn into_reads(self) -> Vec<Read> {
        let mut reads: Vec<Read> = Vec::new();
        for read in self.reads {
            if !reads.contains(&read) {
                reads.push(read);
            }
        }
        reads
    }
}
