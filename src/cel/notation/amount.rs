//! Quantities of Kubernetes, with the API server's notion of a whole number.

use crate::kube::quantity::Quantity;

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
    let end = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
    let digits =
        i32::try_from(unsigned.get(..end).unwrap_or_default().trim_start_matches('0').len()).unwrap_or(i32::MAX);
    let suffix = unsigned.get(end..).unwrap_or_default();
    // The decimal digits that a binary suffix takes, as the API server estimates them.
    let binary = match suffix {
        "Ki" => Some(3),
        "Mi" => Some(6),
        "Gi" => Some(9),
        "Ti" => Some(12),
        "Pi" => Some(15),
        "Ei" => Some(18),
        _ => None,
    };
    match binary {
        Some(taken) => 15 - digits - taken > 0,
        None => digits <= 18 && !suffix.starts_with('.') && !suffix.contains(['n', 'u', 'm', '-']),
    }
}
