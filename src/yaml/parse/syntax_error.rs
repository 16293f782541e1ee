//! Messages and help for syntax errors.

use std::ops::Range;

use granit_parser::ErrorKind;

use super::collection::MAX_DEPTH;
use super::rule_ids::INVALID_YAML;
use super::token;
use crate::base::finding::Finding;
use crate::text::File;

/// The context of a syntax error.
pub(super) struct ErrorContext {
    /// The end of the last token.
    pub(super) last_end: usize,
    /// The opening bracket of the innermost open flow collection.
    pub(super) flow: Option<usize>,
    /// Whether the innermost open collection is a block sequence.
    pub(super) block_seq: bool,
}

/// Returns the finding for a syntax error. The event parser reports the position and the kind; the text around the
/// position shows the cause.
pub(super) fn explain(file: &File, at: usize, kind: &ErrorKind, context: &ErrorContext) -> Finding {
    let text = file.text();
    let at = text.floor_char_boundary(at.min(text.len()));
    let error = Error { file, text, at, line: line_of(file, at), around: context };
    error.template().or_else(|| error.tab(kind)).unwrap_or_else(|| error.by_kind(kind))
}

struct Error<'a> {
    file: &'a File,
    text: &'a str,
    at: usize,
    /// The line of the error, without its line break.
    line: Range<usize>,
    around: &'a ErrorContext,
}

impl Error<'_> {
    fn finding(&self, range: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Finding {
        Finding::error(INVALID_YAML, self.file.span(range), message).help(help)
    }

    /// Finds a `{{ … }}` or `{% … %}` on the line of the error, or on the line of the innermost open bracket.
    fn template(&self) -> Option<Finding> {
        let lines = [self.around.flow.map(|flow| line_of(self.file, flow)), Some(self.line.clone())];
        lines.into_iter().flatten().find_map(|line| {
            let content = self.text.get(line.clone())?;
            let (opens, close) = [("{{", "}}"), ("{%", "%}")]
                .into_iter()
                .find_map(|(open, close)| Some((content.find(open)?, close)))?;
            // Inside quotes, a template expression is text and does not cause the error.
            if content.get(..opens)?.ends_with(['"', '\'']) {
                return None;
            }
            let length = content.get(opens..)?.find(close).map_or(2, |length| length + 2);
            Some(token::template(&self.file.span(line.start + opens..line.start + opens + length)))
        })
    }

    fn tab(&self, kind: &ErrorKind) -> Option<Finding> {
        let kinds = matches!(
            kind,
            ErrorKind::TabNotAllowed
                | ErrorKind::TabInBlockIndentation
                | ErrorKind::TabInIndentation
                | ErrorKind::TabInPlainScalar
                | ErrorKind::TabAtBlockScalarStart
        );
        let here = tab_in_indentation(self.text, self.line.clone());
        // For a plain scalar that continues after a tab, the parser reports the start of the scalar.
        let found = here.or_else(|| {
            let below = self.text.get(self.at..).filter(|_| kinds)?;
            let mut start = self.at;
            below.split_inclusive('\n').take(64).find_map(|line| {
                let range = start..start + line.len();
                start = range.end;
                tab_in_indentation(self.text, range)
            })
        });
        if let Some(tab) = found {
            let message = "the indentation contains a tab; YAML allows only spaces";
            return Some(self.finding(tab..tab + 1, message, "replace each tab with two spaces"));
        }
        let tab = self.text.get(self.at..self.line.end.max(self.at)).filter(|_| kinds)?.find('\t')? + self.at;
        Some(self.finding(tab..tab + 1, "unexpected tab; YAML allows only spaces here", "replace the tab with a space"))
    }

    fn by_kind(&self, kind: &ErrorKind) -> Finding {
        use ErrorKind as E;
        match kind {
            E::MappingValueNotAllowed | E::InvalidColonPlacement if self.around.flow.is_some() => {
                self.unclosed_bracket()
            }
            E::MappingValueNotAllowed | E::InvalidColonPlacement | E::InvalidMappingValueWhitespace => self.colon(),
            E::UnclosedFlowCollection { .. }
            | E::UnexpectedEofFlowSequence
            | E::UnexpectedEofFlowMapping
            | E::UnexpectedEofImplicitFlowMapping
            | E::ExpectedFlowMappingSeparator
            | E::ExpectedFlowSequenceSeparator
            | E::BlockEntryInFlowCollection
            | E::InvalidFlowScalarIndent => self.unclosed_bracket(),
            E::MisplacedFlowCollectionEnd => self.finding(
                self.character(),
                format!("this `{}` has no opening bracket", self.character_text()),
                "remove the bracket, or quote the value that contains it",
            ),
            E::MismatchedFlowCollectionEnd { open, close } => self.finding(
                self.character(),
                format!("`{close}` does not match the opening `{open}`"),
                "close the collection with the matching bracket",
            ),
            E::UnclosedQuotedScalar | E::InvalidQuotedScalarIndent | E::DocumentIndicatorInQuotedScalar => {
                self.unclosed_quote()
            }
            E::InvalidTrailingSingleQuotedScalar | E::InvalidTrailingDoubleQuotedScalar => self.after_quote(),
            E::UnknownQuotedScalarEscape
            | E::InvalidQuotedScalarHexEscape
            | E::InvalidLowSurrogateHexEscape
            | E::InvalidLowSurrogate
            | E::MissingLowSurrogate
            | E::UnpairedLowSurrogate
            | E::InvalidUnicodeEscape => self.escape(),
            E::SimpleKeyExpected | E::InvalidSimpleKey | E::MappingKeyNotAllowed => self.finding(
                self.content_of_line(),
                "this line is neither `key: value` nor part of the value above it",
                "add the colon, or indent the line below its key",
            ),
            E::BlockSequenceEntryNotAllowed => self.finding(
                self.character(),
                "a list cannot start on the line of its key",
                "put the `- ` on its own line, or write `[…]`",
            ),
            E::ExpectedBlockMappingKey | E::ExpectedBlockSequenceEntry | E::InvalidIndentation => self.indentation(),
            E::UnexpectedCharacter { character } if character.is_control() => self.finding(
                self.character(),
                format!("YAML does not allow the control character U+{:04X}", u32::from(*character)),
                "remove the character",
            ),
            E::UnexpectedCharacter { character } => self.finding(
                self.character(),
                match character {
                    '`' => "a value cannot start with a backtick".into(),
                    _ => format!("a value cannot start with `{character}`"),
                },
                "quote the value",
            ),
            E::RecursionLimitExceeded => self.finding(
                self.character(),
                format!("collections nest more than {MAX_DEPTH} levels deep"),
                "reduce the nesting; no Kubernetes object needs that many levels",
            ),
            E::MissingAnchorOrAliasName => self.finding(
                self.character(),
                format!("this `{}` has no name", self.character_text()),
                "name the anchor, or quote the value if it is text",
            ),
            _ => self.other(kind),
        }
    }

    fn other(&self, kind: &ErrorKind) -> Finding {
        use ErrorKind as E;
        let (message, help) = match kind {
            E::UndeclaredTagHandle
            | E::ExpectedTagBang
            | E::ExpectedTagDirectiveBang
            | E::InvalidGlobalTagCharacter
            | E::InvalidTagTerminator
            | E::MissingTagUri
            | E::UnclosedVerbatimTag
            | E::InvalidTagEscape
            | E::InvalidTagUtf8
            | E::InvalidTagUtf8LeadingByte
            | E::InvalidTagUtf8TrailingByte => {
                ("this tag is invalid or not declared", "quote the value if the `!` is part of the value")
            }
            E::DuplicateVersionDirective
            | E::UnsupportedYamlMajorVersion
            | E::DuplicateTagDirective
            | E::MissingDocumentEndBeforeDirective
            | E::InvalidDirectiveTerminator
            | E::MissingYamlVersionSeparator
            | E::MissingDirectiveName
            | E::InvalidDirectiveName
            | E::DirectiveByteLimitExceeded { .. }
            | E::YamlVersionTooLong
            | E::MissingYamlVersion
            | E::InvalidTagDirectiveTerminator => (
                "this directive is invalid or not supported",
                "remove the directive, or quote the value if the `%` is part of the value",
            ),
            E::ZeroBlockScalarIndent | E::InvalidBlockScalarHeader => {
                ("the header of this block scalar is invalid", "use `|` or `>`, optionally followed by `-` or `+`")
            }
            E::InvalidBlockScalarIndent => {
                ("the first line of this block scalar is indented too far", "indent all its lines equally")
            }
            E::ExpectedDocumentStart | E::InvalidDocumentEnd => {
                ("unexpected text after the end of the document", "start the next document with `---`")
            }
            E::CommentInterceptedScalar | E::CommentNotSeparated => {
                ("a comment interrupts this value", "put the comment after the value and a space, or on the line above")
            }
            _ => ("unexpected text in YAML", "check for a missing quote, colon or indentation before this text"),
        };
        self.finding(self.character(), message, help)
    }

    fn colon(&self) -> Finding {
        let before = self.text.get(self.line.start..self.at).unwrap_or("");
        let earlier = before.find(": ").or_else(|| before.find(":\t"));
        if let Some(colon) = earlier
            && !before.get(..colon).unwrap_or("").contains(['"', '\''])
        {
            return self.finding(
                self.character(),
                "unexpected second `: ` on this line",
                "quote the value if the colon is part of the value, or put the inner key on its own line",
            );
        }
        let key = self.line.start + indent_of(before)..self.at.max(self.line.start + indent_of(before));
        self.finding(
            key,
            "this key continues the value above it",
            "align it with its sibling keys, or end the line above with a colon",
        )
    }

    fn indentation(&self) -> Finding {
        if let Some(finding) = self.after_flow() {
            return finding;
        }
        let content = self.content_of_line();
        let dash = self.text.get(content.clone()).is_some_and(|text| text == "-" || text.starts_with("- "));
        let (message, help) = match (dash, self.around.block_seq) {
            (true, false) => ("expected a key, found a list item", "indent it below the key of its list"),
            (false, true) => ("expected a list item, found a key", "align it with its sibling keys"),
            _ => ("the indentation of this line matches no line above it", "align it with its sibling lines"),
        };
        self.finding(content, message, help)
    }

    fn unclosed_bracket(&self) -> Finding {
        let Some(flow) = self.around.flow else {
            // The parser failed before it reported the bracket: the error is at the bracket itself.
            let place = self.character();
            return self.finding(place, "this bracket is not closed", "close it, or quote the value");
        };
        let bracket = self.text.get(flow..flow + 1).unwrap_or("[");
        let close = if bracket == "{" { "}" } else { "]" };
        let message = format!("this `{bracket}` is not closed");
        let finding = self.finding(flow..flow + 1, message, format!("add `{close}` or a comma, or quote the value"));
        let place = self.file.span(self.character());
        if self.at < self.text.len() && self.at != flow {
            return finding.related(place, "parsing stops here");
        }
        finding
    }

    fn unclosed_quote(&self) -> Finding {
        let quote = token::open_quote(self.text, self.around.last_end, self.at).unwrap_or(self.at);
        let message = "this quote is not closed";
        let place =
            quote..quote + self.text.get(quote..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        let finding =
            self.finding(place, message, "close it, and indent the lines of a value that spans several lines");
        if line_of(self.file, quote).start == self.line.start || self.at >= self.text.len() {
            return finding;
        }
        finding.related(self.file.span(self.character()), "parsing stops here")
    }

    /// Finds text after a flow collection that starts the value of the line: `title: [draft] Our shop`.
    fn after_flow(&self) -> Option<Finding> {
        let line = self.text.get(self.line.clone())?;
        let entry = line.trim_start().trim_start_matches("- ");
        let entry = entry.split_once(" #").map_or(entry, |(entry, _)| entry);
        let value = entry.split_once(": ").map_or(entry, |(_, value)| value).trim_start();
        let (open, close) = match value.chars().next()? {
            '[' => ('[', ']'),
            '{' => ('{', '}'),
            _ => return None,
        };
        let mut depth = 0;
        let (end, _) = value.char_indices().find(|(_, letter)| {
            depth += i32::from(*letter == open) - i32::from(*letter == close);
            depth == 0
        })?;
        let rest = value.get(end + 1..)?;
        if rest.trim().is_empty() {
            return None;
        }
        let after = rest.trim();
        let start = self.line.start + line.rfind(after)?;
        // The value may be secret, so the help does not contain it.
        let help = "quote the whole value".to_owned();
        Some(self.finding(start..start + after.len(), format!("unexpected text after the closing `{close}`"), help))
    }

    fn after_quote(&self) -> Finding {
        let quote = token::open_quote(self.text, self.around.last_end, self.at);
        if let Some(quote) = quote.filter(|quote| line_of(self.file, *quote).start < self.line.start) {
            if self.character_text() == ":" {
                let message = "this key spans several lines";
                return self.finding(quote..self.at, message, "write it on one line");
            }
            return self.unclosed_quote();
        }
        let rest = self.at..self.line.end.max(self.at);
        self.finding(
            rest,
            "unexpected text after the closing quote",
            "move the text inside the quotes, or put the whole value in the other kind of quotes",
        )
    }

    fn escape(&self) -> Finding {
        let quote = token::open_quote(self.text, self.around.last_end, self.at).unwrap_or(self.at);
        let rest = self.text.get(quote..).unwrap_or("");
        let mut at = None;
        let mut chars = rest.char_indices().skip(1);
        while let Some((offset, c)) = chars.next() {
            match c {
                '"' => break,
                '\\' => {
                    let Some((_, escaped)) = chars.next() else { break };
                    if !matches!(
                        escaped,
                        '0' | 'a'
                            | 'b'
                            | 't'
                            | '\t'
                            | 'n'
                            | 'v'
                            | 'f'
                            | 'r'
                            | 'e'
                            | ' '
                            | '"'
                            | '/'
                            | '\\'
                            | 'N'
                            | '_'
                            | 'L'
                            | 'P'
                            | '\n'
                            | '\r'
                    ) {
                        at = Some((quote + offset, escaped.len_utf8()));
                        if !matches!(escaped, 'x' | 'u' | 'U') {
                            break;
                        }
                    }
                }
                _ => {}
            }
        }
        let range = at.map_or(self.character(), |(at, length)| at..at + 1 + length);
        let shown = self.text.get(range.clone()).unwrap_or("\\").to_string();
        self.finding(
            range,
            format!("`{shown}` is not a valid escape sequence in YAML"),
            "write `\\\\` for a backslash, or use single quotes, in which a backslash is literal",
        )
    }

    /// The character at the error.
    fn character(&self) -> Range<usize> {
        let length = self.text.get(self.at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        self.at..self.at + length
    }

    fn character_text(&self) -> &str {
        self.text.get(self.character()).unwrap_or("")
    }

    /// The line of the error without its indentation.
    fn content_of_line(&self) -> Range<usize> {
        let line = self.text.get(self.line.clone()).unwrap_or("");
        let start = self.line.start + indent_of(line);
        start..start + line.trim().len()
    }
}

fn line_of(file: &File, at: usize) -> Range<usize> {
    file.line(file.position(at).line).unwrap_or(at..at)
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

fn tab_in_indentation(text: &str, line: Range<usize>) -> Option<usize> {
    let content = text.get(line.clone())?;
    let indentation = content.get(..indent_of(content))?;
    indentation.find('\t').map(|tab| line.start + tab)
}
