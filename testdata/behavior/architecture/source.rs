//! One Rust source as the paths that it names and the modules that it declares.
//!
//! Sources are read as tokens: a path counts inside a macro or an attribute, and not inside a comment. Everything in
//! Rust that reaches another module is a path, so this needs no grammar beyond `use`, `mod` and attributes.

use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};

/// What a source names and declares.
#[derive(Default)]
pub(super) struct Source {
    /// Every path, with the groups of `use` taken apart.
    pub(super) paths: Vec<Path>,
    /// The modules that it declares without a body, each as its names from this source down.
    pub(super) children: Vec<Vec<String>>,
    /// Macros that declare modules, by name, and the modules that they put around these.
    declaring: Vec<(String, Vec<String>)>,
    /// Macros that are called: their names, where, and every name in the call.
    calls: Vec<(String, Vec<String>, Vec<String>)>,
}

/// A path as it is written.
#[derive(Clone)]
pub(super) struct Path {
    /// Its names; the last is `*` for everything, and `{` where a group follows `crate` itself.
    pub(super) segments: Vec<String>,
    /// The line it starts in, from 1.
    pub(super) line: usize,
    /// The modules with a body around it, from the source down.
    pub(super) inside: Vec<String>,
    /// Where it stands.
    pub(super) place: Place,
}

/// Where a path stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In an expression, a type, an attribute or a macro.
    Code,
    /// In a `use`.
    Import,
    /// In a `pub use`, whatever may see it.
    Reexport,
}

impl Source {
    /// Reads a source; the message says where it is no Rust.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let tokens: TokenStream = text.parse().map_err(|error| format!("{error}"))?;
        let mut source = Self::default();
        source.walk(tokens, &mut Vec::new(), Place::Code);
        for (called, inside, names) in std::mem::take(&mut source.calls) {
            for (_, around) in source.declaring.iter().filter(|(name, _)| *name == called) {
                let inside = [inside.as_slice(), around].concat();
                source.children.extend(names.iter().map(|name| below(&inside, name.clone())));
            }
        }
        Ok(source)
    }

    fn walk(&mut self, tokens: TokenStream, inside: &mut Vec<String>, place: Place) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut place = place;
        let mut at = 0;
        while let Some(tree) = trees.get(at) {
            match tree {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    let bang = usize::from(is_punct(trees.get(at + 1), '!'));
                    if let Some(TokenTree::Group(attribute)) = trees.get(at + 1 + bang) {
                        self.attribute(attribute, inside);
                        at += 2 + bang;
                        continue;
                    }
                }
                TokenTree::Punct(punct) if punct.as_char() == ';' => place = Place::Code,
                TokenTree::Ident(ident) if *ident == "use" => {
                    place = if is_public(&trees[..at]) { Place::Reexport } else { Place::Import };
                }
                TokenTree::Ident(ident) if *ident == "mod" => {
                    if let Some(next) = self.module(&trees, at, inside) {
                        at = next;
                        continue;
                    }
                }
                TokenTree::Ident(ident) if is_punct(trees.get(at + 1), '!') => {
                    if let Some(next) = self.macro_call(&ident.to_string(), &trees, at, inside) {
                        at = next;
                        continue;
                    }
                }
                TokenTree::Ident(_) => {
                    at = self.path(&trees, at, &[], inside, place);
                    continue;
                }
                TokenTree::Group(group) => self.walk(group.stream(), inside, place),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            at += 1;
        }
    }

    /// `mod name;` is a child, `mod name { … }` a part of this source. Returns what follows.
    fn module(&mut self, trees: &[TokenTree], at: usize, inside: &mut Vec<String>) -> Option<usize> {
        let Some(TokenTree::Ident(name)) = trees.get(at + 1) else { return None };
        let name = name.to_string();
        match trees.get(at + 2) {
            Some(TokenTree::Group(body)) => {
                inside.push(name);
                self.walk(body.stream(), inside, Place::Code);
                inside.pop();
            }
            _ => self.children.push(below(inside, name)),
        }
        Some(at + 3)
    }

    /// A macro's definition or call: its tokens are walked, and the modules remembered that it may declare.
    fn macro_call(&mut self, name: &str, trees: &[TokenTree], at: usize, inside: &mut Vec<String>) -> Option<usize> {
        let defined = match trees.get(at + 2) {
            Some(TokenTree::Ident(defined)) if name == "macro_rules" => Some(defined.to_string()),
            _ => None,
        };
        let body = at + 2 + usize::from(defined.is_some());
        let Some(TokenTree::Group(group)) = trees.get(body) else { return None };
        match defined {
            Some(defined) => {
                let around = modules_around_declarations(group.stream());
                self.declaring.extend(around.map(|around| (defined, around)));
            }
            None => self.calls.push((name.to_owned(), inside.clone(), identifiers(group.stream()))),
        }
        self.walk(group.stream(), inside, Place::Code);
        Some(body + 1)
    }

    /// The paths of an attribute, also those in strings: serde names functions in them. A comment is an attribute too.
    fn attribute(&mut self, attribute: &Group, inside: &[String]) {
        let trees: Vec<TokenTree> = attribute.stream().into_iter().collect();
        if matches!(trees.first(), Some(TokenTree::Ident(ident)) if *ident == "doc") {
            return;
        }
        let mut at = 0;
        while let Some(tree) = trees.get(at) {
            match tree {
                TokenTree::Ident(ident) if *ident == "reason" && is_punct(trees.get(at + 1), '=') => at += 2,
                TokenTree::Ident(_) => {
                    at = self.path(&trees, at, &[], inside, Place::Code);
                    continue;
                }
                TokenTree::Group(group) => self.attribute(group, inside),
                TokenTree::Literal(literal) => self.quoted(literal, inside),
                TokenTree::Punct(_) => {}
            }
            at += 1;
        }
    }

    /// The paths in a string, if it is made of Rust's tokens.
    fn quoted(&mut self, literal: &Literal, inside: &[String]) {
        let text = literal.to_string();
        let Ok(tokens) = text.trim_matches('"').parse::<TokenStream>() else { return };
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let first = self.paths.len();
        let mut at = 0;
        while at < trees.len() {
            at = match &trees[at] {
                TokenTree::Ident(_) => self.path(&trees, at, &[], inside, Place::Code),
                _ => at + 1,
            };
        }
        for path in &mut self.paths[first..] {
            path.line = literal.span().start().line;
        }
    }

    /// Reads the path at a name and takes groups of `use` apart. Returns what follows.
    fn path(&mut self, trees: &[TokenTree], at: usize, before: &[String], inside: &[String], place: Place) -> usize {
        let line = trees[at].span().start().line;
        let mut segments = before.to_vec();
        let mut at = at;
        loop {
            match trees.get(at) {
                Some(TokenTree::Ident(name)) => segments.push(name.to_string()),
                Some(TokenTree::Punct(star)) if star.as_char() == '*' => segments.push("*".into()),
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace && place != Place::Code => {
                    if segments == ["crate"] {
                        let segments = vec!["crate".into(), "{".into()];
                        self.paths.push(Path { segments, line, inside: inside.to_vec(), place });
                    } else {
                        let members: Vec<TokenTree> = group.stream().into_iter().collect();
                        for member in members.split(|tree| is_punct(Some(tree), ',')).filter(|it| !it.is_empty()) {
                            let start = leading_colons(member);
                            self.path(member, start, &segments, inside, place);
                        }
                    }
                    return at + 1;
                }
                _ => break,
            }
            at += 1;
            let follows =
                matches!(trees.get(at + 2), Some(TokenTree::Ident(_) | TokenTree::Group(_) | TokenTree::Punct(_)));
            if !(follows && is_punct(trees.get(at), ':') && is_punct(trees.get(at + 1), ':')) {
                break;
            }
            at += 2;
        }
        self.paths.push(Path { segments, line, inside: inside.to_vec(), place });
        at
    }
}

fn below(inside: &[String], name: String) -> Vec<String> {
    inside.iter().cloned().chain([name]).collect()
}

fn is_punct(tree: Option<&TokenTree>, wanted: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

/// How many tokens a `::` at the start takes.
fn leading_colons(trees: &[TokenTree]) -> usize {
    trees.iter().take_while(|tree| is_punct(Some(tree), ':')).count().min(trees.len() - 1)
}

/// Tells whether what stands before a `use` makes it public: `pub`, `pub(crate)`, `pub(in …)`.
fn is_public(before: &[TokenTree]) -> bool {
    let mut before = before.iter().rev();
    let last = match before.next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => before.next(),
        other => other,
    };
    matches!(last, Some(TokenTree::Ident(ident)) if *ident == "pub")
}

/// The modules that a macro's definition puts around its `mod $name`; `None` when it declares no module.
fn modules_around_declarations(tokens: TokenStream) -> Option<Vec<String>> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let is_module = |at: usize| matches!(trees.get(at), Some(TokenTree::Ident(ident)) if *ident == "mod");
    trees.iter().enumerate().find_map(|(at, tree)| match tree {
        TokenTree::Ident(_) if is_module(at) && is_punct(trees.get(at + 1), '$') => Some(Vec::new()),
        TokenTree::Group(group) => {
            let inner = modules_around_declarations(group.stream())?;
            match at.checked_sub(1).and_then(|before| trees.get(before)) {
                Some(TokenTree::Ident(name)) if at > 1 && is_module(at - 2) => {
                    Some([vec![name.to_string()], inner].concat())
                }
                _ => Some(inner),
            }
        }
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    })
}

/// Every identifier in the tokens.
fn identifiers(tokens: TokenStream) -> Vec<String> {
    let nested = tokens.into_iter().map(|tree| match tree {
        TokenTree::Ident(ident) => vec![ident.to_string()],
        TokenTree::Group(group) => identifiers(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => Vec::new(),
    });
    nested.flatten().collect()
}
