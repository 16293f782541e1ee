//! Quantities of Kubernetes, with the API server's notion of a whole number.

use crate::kube::quantity::{Quantity, scale};

/// A quantity and its form in the memory of the API server, which decides whether it is an integer.
#[derive(Debug, Clone, Copy)]
pub struct Amount {
    /// The quantity.
    pub quantity: Quantity,
    /// Whether the API server keeps the quantity as an integer of 64 bits with a nonnegative exponent of ten.
    is_int: bool,
}

/// The nanos of one.
const ONE: i128 = 1_000_000_000;

impl Amount {
    /// Reads a quantity.
    pub fn parse(text: &str) -> Option<Self> {
        Quantity::parse(text).map(|quantity| Self { quantity, is_int: is_int(text) })
    }

    /// Creates a quantity from an integer.
    pub fn from_int(value: i64) -> Self {
        Self { quantity: Quantity::from_nanos(i128::from(value) * ONE), is_int: true }
    }

    /// The integer; `None` if the API server does not treat the quantity as one, such as `1000m`.
    pub fn as_int(self) -> Option<i64> {
        let nanos = self.quantity.nanos();
        (self.is_int && nanos % ONE == 0).then(|| i64::try_from(nanos / ONE).ok())?
    }

    /// The nearest floating-point number.
    #[expect(clippy::cast_precision_loss, reason = "the result is approximate")]
    pub fn as_double(self) -> f64 {
        self.quantity.nanos() as f64 / ONE as f64
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let sum = self.quantity.nanos().saturating_add(other.quantity.nanos());
        Self { quantity: Quantity::from_nanos(sum), is_int: self.is_int && other.is_int }
    }

    /// The difference.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        let rest = self.quantity.nanos().saturating_sub(other.quantity.nanos());
        Self { quantity: Quantity::from_nanos(rest), is_int: self.is_int && other.is_int }
    }
}

/// Returns whether `ParseQuantity` reads a text into an integer without a fraction.
fn is_int(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at_checked(end).unwrap_or((unsigned, ""));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let length = |digits: &str| i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let (digits, decimals) = (length(whole.trim_start_matches('0')), length(fraction));
    match scale(suffix) {
        None => false,
        Some((0, ten)) => digits.saturating_add(decimals) <= 18 && ten >= decimals,
        // The decimal digits that a binary suffix takes, as the API server estimates them.
        Some((two, _)) => decimals == 0 && digits < 15 - i32::try_from(two * 3 / 10).unwrap_or(i32::MAX),
    }
}
