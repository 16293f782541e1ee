//! Timestamps: kustomize resolves a plain date to a time.

/// Converts a plain date or time to RFC 3339, as kustomize resolves it when it reads its own output.
///
/// Between brackets, kustomize writes a text with a colon in quotes, so a time of day stays a string.
pub(crate) fn plain_time(text: &str, in_brackets: bool) -> Option<String> {
    let is_plain = text.starts_with(|c: char| c.is_ascii_digit()) && !(in_brackets && text.contains(':'));
    is_plain.then(|| rfc3339(text))?
}

/// Converts a date or a time, in a form that kustomize's YAML reader accepts, to RFC 3339 as kustomize prints it.
pub(crate) fn rfc3339(text: &str) -> Option<String> {
    let (year, rest) = text.split_at_checked(4)?;
    let (month, rest) = rest.strip_prefix('-')?.split_once('-')?;
    let (day, rest) = split_digits(rest);
    let (year, month, day) = (number(year)?, number(month)?, number(day)?);
    if !(1..=12).contains(&month) || !(1..=days(year, month)).contains(&day) {
        return None;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    if rest.is_empty() {
        return Some(format!("{date}T00:00:00Z"));
    }
    let (time, zoned) = match rest.strip_prefix(' ') {
        Some(time) => (time, false),
        None => (rest.strip_prefix(['T', 't'])?, true),
    };
    let (hour, rest) = time.split_once(':')?;
    let (minute, rest) = rest.split_once(':')?;
    let (second, rest) = split_digits(rest);
    let (hour, minute, second) = (number(hour)?, number(minute)?, number(second)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let (fraction, zone) = rest.strip_prefix(['.', ',']).map_or(("", rest), split_digits);
    if rest.len() == zone.len() + 1 || fraction.len() > 9 {
        return None;
    }
    let zone = if zoned { offset(zone)? } else { zone.is_empty().then_some("Z")? };
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{date}T{hour:02}:{minute:02}:{second:02}{point}{fraction}{zone}"))
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn number(text: &str) -> Option<u32> {
    let digits = matches!(text.len(), 1 | 2 | 4) && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

fn days(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The normalized offset: `Z` for a zero offset, or else `+hh:mm` or `-hh:mm`.
fn offset(zone: &str) -> Option<&str> {
    let clock = zone.strip_prefix(['+', '-']);
    match clock.map(|clock| clock.split_once(':')) {
        None => (zone == "Z").then_some("Z"),
        Some(Some((hour, minute))) if hour.len() == 2 && minute.len() == 2 => {
            let (hour, minute) = (number(hour)?, number(minute)?);
            let fits = hour < 24 && minute < 60;
            fits.then_some(if hour + minute == 0 { "Z" } else { zone })
        }
        Some(_) => None,
    }
}
