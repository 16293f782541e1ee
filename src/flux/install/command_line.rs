//! The command lines of controllers: the flags that each container passes to the program of the controller.

use super::installation::{CONTROLLERS, controller_of};
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::Node;

/// The flags whose value is optional: the next argument is not their value.
///
/// Source: the flags of the controllers of Flux 2.0 to 2.9 and of `fluxcd/pkg/runtime`.
const BOOLEAN: [&str; 9] = [
    "enable-leader-election",
    "export-http-path-metrics",
    "insecure-allow-http",
    "insecure-kubeconfig-exec",
    "insecure-kubeconfig-tls",
    "leader-election-release-on-cancel",
    "no-cross-namespace-refs",
    "no-remote-bases",
    "watch-all-namespaces",
];

/// The name of the container of a controller.
const CONTAINER: &str = "manager";

const SHELLS: [&str; 5] = ["sh", "ash", "bash", "dash", "busybox"];

/// The flags that a container passes to a controller.
#[derive(Debug, Clone)]
pub(super) struct CommandLine {
    /// The flags that the controller reads, in order.
    flags: Vec<Flag>,
    /// The flags that are written, but that the controller does not read, each at the argument that prevents this.
    unread: Vec<Flag>,
    /// The position of the command, of the arguments or of the container.
    pub(super) place: Span,
}

/// A flag with its value.
#[derive(Debug, Clone)]
struct Flag {
    name: String,
    value: String,
    place: Span,
}

/// A word of a command line.
#[derive(Debug, Clone)]
struct Word {
    text: String,
    place: Span,
}

impl CommandLine {
    /// The command lines of the containers that run the controller of a Deployment.
    pub(super) fn all(deployment: &Object) -> Vec<Self> {
        let by_name = || CONTROLLERS.iter().find(|name| deployment.name().contains(*name)).copied();
        let controller = controller_of(deployment).or_else(by_name).unwrap_or_default();
        let at = |field: &str| deployment.node.at_keys(&["spec", "template", "spec", field]);
        let containers = at("containers").map_or(&[][..], Node::items);
        let text = |container: &Node, field: &str| container.get(field).and_then(Node::text).map(ToOwned::to_owned);
        let runs = |container: &&Node| {
            text(container, "name").as_deref() == Some(CONTAINER)
                || text(container, "image").is_some_and(|image| !controller.is_empty() && image.contains(controller))
        };
        let running: Vec<&Node> = containers.iter().filter(runs).collect();
        let running = if running.is_empty() { containers.iter().collect() } else { running };
        running.into_iter().map(|container| Self::of(container, controller)).collect()
    }

    fn of(container: &Node, controller: &str) -> Self {
        let place = ["command", "args"].iter().find_map(|field| container.get(field)).unwrap_or(container);
        let mut line = Self { flags: Vec::new(), unread: Vec::new(), place: place.span().clone() };
        line.read(arguments(container, controller));
        line
    }

    /// Reads the words after the name of the program, as the library of the controllers does.
    ///
    /// Source: `FlagSet.parseArgs` of `github.com/spf13/pflag`.
    fn read(&mut self, words: Vec<Word>) {
        let mut words = words.into_iter();
        while let Some(Word { text, place }) = words.next() {
            let Some(flag) = text.strip_prefix("--") else { continue };
            if flag.is_empty() {
                self.unread.extend(words.filter_map(|word| Some(Flag { place: place.clone(), ..flag_of(&word)? })));
                return;
            }
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, value.to_owned()),
                None if BOOLEAN.contains(&flag) => (flag, "true".to_owned()),
                None => {
                    // The next argument is the value, even if it looks like a flag.
                    let next = words.next();
                    let taken = next.as_ref().and_then(flag_of);
                    self.unread.extend(taken.map(|taken| Flag { place: place.clone(), ..taken }));
                    (flag, next.map(|word| word.text).unwrap_or_default())
                }
            };
            self.flags.push(Flag { name: name.to_owned(), value, place });
        }
    }

    /// The values of a flag, in order. The last one has precedence.
    pub(super) fn values<'a>(&'a self, flag: &'a str) -> impl DoubleEndedIterator<Item = &'a str> {
        let name = flag.trim_start_matches('-');
        self.flags.iter().filter(move |other| other.name == name).map(|other| other.value.as_str())
    }

    /// The position that determines the value of a flag, or its absence.
    pub(super) fn place_of(&self, flag: &str) -> &Span {
        let name = flag.trim_start_matches('-');
        let last = |flags: &'_ [Flag]| flags.iter().rposition(|other| other.name == name);
        let read = last(&self.flags).map(|at| &self.flags[at].place);
        read.or_else(|| last(&self.unread).map(|at| &self.unread[at].place)).unwrap_or(&self.place)
    }
}

fn flag_of(word: &Word) -> Option<Flag> {
    let flag = word.text.strip_prefix("--")?;
    let (name, value) = flag.split_once('=').unwrap_or((flag, ""));
    Some(Flag { name: name.to_owned(), value: value.to_owned(), place: word.place.clone() })
}

/// The words that the program of a controller receives as its arguments.
fn arguments(container: &Node, controller: &str) -> Vec<Word> {
    let words = |field: &str| -> Vec<Word> {
        let items = container.get(field).map_or(&[][..], Node::items);
        let written = items.iter().filter_map(|item| Some((item.text()?, item.span().clone())));
        written.map(|(text, place)| Word { text: expanded(text, container), place }).collect()
    };
    let (command, args) = (words("command"), words("args"));
    let Some(program) = command.first() else { return args };
    let is_program = |word: &Word| base(&word.text) == controller;
    let line: Vec<Word> = command.iter().cloned().chain(args).collect();
    if SHELLS.contains(&base(&program.text)) {
        let is_command = |word: &Word| word.text.starts_with('-') && word.text.ends_with('c');
        let Some(option) = line.iter().position(is_command) else { return Vec::new() };
        let Some(script) = line.get(option + 1) else { return Vec::new() };
        // The first word after the script is the name of the shell.
        let parameters = line.get(option + 3..).unwrap_or_default();
        let words = words_of(script, parameters);
        let start = words.iter().rposition(is_program).map_or(0, |at| at + 1);
        return words.into_iter().skip(start).collect();
    }
    // A wrapper such as `tini --` comes before the program.
    let is_end = |word: &Word| word.text == "--";
    let start = command.iter().rposition(is_program).or_else(|| command.iter().rposition(is_end)).unwrap_or(0);
    line.into_iter().skip(start + 1).collect()
}

/// The words of a script of a shell, with the parameters in the place of `$@`.
fn words_of(script: &Word, parameters: &[Word]) -> Vec<Word> {
    let is_separator = |letter: char| letter.is_whitespace() || ";&|()".contains(letter);
    let mut words = Vec::new();
    for part in script.text.split(is_separator) {
        let text = part.replace(['"', '\''], "");
        match text.as_str() {
            "" if part.is_empty() => {}
            "$@" | "$*" | "${@}" | "${*}" => words.extend(parameters.iter().cloned()),
            _ => words.push(Word { text, place: script.place.clone() }),
        }
    }
    words
}

/// A text with the values of the environment variables of its container.
///
/// Source: `expansion.Expand` of Kubernetes, which keeps a reference to an unknown variable.
fn expanded(text: &str, container: &Node) -> String {
    let mut done = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("$(") {
        done.push_str(before);
        let value = after.split_once(')').and_then(|(name, after)| Some((variable(container, name)?, after)));
        // `$$(NAME)` is not a reference.
        if let Some((value, after)) = value.filter(|_| !before.ends_with('$')) {
            done.push_str(value);
            rest = after;
        } else {
            done.push_str("$(");
            rest = after;
        }
    }
    done + rest
}

/// The literal value of an environment variable. Without `value` and `valueFrom`, the value is empty.
fn variable<'a>(container: &'a Node, name: &str) -> Option<&'a str> {
    let all = container.get("env").map_or(&[][..], Node::items);
    let one = all.iter().rfind(|one| one.get("name").and_then(Node::text) == Some(name))?;
    match one.get("value") {
        Some(value) => value.text(),
        None if one.get("valueFrom").is_none() => Some(""),
        None => None,
    }
}

/// The name of a program without its directory.
fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
