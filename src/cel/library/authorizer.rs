//! The authorizer. Its answers depend on the cluster, so the evaluator never calls these functions with known values.

use super::function::{ALWAYS, Function};
use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::value::Value;

const RESOURCE: &[&str] = &["resource.(string) resource"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("path", ALWAYS, &["authorizer.(string) path"], unknown),
    Function::new("group", ALWAYS, &["authorizer.(string) group"], unknown),
    Function::new("serviceAccount", ALWAYS, &["authorizer.(string, string) authorizer"], unknown),
    Function::new("resource", ALWAYS, &["group.(string) resource"], unknown),
    Function::new("subresource", ALWAYS, RESOURCE, unknown),
    Function::new("namespace", ALWAYS, RESOURCE, unknown),
    Function::new("name", ALWAYS, RESOURCE, unknown),
    Function::new("fieldSelector", ALWAYS, RESOURCE, unknown),
    Function::new("labelSelector", ALWAYS, RESOURCE, unknown),
    Function::new("check", ALWAYS, &["path.(string) decision", "resource.(string) decision"], unknown),
    Function::new("errored", ALWAYS, &["decision.() bool"], unknown),
    Function::new("error", ALWAYS, &["decision.() string"], unknown),
    Function::new("allowed", ALWAYS, &["decision.() bool"], unknown),
    Function::new("reason", ALWAYS, &["decision.() string"], unknown),
];

fn unknown(_: &[Value], _: &mut Budget) -> Result<Value, Failure> {
    Err(Failure::no_overload())
}
