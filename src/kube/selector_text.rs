//! The text form of label selectors: `a=b`, `a!=b`, `a`, `!a`, `a in (b,c)`, `a notin (b,c)`, `a>1`, joined by commas.
//!
//! Source: `labels.Parse` of `k8s.io/apimachinery`, of which kustomize contains a copy.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::selector::{Operator, Requirement, Selector, is_label_value};
use crate::yaml::Name;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    /// `=`, `==`, `!=`, `!`, `<`, `>`, `(`, `)` or `,`.
    Symbol(&'a str),
    /// A key, a value, `in` or `notin`.
    Word(&'a str),
}

type Tokens<'a> = Peekable<IntoIter<Token<'a>>>;

impl Selector {
    /// Reads a selector such as `a=b,c in (x,y)`; `None` if Kubernetes rejects it.
    pub fn parse(text: &str) -> Option<Self> {
        let mut tokens = tokens(text).into_iter().peekable();
        let mut requirements = Vec::new();
        while tokens.peek().is_some() {
            requirements.push(requirement(&mut tokens)?);
            match tokens.next() {
                None => break,
                // Kubernetes rejects a trailing comma.
                Some(Token::Symbol(",")) if tokens.peek().is_some() => {}
                Some(_) => return None,
            }
        }
        Some(Self { requirements })
    }
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let is_symbol = |c: char| matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<');
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        let length = match rest.find(|c| is_symbol(c) || is_space(c)) {
            Some(0) if rest.starts_with("==") || rest.starts_with("!=") => 2,
            Some(0) => 1,
            Some(length) => length,
            None => rest.len(),
        };
        let (token, behind) = rest.split_at(length);
        tokens.push(if token.starts_with(is_symbol) { Token::Symbol(token) } else { Token::Word(token) });
        rest = behind.trim_start_matches(is_space);
    }
    tokens
}

fn requirement(tokens: &mut Tokens<'_>) -> Option<Requirement> {
    let negated = tokens.next_if_eq(&Token::Symbol("!")).is_some();
    let Some(Token::Word(key)) = tokens.next() else { return None };
    let operator = match tokens.peek() {
        None | Some(Token::Symbol(",")) if negated => Operator::DoesNotExist,
        None | Some(Token::Symbol(",")) => Operator::Exists,
        Some(_) if negated => return None,
        Some(_) => operator(tokens)?,
    };
    Requirement::new(key.into(), operator)
}

/// Reads an operator and its values.
fn operator(tokens: &mut Tokens<'_>) -> Option<Operator> {
    Some(match tokens.next()? {
        Token::Symbol("=" | "==") => Operator::In(vec![value(tokens)?]),
        Token::Symbol("!=") => Operator::NotIn(vec![value(tokens)?]),
        Token::Symbol(">") => Operator::GreaterThan(number(tokens)?),
        Token::Symbol("<") => Operator::LessThan(number(tokens)?),
        Token::Word("in") => Operator::In(values(tokens)?),
        Token::Word("notin") => Operator::NotIn(values(tokens)?),
        Token::Symbol(_) | Token::Word(_) => return None,
    })
}

/// Reads one value. The value is empty directly before a comma or the end of the text.
fn value(tokens: &mut Tokens<'_>) -> Option<Name> {
    match tokens.peek() {
        None | Some(Token::Symbol(",")) => Some("".into()),
        Some(Token::Word(_)) => word(tokens),
        Some(Token::Symbol(_)) => None,
    }
}

fn word(tokens: &mut Tokens<'_>) -> Option<Name> {
    match tokens.next()? {
        Token::Word(word) => Some(word.into()),
        Token::Symbol(_) => None,
    }
}

fn number(tokens: &mut Tokens<'_>) -> Option<i64> {
    let value = word(tokens)?;
    is_label_value(&value).then(|| value.parse().ok())?
}

/// Reads `(b,c)`. A value is empty directly before a comma or `)`.
fn values(tokens: &mut Tokens<'_>) -> Option<Vec<Name>> {
    tokens.next_if_eq(&Token::Symbol("("))?;
    let mut values = Vec::new();
    loop {
        match tokens.peek()? {
            Token::Word(_) => values.push(word(tokens)?),
            Token::Symbol("," | ")") => values.push("".into()),
            Token::Symbol(_) => return None,
        }
        match tokens.next()? {
            Token::Symbol(",") => {}
            Token::Symbol(")") => return Some(values),
            Token::Symbol(_) | Token::Word(_) => return None,
        }
    }
}
