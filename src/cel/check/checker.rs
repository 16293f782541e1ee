//! The checks of expressions.

use std::fmt::Write;
use std::ops::Range;

use arcstr::ArcStr;

use super::constants::fold_constants;
use super::literals::fault;
use super::type_error::TypeError;
use super::unify::{Bindings, is_compatible, is_same, more_general};
use crate::cel::library::{Function, check_format, find};
use crate::cel::syntax::{Expr, Fold, FoldKind, Kind, Selection};
use crate::cel::types::Type;
use crate::cel::value::{Value, unescape};

/// The maximum number of errors that are reported for one expression.
const MAX_ERRORS: usize = 20;

/// The names of types, which are values.
const TYPES: [&str; 17] = [
    "bool",
    "bytes",
    "double",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "type",
    "uint",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "net.IP",
    "net.CIDR",
    "optional_type",
    "kubernetes.Quantity",
    "kubernetes.URL",
];

/// Checks an expression and completes it: qualified names become single names, and calls get their functions.
pub(crate) fn check(expr: &mut Expr, variables: &[(ArcStr, Type)], minor: Option<u32>) -> Result<Type, Vec<TypeError>> {
    let mut checker =
        Checker { variables: variables.to_vec(), minor, formats: 0, errors: Vec::new(), late: Vec::new() };
    let result = checker.expr(expr);
    let mut errors = if checker.errors.is_empty() { checker.late } else { checker.errors };
    if errors.is_empty() {
        return fold_constants(expr).map(|()| result).map_err(|error| vec![error]);
    }
    errors.sort_by_key(|error| error.at.start);
    Err(errors)
}

struct Checker {
    /// The variables; an inner one is later.
    variables: Vec<(ArcStr, Type)>,
    minor: Option<u32>,
    /// The number of calls of `format` around the expression. Their lists may mix types.
    formats: usize,
    errors: Vec<TypeError>,
    /// The faults that the API server looks for only in an expression whose types are right.
    late: Vec<TypeError>,
}

impl Checker {
    /// Reports an error. The faulty part can have any type, so that it causes no other errors.
    fn fail(&mut self, at: &Range<usize>, message: String) -> Type {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(TypeError { at: at.clone(), message });
        }
        Type::Dyn
    }

    fn fail_late(&mut self, at: &Range<usize>, message: String) {
        if self.late.len() < MAX_ERRORS {
            self.late.push(TypeError { at: at.clone(), message });
        }
    }

    fn undeclared(&mut self, at: &Range<usize>, name: &str) -> Type {
        self.fail(at, format!("undeclared reference to '{name}' (in container '')"))
    }

    fn function(&self, name: &str) -> Option<&'static Function> {
        find(name).filter(|function| self.minor.is_none_or(|minor| minor >= function.since))
    }

    fn variable(&self, name: &str) -> Option<Type> {
        self.variables.iter().rev().find(|(own, _)| &**own == name).map(|(_, declared)| declared.clone())
    }

    /// The type of an expression.
    fn expr(&mut self, expr: &mut Expr) -> Type {
        let at = expr.at.clone();
        match &mut expr.kind {
            Kind::Literal(value) => literal_type(value),
            Kind::Name(name) => {
                let name = name.clone();
                self.name(&mut expr.kind, &at, &name)
            }
            Kind::Select(..) => self.select(expr),
            Kind::Call { .. } => self.call(expr),
            Kind::Index(operand, index, selection) => {
                let types = [self.expr(operand), self.expr(index)];
                let name = if *selection == Selection::Optional { "_[?_]" } else { "_[_]" };
                self.resolve(name, false, &types, &at).1
            }
            Kind::OrElse(receiver, other, selection) => {
                let types = [self.expr(receiver), self.expr(other)];
                let name = if *selection == Selection::Optional { "or" } else { "orValue" };
                self.resolve(name, true, &types, &at).1
            }
            Kind::And(operands) | Kind::Or(operands) => {
                for operand in operands {
                    let actual = self.expr(operand);
                    self.expect(&operand.at, &Type::Bool, &actual);
                }
                Type::Bool
            }
            Kind::Conditional(parts) => {
                let types = parts.each_mut().map(|part| self.expr(part));
                self.conditional(&types, &at)
            }
            Kind::List(items) => {
                let mut joined = None;
                for item in items {
                    let actual = self.expr(&mut item.value);
                    if item.is_optional && is_none(&item.value) {
                        continue;
                    }
                    let actual = self.content(item.is_optional, actual, &item.value.at);
                    joined = Some(self.join(joined, actual, &item.value.at));
                }
                Type::list(joined.unwrap_or(Type::Dyn))
            }
            Kind::Map(pairs) => {
                let (mut keys, mut values) = (None, None);
                for pair in pairs {
                    let key = self.expr(&mut pair.key);
                    keys = Some(self.join(keys, key, &pair.key.at));
                    let value = self.expr(&mut pair.value);
                    if pair.is_optional && is_none(&pair.value) {
                        continue;
                    }
                    let value = self.content(pair.is_optional, value, &pair.value.at);
                    values = Some(self.join(values, value, &pair.value.at));
                }
                Type::map(keys.unwrap_or(Type::Dyn), values.unwrap_or(Type::Dyn))
            }
            Kind::Fold(fold) => self.fold(fold, &at),
        }
    }

    /// The type of a name: a variable, or a type as a value.
    fn name(&mut self, kind: &mut Kind, at: &Range<usize>, name: &str) -> Type {
        if let Some(declared) = self.variable(name) {
            *kind = Kind::Name(name.into());
            return declared;
        }
        if TYPES.contains(&name) {
            *kind = Kind::Literal(Value::Type(name.into()));
            return Type::Type;
        }
        self.undeclared(at, name)
    }

    fn select(&mut self, expr: &mut Expr) -> Type {
        // A qualified name of a type: `google.protobuf.Timestamp`.
        if let Some(name) = qualified(expr)
            && (self.variable(&name).is_some() || TYPES.contains(&&*name))
        {
            return self.name(&mut expr.kind, &expr.at, &name);
        }
        let Kind::Select(operand, field, selection) = &mut expr.kind else { return Type::Dyn };
        let operand = self.expr(operand);
        let (target, is_optional) = match &operand {
            Type::Optional(content) => (&**content, true),
            other => (other, false),
        };
        let selected = match target {
            Type::Map(_, value) => Type::clone(value),
            Type::Object(fields) => match fields.field(&unescape(field)) {
                Some(declared) => declared,
                None => self.fail(&expr.at, format!("undefined field '{field}'")),
            },
            Type::Dyn | Type::Parameter(_) => Type::Dyn,
            other => self.fail(&expr.at, format!("type '{other}' does not support field selection")),
        };
        match selection {
            Selection::Test => Type::Bool,
            Selection::Value if !is_optional => selected,
            _ => Type::optional(selected),
        }
    }

    fn call(&mut self, expr: &mut Expr) -> Type {
        let at = expr.at.clone();
        let Kind::Call { name, arguments, is_member, function } = &mut expr.kind else { return Type::Dyn };
        // `sets.contains(a, b)` is a function if there is one of this name, and otherwise a member call.
        if *is_member
            && let Some(prefix) = arguments.first().and_then(qualified)
            && let qualified_name = format!("{prefix}.{name}")
            && self.function(&qualified_name).is_some()
        {
            *name = qualified_name.into();
            *is_member = false;
            arguments.remove(0);
        }
        if self.function(name).is_none() {
            // The receiver may be undeclared too, and it comes first.
            if let Some(receiver) = arguments.first_mut().filter(|_| *is_member) {
                self.expr(receiver);
            }
            return self.undeclared(&at, name);
        }
        let is_format = &**name == "format";
        self.formats += usize::from(is_format);
        let mut formatted = None;
        let mut types: Vec<Type> = Vec::with_capacity(arguments.len());
        for argument in arguments.iter_mut() {
            match &mut argument.kind {
                Kind::List(items) if is_format => {
                    formatted = Some(items.iter_mut().map(|item| self.expr(&mut item.value)).collect::<Vec<_>>());
                    types.push(Type::list(Type::Dyn));
                }
                _ => types.push(self.expr(argument)),
            }
        }
        self.formats -= usize::from(is_format);
        let (found, result) = self.resolve(name, *is_member, &types, &at);
        *function = found;
        if let (Some(types), Some(Kind::Literal(Value::String(template)))) =
            (formatted, arguments.first().map(|template| &template.kind))
            && let Err(message) = check_format(template, &types)
        {
            self.fail_late(&at, message);
        }
        if let Some((argument, message)) = fault(name, arguments) {
            let at = argument.at.clone();
            self.fail(&at, message);
        }
        result
    }

    /// The function that a call selects, and the type of its result.
    fn resolve(
        &mut self,
        name: &str,
        is_member: bool,
        types: &[Type],
        at: &Range<usize>,
    ) -> (Option<&'static Function>, Type) {
        let Some(function) = self.function(name) else { return (None, self.undeclared(at, name)) };
        let mut result: Option<Type> = None;
        for signature in function.signatures() {
            if signature.is_member != is_member || signature.parameters.len() != types.len() {
                continue;
            }
            let mut bindings = Bindings::default();
            if !types.iter().zip(&signature.parameters).all(|(actual, formal)| bindings.accept(actual, formal)) {
                continue;
            }
            let own = bindings.apply(&signature.result);
            result = Some(match result {
                Some(result) if !is_same(&result, &own) => Type::Dyn,
                Some(result) => result,
                None => own,
            });
        }
        let result = result.unwrap_or_else(|| {
            let applied = applied(types, is_member);
            self.fail(at, format!("found no matching overload for '{name}' applied to '{applied}'"))
        });
        (Some(function), result)
    }

    fn conditional(&mut self, types: &[Type; 3], at: &Range<usize>) -> Type {
        let [condition, one, other] = types;
        if !is_compatible(condition, &Type::Bool) || !is_compatible(one, other) {
            let applied = applied(types, false);
            return self.fail(at, format!("found no matching overload for '_?_:_' applied to '{applied}'"));
        }
        more_general(one, other)
    }

    fn expect(&mut self, at: &Range<usize>, expected: &Type, actual: &Type) {
        if !is_compatible(actual, expected) {
            self.fail(at, format!("expected type '{expected}' but found '{actual}'"));
        }
    }

    /// The content of an optional item of a list or a map.
    fn content(&mut self, is_optional: bool, actual: Type, at: &Range<usize>) -> Type {
        match (is_optional, actual) {
            (true, Type::Optional(content)) => Type::clone(&content),
            (true, actual) if !actual.is_dyn() => {
                self.fail(at, format!("expected type 'optional_type({actual})' but found '{actual}'"))
            }
            (_, actual) => actual,
        }
    }

    /// The common type of items. The API server refuses a literal of values with different types outside of `format`.
    fn join(&mut self, previous: Option<Type>, current: Type, at: &Range<usize>) -> Type {
        let Some(previous) = previous else { return current };
        let is_same_kind = is_compatible(&previous, &current);
        if self.formats == 0 && (!is_same_kind || previous.is_dyn() != current.is_dyn()) {
            self.fail_late(at, format!("expected type '{previous}' but found '{current}'"));
        }
        if is_same_kind { more_general(&previous, &current) } else { Type::Dyn }
    }

    fn fold(&mut self, fold: &mut Fold, at: &Range<usize>) -> Type {
        let range = self.expr(&mut fold.range);
        let scope = self.variables.len();
        let is_optional = matches!(fold.kind, FoldKind::OptionalMap | FoldKind::OptionalFlatMap);
        let types = match &range {
            Type::Optional(content) if is_optional => vec![Type::clone(content)],
            Type::List(item, _) if !is_optional => match fold.variables.len() {
                1 => vec![Type::clone(item)],
                _ => vec![Type::Int, Type::clone(item)],
            },
            Type::Map(key, value) if !is_optional => vec![Type::clone(key), Type::clone(value)],
            Type::Dyn | Type::Parameter(_) => vec![Type::Dyn, Type::Dyn],
            other if is_optional => {
                let message = format!("found no matching overload for 'hasValue' applied to '{other}.()'");
                vec![self.fail(&fold.range.at, message)]
            }
            other => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                vec![self.fail(&fold.range.at, message), Type::Dyn]
            }
        };
        let item = types.first().cloned().unwrap_or(Type::Dyn);
        self.variables.extend(fold.variables.iter().cloned().zip(types));
        if let Some(condition) = &mut fold.condition {
            let actual = self.expr(condition);
            self.expect(&condition.at, &Type::Bool, &actual);
        }
        let body = self.expr(&mut fold.body);
        self.variables.truncate(scope);
        match fold.kind {
            FoldKind::ExistsOne | FoldKind::Filter if !is_compatible(&body, &Type::Bool) => {
                let result = if fold.kind == FoldKind::Filter { Type::list(item) } else { Type::Int };
                let applied = applied(&[body, result.clone(), result], false);
                self.fail(&fold.body.at, format!("found no matching overload for '_?_:_' applied to '{applied}'"))
            }
            FoldKind::ExistsOne => Type::Bool,
            FoldKind::Filter => Type::list(item),
            FoldKind::All | FoldKind::Exists => {
                self.expect(&fold.body.at, &Type::Bool, &body);
                Type::Bool
            }
            FoldKind::List => Type::list(body),
            FoldKind::Map => Type::map(item, body),
            FoldKind::MapEntries => match body {
                Type::Map(..) | Type::Dyn => body,
                other => self.fail(
                    &fold.body.at,
                    format!("found no matching overload for 'cel.@mapInsert' applied to '(map(dyn, dyn), {other})'"),
                ),
            },
            FoldKind::SortBy => {
                let name = "@sortByAssociatedKeys";
                let Type::Dyn = self.resolve(name, true, &[Type::list(body)], at).1 else {
                    return if range.is_dyn() { Type::Dyn } else { Type::list(item) };
                };
                Type::list(Type::Dyn)
            }
            FoldKind::OptionalMap => Type::optional(body),
            FoldKind::OptionalFlatMap => match body {
                Type::Optional(_) | Type::Dyn => body,
                other => {
                    let applied = format!("(bool, {other}, optional_type(dyn))");
                    self.fail(at, format!("found no matching overload for '_?_:_' applied to '{applied}'"))
                }
            },
        }
    }
}

/// Returns whether an expression is `optional.none()`, which has no type of its own.
fn is_none(expr: &Expr) -> bool {
    matches!(&expr.kind, Kind::Call { name, .. } if &**name == "optional.none")
}

/// The qualified name that an expression spells: `a.b.c`.
fn qualified(expr: &Expr) -> Option<String> {
    match &expr.kind {
        Kind::Name(name) => Some(name.to_string()),
        Kind::Select(operand, field, Selection::Value) => {
            let mut name = qualified(operand)?;
            name.push('.');
            name.push_str(field);
            Some(name)
        }
        _ => None,
    }
}

fn literal_type(value: &Value) -> Type {
    match value {
        Value::Null => Type::Null,
        Value::Bool(_) => Type::Bool,
        Value::Int(_) => Type::Int,
        Value::Uint(_) => Type::Uint,
        Value::Double(_) => Type::Double,
        Value::String(_) => Type::String,
        Value::Bytes(_) => Type::Bytes,
        Value::Type(_) => Type::Type,
        _ => Type::Dyn,
    }
}

/// The types of the arguments in a message: `(int, string)`, or `string.(int)` for a member.
fn applied(types: &[Type], is_member: bool) -> String {
    let mut text = String::new();
    let mut types = types.iter();
    if is_member && let Some(receiver) = types.next() {
        let _ = write!(text, "{receiver}.");
    }
    let rest: Vec<String> = types.map(Type::to_string).collect();
    let _ = write!(text, "({})", rest.join(", "));
    text
}
