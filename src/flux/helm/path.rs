//! `targetPath`: one value at a path, with the syntax of `helm --set`: `a.b[0].c\.d`.

use arcstr::ArcStr;

use crate::yaml::{Entry, Node, Style, Value};

/// The maximum index in a path, which limits the length of the list that an index creates.
const MAX_INDEX: usize = 65_536;

/// The maximum number of steps of a path.
const MAX_STEPS: usize = 128;

/// A value and its target path.
pub(super) struct Set<'a> {
    pub(super) path: &'a str,
    /// Whether the value is literal: the commas, braces and escapes of `--set` then have no special meaning.
    pub(super) literal: bool,
    pub(super) value: &'a Node,
    /// Whether the value is known.
    pub(super) known: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

impl Set<'_> {
    /// Sets the value in the merged values, and in the inline values if both share the mapping.
    pub(super) fn apply(&self, merged: &mut Node, inline: &mut Node) -> Result<(), String> {
        let text = self.value.text().unwrap_or_default();
        if !self.known {
            return self.set(self.path, Value::Scalar(text.into(), Style::Unknown), merged, inline);
        }
        let string = |text: &str| Value::Scalar(text.into(), Style::Double);
        if self.literal {
            return self.set(self.path, string(text), merged, inline);
        }
        let quoted = |quote: char| text.starts_with(quote) && text.ends_with(quote);
        let is_string = quoted('\'') || quoted('"');
        let text = if is_string { text.trim_matches(['\'', '"']) } else { text };
        if let Some(inner) = text.strip_prefix('{') {
            let Some(inner) = inner.strip_suffix('}') else {
                return Err("a list in the value has no closing `}`".into());
            };
            let item = |part: &str| Node {
                value: if is_string { string(&unescaped(part)) } else { typed(&unescaped(part)) },
                origin: self.value.origin.clone(),
            };
            let items: Vec<Node> = parts(inner).into_iter().map(item).collect();
            return self.set(self.path, Value::Seq(items.into()), merged, inline);
        }
        // A comma starts another pair of path and value.
        for (number, part) in parts(text).into_iter().enumerate() {
            let (path, said) = match part.split_once('=') {
                _ if number == 0 => (self.path, part),
                Some(pair) => pair,
                None => return Err("the text after a comma in the value has no `=`; escape the comma as `\\,`".into()),
            };
            let said = unescaped(said);
            self.set(path, if is_string { string(&said) } else { typed(&said) }, merged, inline)?;
        }
        Ok(())
    }

    fn set(&self, path: &str, value: Value, merged: &mut Node, inline: &mut Node) -> Result<(), String> {
        let steps = steps(path)?;
        let value = Node { value, origin: self.value.origin.clone() };
        let shared = shared(merged, inline, &steps);
        *merged = set(merged, &steps, &value)?;
        if let Some(prefix) = steps.get(..shared).filter(|prefix| !prefix.is_empty())
            && let Some(same) = below(merged, prefix)
        {
            *inline = set(inline, prefix, same)?;
        }
        Ok(())
    }
}

/// The number of steps to the first mapping that the merged values share with the inline values; 0 if they share no
/// mapping.
///
/// helm-controller changes such a mapping in place, so the change affects both.
fn shared(merged: &Node, inline: &Node, steps: &[Step]) -> usize {
    let same = |count: &usize| {
        let prefix = steps.get(..*count).unwrap_or_default();
        match (below(merged, prefix).map(|node| &node.value), below(inline, prefix).map(|node| &node.value)) {
            (Some(Value::Map(a)), Some(Value::Map(b))) => a.is_same(b),
            _ => false,
        }
    };
    (1..steps.len()).find(same).unwrap_or(0)
}

/// The node at a path.
fn below<'a>(node: &'a Node, steps: &[Step]) -> Option<&'a Node> {
    steps.iter().try_fold(node, |node, step| match step {
        Step::Key(key) => node.get(key),
        Step::Index(index) => node.items().get(*index),
    })
}

/// The parts between unescaped commas. Escapes remain in the parts.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, character) in text.char_indices() {
        if character == ',' && !escaped {
            parts.push(text.get(start..at).unwrap_or_default());
            start = at + 1;
        }
        escaped = character == '\\' && !escaped;
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\\' { plain.extend(characters.next()) } else { plain.push(character) }
    }
    plain
}

/// Converts a text to a boolean, null, an integer or a string. A number with a leading zero is a string.
fn typed(text: &str) -> Value {
    let lower = text.to_ascii_lowercase();
    let number = (text == "0" || !text.starts_with('0')) && text.parse::<i64>().is_ok();
    let style = if matches!(&*lower, "true" | "false" | "null") || number { Style::Plain } else { Style::Double };
    let text: ArcStr = if style == Style::Plain { lower.into() } else { text.into() };
    Value::Scalar(text, style)
}

fn steps(path: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut key = String::new();
    let mut characters = path.chars();
    let mut after_index = false;
    while let Some(character) = characters.next() {
        if steps.len() > MAX_STEPS {
            return Err(format!("the path has more than {MAX_STEPS} steps"));
        }
        match character {
            '\\' => key.extend(characters.next()),
            '.' if key.is_empty() && after_index => after_index = false,
            '.' => steps.push(Step::Key(std::mem::take(&mut key))),
            '[' => {
                if !key.is_empty() {
                    steps.push(Step::Key(std::mem::take(&mut key)));
                }
                let digits: String = characters.by_ref().take_while(|c| *c != ']').collect();
                let index = digits.parse().ok().filter(|index| *index <= MAX_INDEX);
                steps.push(Step::Index(index.ok_or_else(|| format!("`[{digits}]` is not a valid index"))?));
                after_index = true;
            }
            '=' | ',' => return Err(format!("the path contains `{character}`; escape it as `\\{character}`")),
            _ => key.push(character),
        }
    }
    if !key.is_empty() {
        steps.push(Step::Key(key));
    }
    if steps.is_empty() { Err("the path is empty".into()) } else { Ok(steps) }
}

/// Sets a value at a path below a node; an error if a value on the path has another type.
fn set(node: &Node, steps: &[Step], value: &Node) -> Result<Node, String> {
    let Some((step, rest)) = steps.split_first() else { return Ok(value.clone()) };
    let made = |yaml: Value| Node { value: yaml, origin: value.origin.clone() };
    match step {
        Step::Key(key) => {
            if !(node.is_map() || node.is_null()) {
                return Err(format!("the parent of `{key}` is not a mapping"));
            }
            let map = if node.is_map() { node.clone() } else { made(Value::Map([].into())) };
            let old = map.get(key).cloned().unwrap_or_else(|| made(Value::Scalar("null".into(), Style::Plain)));
            let new = set(&old, rest, value)?;
            let place = new.origin.written().clone();
            Ok(map.with(Entry::new(key.as_str(), &place, new)))
        }
        Step::Index(index) => {
            if !(node.is_seq() || node.is_null()) {
                return Err(format!("the parent of `[{index}]` is not a list"));
            }
            let mut items = node.items().to_vec();
            while items.len() <= *index {
                items.push(made(Value::Scalar("null".into(), Style::Plain)));
            }
            if let Some(item) = items.get_mut(*index) {
                *item = set(item, rest, value)?;
            }
            Ok(Node { value: Value::Seq(items.into()), origin: node.origin.clone() })
        }
    }
}
