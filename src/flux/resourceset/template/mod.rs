//! The template language of a ResourceSet: Go's, with `<<` and `>>` around actions and the functions of slim-sprig.
//!
//! What it costs is bounded in steps, in bytes and in depth, since a template may be a stranger's.

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

/// Stands before and after the name of a value that only the cluster knows, in a text that was made with it.
pub(super) const UNKNOWN: (char, char) = ('\u{f8f1}', '\u{f8f2}');

/// Why a template gives nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// Where in the template's text.
    pub at: usize,
    /// What is wrong.
    pub message: String,
    /// Whether the operator would expand it and only we do not.
    pub ours: bool,
}

impl Fault {
    /// The operator refuses it too.
    fn error(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), ours: false }
    }

    /// It needs more than is done here.
    fn limit(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), ours: true }
    }

    /// The same fault at the place of the call, for functions, which do not know it.
    fn moved(self, at: usize) -> Self {
        Self { at, ..self }
    }
}

/// What the templates of one ResourceSet may cost together.
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

/// A template, parsed.
#[derive(Debug)]
pub(super) struct Template {
    text: Arc<str>,
    parsed: parse::Parsed,
}

/// A text that a template made, and where its pieces come from.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// The text.
    pub text: String,
    /// The pieces in the order of the text.
    pub pieces: Vec<Piece>,
}

/// A piece of an output, up to where the next one starts.
#[derive(Debug)]
pub(super) struct Piece {
    /// Where it starts in the output.
    pub start: usize,
    /// Where it comes from.
    pub from: From,
}

/// What made a piece.
#[derive(Debug)]
pub(super) enum From {
    /// Text of the template, from this offset on.
    Outside(usize),
    /// The action at this range of the template, with the place of the input that it printed.
    Action(Range<usize>, Option<Span>),
}

impl Template {
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        Ok(Self { text: text.into(), parsed: parse::parse(text)? })
    }

    /// Tells whether it has no action: then every input gives the same.
    pub(super) fn is_plain(&self) -> bool {
        self.parsed.root.iter().all(|piece| matches!(piece, parse::Piece::Outside(_)))
    }

    /// Runs it with one set of inputs.
    pub(super) fn run(&self, inputs: &Value, budget: &mut Budget) -> Result<Output, Fault> {
        run::run(&self.text, &self.parsed, inputs, budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;

    /// What Go prints for every line of `testdata/oracles/resourceset/templates.txt`.
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
                // Beyond what is done here, and said so.
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
