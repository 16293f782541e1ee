//! String constants of a template, with Go's escapes and quotes.

use std::fmt::Write;

use super::fault::Fault;

/// Decodes a quoted, raw or character constant at an offset.
pub(super) fn unquote(literal: &str, at: usize) -> Result<String, Fault> {
    let quote = literal.chars().next().unwrap_or_default();
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    if quote == '`' {
        return Ok(inner.replace('\r', ""));
    }
    let mut said = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    let wrong = |what: &str| Fault::error(at, format!("`\\{what}` is not a valid escape sequence"));
    while let Some(character) = rest.next() {
        if character != '\\' {
            said.push(character);
            continue;
        }
        let escape = rest.next().unwrap_or_default();
        let mut code = |digits: usize, radix: u32, first: &str| {
            let text: String = first.chars().chain(rest.by_ref().take(digits)).collect();
            let complete = text.chars().count() == digits + first.len();
            u32::from_str_radix(&text, radix).ok().filter(|_| complete && text.chars().all(|c| c.is_digit(radix)))
        };
        let simple = match escape {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' => '\\',
            '"' | '\'' if escape == quote => escape,
            'x' | '0'..='7' => {
                let byte = if escape == 'x' { code(2, 16, "") } else { code(2, 8, &escape.to_string()) };
                match byte {
                    Some(byte @ 0..=0x7F) => char::from_u32(byte).unwrap_or_default(),
                    Some(_) => {
                        return Err(Fault::limit(
                            at,
                            "a string contains an escaped byte outside ASCII, which is not supported",
                        ));
                    }
                    None => return Err(wrong(&escape.to_string())),
                }
            }
            'u' | 'U' => {
                let code = if escape == 'u' { code(4, 16, "") } else { code(8, 16, "") };
                code.and_then(char::from_u32).ok_or_else(|| wrong(&escape.to_string()))?
            }
            _ => return Err(wrong(&escape.to_string())),
        };
        said.push(simple);
    }
    Ok(said)
}

/// Quotes a text like Go's `%q`.
pub(super) fn quoted(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                written.push('\\');
                written.push(character);
            }
            '\u{7}' => written.push_str("\\a"),
            '\u{8}' => written.push_str("\\b"),
            '\u{c}' => written.push_str("\\f"),
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            '\u{b}' => written.push_str("\\v"),
            _ if is_printed(character) => written.push(character),
            _ => {
                let code = u32::from(character);
                let _ = match code {
                    0..=0x7F => write!(written, "\\x{code:02x}"),
                    0x80..=0xFFFF => write!(written, "\\u{code:04x}"),
                    _ => write!(written, "\\U{code:08x}"),
                };
            }
        }
    }
    written.push('"');
    written
}

/// Returns whether Go prints a character literally: letters, marks, numbers, punctuation, symbols and the space.
fn is_printed(character: char) -> bool {
    let hidden = matches!(
        character,
        '\u{a0}' | '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{1680}' | '\u{180e}'
            | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{3000}'
            | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{fff8}' | '\u{fffe}' | '\u{ffff}'
            | '\u{e0000}'..='\u{10ffff}'
    );
    !character.is_control() && !hidden
}
