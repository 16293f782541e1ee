//! CEL, the expression language of validation rules and admission policies, as the API server evaluates it.
//!
//! The language is that of `cel-go` with the library of Kubernetes. An expression has no side effects, and a `Budget`
//! bounds the time and the memory of its evaluation.

mod failure;
mod budget;
mod types;
mod notation;
mod value;
mod library;
mod syntax;
mod check;
mod evaluate;
mod program;

pub use budget::{Budget, STEPS_OF_EXPRESSION, STEPS_OF_REQUEST};
pub use failure::Failure;
pub use notation::{Duration, Url};
pub use program::{CompileError, Environment, Evaluation, Program};
pub use types::{Fields, Merge, Type};
pub use value::{Field, List, Map, MapKey, Read, Record, Value};
