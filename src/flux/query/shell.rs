//! The commands and paths in scripts, which are read line by line.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::kustomize::is_yaml;
use crate::text::lines;

/// The minimum length of the literal part of a name with a variable.
const MIN_LITERAL: usize = 8;

/// The commands that print their arguments.
const PRINTERS: [&str; 7] = ["echo", "printf", "print", "log", "info", "warn", "write-host"];

/// A line of a program.
pub(super) struct ProgramLine<'a> {
    /// The offsets of the line in the program.
    pub(super) range: Range<usize>,
    /// The line without the blanks around it.
    pub(super) text: &'a str,
    /// Whether the program only prints the line for a user.
    pub(super) is_printed: bool,
}

/// The lines of a program without comments.
pub(super) fn program_lines(text: &str) -> impl Iterator<Item = ProgramLine<'_>> {
    // The last line of the text that the program prints.
    let mut end: Option<&str> = None;
    let may_print = text.contains("<<");
    let all: LazyCell<BTreeSet<&str>, _> = LazyCell::new(|| text.lines().map(str::trim).collect());
    let lines = lines(text).map(|(at, line)| (at..at + line.len(), line.trim()));
    lines.filter(|(_, line)| !line.starts_with('#')).filter_map(move |(range, line)| {
        if !may_print {
            return Some(ProgramLine { range, text: line, is_printed: false });
        }
        if end == Some(line) {
            end = None;
            return None;
        }
        let is_printed = end.is_some();
        end = end.or_else(|| end_of_printed(line).filter(|end| all.contains(end)));
        Some(ProgramLine { range, text: line, is_printed })
    })
}

/// The text of a Taskfile without the files below `sources` and `generates`. Task only compares these files.
pub(super) fn without_watched_files(text: &str) -> Cow<'_, str> {
    let is_list =
        |line: &str| ["sources:", "generates:"].iter().any(|key| line.trim_start_matches("- ").starts_with(key));
    if !text.contains("cmds:")
        || !text.lines().any(|line| line.trim() == "cmds:")
        || !text.lines().any(|line| is_list(line.trim()))
    {
        return Cow::Borrowed(text);
    }
    let mut is_watched = false;
    let kept = text.split_inclusive('\n').filter(|line| {
        let line = line.trim();
        is_watched = is_list(line) || (is_watched && (line.starts_with("- ") || line.is_empty()));
        !is_watched
    });
    Cow::Owned(kept.collect())
}

/// A command of a shell without operators, such as one of the commands of a pipeline.
#[derive(Clone, Copy)]
pub(super) struct SimpleCommand<'a> {
    pub(super) text: &'a str,
    /// Whether another command reads the output.
    is_piped: bool,
}

impl<'a> SimpleCommand<'a> {
    /// Returns whether the command prints its arguments for a user.
    pub(super) fn is_printed(self) -> bool {
        let is_printer = |name: &str| PRINTERS.iter().any(|printer| printer.eq_ignore_ascii_case(name));
        !self.is_piped && self.name().is_some_and(is_printer)
    }

    /// The name of the program.
    fn name(self) -> Option<&'a str> {
        let is_between = |c: char| c.is_whitespace() || matches!(c, '-' | '@' | '(' | '{' | '"' | '\'');
        let mut words = self.text.split(is_between).filter(|word| !word.is_empty());
        words.find(|word| !matches!(*word, "then" | "do" | "else" | "cmd:" | "run:"))
    }
}

/// The variables of a script with a literal value, and its names for kubectl.
pub(super) struct Definitions<'a> {
    variables: BTreeMap<&'a str, &'a str>,
    /// The functions and aliases that pass their arguments to kubectl.
    kubectl: BTreeSet<&'a str>,
}

impl<'a> Definitions<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut found = Self { variables: BTreeMap::new(), kubectl: BTreeSet::new() };
        let mut function: Option<&str> = None;
        for line in lines(text).map(|(_, line)| line.trim()) {
            function = function_of(line).or(function);
            if line.contains("kubectl") && ["$@", "$*"].iter().any(|arguments| line.contains(arguments)) {
                found.kubectl.extend(function);
            }
            if line.ends_with('}') {
                function = None;
            }
            let Some((name, value)) = assignment(line) else { continue };
            match line.strip_prefix("alias ") {
                Some(_) if value.starts_with("kubectl") => _ = found.kubectl.insert(name),
                Some(_) => {}
                None => _ = found.variables.insert(name, value),
            }
        }
        found
    }

    /// Returns whether a command runs kubectl, also by another name.
    pub(super) fn runs_kubectl(&self, command: &str) -> bool {
        let is_kubectl = |word: &str| match variable_of(word) {
            Some((name, "")) => self.variables.get(name).is_some_and(|value| value.starts_with("kubectl")),
            Some(_) => false,
            None => self.kubectl.contains(word),
        };
        let words = command.split_whitespace().map(|word| word.trim_matches(['"', '\'', '@']));
        command.contains("kubectl") || words.take_while(|word| *word != "apply").any(is_kubectl)
    }

    /// A word with the value of the variable at its start.
    pub(super) fn expanded<'w>(&self, word: &'w str) -> Cow<'w, str> {
        let value = variable_of(word).and_then(|(name, rest)| Some((self.variables.get(name)?, rest)));
        value.map_or(Cow::Borrowed(word), |(value, rest)| Cow::Owned(format!("{value}{rest}")))
    }
}

/// The name of the function whose definition starts in a line.
fn function_of(line: &str) -> Option<&str> {
    let name = line.strip_prefix("function ").map(|rest| rest.split([' ', '(', '{']).next().unwrap_or(rest));
    let name = name.or_else(|| line.split_once("()").map(|(name, _)| name))?.trim();
    is_name(name).then_some(name)
}

/// The name and the value of the variable or alias that a line sets, in a shell or a Makefile. The default of a variable
/// is its value: `${DIR:-apps}`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', ' ']).rsplit(' ').next()?;
    let value = value.trim();
    let value = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => value.get(1..)?.split(quote).next()?,
        _ if line.contains(" = ") || line.contains(":=") || line.contains("?=") => value,
        _ => value.split([' ', ';']).next()?,
    };
    let default = value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')?.split_once(":-"));
    is_name(name).then_some((name, default.map_or(value, |(_, default)| default)))
}

/// The name of the variable at the start of a word, and the rest of the word: `$DIR/apps`, `${DIR}/apps`, `$(DIR)/apps`.
fn variable_of(word: &str) -> Option<(&str, &str)> {
    let rest = word.strip_prefix('$')?;
    let open = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
    let open = open.or_else(|| rest.strip_prefix('(').and_then(|rest| rest.split_once(')')));
    let end = || rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    open.or_else(|| rest.split_at_checked(end())).filter(|(name, _)| is_name(name))
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// The line that ends a text, if a command prints the lines after it: `cat <<EOF`.
fn end_of_printed(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("<<").filter(|(_, after)| !after.starts_with('<'))?;
    let after = after.trim_start_matches('-').trim_start();
    let end = after.trim_start_matches(['"', '\'', '\\']);
    let end = end.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().filter(|end| !end.is_empty())?;
    let command = simple_commands(before).last()?;
    let is_printer = command.name() == Some("cat") || command.is_printed();
    let is_redirected = line.replace(">&2", "").contains(['>', '|']);
    (is_printer && !is_redirected).then_some(end)
}

/// The commands between the operators of a shell. An operator in quotes is text.
pub(super) fn simple_commands(line: &str) -> impl Iterator<Item = SimpleCommand<'_>> {
    let mut quote = None;
    let is_operator = move |c: char| {
        match quote {
            Some(open) if open == c => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            _ => {}
        }
        quote.is_none() && matches!(c, ';' | '&' | '|')
    };
    let mut rest = Some(line);
    let commands = line.split(is_operator).map(move |text| {
        rest = rest.and_then(|rest| rest.get(text.len()..));
        let is_piped = rest.is_some_and(|rest| rest.starts_with('|') && !rest.starts_with("||"));
        rest = rest.and_then(|rest| rest.get(1..));
        SimpleCommand { text, is_piped }
    });
    commands.filter(|command| !command.text.is_empty())
}

/// A line without the quotes that end before the rest of a path: `"$ROOT"/apps` is one word of a shell.
pub(super) fn without_inner_quotes(line: &str) -> Cow<'_, str> {
    let is_inner = ["\"/", "'/"].iter().any(|quote| line.contains(quote));
    if is_inner { Cow::Owned(line.replace("\"/", "/").replace("'/", "/")) } else { Cow::Borrowed(line) }
}

pub(super) fn is_end_of_path(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '=' | ';' | ':' | ',' | '(' | ')' | '[' | ']' | '|' | '>' | '&')
}

/// The segments of the path of a directory with a variable, such as `clusters/$NAME/patches`. The item of a variable is
/// empty.
///
/// A variable at the start contains the root of the repository. A path needs two known segments, since another directory
/// may have the name of one.
pub(super) fn path_with_variable(word: &str) -> Option<Vec<String>> {
    // Most words have neither a variable nor an empty segment.
    if !word.contains('/') || !(is_computed(word) || word.contains("//")) {
        return None;
    }
    let is_open = |segment: &&str| is_computed(segment) || matches!(*segment, "." | ".." | "");
    let segments = word.trim_end_matches('/').split('/').skip_while(is_open);
    let path: Vec<String> =
        segments.map(|segment| if is_computed(segment) { String::new() } else { segment.to_owned() }).collect();
    let is_known = |segment: &&String| !segment.is_empty();
    let is_folder = path.last().is_some_and(|last| !last.is_empty() && !last.contains('.'));
    let is_literal = path.iter().all(|segment| segment.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)));
    let counts = (path.iter().filter(is_known).count(), path.len());
    (is_folder && is_literal && counts.0 >= 2 && counts.0 < counts.1).then_some(path)
}

/// The end of the path of a manifest, with at least one directory. A variable usually contains the root of the
/// repository.
pub(super) fn path_of_manifest(word: &str) -> Option<String> {
    if !is_yaml(word) {
        return None;
    }
    let start = word.rfind(['$', '}']).and_then(|at| word.get(at..)?.find('/').map(|slash| at + slash + 1));
    let path = word.get(start.unwrap_or(0)..)?.trim_start_matches("./").trim_start_matches("../");
    let is_literal = path.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
    let is_relative = !path.starts_with('/') && !path.contains("..");
    (is_yaml(path) && path.contains('/') && is_literal && is_relative).then(|| path.to_owned())
}

/// A word without quotes, and without the punctuation of lists and commands.
pub(super) fn trimmed(word: &str) -> &str {
    word.trim().trim_matches(['"', '\'', '`', ',', ';', '[', ']', '(', ')'])
}

/// Returns whether a name contains a variable.
pub(super) fn is_computed(name: &str) -> bool {
    name.contains(['$', '{', '}', '<'])
}

/// The pattern of a name with a variable at its start or its end, such as `*-credentials` for `${local.cluster}-credentials`;
/// `None` if its literal part is too short.
pub(super) fn pattern_of(name: &str) -> Option<String> {
    let head = name.split(['$', '{']).next().unwrap_or_default();
    let tail = match name.rsplit_once('}') {
        Some((_, tail)) => tail,
        None => name.rsplit_once('$')?.1.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_'),
    };
    let is_literal = |text: &&str| {
        let is_of_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
        text.len() >= MIN_LITERAL && text.bytes().all(is_of_name)
    };
    let end = Some(tail).filter(|tail| tail.starts_with('-')).filter(is_literal).map(|tail| format!("*{tail}"));
    end.or_else(|| Some(head).filter(|head| head.ends_with('-')).filter(is_literal).map(|head| format!("{head}*")))
}
