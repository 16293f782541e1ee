//! Escape sequences of quoted texts, and numbers.

use crate::cel::value::Value;

const WRONG: &str = "invalid string literal: unable to unescape string";

/// A part of a quoted text.
enum Part {
    /// A character of Unicode.
    Char(char),
    /// A byte, as `\xff` in a bytes literal.
    Byte(u8),
}

/// Reads the content of a text literal.
pub(crate) fn read_text(body: &str, is_raw: bool) -> Result<String, String> {
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    if is_raw {
        return Ok(body);
    }
    let mut text = String::with_capacity(body.len());
    unescape(&body, false, &mut |part| match part {
        Part::Char(c) => text.push(c),
        Part::Byte(byte) => text.push(char::from(byte)),
    })?;
    Ok(text)
}

/// Reads the content of a bytes literal.
pub(crate) fn read_bytes(body: &str, is_raw: bool) -> Result<Vec<u8>, String> {
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    if is_raw {
        return Ok(body.into_bytes());
    }
    let mut bytes = Vec::with_capacity(body.len());
    unescape(&body, true, &mut |part| match part {
        Part::Char(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        Part::Byte(byte) => bytes.push(byte),
    })
    .map_err(|message| message.replace("string literal", "bytes literal"))?;
    Ok(bytes)
}

fn unescape(body: &str, is_bytes: bool, push: &mut dyn FnMut(Part)) -> Result<(), String> {
    let mut chars = body.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            push(Part::Char(c));
            continue;
        }
        let c = chars.next().ok_or(WRONG)?;
        let plain = match c {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '\'' | '"' | '`' | '?' => c,
            'x' | 'X' | 'u' | 'U' | '0'..='3' => {
                if is_bytes && matches!(c, 'u' | 'U') {
                    return Err(WRONG.into());
                }
                let code = code(c, &mut chars).ok_or(WRONG)?;
                if is_bytes {
                    push(Part::Byte(u8::try_from(code).map_err(|_| WRONG)?));
                } else {
                    push(Part::Char(char::from_u32(code).ok_or("invalid string literal: invalid unicode code point")?));
                }
                continue;
            }
            _ => return Err(WRONG.into()),
        };
        push(Part::Char(plain));
    }
    Ok(())
}

/// Reads the digits of an escape sequence after its first character.
fn code(first: char, chars: &mut std::str::Chars<'_>) -> Option<u32> {
    let (start, radix, count) = match first {
        'x' | 'X' => (0, 16, 2),
        'u' => (0, 16, 4),
        'U' => (0, 16, 8),
        octal => (octal.to_digit(8)?, 8, 2),
    };
    (0..count).try_fold(start, |code: u32, _| {
        chars.next()?.to_digit(radix).and_then(|digit| code.checked_mul(radix)?.checked_add(digit))
    })
}

/// Reads a number. A minus sign before a literal belongs to it, so that the smallest integer can be written.
pub(crate) fn read_number(text: &str, is_negative: bool) -> Result<Value, &'static str> {
    let sign = if is_negative { "-" } else { "" };
    if let Some(digits) = text.strip_suffix(['u', 'U']) {
        let value = digits.strip_prefix("0x").map_or_else(|| digits.parse(), |hex| u64::from_str_radix(hex, 16));
        return value.map(Value::Uint).map_err(|_| "invalid uint literal");
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return i64::from_str_radix(&format!("{sign}{hex}"), 16).map(Value::Int).map_err(|_| "invalid int literal");
    }
    let signed = format!("{sign}{text}");
    if text.contains(['.', 'e', 'E']) {
        let value = signed.parse::<f64>().ok().filter(|value| value.is_finite());
        return value.map(Value::Double).ok_or("invalid double literal");
    }
    signed.parse().map(Value::Int).map_err(|_| "invalid int literal")
}
