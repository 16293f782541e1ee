//! The translation of a pattern from the syntax of Go to the syntax of `regex-lite`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::class::Characters;
use super::refused::Refused;

/// The maximum nesting of groups. Go's maximum is four times as high.
pub(super) const MAX_NESTING: usize = 250;

/// The maximum count of a repetition, and the maximum product of the counts of nested repetitions.
const MAX_REPEAT: u32 = 1000;

/// Translates a pattern, or returns the reason why Go refuses it.
pub(super) fn translate(pattern: &str) -> Result<String, Refused> {
    let mut translator = Translator {
        rest: pattern,
        out: String::with_capacity(pattern.len() + 8),
        flags: Flags::default(),
        groups: vec![Group::default()],
        atom: None,
        names: BTreeSet::new(),
    };
    let mut after_repeat = false;
    while let Some(first) = translator.rest.chars().next() {
        after_repeat = translator.step(first, after_repeat)?;
    }
    if translator.groups.len() > 1 {
        return Err(Refused::OpenParenthesis);
    }
    Ok(translator.out)
}

/// The flags of `(?ismU)`.
#[expect(clippy::struct_excessive_bools, reason = "Go has these flags")]
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    fold: bool,
    lines: bool,
    dot_all: bool,
    lazy: bool,
}

/// An open group. The first group is the pattern.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    start: usize,
    flags: Flags,
    /// The maximum product of the counts of nested repetitions in the group.
    product: u32,
}

/// The part of the output to which a repetition applies.
#[derive(Debug, Clone, Copy)]
struct Atom {
    start: usize,
    product: u32,
    is_repeated: bool,
}

struct Translator<'p> {
    rest: &'p str,
    out: String,
    flags: Flags,
    groups: Vec<Group>,
    atom: Option<Atom>,
    names: BTreeSet<&'p str>,
}

impl Translator<'_> {
    /// Translates the next token, and returns whether the token is a repetition.
    fn step(&mut self, first: char, after_repeat: bool) -> Result<bool, Refused> {
        match first {
            '(' if self.rest.starts_with("(?") => self.special_group()?,
            '(' => {
                self.advance(1);
                self.open("(")?;
            }
            ')' => {
                self.advance(1);
                self.close()?;
            }
            '|' => {
                self.advance(1);
                self.settle();
                self.out.push('|');
            }
            '^' => {
                self.advance(1);
                self.push(if self.flags.lines { "(?m:^)" } else { "^" });
            }
            '$' => {
                self.advance(1);
                self.push(if self.flags.lines { "(?m:$)" } else { "$" });
            }
            '.' => {
                self.advance(1);
                self.push(if self.flags.dot_all { "(?s:.)" } else { "." });
            }
            '[' => {
                let class = self.class()?;
                self.push_class(&class);
            }
            '*' | '+' | '?' => {
                self.advance(1);
                return self.repeat(Count { min: 0, max: None, sign: Some(first) }, after_repeat);
            }
            '{' => {
                if let Some((count, rest)) = Count::read(self.rest)? {
                    self.rest = rest;
                    return self.repeat(count, after_repeat);
                }
                self.advance(1);
                self.literal(u32::from('{'));
            }
            '\\' => self.escape()?,
            other => {
                self.advance(other.len_utf8());
                self.literal(u32::from(other));
            }
        }
        Ok(false)
    }

    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// Completes the last atom, so that a repetition cannot apply to the atom.
    fn settle(&mut self) {
        if let (Some(atom), Some(group)) = (self.atom.take(), self.groups.last_mut()) {
            group.product = group.product.max(atom.product);
        }
    }

    fn begin_atom(&mut self) {
        self.settle();
        self.atom = Some(Atom { start: self.out.len(), product: 1, is_repeated: false });
    }

    fn push(&mut self, translated: &str) {
        self.begin_atom();
        self.out.push_str(translated);
    }

    fn push_class(&mut self, class: &Characters) {
        self.begin_atom();
        class.write(&mut self.out);
    }

    fn literal(&mut self, code: u32) {
        let plain = char::from_u32(code).filter(|c| !(self.flags.fold && (c.is_alphabetic() || !c.is_ascii())));
        let Some(c) = plain else {
            let class = self.folded(Characters::range(code, code));
            self.push_class(&class);
            return;
        };
        self.begin_atom();
        if c.is_ascii_alphanumeric() || !c.is_ascii() || matches!(c, '-' | '_' | '/' | ':' | ' ') {
            self.out.push(c);
        } else {
            let _ = write!(self.out, "\\x{{{code:X}}}");
        }
    }

    fn folded(&self, class: Characters) -> Characters {
        if self.flags.fold { class.folded() } else { class }
    }

    fn open(&mut self, translated: &str) -> Result<(), Refused> {
        if self.groups.len() > MAX_NESTING {
            return Err(Refused::Size);
        }
        self.settle();
        self.groups.push(Group { start: self.out.len(), flags: self.flags, product: 1 });
        self.out.push_str(translated);
        Ok(())
    }

    fn close(&mut self) -> Result<(), Refused> {
        self.settle();
        let group = self.groups.pop().filter(|_| !self.groups.is_empty()).ok_or(Refused::CloseParenthesis)?;
        self.out.push(')');
        self.flags = group.flags;
        self.atom = Some(Atom { start: group.start, product: group.product, is_repeated: false });
        Ok(())
    }

    /// Translates the start of a group with a name or flags, or flags for the rest of the group.
    fn special_group(&mut self) -> Result<(), Refused> {
        let named = ["(?P<", "(?<"].into_iter().find_map(|start| self.rest.strip_prefix(start));
        if let Some(named) = named {
            let (name, rest) = named.split_once('>').ok_or(Refused::GroupName)?;
            let is_name = !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
            if !is_name {
                return Err(Refused::GroupName);
            }
            self.rest = rest;
            // `regex-lite` does not support group names that start with a digit, or that occur twice.
            let is_unnamed = name.starts_with(|c: char| c.is_ascii_digit()) || !self.names.insert(name);
            return if is_unnamed { self.open("(") } else { self.open(&format!("(?P<{name}>")) };
        }
        self.advance(2);
        let (mut flags, mut set, mut has_flag) = (self.flags, true, false);
        loop {
            let c = self.rest.chars().next().ok_or(Refused::Group)?;
            self.advance(c.len_utf8());
            match c {
                'i' => flags.fold = set,
                'm' => flags.lines = set,
                's' => flags.dot_all = set,
                'U' => flags.lazy = set,
                '-' if set => (set, has_flag) = (false, false),
                ':' | ')' if set || has_flag => {
                    if c == ':' {
                        self.open("(?:")?;
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ => return Err(Refused::Group),
            }
            has_flag |= c != '-';
        }
    }

    fn repeat(&mut self, count: Count, after_repeat: bool) -> Result<bool, Refused> {
        let is_marked = self.rest.starts_with('?');
        self.advance(usize::from(is_marked));
        if after_repeat {
            return Err(Refused::Repeated);
        }
        let atom = self.atom.as_mut().ok_or(Refused::Operand)?;
        if atom.is_repeated {
            self.out.insert_str(atom.start, "(?:");
            self.out.push(')');
        }
        atom.is_repeated = true;
        atom.product = count.product(atom.product);
        if atom.product > MAX_REPEAT {
            return Err(Refused::Count);
        }
        let _ = match count {
            Count { sign: Some(sign), .. } => write!(self.out, "{sign}"),
            Count { min, max: None, .. } => write!(self.out, "{{{min},}}"),
            Count { min, max: Some(max), .. } => write!(self.out, "{{{min},{max}}}"),
        };
        if is_marked != self.flags.lazy {
            self.out.push('?');
        }
        Ok(true)
    }

    fn escape(&mut self) -> Result<(), Refused> {
        let Some(letter) = self.rest.chars().nth(1) else { return Err(Refused::Escape) };
        let assertion = match letter {
            'A' => "^",
            'z' => "$",
            // Without the group, the assertion would include a `{` that follows, as in `\b{start}`.
            'b' => r"(?:\b)",
            'B' => r"(?:\B)",
            'Q' => {
                let quoted = self.rest.get(2..).unwrap_or_default();
                let (quoted, rest) = quoted.split_once(r"\E").unwrap_or((quoted, ""));
                self.rest = rest;
                quoted.chars().for_each(|c| self.literal(u32::from(c)));
                return Ok(());
            }
            _ => {
                if let Some(class) = self.escaped_class()? {
                    self.push_class(&class);
                } else {
                    let code = self.escaped_character()?;
                    self.literal(code);
                }
                return Ok(());
            }
        };
        self.advance(2);
        self.push(assertion);
        Ok(())
    }

    /// Reads a class such as `\d` or `\p{Greek}`; `None` if the next token is not a class.
    fn escaped_class(&mut self) -> Result<Option<Characters>, Refused> {
        let Some(letter) = self.rest.strip_prefix('\\').and_then(|rest| rest.chars().next()) else { return Ok(None) };
        let mut is_negated = letter.is_ascii_uppercase();
        let class = if matches!(letter, 'p' | 'P') {
            let rest = self.rest.get(2..).unwrap_or_default();
            let first = rest.chars().next().ok_or(Refused::Class)?;
            let (name, rest) = match rest.strip_prefix('{') {
                Some(braced) => braced.split_once('}').ok_or(Refused::Class)?,
                None => rest.split_at_checked(first.len_utf8()).ok_or(Refused::Class)?,
            };
            self.rest = rest;
            let positive = name.strip_prefix('^');
            is_negated ^= positive.is_some();
            Characters::unicode(positive.unwrap_or(name))?
        } else {
            let Some(class) = Characters::perl(letter) else { return Ok(None) };
            self.advance(2);
            class
        };
        let class = self.folded(class);
        Ok(Some(if is_negated { class.negated() } else { class }))
    }

    /// Reads an escape sequence and returns its code point.
    fn escaped_character(&mut self) -> Result<u32, Refused> {
        self.advance(1);
        let first = self.rest.chars().next().ok_or(Refused::Escape)?;
        self.advance(first.len_utf8());
        let octal = |byte: &u8| matches!(byte, b'0'..=b'7');
        let code = match first {
            // `\1` would be a reference to a group.
            '1'..='7' if !self.rest.as_bytes().first().is_some_and(octal) => return Err(Refused::Escape),
            '0'..='7' => {
                let more = self.rest.bytes().take(2).take_while(octal).count();
                let digits = self.rest.get(..more).unwrap_or_default();
                self.advance(more);
                u32::from_str_radix(&format!("{first}{digits}"), 8).map_err(|_| Refused::Escape)?
            }
            'x' => {
                let (digits, rest) = match self.rest.strip_prefix('{') {
                    Some(braced) => braced.split_once('}').ok_or(Refused::Escape)?,
                    None => self.rest.split_at_checked(2).ok_or(Refused::Escape)?,
                };
                self.rest = rest;
                let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                let code = u32::from_str_radix(digits, 16).ok().filter(|code| is_hex && *code <= 0x0010_FFFF);
                code.ok_or(Refused::Escape)?
            }
            'a' => 7,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            other if other.is_ascii() && !other.is_ascii_alphanumeric() => u32::from(other),
            _ => return Err(Refused::Escape),
        };
        Ok(code)
    }

    /// Reads a class in brackets.
    fn class(&mut self) -> Result<Characters, Refused> {
        self.advance(1);
        let is_negated = self.rest.starts_with('^');
        self.advance(usize::from(is_negated));
        let mut class = Characters::none();
        let mut is_first = true;
        while is_first || !self.rest.starts_with(']') {
            is_first = false;
            let next = match self.posix_class()? {
                Some(posix) => Some(posix),
                None => self.escaped_class()?,
            };
            if let Some(next) = next {
                class.add(&next);
                continue;
            }
            let low = self.class_character()?;
            let mut high = low;
            if self.rest.len() > 1 && self.rest.starts_with('-') && !self.rest.starts_with("-]") {
                self.advance(1);
                high = self.class_character()?;
                if high < low {
                    return Err(Refused::Class);
                }
            }
            class.add(&self.folded(Characters::range(low, high)));
        }
        self.advance(1);
        Ok(if is_negated { class.negated() } else { class })
    }

    /// Reads a class such as `[:alpha:]`; `None` if the next token is not such a class.
    fn posix_class(&mut self) -> Result<Option<Characters>, Refused> {
        let Some((name, rest)) = self.rest.strip_prefix("[:").and_then(|rest| rest.split_once(":]")) else {
            return Ok(None);
        };
        let positive = name.strip_prefix('^');
        let class = Characters::posix(positive.unwrap_or(name)).ok_or(Refused::Class)?;
        self.rest = rest;
        let class = self.folded(class);
        Ok(Some(if positive.is_some() { class.negated() } else { class }))
    }

    fn class_character(&mut self) -> Result<u32, Refused> {
        let c = self.rest.chars().next().ok_or(Refused::Bracket)?;
        if c == '\\' {
            return self.escaped_character();
        }
        self.advance(c.len_utf8());
        Ok(u32::from(c))
    }
}

/// The number of repetitions.
#[derive(Debug, Clone, Copy)]
struct Count {
    min: u32,
    max: Option<u32>,
    /// The sign `*`, `+` or `?`, in place of numbers.
    sign: Option<char>,
}

impl Count {
    /// Reads `{2}`, `{2,}` or `{2,3}`; `None` if the brace is a literal.
    fn read(text: &str) -> Result<Option<(Self, &str)>, Refused> {
        let Some((inner, rest)) = text.get(1..).and_then(|text| text.split_once('}')) else { return Ok(None) };
        let (min, max) = inner.split_once(',').map_or((inner, Some(inner)), |(min, max)| (min, Some(max)));
        let is_number = |text: &str| {
            let is_padded = text.len() > 1 && text.starts_with('0');
            !text.is_empty() && !is_padded && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        let max = max.filter(|max| !max.is_empty());
        if !is_number(min) || !max.is_none_or(is_number) {
            return Ok(None);
        }
        // A number that overflows is also too large.
        let number = |text: &str| text.parse().unwrap_or(u32::MAX);
        let (min, max) = (number(min), max.map(number));
        if min > MAX_REPEAT || max.is_some_and(|max| max > MAX_REPEAT || min > max) {
            return Err(Refused::Count);
        }
        Ok(Some((Self { min, max, sign: None }, rest)))
    }

    /// The maximum product of the counts of nested repetitions. `inner` is the product of the repeated part.
    fn product(self, inner: u32) -> u32 {
        match self {
            Self { sign: Some(_), .. } => inner,
            Self { max: Some(max), .. } => max.saturating_mul(inner),
            Self { min, .. } => min.max(1).saturating_mul(inner),
        }
    }
}
