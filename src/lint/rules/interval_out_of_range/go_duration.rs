//! Durations in the syntax of Go.

use std::time::Duration;

use crate::yaml::{Node, Style, Value};

/// Returns the duration in a scalar in the syntax of Go, such as `1h30m`, `1.5h` or `250ms`.
///
/// The result is `None` for invalid text, negative durations and unknown values.
///
/// Source: `time.ParseDuration`.
pub(super) fn go_duration(node: &Node) -> Option<Duration> {
    let Value::Scalar(text, style) = &node.value else { return None };
    if *style == Style::Unknown {
        return None;
    }
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at_checked(digits)?;
        let letters = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(letters)?;
        seconds += number.parse::<f64>().ok()? * seconds_of(unit)?;
        rest = after;
    }
    (!text.is_empty()).then(|| Duration::try_from_secs_f64(seconds).ok()).flatten()
}

fn seconds_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        let file = File::new("a.yaml", "");
        let read = |text: &str| go_duration(&Node::scalar(text, Style::Plain, file.span(0..0)));
        assert_eq!(read("1h30m"), Some(Duration::from_mins(90)));
        assert_eq!(read("1.5h"), Some(Duration::from_mins(90)));
        assert_eq!(read("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(read("0"), Some(Duration::ZERO));
        for wrong in ["", "60", "1d", "1m x", "h", "-1m", "1..5s", "${interval}"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
