//! Lengths of time, as Go writes them: `1h30m`, `-1.5s`.

use std::fmt;

/// A length of time in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub i64);

/// The units with their nanoseconds.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// The nanoseconds of a second.
pub(super) const SECOND: i64 = 1_000_000_000;

impl Duration {
    /// Reads a duration as `time.ParseDuration` does.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, mut rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if rest == "0" {
            return Some(Self(0));
        }
        if rest.is_empty() {
            return None;
        }
        // The smallest value has no positive counterpart, so the sum is unsigned.
        let mut sum: u64 = 0;
        while !rest.is_empty() {
            let (whole, after) = split(rest, |c| c.is_ascii_digit());
            let (fraction, after) =
                after.strip_prefix('.').map_or(("", after), |rest| split(rest, |c| c.is_ascii_digit()));
            if whole.is_empty() && fraction.is_empty() {
                return None;
            }
            let (unit, after) = split(after, |c| c != '.' && !c.is_ascii_digit());
            let (_, scale) = *UNITS.iter().find(|(name, _)| *name == unit)?;
            let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
            sum = sum.checked_add(whole.checked_mul(scale)?)?.checked_add(part(fraction, scale))?;
            if sum > 1 << 63 {
                return None;
            }
            rest = after;
        }
        match (negative, i64::try_from(sum)) {
            (true, _) => Some(Self(0_i64.checked_sub_unsigned(sum)?)),
            (false, Ok(sum)) => Some(Self(sum)),
            (false, Err(_)) => None,
        }
    }

    /// The seconds, with a fraction.
    #[expect(clippy::cast_precision_loss, reason = "Go converts in the same way")]
    pub fn seconds(self) -> f64 {
        (self.0 / SECOND) as f64 + (self.0 % SECOND) as f64 / SECOND as f64
    }
}

/// Displays the seconds: `5400s`, `-1.5s`.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s", self.seconds())
    }
}

/// Splits a text before the first character that `accepts` rejects.
fn split(text: &str, accepts: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !accepts(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// The nanoseconds of a fraction's digits, rounded down.
fn part(digits: &str, scale: u64) -> u64 {
    let (mut sum, mut power) = (0_u128, 1_u128);
    for digit in digits.bytes().take(18) {
        sum = sum * 10 + u128::from(digit - b'0');
        power *= 10;
    }
    u64::try_from(sum * u128::from(scale) / power).unwrap_or(0)
}
