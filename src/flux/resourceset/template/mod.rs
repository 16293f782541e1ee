//! The template language of a ResourceSet: Go templates with the delimiters `<<` and `>>` and the functions of
//! slim-sprig.
//!
//! Steps, bytes and depth are limited, since a template may be untrusted.

mod lex;
mod literal;
mod slug;
mod value;
mod go;
mod convert;
mod functions;
mod parse;
mod run;

use std::ops::Range;
use std::sync::Arc;

use crate::text::Span;

pub(super) use convert::from_node;
pub(super) use functions::adler32;
pub(super) use value::{Kind, Value};

/// The marks around the name of an unknown value in a text that contains it.
pub(super) const UNKNOWN: (char, char) = ('\u{f8f1}', '\u{f8f2}');

/// The error of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// The offset in the text of the template.
    pub at: usize,
    /// The message.
    pub message: String,
    /// Whether the operator supports the template, but this engine does not.
    pub ours: bool,
}

impl Fault {
    /// Creates an error that the operator reports too.
    fn error(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), ours: false }
    }

    /// Creates an error for an unsupported feature or an exceeded limit.
    fn limit(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), ours: true }
    }

    /// Sets the position to the call, which functions do not know.
    fn moved(self, at: usize) -> Self {
        Self { at, ..self }
    }
}

/// The cost limit for the templates of one ResourceSet.
#[derive(Debug)]
pub(super) struct Budget {
    steps: usize,
    bytes: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { steps: 2_000_000, bytes: 32 << 20 }
    }

    fn step(&mut self, at: usize) -> Result<(), Fault> {
        self.steps = self.steps.checked_sub(1).ok_or_else(|| Fault::limit(at, "it takes too many steps"))?;
        Ok(())
    }

    fn bytes(&mut self, count: usize) -> Result<(), Fault> {
        self.bytes = self.bytes.checked_sub(count).ok_or_else(|| Fault::limit(0, "it makes too much text"))?;
        Ok(())
    }
}

/// A parsed template.
#[derive(Debug)]
pub(super) struct Template {
    text: Arc<str>,
    parsed: parse::Parsed,
}

/// The output of a template.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// The text.
    pub text: String,
    /// The pieces in the order of the text.
    pub pieces: Vec<Piece>,
}

/// A piece of an output, up to the start of the next one.
#[derive(Debug)]
pub(super) struct Piece {
    /// The offset in the output.
    pub start: usize,
    /// The source of the text.
    pub from: From,
}

/// The source of a piece.
#[derive(Debug)]
pub(super) enum From {
    /// Text of the template, from this offset on.
    Outside(usize),
    /// The action at this range of the template, with the position of the printed input.
    Action(Range<usize>, Option<Span>),
}

impl Template {
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        Ok(Self { text: text.into(), parsed: parse::parse(text)? })
    }

    /// Returns whether the template has no actions. Then every input gives the same output.
    pub(super) fn is_plain(&self) -> bool {
        self.parsed.root.iter().all(|piece| matches!(piece, parse::Piece::Outside(_)))
    }

    /// Executes the template with one input set.
    pub(super) fn run(&self, inputs: &Value, budget: &mut Budget) -> Result<Output, Fault> {
        run::run(&self.text, &self.parsed, inputs, budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;

    /// The output of Go for every line of `testdata/oracles/resourceset/templates.txt`.
    #[test]
    fn templates_print_what_go_prints() {
        let answers = include_str!("../../../../testdata/oracles/resourceset/answers.json");
        let answers: serde_json::Value = serde_json::from_str(answers).unwrap();
        let inputs = include_str!("../../../../testdata/oracles/resourceset/inputs.yaml");
        let inputs = crate::yaml::parse(&File::new("inputs.yaml", inputs)).documents.remove(0).node;
        let (mut differences, mut beyond) = (Vec::new(), Vec::new());
        for answer in answers["templates"].as_array().unwrap() {
            let text = answer["template"].as_str().unwrap().replace("\\n", "\n");
            let inputs = from_node(&inputs, "inputs");
            let ours = Template::parse(&text).and_then(|template| template.run(&inputs, &mut Budget::new()));
            match (answer["output"].as_str(), &ours) {
                (Some(theirs), Ok(ours)) if ours.text == theirs => {}
                (None, Err(fault)) if !fault.ours => {}
                // Reported as not supported.
                (Some(_), Err(fault)) if fault.ours => beyond.push(fault.message.clone()),
                (theirs, ours) => {
                    let ours = ours.as_ref().map(|output| &output.text);
                    differences.push(format!("{text}\n  go:   {theirs:?}\n  ours: {ours:?}"));
                }
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
        assert_eq!(beyond, ["`trunc`: a part of a character", "the function `html`"]);
    }
}
