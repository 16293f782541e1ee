//! The commands and paths in scripts, which are read line by line.

use std::borrow::Cow;

use crate::kustomize::is_yaml;

/// The commands that print their arguments.
const PRINTERS: [&str; 7] = ["echo", "printf", "print", "log", "info", "warn", "write-host"];

/// The lines of a program without comments, each with whether the program only prints the line for a user.
pub(super) fn program_lines(text: &str) -> impl Iterator<Item = (&str, bool)> {
    // The last line of the text that the program prints.
    let mut end: Option<&str> = None;
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    lines.filter_map(move |line| {
        if end == Some(line) {
            end = None;
            return None;
        }
        let is_printed = end.is_some();
        end = end.or_else(|| end_of_printed(line).filter(|end| text.lines().any(|line| line.trim() == *end)));
        Some((line, is_printed))
    })
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
        !self.is_piped && self.name().is_some_and(|name| PRINTERS.contains(&name.to_ascii_lowercase().as_str()))
    }

    /// The name of the program.
    fn name(self) -> Option<&'a str> {
        let is_between = |c: char| c.is_whitespace() || matches!(c, '-' | '@' | '(' | '{' | '"' | '\'');
        let mut words = self.text.split(is_between).filter(|word| !word.is_empty());
        words.find(|word| !matches!(*word, "then" | "do" | "else" | "cmd:" | "run:"))
    }
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
