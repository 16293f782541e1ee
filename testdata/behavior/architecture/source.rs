//! One Rust source as the paths that it names, the modules that it declares and the items that it defines.
//!
//! Sources are read as tokens: a path counts inside a macro or an attribute, and not inside a comment. Everything in
//! Rust that reaches another module is a path, so this needs no grammar beyond `use`, `mod`, items and attributes.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Group, Ident, Literal, TokenStream, TokenTree};

/// The names that a source uses and declares.
#[derive(Default)]
pub(super) struct Source {
    /// Every path, with the groups of `use` taken apart.
    pub(super) paths: Vec<Path>,
    /// The modules that it declares, in order.
    pub(super) modules: Vec<Declared>,
    /// The items that it defines.
    pub(super) items: Vec<Item>,
    /// Macros that declare modules.
    declaring: Vec<Declaring>,
    /// Macros that are called.
    calls: Vec<Call>,
}

/// A path as it is written.
#[derive(Clone)]
pub(super) struct Path {
    /// Its names; the last is `*` for a glob, and `{` where a group follows `crate` itself.
    pub(super) segments: Vec<String>,
    /// The name that a `use` gives it, where that is another one.
    pub(super) alias: Option<String>,
    /// The line it starts in, from 1.
    pub(super) line: usize,
    /// The modules with a body around it, from the source down.
    pub(super) inside: Vec<String>,
    /// The construct that contains it.
    pub(super) place: Place,
    /// Whether only tests are compiled with it.
    pub(super) test: bool,
    /// Whether a `!` follows.
    pub(super) is_macro: bool,
    /// Whether it can name an item on its own: it is no field or method, and is called or begins with a capital.
    pub(super) is_item: bool,
}

/// The construct that contains a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// An expression, a type, an attribute or a macro.
    Code,
    /// A `use`.
    Import,
    /// A `pub use` of any visibility.
    Reexport,
}

/// A module that a source declares.
#[derive(Clone)]
pub(super) struct Declared {
    /// Its names from this source down.
    pub(super) names: Vec<String>,
    /// Whether its body follows, instead of lying in a file of its own.
    pub(super) has_body: bool,
    /// Whether only tests are compiled with it.
    pub(super) test: bool,
    /// The line of its declaration.
    line: usize,
}

/// An item that a source defines at the level of a module.
pub(super) struct Item {
    /// The modules with a body around it, from the source down.
    pub(super) inside: Vec<String>,
    /// Its name.
    pub(super) name: String,
    /// Whether it is a `macro_rules!`.
    pub(super) is_macro: bool,
}

/// A macro that declares modules.
struct Declaring {
    name: String,
    /// The modules that it puts around them.
    around: Vec<String>,
    /// The item that it names in each of these modules.
    uses: Option<String>,
}

/// A call of a macro.
struct Call {
    name: String,
    inside: Vec<String>,
    /// Every identifier in the call, with its line.
    names: Vec<(String, usize)>,
}

/// The constructs around a token.
#[derive(Clone)]
struct Around {
    inside: Vec<String>,
    place: Place,
    test: bool,
    level: Level,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Module,
    Body,
}

impl Around {
    fn module(&self, name: &str, test: bool) -> Self {
        let inside = below(&self.inside, name.to_owned());
        Self { inside, place: Place::Code, test: self.test || test, level: Level::Module }
    }

    fn body(&self, place: Place, test: bool) -> Self {
        Self { place, test: self.test || test, level: Level::Body, ..self.clone() }
    }
}

impl Source {
    /// Reads a source; the message gives the place of a syntax error.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let tokens: TokenStream = text.parse().map_err(|error| format!("{error}"))?;
        let mut source = Self::default();
        let around = Around { inside: Vec::new(), place: Place::Code, test: false, level: Level::Module };
        source.walk(tokens, &around);
        source.expand_declaring_macros();
        // A macro can declare a module that is already found in its call.
        source.modules.sort_by_key(|module| module.line);
        let mut seen = BTreeSet::new();
        source.modules.retain(|module| seen.insert(module.names.clone()));
        Ok(source)
    }

    fn expand_declaring_macros(&mut self) {
        for call in std::mem::take(&mut self.calls) {
            for declaring in self.declaring.iter().filter(|declaring| declaring.name == call.name) {
                let inside = [call.inside.as_slice(), &declaring.around].concat();
                for (name, line) in call.names.iter().filter(|(name, _)| name != "mod") {
                    let names = below(&inside, name.clone());
                    if let Some(item) = &declaring.uses {
                        let segments = ["self".to_owned()].into_iter().chain(names.clone()).chain([item.clone()]);
                        self.paths.push(Path {
                            segments: segments.collect(),
                            alias: None,
                            line: *line,
                            inside: call.inside.clone(),
                            place: Place::Code,
                            test: false,
                            is_macro: false,
                            is_item: true,
                        });
                    }
                    self.modules.push(Declared { names, has_body: false, test: false, line: *line });
                }
            }
        }
    }

    fn walk(&mut self, tokens: TokenStream, around: &Around) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut place = around.place;
        let mut test = false;
        let mut at = 0;
        while let Some(tree) = trees.get(at) {
            match tree {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    let bang = usize::from(is_punct(trees.get(at + 1), '!'));
                    if let Some(TokenTree::Group(attribute)) = trees.get(at + 1 + bang) {
                        test |= is_test(attribute);
                        self.attribute(attribute, &around.body(Place::Code, test));
                        at += 2 + bang;
                        continue;
                    }
                }
                TokenTree::Punct(punct) if punct.as_char() == ';' => (place, test) = (Place::Code, false),
                TokenTree::Punct(punct) if punct.as_char() == ',' => test = false,
                TokenTree::Ident(ident) if *ident == "use" && !is_punct(trees.get(at + 1), '<') => {
                    place = if is_public(&trees[..at]) { Place::Reexport } else { Place::Import };
                }
                TokenTree::Ident(ident) if *ident == "mod" => {
                    if let Some(next) = self.module(&trees, at, around, test) {
                        (at, test) = (next, false);
                        continue;
                    }
                }
                TokenTree::Ident(ident) if is_punct(trees.get(at + 1), '!') => {
                    if let Some(next) = self.macro_call(&ident.to_string(), &trees, at, &around.body(place, test)) {
                        at = next;
                        continue;
                    }
                }
                TokenTree::Ident(_) => {
                    self.item(&trees, at, around);
                    at = self.path(&trees, at, &[], &around.body(place, test));
                    continue;
                }
                TokenTree::Group(group) => {
                    self.walk(group.stream(), &around.body(place, test));
                    test &= group.delimiter() != Delimiter::Brace;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            at += 1;
        }
    }

    /// `mod name;` is a child, `mod name { … }` a part of this source. Returns what follows.
    fn module(&mut self, trees: &[TokenTree], at: usize, around: &Around, test: bool) -> Option<usize> {
        let Some(TokenTree::Ident(ident)) = trees.get(at + 1) else { return None };
        let name = plain(ident);
        let body = match trees.get(at + 2) {
            Some(TokenTree::Group(body)) => Some(body),
            _ => None,
        };
        self.modules.push(Declared {
            names: below(&around.inside, name.clone()),
            has_body: body.is_some(),
            test: test || around.test,
            line: ident.span().start().line,
        });
        if let Some(body) = body {
            self.walk(body.stream(), &around.module(&name, test));
        }
        Some(at + 3)
    }

    /// The item that a keyword defines, at the level of a module.
    fn item(&mut self, trees: &[TokenTree], at: usize, around: &Around) {
        const KEYWORDS: &[&str] = &["const", "enum", "fn", "static", "struct", "trait", "type", "union"];
        let TokenTree::Ident(keyword) = &trees[at] else { return };
        if around.level != Level::Module || !KEYWORDS.iter().any(|it| keyword == it) {
            return;
        }
        let is_mut = matches!(trees.get(at + 1), Some(TokenTree::Ident(ident)) if *ident == "mut");
        let Some(TokenTree::Ident(name)) = trees.get(at + 1 + usize::from(is_mut)) else { return };
        if !["fn", "unsafe", "extern", "async", "_"].iter().any(|it| name == it) {
            self.items.push(Item { inside: around.inside.clone(), name: plain(name), is_macro: false });
        }
    }

    /// A macro's definition or call: its tokens are walked, and the modules remembered that it may declare.
    fn macro_call(&mut self, name: &str, trees: &[TokenTree], at: usize, around: &Around) -> Option<usize> {
        let defined = match trees.get(at + 2) {
            Some(TokenTree::Ident(defined)) if name == "macro_rules" => Some(defined.to_string()),
            _ => None,
        };
        let body = at + 2 + usize::from(defined.is_some());
        let Some(TokenTree::Group(group)) = trees.get(body) else { return None };
        if let Some(name) = defined {
            if let Some(modules) = modules_around_declarations(group.stream()) {
                let uses = item_of_parameter(group.stream());
                self.declaring.push(Declaring { name: name.clone(), around: modules, uses });
            }
            self.items.push(Item { inside: around.inside.clone(), name, is_macro: true });
        } else {
            self.path(trees, at, &[], around);
            let names = identifiers(group.stream());
            self.calls.push(Call { name: name.to_owned(), inside: around.inside.clone(), names });
        }
        self.walk(group.stream(), &around.body(Place::Code, false));
        Some(body + 1)
    }

    /// The paths of an attribute, also those in strings: serde names functions in them. A comment is an attribute too.
    fn attribute(&mut self, attribute: &Group, around: &Around) {
        let trees: Vec<TokenTree> = attribute.stream().into_iter().collect();
        if matches!(trees.first(), Some(TokenTree::Ident(ident)) if *ident == "doc") {
            return;
        }
        let mut at = 0;
        while let Some(tree) = trees.get(at) {
            match tree {
                TokenTree::Ident(ident) if *ident == "reason" && is_punct(trees.get(at + 1), '=') => at += 2,
                TokenTree::Ident(_) => {
                    at = self.path(&trees, at, &[], around);
                    continue;
                }
                TokenTree::Group(group) => self.attribute(group, around),
                TokenTree::Literal(literal) => self.quoted(literal, around),
                TokenTree::Punct(_) => {}
            }
            at += 1;
        }
    }

    /// The paths in a string, if it is made of Rust's tokens.
    fn quoted(&mut self, literal: &Literal, around: &Around) {
        let text = literal.to_string();
        let Ok(tokens) = text.trim_matches('"').parse::<TokenStream>() else { return };
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let first = self.paths.len();
        let mut at = 0;
        while at < trees.len() {
            at = match &trees[at] {
                TokenTree::Ident(_) => self.path(&trees, at, &[], around),
                _ => at + 1,
            };
        }
        for path in &mut self.paths[first..] {
            path.line = literal.span().start().line;
        }
    }

    /// Reads the path at a name and takes groups of `use` apart. Returns what follows.
    fn path(&mut self, trees: &[TokenTree], at: usize, before: &[String], around: &Around) -> usize {
        let line = trees[at].span().start().line;
        let first = at;
        let mut segments = before.to_vec();
        let mut at = at;
        loop {
            match trees.get(at) {
                Some(TokenTree::Ident(name)) => segments.push(plain(name)),
                Some(TokenTree::Punct(star)) if star.as_char() == '*' => segments.push("*".into()),
                Some(TokenTree::Group(group))
                    if group.delimiter() == Delimiter::Brace && around.place != Place::Code =>
                {
                    if segments == ["crate"] {
                        segments.push("{".into());
                        at += 1;
                        break;
                    }
                    let members: Vec<TokenTree> = group.stream().into_iter().collect();
                    for member in members.split(|tree| is_punct(Some(tree), ',')).filter(|it| !it.is_empty()) {
                        let start = leading_colons(member);
                        self.path(member, start, &segments, around);
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
        let alias = match (trees.get(at), trees.get(at + 1)) {
            (Some(TokenTree::Ident(word)), Some(TokenTree::Ident(alias)))
                if *word == "as" && around.place != Place::Code =>
            {
                Some(plain(alias))
            }
            _ => None,
        };
        let previous = first.checked_sub(1).and_then(|before| trees.get(before));
        // A parameter of a macro names what its caller passes.
        if is_punct(previous, '$') && segments[0] != "crate" {
            segments[0].insert(0, '$');
        }
        let capital = segments.last().is_some_and(|name| name.starts_with(char::is_uppercase));
        let called =
            matches!(trees.get(at), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
        let defined = matches!(previous, Some(TokenTree::Ident(word)) if *word == "fn");
        let next = at + if alias.is_some() { 2 } else { 0 };
        self.paths.push(Path {
            segments,
            line,
            inside: around.inside.clone(),
            place: around.place,
            test: around.test,
            is_macro: is_punct(trees.get(at), '!') && !is_punct(trees.get(at + 1), '='),
            is_item: !is_punct(previous, '.') && !defined && (capital || called),
            alias,
        });
        next
    }
}

fn below(inside: &[String], name: String) -> Vec<String> {
    inside.iter().cloned().chain([name]).collect()
}

/// A name without the `r#` of a raw identifier.
fn plain(ident: &Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map_or(name.clone(), str::to_owned)
}

/// Whether an attribute is `#[cfg(test)]`, alone or among other conditions.
fn is_test(attribute: &Group) -> bool {
    let trees: Vec<TokenTree> = attribute.stream().into_iter().collect();
    let names = match trees.as_slice() {
        [TokenTree::Ident(cfg), TokenTree::Group(condition)] if *cfg == "cfg" => identifiers(condition.stream()),
        [TokenTree::Ident(test)] if *test == "test" => return true,
        _ => return false,
    };
    names.iter().any(|(name, _)| name == "test")
        && names.iter().all(|(name, _)| !matches!(name.as_str(), "not" | "any"))
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

/// The item that a macro's definition names in a module that is its parameter: `$module::NAME`.
fn item_of_parameter(tokens: TokenStream) -> Option<String> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let named = trees.windows(5).find_map(|window| match window {
        [dollar, TokenTree::Ident(parameter), first, second, TokenTree::Ident(item)]
            if *parameter != "crate"
                && is_punct(Some(dollar), '$')
                && is_punct(Some(first), ':')
                && is_punct(Some(second), ':') =>
        {
            Some(plain(item))
        }
        _ => None,
    });
    let nested = || {
        trees.iter().find_map(|tree| match tree {
            TokenTree::Group(group) => item_of_parameter(group.stream()),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
        })
    };
    named.or_else(nested)
}

/// Every identifier in the tokens, with its line.
fn identifiers(tokens: TokenStream) -> Vec<(String, usize)> {
    let nested = tokens.into_iter().map(|tree| match tree {
        TokenTree::Ident(ident) => vec![(plain(&ident), ident.span().start().line)],
        TokenTree::Group(group) => identifiers(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => Vec::new(),
    });
    nested.flatten().collect()
}
