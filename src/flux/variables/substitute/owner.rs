//! The owner of a `${…}`: Flux, or the program that reads the text. Shells, Grafana, web servers and other programs use
//! the same syntax.

use crate::kube::Object;
use crate::yaml::{Node, Value};

/// The variables that shells or Kubernetes define.
const GIVEN: [&str; 28] = [
    "BASH_REMATCH",
    "BASH_SOURCE",
    "EUID",
    "FUNCNAME",
    "HOME",
    "HOSTNAME",
    "HOST_IP",
    "IFS",
    "KUBERNETES_SERVICE_HOST",
    "KUBERNETES_SERVICE_PORT",
    "LANG",
    "LINENO",
    "NODE_NAME",
    "OLDPWD",
    "OPTARG",
    "OPTIND",
    "PATH",
    "PIPESTATUS",
    "POD_IP",
    "POD_NAME",
    "POD_NAMESPACE",
    "PPID",
    "PWD",
    "RANDOM",
    "REPLY",
    "SECONDS",
    "SHELL",
    "TMPDIR",
];

/// The certainty that a variable belongs to another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ownership {
    /// The variable belongs to another program.
    Sure,
    /// The variable probably belongs to another program, if it is undefined.
    Likely,
    /// The variable may belong to Flux.
    None,
}

/// A text with its context in the object.
pub(super) struct Passage<'a> {
    object: &'a Object,
    text: &'a str,
    place: TextContext,
    is_block: bool,
    language: Language,
}

/// The context of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextContext {
    /// An argument of a command.
    Command,
    /// The value of an environment variable of a container.
    Environment,
    Elsewhere,
}

/// The language of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Dashboard,
    Script,
    Other,
}

impl<'a> Passage<'a> {
    /// A text at a path of keys in an object.
    pub(super) fn new(object: &'a Object, path: &[&str], text: &'a str) -> Self {
        let is_command = |key: &&str| {
            let key = key.to_ascii_lowercase();
            ["args", "command", "script", "entrypoint"].iter().any(|word| key.contains(word))
        };
        let place = if path.iter().any(|key| names_environment(key)) {
            TextContext::Environment
        } else if path.iter().any(is_command) {
            TextContext::Command
        } else {
            TextContext::Elsewhere
        };
        Self { object, text, place, is_block: is_block(text), language: Language::of(text) }
    }

    /// A noun for the text.
    pub(super) fn noun(&self) -> &'static str {
        self.language.noun()
    }

    /// Returns whether the text is a script that reads a variable only after assigning it. Such a variable belongs to
    /// the script, even if Flux has a variable with this name.
    pub(super) fn shadows(&self, name: &str) -> bool {
        if self.language != Language::Script || !self.is_block || self.place == TextContext::Environment {
            return false;
        }
        let Some(at) = assignment(self.text, name) else { return false };
        let (before, after) = self.text.split_at(at);
        let value = after.lines().next().unwrap_or_default();
        !before.contains(&*format!("${{{name}")) && !value.contains(&*format!("${{{name}"))
    }

    /// Returns whether Flux is meant to set a variable, since a value of the object consists of the variable alone.
    pub(super) fn is_passed_on(&self, name: &str) -> bool {
        is_value(&self.object.node, name)
    }

    /// The certainty that a variable of the text belongs to another program.
    pub(super) fn ownership(&self, name: &str) -> Ownership {
        // Flux rejects names that start with a digit or are not ASCII. Names of Grafana's variables start with `__`.
        if name.starts_with(|c: char| c.is_ascii_digit()) || name.starts_with("__") || !name.is_ascii() {
            return Ownership::Sure;
        }
        let (is_script, in_command) = (self.language == Language::Script, self.place == TextContext::Command);
        let is_program = self.is_block || (is_script && in_command) || self.text.starts_with("#!");
        if self.language == Language::Dashboard || (is_program && is_assigned(self.text, name)) {
            return Ownership::Sure;
        }
        if in_command && is_given_by(&self.object.node, name) {
            return Ownership::Sure;
        }
        if !is_program || self.place == TextContext::Environment {
            return Ownership::None;
        }
        let has_small = name.bytes().any(|byte| byte.is_ascii_lowercase());
        if has_small || GIVEN.contains(&name) || (is_script && is_used_bare(self.text, name)) {
            return Ownership::Likely;
        }
        Ownership::None
    }
}

impl Language {
    fn of(text: &str) -> Self {
        if is_dashboard(text) {
            Self::Dashboard
        } else if is_script(text) {
            Self::Script
        } else {
            Self::Other
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Dashboard => "dashboard",
            Self::Script => "script",
            Self::Other => "text",
        }
    }
}

/// A noun for a text with a `${…}` that Flux cannot parse, if the text belongs to another program.
pub(super) fn of_malformed(text: &str, expression: &str) -> Option<&'static str> {
    let form = Language::of(text);
    // Syntax that Flux does not support: indirection, all arguments and the last status in shells, and the syntax of
    // other templates.
    let is_shell = ["${!", "${@", "${*", "${?", "${$", "${-", "${{"].iter().any(|start| expression.starts_with(start));
    let is_list = expression.contains('[');
    (form != Language::Other || is_shell || is_list || is_block(text)).then(|| form.noun())
}

fn is_block(text: &str) -> bool {
    text.trim_end().contains('\n')
}

/// Returns whether a text is a Grafana dashboard.
fn is_dashboard(text: &str) -> bool {
    let has = |key: &str| text.contains(key);
    text.trim_start().starts_with('{') && (has("\"panels\"") || has("\"__inputs\"") || has("\"templating\""))
}

/// Returns whether a text looks like a shell script.
fn is_script(text: &str) -> bool {
    let is_word = |line: &str| {
        let first = line.split_whitespace().next().unwrap_or_default();
        matches!(first, "fi" | "fi;" | "done" | "done;" | "esac" | "then" | "do" | "set" | "export" | "echo" | "exec")
    };
    text.starts_with("#!")
        || ["$(", "&& ", "|| ", "; do", "; then"].iter().any(|sign| text.contains(sign))
        || (is_block(text) && text.lines().any(is_word))
}

/// Returns whether a text assigns a variable: `x=1`, `for x in`, `read x`, `let x =`.
fn is_assigned(text: &str, name: &str) -> bool {
    assignment(text, name).is_some()
}

/// The offset of the first assignment of a variable in a text.
fn assignment(text: &str, name: &str) -> Option<usize> {
    let mut found = text.match_indices(name).map(|(at, _)| at);
    found.find(|&at| {
        let (Some(before), Some(after)) = (text.get(..at), text.get(at + name.len()..)) else { return false };
        let before = before.rsplit('\n').next().unwrap_or_default();
        if before.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '{' | '-' | '.' | '/' | '%'))
        {
            return false;
        }
        let value = after.strip_prefix("+=").or_else(|| after.strip_prefix('=')).filter(|rest| !rest.starts_with('='));
        if let Some(value) = value {
            return begins_command(before) && !is_itself(value, name);
        }
        let last = before.split_whitespace().next_back().unwrap_or_default();
        let spaced = after.trim_start_matches(' ');
        match last {
            "for" | "select" => spaced.starts_with("in ") || spaced.starts_with(['\n', ';']),
            "let" | "const" | "var" => spaced.starts_with('='),
            _ => !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && is_read(before),
        }
    })
}

/// Returns whether a position in a line is the start of a command.
fn begins_command(before: &str) -> bool {
    let before = before.trim_end();
    let last = before.split_whitespace().next_back().unwrap_or_default();
    let words = ["then", "do", "else", "export", "local", "declare", "readonly", "typeset", "env", "&&", "||"];
    before.is_empty()
        || before.ends_with([';', '(', '{', '|', '`', '"', '\''])
        || words.contains(&last)
        || is_declared(before)
}

/// Returns whether a declaration precedes the name, such as `local -r x=1`.
fn is_declared(before: &str) -> bool {
    let mut words = before.split_whitespace().rev().skip_while(|word| word.starts_with('-'));
    words.next().is_some_and(|word| matches!(word, "local" | "declare" | "readonly" | "typeset" | "export"))
}

/// Returns whether `read` precedes the name, as in `read -r x y`, possibly with other names and options between.
fn is_read(before: &str) -> bool {
    let Some((start, between)) = before.rsplit_once("read ") else { return false };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ');
    between.chars().all(is_plain) && (begins_command(start) || start.trim_end().ends_with("while"))
}

/// Returns whether a value is the variable itself, as in `X=${X}` and `X="$X"`, which pass on an external value.
fn is_itself(value: &str, name: &str) -> bool {
    let value = value.trim_start_matches(['"', '\'']);
    let inner = value.strip_prefix("${").or_else(|| value.strip_prefix('$'));
    let rest = inner.and_then(|inner| inner.strip_prefix(name));
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

/// Returns whether a text also uses the variable without braces, which Flux would not substitute.
fn is_used_bare(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).is_some_and(|before| before.ends_with('$') && !before.ends_with("$$"));
        let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
        before && !after.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn names_environment(key: &str) -> bool {
    key == "env" || key == "envVars" || key.ends_with("Env") || key.ends_with("EnvVars")
}

/// Returns whether an object defines an environment variable of a container, with a value that does not depend on Flux.
fn is_given_by(node: &Node, name: &str) -> bool {
    match &node.value {
        Value::Scalar(..) => false,
        Value::Seq(items) => items.iter().any(|item| is_given_by(item, name)),
        Value::Map(entries) => entries
            .iter()
            .any(|entry| (names_environment(&entry.key) && gives(&entry.node, name)) || is_given_by(&entry.node, name)),
    }
}

/// Returns whether a value of an object consists of the variable alone, such as `value: ${REGION}`.
fn is_value(node: &Node, name: &str) -> bool {
    match &node.value {
        Value::Scalar(text, _) => is_itself(text, name),
        Value::Seq(items) => items.iter().any(|item| is_value(item, name)),
        Value::Map(entries) => entries.iter().any(|entry| is_value(&entry.node, name)),
    }
}

fn gives(environment: &Node, name: &str) -> bool {
    let is_other = |value: Option<&Node>| !value.and_then(Node::text).is_some_and(|text| is_itself(text, name));
    let listed = environment
        .items()
        .iter()
        .any(|item| item.get("name").and_then(Node::text) == Some(name) && is_other(item.get("value")));
    listed || environment.entry(name).is_some_and(|entry| is_other(Some(&entry.node)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_owns_the_variables_that_it_assigns() {
        for text in [
            "x=1\necho ${x}",
            "if true; then x=$(date); fi\n",
            "for x in a b; do\n  echo ${x}\ndone",
            "while read -r y x; do\n  echo ${x}\ndone",
            "local x=1\n",
            "export x=\"$1\"\n",
            "declare -r x=2\n",
            "const x = 1;\n",
            "sh -c 'x=1; echo ${x}'",
        ] {
            assert!(is_assigned(text, "x"), "{text}");
        }
        for text in
            ["x=${x}", "x=\"${x:-1}\"", "--set x=1 ${x}", "if [ x == 1 ]", "max=1", "x: 1", "for x ${x}", "say read x"]
        {
            assert!(!is_assigned(text, "x"), "{text}");
        }
    }
}
