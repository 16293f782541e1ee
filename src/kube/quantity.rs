//! Kubernetes quantities, such as `500m`, `8Gi` and `1e3`.
//!
//! Source: `k8s.io/apimachinery/pkg/api/resource/quantity.go`.

/// The binary suffixes with their exponents of two.
const BINARY: [(&str, u32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];
/// The decimal suffixes with their exponents of ten.
const DECIMAL: [(&str, i32); 9] =
    [("n", -9), ("u", -6), ("m", -3), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];

/// A quantity, in billionths. Smaller fractions are rounded up, as the API server does; larger values saturate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity(i128);

impl Quantity {
    /// Reads a quantity; `None` if the API server rejects it.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at_checked(end)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        // The API server reads `Gi` and `.` as zero.
        if text.is_empty() || fraction.contains('.') {
            return None;
        }
        let (two, ten) = scale(suffix)?;
        let mut value: i128 = 0;
        for digit in whole.bytes().chain(fraction.bytes()) {
            value = value.saturating_mul(10).saturating_add(i128::from(digit - b'0'));
        }
        value = value.saturating_mul(1_i128.checked_shl(two).unwrap_or(i128::MAX));
        let digits = i32::try_from(fraction.len()).unwrap_or(i32::MAX);
        let shift = ten.saturating_add(9).saturating_sub(digits);
        let power = 10_i128.checked_pow(shift.unsigned_abs()).unwrap_or(i128::MAX);
        value = if shift >= 0 {
            value.saturating_mul(power)
        } else {
            let is_rounded = value % power != 0;
            value / power + i128::from(is_rounded)
        };
        Some(Self(if negative { -value } else { value }))
    }

    /// Creates a quantity from billionths.
    pub fn from_nanos(nanos: i128) -> Self {
        Self(nanos)
    }

    /// The quantity in billionths.
    pub fn nanos(self) -> i128 {
        self.0
    }

    /// Returns whether the quantity is less than zero.
    pub fn is_negative(self) -> bool {
        self.0 < 0
    }
}

/// Returns the exponents of two and ten of a suffix.
pub fn scale(suffix: &str) -> Option<(u32, i32)> {
    if suffix.is_empty() {
        return Some((0, 0));
    }
    if let Some((_, exponent)) = BINARY.iter().find(|(name, _)| *name == suffix) {
        return Some((*exponent, 0));
    }
    if let Some((_, exponent)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
        return Some((0, *exponent));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?;
    let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    Some((0, exponent.parse().ok().filter(|_| is_number)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_compare_by_value() {
        let quantity = |text| Quantity::parse(text).unwrap();
        assert!(quantity("8Gi") > quantity("8G"));
        assert_eq!(quantity("1000m"), quantity("1"));
        assert_eq!(quantity("1.5Gi"), quantity("1536Mi"));
        assert_eq!(quantity("1e3"), quantity("1k"));
        assert!(quantity("9999999999999999999999Ei") > quantity("1Ei"));
        assert!(quantity("-1").is_negative());
    }

    #[test]
    fn a_quantity_without_digits_is_zero() {
        for text in ["Gi", ".", "m", "+"] {
            assert_eq!(Quantity::parse(text).unwrap().nanos(), 0, "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_quantities() {
        for text in ["", "8GB", "8gi", "8 Gi", "1.2.3", "1e", "0x10", "1_000", "K", "1K"] {
            assert_eq!(Quantity::parse(text), None, "{text}");
        }
    }
}
