//! The notation of texts in YAML and JSON.

/// The text of a part of a double-quoted scalar. The part may end inside of an escape sequence.
pub(super) fn unescaped(written: &str) -> String {
    let mut text = String::with_capacity(written.len());
    let mut rest = written.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        let Some(escaped) = rest.next() else { break };
        let digits = match escaped {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        let code: String = rest.clone().take(digits).collect();
        let of_code = || u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
        match (escaped, of_code()) {
            (_, Some(character)) if code.len() == digits => {
                text.push(character);
                rest.nth(digits - 1);
            }
            ('n', _) => text.push('\n'),
            ('t', _) => text.push('\t'),
            _ => text.push(escaped),
        }
    }
    text
}
