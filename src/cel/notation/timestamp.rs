//! Points in time, as RFC 3339 writes them.

use std::fmt;

use super::duration::{Duration, SECOND};

/// A point in time: the nanoseconds since 1970 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(i128);

/// The first and the last second that a timestamp can have: the years 1 to 9999.
const SECONDS: std::ops::RangeInclusive<i128> = -62_135_596_800..=253_402_300_799;
const DAY: i64 = 86_400;

/// A date and a time of day in a time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Date {
    /// The year.
    pub year: i64,
    /// The month, from 1.
    pub month: i64,
    /// The day of the month, from 1.
    pub day: i64,
    /// The day of the year, from 0.
    pub day_of_year: i64,
    /// The day of the week; 0 is Sunday.
    pub weekday: i64,
    /// The seconds since midnight.
    pub second: i64,
    /// The nanoseconds of the second.
    pub nanosecond: i64,
}

impl Timestamp {
    /// Creates a timestamp; `None` if it is outside the supported years.
    pub fn from_nanoseconds(nanoseconds: i128) -> Option<Self> {
        SECONDS.contains(&nanoseconds.div_euclid(SECOND.into())).then_some(Self(nanoseconds))
    }

    /// Creates a timestamp from seconds.
    pub fn from_seconds(seconds: i64) -> Option<Self> {
        Self::from_nanoseconds(i128::from(seconds) * i128::from(SECOND))
    }

    /// The nanoseconds since 1970.
    pub fn nanoseconds(self) -> i128 {
        self.0
    }

    /// The whole seconds since 1970.
    pub fn seconds(self) -> i64 {
        i64::try_from(self.0.div_euclid(SECOND.into())).expect("the constructor checks the range")
    }

    /// The timestamp after a duration; `None` outside the supported years.
    pub fn plus(self, nanoseconds: i128) -> Option<Self> {
        Self::from_nanoseconds(self.0 + nanoseconds)
    }

    /// The duration since an earlier timestamp; `None` if it is longer than 292 years.
    pub fn since(self, earlier: Self) -> Option<Duration> {
        i64::try_from(self.0 - earlier.0).ok().map(Duration)
    }

    /// Reads a timestamp as Go reads RFC 3339.
    pub fn parse(text: &str) -> Option<Self> {
        let (date, time) = text.split_once('T')?;
        let mut date = date.split('-');
        let (year, month, day) = (digits(date.next()?, 4)?, digits(date.next()?, 2)?, digits(date.next()?, 2)?);
        let is_date = date.next().is_none() && (1..=12).contains(&month) && (1..=days(year, month)).contains(&day);
        let (clock, zone) = time.split_at_checked(time.find(['Z', '+', '-'])?)?;
        let (clock, fraction) = match clock.split_once(['.', ',']) {
            Some((clock, fraction)) => (clock, Some(fraction)),
            None => (clock, None),
        };
        let mut clock = clock.split(':');
        // Go accepts an hour of one digit.
        let hour = clock.next().and_then(|text| digits(text, 2).or_else(|| digits(text, 1)))?;
        let (minute, second) = (digits(clock.next()?, 2)?, digits(clock.next()?, 2)?);
        let is_time = clock.next().is_none() && hour < 24 && minute < 60 && second < 60;
        if !is_date || !is_time {
            return None;
        }
        let seconds = days_since_1970(year, month, day) * DAY + hour * 3600 + minute * 60 + second - offset(zone)?;
        let fraction = fraction.map_or(Some(0), nanoseconds)?;
        Self::from_nanoseconds(i128::from(seconds) * i128::from(SECOND) + fraction)
    }

    /// The date in a time zone, given by its offset from UTC in seconds.
    pub fn date(self, offset: i64) -> Date {
        let seconds = self.seconds() + offset;
        let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        let (year, month, day) = civil(days);
        Date {
            year,
            month,
            day,
            day_of_year: days - days_since_1970(year, 1, 1),
            // 1 January 1970 was a Thursday.
            weekday: (days + 4).rem_euclid(7),
            second,
            nanosecond: i64::try_from(self.0.rem_euclid(SECOND.into())).unwrap_or(0),
        }
    }
}

/// Displays the time in UTC: `2024-01-02T03:04:05.6Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = self.date(0);
        let (hour, minute, second) = (date.second / 3600, date.second / 60 % 60, date.second % 60);
        write!(f, "{:04}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}", date.year, date.month, date.day)?;
        if date.nanosecond != 0 {
            write!(f, ".{}", format!("{:09}", date.nanosecond).trim_end_matches('0'))?;
        }
        f.write_str("Z")
    }
}

/// Reads a number with a fixed count of digits.
fn digits(text: &str, count: usize) -> Option<i64> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// Reads a fraction of a second. Go ignores digits after the ninth.
fn nanoseconds(text: &str) -> Option<i128> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.bytes().chain([b'0'; 9]).take(9).fold(0, |sum, digit| sum * 10 + i128::from(digit - b'0')))
}

/// Reads the offset of a zone in seconds: `Z`, `+01:00`.
fn offset(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let (sign, rest) = zone.strip_prefix('-').map(|rest| (-1, rest)).or_else(|| Some((1, zone.strip_prefix('+')?)))?;
    let (hours, minutes) = rest.split_once(':')?;
    let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
    (hours <= 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// The number of days in a month of the Gregorian calendar.
fn days(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days from 1 January 1970 to a date. The year of this algorithm starts in March, so that a leap day is its last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468
}

/// The year, month and day of a number of days since 1970: the inverse of [`days_since_1970`].
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}
