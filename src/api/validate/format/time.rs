//! Formats of times.

use crate::cel::Duration;

/// Returns whether a text is a date.
pub(super) fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2)) else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Returns whether a text is a date, `T`, and a time with a zone. The library accepts any character before the fraction of
/// a second, and any zone of the right form.
pub(super) fn is_date_time(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    let Some((clock, rest)) = time.split_at_checked(8) else { return false };
    let clock: Vec<&str> = clock.split(':').collect();
    let [hours, minutes, seconds] = clock.as_slice() else { return false };
    let in_range = |text: &str, limit: u32| digits(text, 2).is_some_and(|number| number < limit);
    if !is_date(date) || !in_range(hours, 24) || !in_range(minutes, 60) || !in_range(seconds, 60) {
        return false;
    }
    let is_zone = |zone: &str| {
        zone == "z"
            || zone
                .strip_prefix(['+', '-'])
                .and_then(|zone| zone.split_once(':'))
                .is_some_and(|(hours, minutes)| digits(hours, 2).is_some() && digits(minutes, 2).is_some())
    };
    let mut fraction = rest.chars();
    fraction.next();
    let zone = fraction.as_str().trim_start_matches(|c: char| c.is_ascii_digit());
    is_zone(rest) || zone.len() < fraction.as_str().len() && is_zone(zone)
}

/// Returns whether a text is a duration of Go, or contains a number with a unit.
pub(super) fn is_duration(text: &str) -> bool {
    Duration::parse(text).is_some() || has_amount(text)
}

/// Units that match as a whole, and units that a longer word may begin with.
const UNITS: &[&str] = &["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"];
const PREFIXES: &[&str] = &["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];

/// Returns whether a text contains a number with a unit, as in `2 days`.
fn has_amount(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let Some((_, number)) = rest.split_at_checked(at) else { return false };
        let after = number.trim_start_matches(|c: char| c.is_ascii_digit());
        let unit = after.trim_start();
        let end = unit.find(|c: char| !(c.is_ascii_alphabetic() || c == 'µ')).unwrap_or(unit.len());
        let word = unit.get(..end).unwrap_or_default().to_lowercase();
        if UNITS.contains(&word.as_str()) || PREFIXES.iter().any(|prefix| word.starts_with(prefix)) {
            return true;
        }
        rest = after;
    }
    false
}

/// The number of a text with a fixed number of digits.
fn digits(text: &str, len: usize) -> Option<u32> {
    (text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_the_days_of_their_month() {
        assert!(is_date("2024-02-29") && !is_date("2023-02-29") && !is_date("2023-2-1") && !is_date("2023-04-31"));
    }

    #[test]
    fn a_duration_of_scala_is_a_number_with_a_unit() {
        assert!(is_duration("2 days") && is_duration("1w") && is_duration("in 5 minutes"));
        assert!(!is_duration("5") && !is_duration("ten minutes") && !is_duration("5 parsecs"));
    }
}
