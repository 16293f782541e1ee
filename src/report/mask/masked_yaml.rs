//! Lines of YAML with masks, which stay valid.

/// An entry, a key or a scalar of YAML with masks, which may cover quotes, as valid YAML.
pub(super) fn valid_entry(content: &str) -> String {
    let end_of_key = match end_of_quoted(content) {
        Some(end) => end,
        None if content.starts_with(['"', '\'']) => return hidden(content),
        None => content.find(": ").or_else(|| content.strip_suffix(':').map(str::len)).unwrap_or(content.len()),
    };
    let (key, rest) = content.split_at_checked(end_of_key).unwrap_or_default();
    match rest.strip_prefix(": ") {
        Some(value) => format!("{}: {}", valid_scalar(key), valid_scalar(value)),
        None if rest.is_empty() || rest == ":" => format!("{}{rest}", valid_scalar(key)),
        None => valid_scalar(content),
    }
}

/// A scalar of YAML with masks as valid YAML. `*` starts an alias.
fn valid_scalar(scalar: &str) -> String {
    let is_valid = match end_of_quoted(scalar) {
        // In the line of a block scalar, other text may follow.
        Some(end) => scalar.get(end..).is_some_and(|rest| !rest.contains('*')),
        None => !scalar.starts_with(['"', '\'', '*']),
    };
    if is_valid { scalar.to_owned() } else { hidden(scalar) }
}

/// A text with masks in quotes.
fn hidden(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The end of the quoted scalar at the start of a text, with its closing quote; `None` if it is not valid.
fn end_of_quoted(text: &str) -> Option<usize> {
    let quote = *text.as_bytes().first().filter(|first| matches!(first, b'"' | b'\''))?;
    let mut at = 1;
    loop {
        let next = text.as_bytes().get(at + 1);
        match text.as_bytes().get(at)? {
            // An escape sequence does not contain a mask.
            b'\\' if quote == b'"' && next == Some(&b'*') => return None,
            b'\\' if quote == b'"' => at += 2,
            b'\'' if quote == b'\'' && next == Some(&b'\'') => at += 2,
            byte if *byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}
