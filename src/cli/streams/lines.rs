//! The treatment of lines of output.

use std::borrow::Cow;

use crate::report::mask::Redactor;

/// The treatment of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Lines {
    /// Text for users: control characters and commands of workflows are escaped.
    Text,
    /// JSON: control characters and commands of workflows are escaped in texts.
    Json,
    /// XML: markup is not masked.
    Xml,
    /// Commands of GitHub's workflows: their names and properties are not masked.
    Commands,
    /// YAML: a masked scalar is quoted.
    Yaml,
    /// Data that programs read, as it is.
    Data,
}

impl Lines {
    /// Masks secret values in a text.
    pub(super) fn redact<'a>(self, redactor: &Redactor, text: &'a str) -> Cow<'a, str> {
        match self {
            Self::Json => redactor.redact_json(text),
            Self::Xml => redactor.redact_xml(text),
            Self::Commands => redactor.redact_commands(text),
            Self::Yaml => redactor.redact_yaml(text),
            Self::Text | Self::Data => redactor.redact(text),
        }
    }
}
