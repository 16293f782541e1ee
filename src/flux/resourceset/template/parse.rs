//! The parser, which converts tokens to a tree of actions. The errors of the parser do not depend on the inputs.

use std::collections::BTreeMap;
use std::ops::Range;

use arcstr::ArcStr;

use super::fault::Fault;
use super::functions;
use super::lex::{Kind, Number, Token, lex, number};
use super::literal::unquote;

/// A piece of a template.
#[derive(Debug)]
pub(super) enum Piece {
    /// Literal text.
    Outside(Range<usize>),
    /// A pipeline that prints its value or declares variables.
    Action(Pipe),
    If(Branch),
    With(Branch),
    Range(Branch),
    Template(ArcStr, Option<Pipe>, usize),
    Break,
    Continue,
}

/// An `if`, `with` or `range` with its branches.
#[derive(Debug)]
pub(super) struct Branch {
    pub pipe: Pipe,
    pub body: Vec<Piece>,
    pub otherwise: Vec<Piece>,
}

/// A pipeline of commands. The value of each command is the last argument of the next command.
#[derive(Debug)]
pub(super) struct Pipe {
    pub variables: Vec<ArcStr>,
    /// Whether the pipeline assigns to existing variables instead of declaring them.
    pub assigns: bool,
    pub commands: Vec<Vec<Term>>,
    pub at: Range<usize>,
}

/// An operand.
#[derive(Debug)]
pub(super) struct Term {
    pub kind: Operand,
    /// The fields after the operand.
    pub fields: Vec<ArcStr>,
    pub at: usize,
}

#[derive(Debug)]
pub(super) enum Operand {
    Dot,
    Nil,
    Bool(bool),
    Number(Number),
    Text(ArcStr),
    Variable(ArcStr),
    Function(ArcStr),
    Pipe(Box<Pipe>),
}

/// A template and the templates that it defines.
#[derive(Debug)]
pub(super) struct Parsed {
    pub root: Vec<Piece>,
    pub defined: BTreeMap<ArcStr, Vec<Piece>>,
}

/// The maximum nesting depth of blocks and parentheses.
const MAX_DEPTH: usize = 60;

/// Parses a template.
pub(super) fn parse(text: &str) -> Result<Parsed, Fault> {
    let tokens = lex(text)?;
    let mut parser =
        Parser { text, tokens, next: 0, variables: vec!["$".into()], ranges: 0, depth: 0, defined: BTreeMap::new() };
    let (root, end) = parser.pieces(true)?;
    match end {
        Ends::Text => Ok(Parsed { root, defined: parser.defined }),
        Ends::End(at) => Err(Fault::error(at, "unexpected `end`")),
        Ends::Else(at) => Err(Fault::error(at, "unexpected `else`")),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    variables: Vec<ArcStr>,
    ranges: usize,
    depth: usize,
    defined: BTreeMap<ArcStr, Vec<Piece>>,
}

/// The end of a list of pieces.
enum Ends {
    Text,
    End(usize),
    Else(usize),
}

impl Parser<'_> {
    fn peek(&self) -> (Kind, usize) {
        self.tokens.get(self.next).map_or((Kind::End, self.text.len()), |token| (token.kind, token.at.start))
    }

    fn take(&mut self) -> (Kind, Range<usize>) {
        let end = self.text.len();
        let token = self.tokens.get(self.next).map_or((Kind::End, end..end), |token| (token.kind, token.at.clone()));
        self.next += 1;
        token
    }

    fn skip_space(&mut self) {
        while self.peek().0 == Kind::Space {
            self.next += 1;
        }
    }

    fn slice(&self, at: &Range<usize>) -> &str {
        self.text.get(at.clone()).unwrap_or_default()
    }

    /// The next keyword or name.
    fn word(&self) -> Option<&str> {
        let token = self.tokens.get(self.next)?;
        (token.kind == Kind::Word).then(|| self.slice(&token.at))
    }

    fn nested<T>(&mut self, at: usize, inner: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.depth == MAX_DEPTH {
            return Err(Fault::bound(at, format!("the template is nested more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn pieces(&mut self, top: bool) -> Result<(Vec<Piece>, Ends), Fault> {
        let mut pieces = Vec::new();
        loop {
            let (kind, at) = self.take();
            match kind {
                Kind::Outside => pieces.push(Piece::Outside(at)),
                Kind::Open => {
                    self.skip_space();
                    match self.action(at.start, top)? {
                        Action::Piece(piece) => pieces.push(piece),
                        Action::Nothing => {}
                        Action::Ends(ends) => return Ok((pieces, ends)),
                    }
                }
                _ if top => return Ok((pieces, Ends::Text)),
                _ => return Err(Fault::error(at.start, "unexpected end of the template: missing `end`")),
            }
        }
    }

    fn action(&mut self, open: usize, top: bool) -> Result<Action, Fault> {
        let word = self.word().unwrap_or_default();
        let keyword = matches!(
            word,
            "if" | "with" | "range" | "template" | "block" | "define" | "else" | "end" | "break" | "continue"
        );
        if !keyword {
            let pipe = self.pipe("command", Kind::Close)?;
            return Ok(Action::Piece(Piece::Action(pipe)));
        }
        let word = word.to_owned();
        self.next += 1;
        Ok(match &*word {
            "if" => Action::Piece(Piece::If(self.nested(open, |parser| parser.branch("if", open))?)),
            "with" => Action::Piece(Piece::With(self.nested(open, |parser| parser.branch("with", open))?)),
            "range" => Action::Piece(Piece::Range(self.nested(open, |parser| parser.branch("range", open))?)),
            "end" => {
                self.close("end")?;
                Action::Ends(Ends::End(open))
            }
            "else" => {
                self.skip_space();
                if !matches!(self.word(), Some("if" | "with")) {
                    self.close("else")?;
                }
                Action::Ends(Ends::Else(open))
            }
            "break" | "continue" => {
                self.close(&word)?;
                if self.ranges == 0 {
                    return Err(Fault::error(open, format!("`{word}` must be inside a `range`")));
                }
                Action::Piece(if word == "break" { Piece::Break } else { Piece::Continue })
            }
            "template" => {
                let name = self.name("template")?;
                self.skip_space();
                let pipe = if self.peek().0 == Kind::Close {
                    self.next += 1;
                    None
                } else {
                    Some(self.pipe("template", Kind::Close)?)
                };
                Action::Piece(Piece::Template(name, pipe, open))
            }
            "block" => {
                let name = self.name("block")?;
                let pipe = self.pipe("block", Kind::Close)?;
                self.define(open, name.clone())?;
                Action::Piece(Piece::Template(name, Some(pipe), open))
            }
            // `define` is allowed only at the top level.
            _ if !top => return Err(Fault::error(open, "unexpected `define` in a block")),
            _ => {
                let name = self.name("define")?;
                self.close("define")?;
                self.define(open, name)?;
                Action::Nothing
            }
        })
    }

    fn close(&mut self, of: &str) -> Result<(), Fault> {
        self.skip_space();
        let (kind, at) = self.take();
        if kind == Kind::Close { Ok(()) } else { Err(self.unexpected(kind, &at, of)) }
    }

    fn unexpected(&self, kind: Kind, at: &Range<usize>, of: &str) -> Fault {
        let what = if kind == Kind::End { "the end".to_owned() } else { format!("`{}`", self.slice(at)) };
        Fault::error(at.start, format!("unexpected {what} in `{of}`"))
    }

    fn name(&mut self, of: &str) -> Result<ArcStr, Fault> {
        self.skip_space();
        let (kind, at) = self.take();
        match kind {
            Kind::Quoted | Kind::Raw => Ok(unquote(self.slice(&at), at.start)?.into()),
            _ => Err(self.unexpected(kind, &at, of)),
        }
    }

    /// Parses the body of a `define`, in which the outer variables are not visible.
    fn define(&mut self, open: usize, name: ArcStr) -> Result<(), Fault> {
        let outer = (std::mem::replace(&mut self.variables, vec!["$".into()]), std::mem::take(&mut self.ranges));
        let (body, end) = self.nested(open, |parser| parser.pieces(false))?;
        (self.variables, self.ranges) = outer;
        if let Ends::Else(at) = end {
            return Err(Fault::error(at, "unexpected `else`"));
        }
        let blank = |pieces: &[Piece]| {
            pieces.iter().all(|piece| match piece {
                Piece::Outside(at) => self.slice(at).trim().is_empty(),
                _ => false,
            })
        };
        match self.defined.get(&name) {
            Some(known) if !blank(known) && !blank(&body) => {
                Err(Fault::error(open, format!("duplicate definition of template `{name}`")))
            }
            Some(known) if !blank(known) => Ok(()),
            _ => {
                self.defined.insert(name, body);
                Ok(())
            }
        }
    }

    fn branch(&mut self, word: &str, open: usize) -> Result<Branch, Fault> {
        let scope = self.variables.len();
        let pipe = self.pipe(word, Kind::Close)?;
        self.ranges += usize::from(word == "range");
        let (body, end) = self.pieces(false)?;
        self.ranges -= usize::from(word == "range");
        let mut otherwise = Vec::new();
        if matches!(end, Ends::Else(_)) {
            let chained = self.word().filter(|_| self.is_chain()).map(ToOwned::to_owned);
            match chained {
                Some(next) if next == word => {
                    self.next += 1;
                    let branch = self.nested(open, |parser| parser.branch(&next, open))?;
                    otherwise.push(if next == "if" { Piece::If(branch) } else { Piece::With(branch) });
                }
                _ => {
                    let (pieces, end) = self.pieces(false)?;
                    otherwise = pieces;
                    if let Ends::Else(at) = end {
                        return Err(Fault::error(at, "expected `end`, found `else`"));
                    }
                }
            }
        }
        self.variables.truncate(scope);
        Ok(Branch { pipe, body, otherwise })
    }

    /// Returns whether the action of the last `else` continues, as in `else if`.
    fn is_chain(&self) -> bool {
        let before = self.next.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.is_some_and(|token| token.kind != Kind::Close)
    }

    fn pipe(&mut self, of: &str, end: Kind) -> Result<Pipe, Fault> {
        self.skip_space();
        let start = self.peek().1;
        let mut pipe = Pipe { variables: Vec::new(), assigns: false, commands: Vec::new(), at: start..start };
        self.declarations(of, &mut pipe)?;
        loop {
            self.skip_space();
            let (kind, at) = self.take();
            if kind == end {
                pipe.at.end = at.start;
                break;
            }
            match kind {
                Kind::Word
                | Kind::Dot
                | Kind::Field
                | Kind::Variable
                | Kind::OpenParen
                | Kind::Quoted
                | Kind::Raw
                | Kind::Char
                | Kind::Number => {}
                _ => return Err(self.unexpected(kind, &at, of)),
            }
            self.next -= 1;
            let command = self.command(of)?;
            pipe.commands.push(command);
        }
        if pipe.commands.is_empty() {
            return Err(Fault::error(start, format!("`{of}` has no value")));
        }
        let values = pipe.commands.iter().skip(1).filter_map(|command| command.first());
        for first in values {
            let constant = !matches!(first.kind, Operand::Function(_) | Operand::Pipe(_) | Operand::Variable(_));
            if constant && first.fields.is_empty() {
                return Err(Fault::error(first.at, "a value does not accept a piped argument"));
            }
        }
        Ok(pipe)
    }

    fn declarations(&mut self, of: &str, pipe: &mut Pipe) -> Result<(), Fault> {
        loop {
            self.skip_space();
            let back = self.next;
            let (kind, at) = self.take();
            if kind != Kind::Variable {
                self.next = back;
                return Ok(());
            }
            let name: ArcStr = self.slice(&at).into();
            self.skip_space();
            match self.take().0 {
                sign @ (Kind::Assign | Kind::Declare) => {
                    pipe.assigns = sign == Kind::Assign;
                    if pipe.assigns && !self.variables.contains(&name) {
                        return Err(Fault::error(at.start, format!("the variable `{name}` is not declared")));
                    }
                    self.variables.push(name.clone());
                    pipe.variables.push(name);
                    return Ok(());
                }
                Kind::Comma if of == "range" && pipe.variables.is_empty() => {
                    self.variables.push(name.clone());
                    pipe.variables.push(name);
                }
                Kind::Comma => return Err(Fault::error(at.start, format!("too many variables in `{of}`"))),
                _ => {
                    self.next = back;
                    return Ok(());
                }
            }
        }
    }

    fn command(&mut self, of: &str) -> Result<Vec<Term>, Fault> {
        let mut terms = Vec::new();
        let start = self.peek().1;
        loop {
            self.skip_space();
            terms.extend(self.term(of)?);
            let (kind, at) = self.take();
            match kind {
                Kind::Space => {}
                Kind::Close | Kind::CloseParen => {
                    self.next -= 1;
                    break;
                }
                Kind::Pipe => break,
                _ => return Err(self.unexpected(kind, &at, "operand")),
            }
        }
        if terms.is_empty() { Err(Fault::error(start, "empty command")) } else { Ok(terms) }
    }

    fn term(&mut self, of: &str) -> Result<Option<Term>, Fault> {
        let (kind, at) = self.take();
        let mut fields = Vec::new();
        let operand = match kind {
            Kind::Word => match self.slice(&at) {
                "true" => Operand::Bool(true),
                "false" => Operand::Bool(false),
                "nil" => Operand::Nil,
                name => {
                    functions::check(name, at.start)?;
                    Operand::Function(name.into())
                }
            },
            Kind::Dot => Operand::Dot,
            Kind::Field => {
                fields.push(self.slice(&at).trim_start_matches('.').into());
                Operand::Dot
            }
            Kind::Variable => {
                let name: ArcStr = self.slice(&at).into();
                if !self.variables.contains(&name) {
                    return Err(Fault::error(at.start, format!("the variable `{name}` is not declared")));
                }
                Operand::Variable(name)
            }
            Kind::Number => match number(self.slice(&at)) {
                Some(number) => Operand::Number(number),
                None => return Err(Fault::error(at.start, format!("`{}` is not a valid number", self.slice(&at)))),
            },
            Kind::Char => {
                let text = unquote(self.slice(&at), at.start)?;
                let mut characters = text.chars();
                match (characters.next(), characters.next()) {
                    (Some(only), None) => Operand::Number(Number::Int(i64::from(u32::from(only)))),
                    _ => return Err(Fault::error(at.start, format!("{} is not a valid character", self.slice(&at)))),
                }
            }
            Kind::Quoted | Kind::Raw => Operand::Text(unquote(self.slice(&at), at.start)?.into()),
            Kind::OpenParen => {
                let pipe = self.nested(at.start, |parser| parser.pipe(of, Kind::CloseParen))?;
                Operand::Pipe(Box::new(pipe))
            }
            _ => {
                self.next -= 1;
                return Ok(None);
            }
        };
        let constant = matches!(operand, Operand::Bool(_) | Operand::Nil | Operand::Number(_) | Operand::Text(_))
            || (matches!(operand, Operand::Dot) && fields.is_empty());
        while self.peek().0 == Kind::Field {
            let (_, field) = self.take();
            if constant {
                return Err(Fault::error(field.start, format!("unexpected `.` after `{}`", self.slice(&at))));
            }
            fields.push(self.slice(&field).trim_start_matches('.').into());
        }
        Ok(Some(Term { kind: operand, fields, at: at.start }))
    }
}

enum Action {
    Piece(Piece),
    Nothing,
    Ends(Ends),
}
