//! The parser.

use std::ops::Range;

use super::expression::{Argument, Expr, Kind, Pair, Selection};
use super::fault::{SyntaxError, TOO_DEEP};
use super::literal::read_number;
use super::macros::{global_call, member_call};
use super::token::{Token, tokens};
use crate::cel::value::{RESERVED, Value};

/// The maximum length of an expression in characters. The API server has the same limit.
const MAX_LENGTH: usize = 100_000;

/// The binary operators with their precedence and the names of their functions.
const OPERATORS: [(&str, u8, &str); 14] = [
    ("||", 1, "_||_"),
    ("&&", 2, "_&&_"),
    ("==", 3, "_==_"),
    ("!=", 3, "_!=_"),
    ("<", 3, "_<_"),
    ("<=", 3, "_<=_"),
    (">", 3, "_>_"),
    (">=", 3, "_>=_"),
    ("in", 3, "@in"),
    ("+", 4, "_+_"),
    ("-", 4, "_-_"),
    ("*", 5, "_*_"),
    ("/", 5, "_/_"),
    ("%", 5, "_%_"),
];
/// The height of a macro: its evaluation needs more stack than that of an operator.
const FOLD_HEIGHT: u16 = 5;

/// Parses an expression of a limited height.
pub(crate) fn parse(text: &str, limit: u16) -> Result<Expr, SyntaxError> {
    let length = text.chars().count();
    if length > MAX_LENGTH {
        let message = format!("expression code point size exceeds limit: size: {length}, limit {MAX_LENGTH}");
        return Err(SyntaxError { at: 0..0, message });
    }
    let mut parser = Parser { tokens: tokens(text)?, next: 0, depth: 0, limit };
    let tall = parser.expression()?;
    if *parser.peek() != Token::End {
        return Err(parser.unexpected());
    }
    Ok(tall.expr)
}

struct Parser<'a> {
    tokens: Vec<(Token<'a>, Range<usize>)>,
    next: usize,
    depth: u16,
    limit: u16,
}

/// An expression and its height.
struct Tall {
    expr: Expr,
    height: u16,
}

type Parsed = Result<Tall, SyntaxError>;

impl<'a> Parser<'a> {
    fn peek(&self) -> &Token<'a> {
        self.tokens.get(self.next).map_or(&Token::End, |(token, _)| token)
    }

    fn at(&self) -> Range<usize> {
        self.tokens.get(self.next).or(self.tokens.last()).map_or(0..0, |(_, at)| at.clone())
    }

    /// The end of the last token that was read.
    fn end(&self) -> usize {
        self.next.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(0, |(_, at)| at.end)
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    /// Reads a symbol if it is next.
    fn accept(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Token::Symbol(own) if *own == symbol);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<(), SyntaxError> {
        if self.accept(symbol) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> SyntaxError {
        let found = match self.peek() {
            Token::Name(text) | Token::Number(text) | Token::Symbol(text) => format!("unexpected '{text}'"),
            Token::Text(_) | Token::Bytes(_) => "unexpected text".into(),
            Token::End => "unexpected end of the expression".into(),
        };
        SyntaxError { at: self.at(), message: format!("Syntax error: {found}") }
    }

    /// Creates an expression that starts at `start` and ends with the last token.
    fn node(&self, start: usize, kind: Kind, parts: &[u16]) -> Parsed {
        let own = if matches!(kind, Kind::Fold(_)) { FOLD_HEIGHT } else { 1 };
        let height = parts.iter().max().map_or(own, |tallest| tallest + own);
        let at = start..self.end();
        if height > self.limit {
            return Err(too_deep(at));
        }
        Ok(Tall { expr: Expr { at, kind }, height })
    }

    /// `a ? b : c`
    fn expression(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > self.limit {
            return Err(too_deep(self.at()));
        }
        let condition = self.binary(1)?;
        let parsed = if self.accept("?") {
            let start = condition.expr.at.start;
            let one = self.binary(1)?;
            self.expect(":")?;
            let other = self.expression()?;
            let heights = [condition.height, one.height, other.height];
            self.node(start, Kind::Conditional(Box::new([condition.expr, one.expr, other.expr])), &heights)?
        } else {
            condition
        };
        self.depth -= 1;
        Ok(parsed)
    }

    /// Binary operators of at least a precedence. The recursion is as shallow as possible, since its depth is limited.
    fn binary(&mut self, precedence: u8) -> Parsed {
        let mut left = self.unary()?;
        while let Token::Symbol(symbol) = *self.peek()
            && let Some((_, own, name)) = OPERATORS.iter().find(|(own, ..)| *own == symbol)
            && *own >= precedence
        {
            self.next += 1;
            let right = self.binary(own + 1)?;
            let (start, heights) = (left.expr.at.start, [left.height, right.height]);
            if *own > 2 {
                left = self.node(start, call(name, vec![left.expr, right.expr]), &heights)?;
                continue;
            }
            // A chain of one logical operator is one expression.
            let (mut operands, mut tallest) = (vec![left.expr, right.expr], heights[0].max(heights[1]));
            while self.accept(symbol) {
                let next = self.binary(own + 1)?;
                operands.push(next.expr);
                tallest = tallest.max(next.height);
            }
            let kind = if symbol == "||" { Kind::Or(operands) } else { Kind::And(operands) };
            left = self.node(start, kind, &[tallest])?;
        }
        Ok(left)
    }

    /// `!a` and `-a`. Two of them cancel each other.
    fn unary(&mut self) -> Parsed {
        let start = self.at().start;
        for (symbol, name) in [("!", "!_"), ("-", "-_")] {
            let mut count = 0_usize;
            while matches!(self.peek(), Token::Symbol(own) if *own == symbol) {
                let is_sign = symbol == "-" && {
                    let next = self.tokens.get(self.next + 1).map(|(token, _)| token);
                    matches!(next, Some(Token::Number(number)) if !number.ends_with(['u', 'U']))
                };
                if is_sign {
                    break;
                }
                self.next += 1;
                count += 1;
            }
            if count == 0 {
                continue;
            }
            let operand = self.member()?;
            if count.is_multiple_of(2) {
                return Ok(operand);
            }
            return self.node(start, call(name, vec![operand.expr]), &[operand.height]);
        }
        self.member()
    }

    /// Selections, indices and member calls after a primary expression.
    fn member(&mut self) -> Parsed {
        let mut left = self.primary()?;
        loop {
            let start = left.expr.at.start;
            if self.accept(".") {
                let selection = if self.accept("?") { Selection::Optional } else { Selection::Value };
                let Token::Name(name) = *self.peek() else { return Err(self.unexpected()) };
                if matches!(name, "true" | "false" | "null") {
                    return Err(self.unexpected());
                }
                self.next += 1;
                if selection == Selection::Value && self.accept("(") {
                    let (arguments, mut heights) = self.arguments(")")?;
                    heights.push(left.height);
                    let kind = member_call(left.expr, name, arguments)?;
                    left = self.node(start, kind, &heights)?;
                } else {
                    let kind = Kind::Select(Box::new(left.expr), name.into(), selection);
                    left = self.node(start, kind, &[left.height])?;
                }
            } else if self.accept("[") {
                let selection = if self.accept("?") { Selection::Optional } else { Selection::Value };
                let index = self.expression()?;
                self.expect("]")?;
                let heights = [left.height, index.height];
                left = self.node(start, Kind::Index(Box::new(left.expr), Box::new(index.expr), selection), &heights)?;
            } else {
                return Ok(left);
            }
        }
    }

    fn primary(&mut self) -> Parsed {
        let (start, at) = (self.at().start, self.at());
        match self.take() {
            Token::Symbol("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Symbol("[") => self.list(start),
            Token::Symbol("{") => self.map(start),
            Token::Symbol("-") => match self.take() {
                Token::Number(text) => self.number(start, text, true),
                _ => Err(self.unexpected()),
            },
            Token::Number(text) => self.number(start, text, false),
            Token::Text(text) => self.node(start, Kind::Literal(Value::text(text)), &[]),
            Token::Bytes(bytes) => self.node(start, Kind::Literal(Value::Bytes(bytes.into())), &[]),
            Token::Symbol(".") if matches!(self.peek(), Token::Name(_)) => self.primary(),
            Token::Name("true") => self.node(start, Kind::Literal(Value::Bool(true)), &[]),
            Token::Name("false") => self.node(start, Kind::Literal(Value::Bool(false)), &[]),
            Token::Name("null") => self.node(start, Kind::Literal(Value::Null), &[]),
            Token::Name(name) => {
                if RESERVED.contains(&name) {
                    return Err(SyntaxError { at, message: format!("reserved identifier: {name}") });
                }
                if self.accept("(") {
                    let (arguments, heights) = self.arguments(")")?;
                    let kind = global_call(name, arguments, &(start..self.end()))?;
                    return self.node(start, kind, &heights);
                }
                self.node(start, Kind::Name(name.into()), &[])
            }
            _ => {
                self.next -= 1;
                Err(self.unexpected())
            }
        }
    }

    fn number(&mut self, start: usize, text: &str, is_negative: bool) -> Parsed {
        let value = read_number(text, is_negative)
            .map_err(|message| SyntaxError { at: start..self.end(), message: message.into() })?;
        self.node(start, Kind::Literal(value), &[])
    }

    /// Expressions that are separated by commas, up to a closing bracket, with their heights.
    fn arguments(&mut self, close: &str) -> Result<(Vec<Expr>, Vec<u16>), SyntaxError> {
        let (mut arguments, mut heights) = (Vec::new(), Vec::new());
        if self.accept(close) {
            return Ok((arguments, heights));
        }
        loop {
            let argument = self.expression()?;
            arguments.push(argument.expr);
            heights.push(argument.height);
            if !self.accept(",") {
                self.expect(close)?;
                return Ok((arguments, heights));
            }
        }
    }

    fn list(&mut self, start: usize) -> Parsed {
        let (mut items, mut heights) = (Vec::new(), Vec::new());
        if self.accept(",") {
            self.expect("]")?;
            return self.node(start, Kind::List(items), &heights);
        }
        while !self.accept("]") {
            let is_optional = self.accept("?");
            let item = self.expression()?;
            items.push(Argument { is_optional, value: item.expr });
            heights.push(item.height);
            if !self.accept(",") {
                self.expect("]")?;
                break;
            }
        }
        self.node(start, Kind::List(items), &heights)
    }

    fn map(&mut self, start: usize) -> Parsed {
        let (mut pairs, mut heights) = (Vec::new(), Vec::new());
        if self.accept(",") {
            self.expect("}")?;
            return self.node(start, Kind::Map(pairs), &heights);
        }
        while !self.accept("}") {
            let is_optional = self.accept("?");
            let key = self.expression()?;
            self.expect(":")?;
            let value = self.expression()?;
            pairs.push(Pair { is_optional, key: key.expr, value: value.expr });
            heights.extend([key.height, value.height]);
            if !self.accept(",") {
                self.expect("}")?;
                break;
            }
        }
        self.node(start, Kind::Map(pairs), &heights)
    }
}

fn call(name: &str, arguments: Vec<Expr>) -> Kind {
    Kind::Call { name: name.into(), arguments, is_member: false, function: None }
}

fn too_deep(at: Range<usize>) -> SyntaxError {
    SyntaxError { at, message: TOO_DEEP.into() }
}
