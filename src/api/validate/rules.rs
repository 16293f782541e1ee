//! CEL rules: `x-kubernetes-validations`.
//!
//! An object is new, so a rule about the change of a field does not run. Source: `pkg/apiserver/schema/cel` of
//! `k8s.io/apiextensions-apiserver`.

use super::defaults::with_defaults;
use super::metadata::short;
use super::mismatch::{Fault, Mismatch};
use super::path::Path;
use super::state::Walk;
use crate::api::schema::{CompiledRule, Rule, Schema};
use crate::cel::{Evaluation, Failure, Program, Read, Value};
use crate::text::Span;
use crate::yaml::Node;

/// Reports the rules that are not true.
pub(super) fn check_rules(node: &Node, schema: &Schema, path: &Path<'_>, walk: &mut Walk) {
    let is_resource = schema.embedded || path.depth() == 0;
    let Some((constraints, compiled)) = schema.constraints.as_ref().zip(schema.compiled_rules(is_resource)) else {
        return;
    };
    if walk.rules.is_over() {
        return;
    }
    let own = with_defaults(node, schema);
    let value = Value::of_node("self", &own, &compiled.self_type);
    for (rule, compiled) in constraints.rules.iter().zip(&compiled.rules) {
        let (program, message) = match compiled {
            CompiledRule::Rule { program, message } => (program, message),
            CompiledRule::Transition => continue,
            CompiledRule::Faulty(reason) => {
                let message = format!("cannot be checked: the rule `{}` does not compile: {reason}", short(&rule.rule));
                let (path, at) = (path.text(), path.key_span());
                walk.add(Mismatch { fault: Fault::Unchecked, path, at, message, help: None, meant: None });
                continue;
            }
        };
        let limit = walk.rules.limit_of_expression();
        let mut run = |program: &Program| {
            program.evaluate_in(&[("self", value.clone()), ("oldSelf", Value::Optional(None))], &mut walk.rules)
        };
        let Evaluation { result, reads } = run(program);
        let (fault, message) = match result {
            Ok(value) if value.as_bool() == Some(false) => {
                (Fault::Rule, format!("violates a rule: {}", words(rule, message.as_deref(), &mut run)))
            }
            Err(Failure::Error(error)) => {
                let rule = rule.message.as_deref().unwrap_or(&rule.rule);
                (Fault::Rule, format!("fails a rule: {error}, which the rule needs: {}", short(rule)))
            }
            Err(Failure::Limit) => {
                let rule = short(&rule.rule);
                (Fault::Limit, format!("cannot be checked: the rule `{rule}` takes more than {limit} steps"))
            }
            // The repository does not show whether the rule is true.
            Ok(_) | Err(Failure::Unknown) => continue,
        };
        let help = rule.message.is_some().then(|| format!("the rule is `{}`", short(&rule.rule)));
        let at = position(node, rule, &reads).unwrap_or_else(|| path.key_span());
        let path = path.text() + rule.field_path.as_deref().unwrap_or_default();
        let path = path.strip_prefix('.').map_or_else(|| path.clone(), str::to_owned);
        walk.add(Mismatch { fault, path, at, message, help, meant: None });
        if fault == Fault::Limit {
            return;
        }
    }
}

/// The message of a rule: the result of its expression, its message, or the rule itself.
fn words(rule: &Rule, message: Option<&Program>, run: &mut impl FnMut(&Program) -> Evaluation) -> String {
    let computed = message.and_then(|program| run(program).result.ok());
    let computed = computed.as_ref().and_then(Value::as_text).map(str::trim);
    let computed = computed.filter(|text| !text.is_empty() && !text.contains('\n'));
    match (computed, &rule.message) {
        (Some(text), _) => text.to_owned(),
        (None, Some(message)) => message.to_string(),
        (None, None) => format!("`{}`", short(&rule.rule)),
    }
}

/// The position of a violation: the field that the rule names, or else the first field that it read.
fn position(node: &Node, rule: &Rule, reads: &[Read]) -> Option<Span> {
    let named = rule.field_path.as_deref().filter(|path| !path.contains('[')).and_then(|path| {
        let mut names = path.split('.').filter(|name| !name.is_empty());
        names.try_fold(node, |node, name| node.get(name))
    });
    let read =
        || reads.iter().filter(|read| read.exists && &*read.variable == "self").find_map(|read| read.path.find(node));
    named.or_else(read).map(|node| node.span().clone())
}
