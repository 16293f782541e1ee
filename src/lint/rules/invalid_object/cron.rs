//! Schedules of a CronJob.
//!
//! Source: `ParseStandard` of `github.com/robfig/cron/v3`, which the API server calls.

/// A field of a schedule: its name, its smallest and largest value, and the names of its values from the smallest on.
type Field = (&'static str, u32, u32, &'static [&'static str]);

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: [Field; 5] = [
    ("minute", 0, 59, &[]),
    ("hour", 0, 23, &[]),
    ("day", 1, 31, &[]),
    ("month", 1, 12, &MONTHS),
    ("weekday", 0, 6, &WEEKDAYS),
];
const DESCRIPTORS: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// The reason why the API server rejects a schedule.
pub(super) fn fault(schedule: &str) -> Option<String> {
    // Kubernetes versions differ in their answer for a time zone, and `@every` has a duration.
    if schedule.contains("TZ") || schedule.starts_with("@every ") {
        return None;
    }
    if schedule.starts_with('@') {
        return (!DESCRIPTORS.contains(&schedule)).then(|| "it is not a known descriptor".to_owned());
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Some(format!("it has {} fields instead of 5", fields.len()));
    }
    fields.iter().zip(FIELDS).find_map(|(text, field)| {
        // The library ignores empty parts of a list.
        text.split(',').filter(|part| !part.is_empty()).find_map(|part| range_fault(part, field))
    })
}

/// The fault of a part of a field, such as `*`, `1-5` or `*/15`.
fn range_fault(part: &str, (name, min, max, names): Field) -> Option<String> {
    let invalid = || Some(format!("`{part}` is not a valid {name}"));
    let mut split = part.split('/');
    let (range, step) = (split.next().unwrap_or_default(), split.next());
    let mut ends = range.split('-');
    let (low, high) = (ends.next().unwrap_or_default(), ends.next());
    let value = |text: &str| {
        let by_name = names.iter().position(|name| name.eq_ignore_ascii_case(text));
        let by_name = by_name.and_then(|at| u32::try_from(at).ok()).map(|at| at + min);
        by_name.or_else(|| text.parse::<u32>().ok())
    };
    let (start, end) = if matches!(low, "*" | "?") {
        (min, max)
    } else {
        let Some(start) = value(low) else { return invalid() };
        let end = match high {
            Some(high) => value(high),
            None if step.is_some() => Some(max),
            None => Some(start),
        };
        let Some(end) = end.filter(|_| ends.next().is_none()) else { return invalid() };
        (start, end)
    };
    let is_step = step.is_none_or(|step| step.parse::<u32>().is_ok_and(|step| step > 0));
    if !is_step || split.next().is_some() {
        return invalid();
    }
    if start < min || end > max {
        return Some(format!("`{part}` is not a {name} between {min} and {max}"));
    }
    (start > end).then(|| format!("the {name} `{part}` ends before it begins"))
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn schedules_are_read_as_by_the_library() {
        for valid in [
            "0 3 * * *",
            "*/5 * * * *",
            "0 0 1,15 * mon-FRI",
            "5/15 ? * JAN-mar 0",
            "@daily",
            "0 0 * * 1,",
            "@every 1h",
        ] {
            assert_eq!(fault(valid), None, "{valid}");
        }
        for invalid in [
            "61 * * * *",
            "0 24 * * *",
            "* * * *",
            "0 0 0 * *",
            "0 0 * * 7",
            "0 0 * 13 *",
            "*/0 * * * *",
            "5-1 * * * *",
            "@often",
            "a * * * *",
            "1-2-3 * * * *",
            "1/2/3 * * * *",
            "-1 * * * *",
            "0 0 * * * *",
            "",
        ] {
            assert!(fault(invalid).is_some(), "{invalid}");
        }
    }
}
