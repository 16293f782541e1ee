//! Execution of a parsed template, with the source of each piece of the output.

use arcstr::ArcStr;

use super::budget::Budget;
use super::fault::Fault;
use super::lex::Number;
use super::output::{From, Output};
use super::parse::{Branch, Operand, Parsed, Piece, Pipe, Term};
use super::value::{Kind, Value};
use super::{functions, go};
use crate::flux::resourceset::template::functions::function::Parameter;

/// The maximum nesting depth of actions, parentheses and called templates during execution.
const MAX_DEPTH: usize = 150;

pub(super) fn run(text: &str, parsed: &Parsed, inputs: &Value, budget: &mut Budget) -> Result<Output, Fault> {
    let nil = Value::new(Kind::Nil);
    let variables = vec![("$".into(), nil.clone())];
    let mut run = Run { text, parsed, inputs, budget, variables, output: Output::default(), depth: 0 };
    run.pieces(&nil, &parsed.root)?;
    Ok(run.output)
}

struct Run<'a> {
    text: &'a str,
    parsed: &'a Parsed,
    inputs: &'a Value,
    budget: &'a mut Budget,
    variables: Vec<(ArcStr, Value)>,
    output: Output,
    depth: usize,
}

/// The control flow after a piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

impl<'a> Run<'a> {
    fn deeper<T>(&mut self, at: usize, inner: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.depth == MAX_DEPTH {
            return Err(Fault::bound(at, format!("the execution is nested more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn pieces(&mut self, dot: &Value, pieces: &'a [Piece]) -> Result<Flow, Fault> {
        for piece in pieces {
            let flow = self.piece(dot, piece)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn piece(&mut self, dot: &Value, piece: &'a Piece) -> Result<Flow, Fault> {
        match piece {
            Piece::Outside(at) => {
                self.budget.step(at.start)?;
                let text = self.text.get(at.clone()).unwrap_or_default();
                self.write(text, From::Outside(at.start), at.start)?;
            }
            Piece::Action(pipe) => {
                let value = self.pipe(dot, pipe)?;
                if pipe.variables.is_empty() {
                    let text = go::print(&value).map_err(|fault| fault.moved(pipe.at.start))?;
                    self.write(&text, From::Action(pipe.at.clone(), value.place), pipe.at.start)?;
                }
            }
            Piece::If(branch) => return self.branch(dot, branch, false),
            Piece::With(branch) => return self.branch(dot, branch, true),
            Piece::Range(branch) => {
                let mark = self.variables.len();
                let flow = self.deeper(branch.pipe.at.start, |run| run.range(dot, branch));
                self.variables.truncate(mark);
                return flow;
            }
            Piece::Template(name, pipe, at) => self.template(dot, name, pipe.as_ref(), *at)?,
            Piece::Break => return Ok(Flow::Break),
            Piece::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }

    fn write(&mut self, text: &str, from: From, at: usize) -> Result<(), Fault> {
        if text.is_empty() {
            return Ok(());
        }
        self.budget.bytes(text.len()).map_err(|fault| fault.moved(at))?;
        self.output
            .pieces
            .push(crate::flux::resourceset::template::output::Piece { start: self.output.text.len(), from });
        self.output.text.push_str(text);
        Ok(())
    }

    fn truth(value: &Value, at: usize) -> Result<bool, Fault> {
        value.truth().ok_or_else(|| {
            let name = value.unknown(1).unwrap_or_default();
            Fault::limit(at, format!("a condition depends on `{name}`, which is known only on the cluster"))
        })
    }

    fn branch(&mut self, dot: &Value, branch: &'a Branch, with: bool) -> Result<Flow, Fault> {
        let mark = self.variables.len();
        let flow = self.deeper(branch.pipe.at.start, |run| {
            let value = run.pipe(dot, &branch.pipe)?;
            if Self::truth(&value, branch.pipe.at.start)? {
                run.pieces(if with { &value } else { dot }, &branch.body)
            } else {
                run.pieces(dot, &branch.otherwise)
            }
        });
        self.variables.truncate(mark);
        flow
    }

    fn range(&mut self, dot: &Value, branch: &'a Branch) -> Result<Flow, Fault> {
        let at = branch.pipe.at.start;
        let value = self.pipe(dot, &branch.pipe)?;
        let count = match &value.kind {
            Kind::List(items, _) => {
                for (index, item) in (0..).zip(items.iter()) {
                    if self.round(branch, Value::new(Kind::Int(index)), item)? == Flow::Break {
                        return Ok(Flow::Next);
                    }
                }
                items.len()
            }
            Kind::Map(entries) | Kind::Texts(entries) => {
                // The body may change the map, which does not affect a range in Go.
                let entries = entries.borrow().clone();
                for (key, item) in &entries {
                    if self.round(branch, Value::text(key.clone()), item)? == Flow::Break {
                        return Ok(Flow::Next);
                    }
                }
                entries.len()
            }
            Kind::Int(count) | Kind::Int64(count) => {
                if branch.pipe.variables.len() > 1 {
                    return Err(Fault::error(at, "`range` over a number sets one variable, not two"));
                }
                let of = |index| match value.kind {
                    Kind::Int(_) => Kind::Int(index),
                    _ => Kind::Int64(index),
                };
                for index in 0..*count {
                    if self.round(branch, Value::new(Kind::Nil), &Value::new(of(index)))? == Flow::Break {
                        return Ok(Flow::Next);
                    }
                }
                usize::try_from(*count).unwrap_or(0)
            }
            Kind::Nil => 0,
            Kind::Unknown(name) => {
                return Err(Fault::limit(
                    at,
                    format!("a `range` depends on `{name}`, which is known only on the cluster"),
                ));
            }
            _ => {
                return Err(Fault::error(
                    at,
                    format!("`range` cannot iterate over a value of type {}", value.type_name()),
                ));
            }
        };
        if count == 0 { self.pieces(dot, &branch.otherwise) } else { Ok(Flow::Next) }
    }

    /// Executes one iteration of a range.
    fn round(&mut self, branch: &'a Branch, index: Value, item: &Value) -> Result<Flow, Fault> {
        self.budget.step(branch.pipe.at.start)?;
        // The variables of the pipeline are on top of the stack: the index below the item.
        match (&*branch.pipe.variables, branch.pipe.assigns) {
            ([], _) => {}
            ([of_item], true) => self.assign(of_item, item, branch.pipe.at.start)?,
            ([of_index, of_item, ..], true) => {
                self.assign(of_index, &index, branch.pipe.at.start)?;
                self.assign(of_item, item, branch.pipe.at.start)?;
            }
            ([_], false) => self.set_top(1, item.clone()),
            ([_, _, ..], false) => {
                self.set_top(1, item.clone());
                self.set_top(2, index);
            }
        }
        let mark = self.variables.len();
        let flow = self.pieces(item, &branch.body);
        self.variables.truncate(mark);
        flow
    }

    fn set_top(&mut self, below: usize, value: Value) {
        let at = self.variables.len().checked_sub(below);
        if let Some((_, old)) = at.and_then(|at| self.variables.get_mut(at)) {
            *old = value;
        }
    }

    fn assign(&mut self, name: &ArcStr, value: &Value, at: usize) -> Result<(), Fault> {
        let known = self.variables.iter_mut().rev().find(|(known, _)| known == name);
        let (_, old) = known.ok_or_else(|| Fault::error(at, format!("the variable `{name}` is not declared")))?;
        *old = value.clone();
        Ok(())
    }

    fn template(&mut self, dot: &Value, name: &ArcStr, pipe: Option<&'a Pipe>, at: usize) -> Result<(), Fault> {
        let parsed = self.parsed;
        let body = parsed.defined.get(name);
        let body = body.ok_or_else(|| Fault::error(at, format!("the template `{name}` is not defined")))?;
        self.budget.step(at)?;
        let dot = match pipe {
            Some(pipe) => self.pipe(dot, pipe)?,
            None => Value::new(Kind::Nil),
        };
        let outer = std::mem::replace(&mut self.variables, vec![("$".into(), dot.clone())]);
        let result = self.deeper(at, |run| run.pieces(&dot, body));
        self.variables = outer;
        result.map(|_| ())
    }

    fn pipe(&mut self, dot: &Value, pipe: &'a Pipe) -> Result<Value, Fault> {
        self.deeper(pipe.at.start, |run| {
            run.budget.step(pipe.at.start)?;
            let mut value = None;
            for command in &pipe.commands {
                value = Some(run.command(dot, command, value)?);
            }
            let value = value.unwrap_or_else(|| Value::new(Kind::Nil));
            for name in &pipe.variables {
                if pipe.assigns {
                    run.assign(name, &value, pipe.at.start)?;
                } else {
                    run.variables.push((name.clone(), value.clone()));
                }
            }
            Ok(value)
        })
    }

    fn command(&mut self, dot: &Value, terms: &'a [Term], piped: Option<Value>) -> Result<Value, Fault> {
        let Some((first, rest)) = terms.split_first() else { return Ok(Value::new(Kind::Nil)) };
        if let (Operand::Function(name), []) = (&first.kind, &*first.fields) {
            return self.call(dot, name, rest, piped, first.at);
        }
        if !rest.is_empty() || piped.is_some() {
            return Err(Fault::error(first.at, "a value accepts neither arguments nor a piped value"));
        }
        if matches!(first.kind, Operand::Nil) {
            return Err(Fault::error(first.at, "`nil` is not a command"));
        }
        self.term(dot, first)
    }

    /// The value of an operand of any type.
    fn term(&mut self, dot: &Value, term: &'a Term) -> Result<Value, Fault> {
        let mut value = match &term.kind {
            Operand::Dot => dot.clone(),
            Operand::Nil if term.fields.is_empty() => Value::new(Kind::Nil),
            Operand::Nil => return Err(Fault::error(term.at, "`nil` has no fields")),
            Operand::Bool(value) => Value::bool(*value),
            Operand::Number(Number::Int(value)) => Value::new(Kind::Int(*value)),
            Operand::Number(Number::Float(value)) => Value::new(Kind::Float(*value)),
            Operand::Text(text) => Value::text(text.clone()),
            Operand::Variable(name) => {
                let known = self.variables.iter().rev().find(|(known, _)| known == name);
                let known = known.map(|(_, value)| value.clone());
                known.ok_or_else(|| Fault::error(term.at, format!("the variable `{name}` is not declared")))?
            }
            Operand::Function(name) => self.call(dot, name, &[], None, term.at)?,
            Operand::Pipe(pipe) => self.pipe(dot, pipe)?,
        };
        for field in &term.fields {
            value = Self::field(&value, field, term.at)?;
        }
        Ok(value)
    }

    fn field(value: &Value, field: &ArcStr, at: usize) -> Result<Value, Fault> {
        match &value.kind {
            Kind::Map(entries) | Kind::Texts(entries) => {
                let found = entries.borrow().get(field).cloned();
                found.ok_or_else(|| Fault::error(at, format!("`{field}` is not set")))
            }
            Kind::Unknown(name) => Ok(Value::new(Kind::Unknown(format!("{name}.{field}").into()))),
            Kind::Nil => Err(Fault::error(at, format!("a null value has no field `{field}`"))),
            _ => Err(Fault::error(at, format!("a value of type {} has no field `{field}`", value.type_name()))),
        }
    }

    fn call(
        &mut self,
        dot: &Value,
        name: &str,
        terms: &'a [Term],
        piped: Option<Value>,
        at: usize,
    ) -> Result<Value, Fault> {
        if name == "inputs" {
            if !terms.is_empty() || piped.is_some() {
                return Err(Fault::error(at, "`inputs` accepts no arguments"));
            }
            return Ok(self.inputs.clone());
        }
        if matches!(name, "and" | "or") {
            return self.first_that(dot, name == "or", terms, piped, at);
        }
        let function = functions::find(name, at)?;
        let count = terms.len() + usize::from(piped.is_some());
        let fixed = function.parameters.len();
        if count < fixed || (function.rest.is_none() && count > fixed) {
            let least = if function.rest.is_some() { "at least " } else { "" };
            let noun = if fixed == 1 { "argument" } else { "arguments" };
            return Err(Fault::error(at, format!("`{name}` requires {least}{fixed} {noun}, got {count}")));
        }
        let mut arguments = Vec::with_capacity(count);
        for (index, term) in terms.iter().enumerate() {
            let value = self.deeper(term.at, |run| run.argument(dot, term, function.parameter(index)))?;
            arguments.push(value);
        }
        if let Some(value) = piped {
            arguments.push(checked(value, function.parameter(count - 1), at)?);
        }
        // The result for an unknown argument is unknown.
        if let Some(name) = arguments.iter().find_map(|value| value.unknown(0)) {
            return Ok(Value::new(Kind::Unknown(name)));
        }
        let place = arguments.iter().rev().find_map(|value| value.place.clone());
        let mut value = (function.call)(&arguments, self.budget).map_err(|fault| {
            let message = format!("`{name}`: {}", fault.message);
            Fault { at, message, ..fault }
        })?;
        self.budget.value(&value, 0).map_err(|fault| fault.moved(at))?;
        value.place = value.place.or(place);
        Ok(value)
    }

    /// Evaluates `and` and `or`: the first argument that decides, or the last argument.
    fn first_that(
        &mut self,
        dot: &Value,
        truth: bool,
        terms: &'a [Term],
        piped: Option<Value>,
        at: usize,
    ) -> Result<Value, Fault> {
        let mut last = None;
        for term in terms {
            let value = self.deeper(term.at, |run| run.argument(dot, term, Parameter::Any))?;
            if Self::truth(&value, term.at)? == truth {
                return Ok(value);
            }
            last = Some(value);
        }
        piped.or(last).ok_or_else(|| Fault::error(at, "`and` and `or` require at least one argument"))
    }

    /// The value of an argument. A constant is converted to the type of the parameter. Other values must have that
    /// type.
    fn argument(&mut self, dot: &Value, term: &'a Term, parameter: Parameter) -> Result<Value, Fault> {
        let wrong = || Fault::error(term.at, format!("expected {}", parameter.name()));
        match (&term.kind, parameter) {
            (Operand::Number(Number::Int(_)), Parameter::Int)
            | (Operand::Bool(_), Parameter::Bool)
            | (Operand::Text(_), Parameter::Text) => self.term(dot, term),
            #[expect(clippy::cast_precision_loss, reason = "Go converts likewise")]
            (Operand::Number(Number::Int(value)), Parameter::Float) => Ok(Value::new(Kind::Float(*value as f64))),
            (Operand::Number(Number::Float(value)), Parameter::Int) if value.fract() == 0.0 =>
            {
                #[expect(clippy::cast_possible_truncation, reason = "it is an integer")]
                Ok(Value::new(Kind::Int(*value as i64)))
            }
            (Operand::Number(_), Parameter::Int | Parameter::Text | Parameter::Bool | Parameter::Map)
            | (Operand::Text(_), Parameter::Int | Parameter::Bool | Parameter::Float | Parameter::Map)
            | (Operand::Bool(_), Parameter::Int | Parameter::Text | Parameter::Float | Parameter::Map)
            | (Operand::Nil, Parameter::Int | Parameter::Text | Parameter::Bool | Parameter::Float) => Err(wrong()),
            _ => {
                let value = self.term(dot, term)?;
                let computed = matches!(term.kind, Operand::Nil | Operand::Pipe(_)) && term.fields.is_empty();
                // A null of the inputs has a type other than a mapping.
                if matches!(value.kind, Kind::Nil) && parameter == Parameter::Map && !computed {
                    return Err(wrong());
                }
                checked(value, parameter, term.at)
            }
        }
    }
}

fn checked(value: Value, parameter: Parameter, at: usize) -> Result<Value, Fault> {
    let fits = matches!(
        (&value.kind, parameter),
        (_, Parameter::Any)
            | (Kind::Unknown(_), _)
            | (Kind::Text(_), Parameter::Text)
            | (Kind::Int(_), Parameter::Int)
            | (Kind::Bool(_), Parameter::Bool)
            | (Kind::Float(_), Parameter::Float)
            | (Kind::Map(_) | Kind::Nil, Parameter::Map)
    );
    if fits {
        return Ok(value);
    }
    Err(Fault::error(at, format!("expected {}, got a value of type {}", parameter.name(), value.type_name())))
}
