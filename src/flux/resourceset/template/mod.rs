//! The template language of a ResourceSet: Go templates with the delimiters `<<` and `>>` and the functions of slim-sprig.
//!
//! Steps, bytes and depth are limited, since a template may be untrusted.

pub(super) mod fault;
pub(super) mod value;
pub(super) mod budget;
mod literal;
pub(super) mod output;
mod go;
pub(super) mod convert;
mod slug;
pub(super) mod functions;
mod lex;
mod parse;
mod run;

use arcstr::ArcStr;
use budget::Budget;
use fault::Fault;
use output::Output;
use value::Value;

/// A parsed template.
#[derive(Debug)]
pub(super) struct Template {
    text: ArcStr,
    parsed: parse::Parsed,
}

impl Template {
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        Ok(Self { text: text.into(), parsed: parse::parse(text)? })
    }

    /// Returns whether the template has no actions. If so, every input gives the same output.
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
    use super::convert::from_node;
    use super::*;
    use crate::text::File;

    /// Compares the output with the output of Go for every line of `testdata/oracles/resourceset/templates.txt`.
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
                // The engine reports the template as unsupported.
                (Some(_), Err(fault)) if fault.ours => beyond.push(fault.message.clone()),
                (theirs, ours) => {
                    let ours = ours.as_ref().map(|output| &output.text);
                    differences.push(format!("{text}\n  go:   {theirs:?}\n  ours: {ours:?}"));
                }
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
        assert_eq!(beyond, ["`trunc`: a part of a character is not supported", "the function `html` is not supported"]);
    }
}
