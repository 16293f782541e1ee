//! Compilation and evaluation of expressions.

use std::ops::Range;
use std::sync::Arc;
use std::thread;

use arcstr::ArcStr;

use super::budget::Budget;
use super::check::check;
use super::evaluate::evaluate;
use super::failure::Failure;
use super::syntax::{Expr, MAX_HEIGHT, SyntaxError, parse};
use super::types::Type;
use super::value::{Read, Value};

/// The height of an expression that any thread can compile and evaluate. Almost no expression is higher.
const SHALLOW: u16 = 40;
/// The size of the stack for other expressions, in bytes.
const LARGE_STACK: usize = 16 << 20;

/// The declarations that an expression may use: the variables, and the functions of a Kubernetes version.
#[derive(Debug, Clone)]
pub struct Environment {
    variables: Vec<(ArcStr, Type)>,
    minor: Option<u32>,
}

/// A fault of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileError {
    /// The range of the faulty part in the expression, in bytes.
    pub at: Range<usize>,
    /// The reason, as the API server words it.
    pub message: String,
}

/// An expression that compiles.
#[derive(Debug, Clone)]
pub struct Program {
    expr: Arc<Expr>,
    result_type: Type,
    /// Whether the evaluation needs a large stack.
    is_deep: bool,
}

/// The result of an evaluation.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// The value, or the reason why there is none.
    pub result: Result<Value, Failure>,
    /// The fields that the evaluation read, in order. A field that leads to another read field is not listed.
    pub reads: Vec<Read>,
}

impl Environment {
    /// Creates an environment without variables. `minor` is the minor version of Kubernetes 1; with `None`, every function
    /// is declared.
    pub fn new(minor: Option<u32>) -> Self {
        Self { variables: Vec::new(), minor }
    }

    /// Declares a variable.
    #[must_use]
    pub fn with(mut self, name: &str, declared: Type) -> Self {
        self.variables.push((name.into(), declared));
        self
    }

    /// Compiles an expression.
    pub fn compile(&self, text: &str) -> Result<Program, Vec<CompileError>> {
        match parse(text, SHALLOW) {
            Err(error) if error.is_too_deep() => {
                let failed = || vec![CompileError { at: 0..0, message: "the expression is nested too deeply".into() }];
                on_large_stack(|| self.check(parse(text, MAX_HEIGHT), true)).unwrap_or_else(|| Err(failed()))
            }
            parsed => self.check(parsed, false),
        }
    }

    /// Returns the fault in the syntax of an expression; `None` also if the expression is nested too deeply to judge it.
    /// Every environment has the same syntax.
    pub fn syntax_error(text: &str) -> Option<CompileError> {
        let error = match parse(text, SHALLOW) {
            Err(error) if error.is_too_deep() => on_large_stack(|| parse(text, MAX_HEIGHT).err()).flatten()?,
            parsed => parsed.err()?,
        };
        (!error.is_too_deep()).then_some(CompileError { at: error.at, message: error.message })
    }

    fn check(&self, parsed: Result<Expr, SyntaxError>, is_deep: bool) -> Result<Program, Vec<CompileError>> {
        let fail = |at, message| CompileError { at, message };
        let mut expr = parsed.map_err(|error| vec![fail(error.at, error.message)])?;
        let result_type = check(&mut expr, &self.variables, self.minor)
            .map_err(|errors| errors.into_iter().map(|error| fail(error.at, error.message)).collect::<Vec<_>>())?;
        Ok(Program { expr: Arc::new(expr), result_type, is_deep })
    }
}

/// Calls a function with a stack that is large enough for the highest expressions; `None` if there is no such stack.
fn on_large_stack<T: Send>(call: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| {
        let spawned = thread::Builder::new().stack_size(LARGE_STACK).spawn_scoped(scope, call);
        spawned.ok().and_then(|running| running.join().ok())
    })
}

impl Program {
    /// The type of the result, as far as the type checker knows it.
    pub fn result_type(&self) -> &Type {
        &self.result_type
    }

    /// Evaluates the expression. A variable without a value is unknown.
    pub fn evaluate(&self, variables: &[(&str, Value)], budget: &mut Budget) -> Evaluation {
        let evaluated = if self.is_deep {
            on_large_stack(|| evaluate(&self.expr, variables, budget))
        } else {
            Some(evaluate(&self.expr, variables, budget))
        };
        let (result, reads) = evaluated.unwrap_or((Err(Failure::Limit), Vec::new()));
        Evaluation { result, reads }
    }

    /// Evaluates the expression as one of several of a request. Each of them has its own limit, and the first one that
    /// exceeds it ends the budget of the request, as on the API server.
    pub fn evaluate_in(&self, variables: &[(&str, Value)], request: &mut Budget) -> Evaluation {
        let mut own = Budget::new(request.limit_of_expression());
        let evaluation = self.evaluate(variables, &mut own);
        let spent = request.spend(usize::try_from(own.spent()).unwrap_or(usize::MAX));
        if spent.is_err() || matches!(evaluation.result, Err(Failure::Limit)) {
            request.end();
        }
        evaluation
    }
}
