//! Dates of the Gregorian calendar.

use std::fmt;

/// A date, such as 2027-01-31.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// Parses `YYYY-MM-DD`; `None` if the text is not such a date.
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('-').collect();
        let [year, month, day] = parts.as_slice() else { return None };
        let is_number = |text: &str, len| text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(year, 4) || !is_number(month, 2) || !is_number(day, 2) {
            return None;
        }
        let date = Self { year: year.parse().ok()?, month: month.parse().ok()?, day: day.parse().ok()? };
        (date.day >= 1 && date.day <= date.days_of_month()?).then_some(date)
    }

    /// The date of a number of seconds since 1 January 1970, in UTC. The last date is 9999-12-31.
    pub fn of_unix_time(seconds: u64) -> Self {
        let mut days = seconds / (24 * 60 * 60);
        let mut date = Self { year: 1970, month: 1, day: 1 };
        while date.year < 9999 && days >= date.days_of_year() {
            days -= date.days_of_year();
            date.year += 1;
        }
        while let Some(length) = date.days_of_month().map(u64::from).filter(|length| days >= *length) {
            days -= length;
            date.month += 1;
        }
        match u8::try_from(days) {
            Ok(days) if date.month <= 12 => Self { day: days + 1, ..date },
            _ => Self { month: 12, day: 31, ..date },
        }
    }

    fn is_leap_year(self) -> bool {
        self.year.is_multiple_of(4) && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400))
    }

    fn days_of_year(self) -> u64 {
        if self.is_leap_year() { 366 } else { 365 }
    }

    fn days_of_month(self) -> Option<u8> {
        match self.month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => Some(31),
            4 | 6 | 9 | 11 => Some(30),
            2 => Some(if self.is_leap_year() { 29 } else { 28 }),
            _ => None,
        }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dates_of_the_calendar_are_valid() {
        let valid = |text| Date::parse(text).is_some_and(|date| date.to_string() == text);
        assert!(["2027-01-31", "2024-02-29", "2000-02-29", "0001-12-31"].into_iter().all(valid));
        assert!(
            ![
                "2027-02-29",
                "1900-02-29",
                "2027-13-01",
                "2027-00-01",
                "2027-1-1",
                "27-01-01",
                "2027-01-00",
                "+027-01-01"
            ]
            .into_iter()
            .any(valid)
        );
    }

    #[test]
    fn a_unix_time_has_a_date() {
        let date = |seconds| Date::of_unix_time(seconds).to_string();
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(1_798_761_599), "2026-12-31");
        assert_eq!(date(1_798_761_600), "2027-01-01");
        assert_eq!(date(u64::MAX), "9999-12-31");
    }
}
