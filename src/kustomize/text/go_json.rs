//! JSON in the format of Go: sorted keys, escaped `<`, `>` and `&`, numbers without a redundant fraction.

use std::fmt::Write as _;

use serde_json::Value;

/// Prints a value on one line, or with an indentation of two spaces.
pub(crate) fn print(value: &Value, pretty: bool) -> String {
    let mut out = String::new();
    write(&mut out, value, pretty.then_some(0));
    out
}

fn write(out: &mut String, value: &Value, indent: Option<usize>) {
    let inner = indent.map(|indent| indent + 2);
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_text(out, text),
        Value::Array(items) if items.is_empty() => out.push_str("[]"),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                start(out, index, inner);
                write(out, item, inner);
            }
            line(out, indent);
            out.push(']');
        }
        Value::Object(map) if map.is_empty() => out.push_str("{}"),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            out.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                start(out, index, inner);
                write_text(out, key);
                out.push_str(if indent.is_some() { ": " } else { ":" });
                write(out, value, inner);
            }
            line(out, indent);
            out.push('}');
        }
    }
}

fn start(out: &mut String, index: usize, indent: Option<usize>) {
    if index > 0 {
        out.push(',');
    }
    line(out, indent);
}

fn line(out: &mut String, indent: Option<usize>) {
    if let Some(indent) = indent {
        let _ = write!(out, "\n{:indent$}", "");
    }
}

fn write_number(out: &mut String, number: &serde_json::Number) {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else {
        let _ = write!(out, "{number}");
        return;
    };
    let size = float.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{float:e}");
        // Go writes the sign of the exponent, and as few digits as possible.
        let _ = match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => write!(out, "{digits}e+{exponent}"),
            _ => write!(out, "{text}"),
        };
    } else {
        let _ = write!(out, "{float}");
    }
}

fn write_text(out: &mut String, text: &str) {
    let quoted = Value::from(text).to_string();
    for character in quoted.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::print;

    #[test]
    fn json_has_the_format_of_go() {
        let value = serde_json::json!({"b": [1, 2.5, 1e21, {}], "a": "<x>"});
        assert_eq!(print(&value, false), r#"{"a":"\u003cx\u003e","b":[1,2.5,1e+21,{}]}"#);
        assert_eq!(print(&serde_json::json!({"a": [1]}), true), "{\n  \"a\": [\n    1\n  ]\n}");
    }
}
