//! Numbers and texts as bytes.

use std::collections::BTreeMap;

/// Writes numbers and texts. A text is the number of a string in a table.
#[derive(Debug, Default)]
pub(super) struct Strings {
    numbers: BTreeMap<String, u64>,
    /// The strings in the order of their numbers.
    pub(super) texts: Vec<String>,
}

impl Strings {
    /// The number of a string, from 1. Adds the string if it is new.
    pub(super) fn number(&mut self, text: &str) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.texts.push(text.to_string());
        let number = self.texts.len() as u64;
        self.numbers.insert(text.to_string(), number);
        number
    }
}

/// Appends a number in groups of seven bits, the lowest first.
pub(super) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads numbers and texts. Every number after the end is 0, so that no input causes a failure.
#[derive(Debug, Clone)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The next number.
    pub(super) fn number(&mut self) -> u64 {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let Some((byte, rest)) = self.bytes.split_first() else { return 0 };
            self.bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        number
    }

    /// The next number, as a length that the remaining bytes can have.
    pub(super) fn count(&mut self) -> usize {
        usize::try_from(self.number()).unwrap_or_default().min(self.bytes.len())
    }

    /// The number of remaining bytes.
    pub(super) fn left(&self) -> usize {
        self.bytes.len()
    }

    /// The next bytes.
    pub(super) fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.bytes.split_at_checked(length).unwrap_or((self.bytes, &[]));
        self.bytes = rest;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive() {
        let mut out = Vec::new();
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        numbers.iter().for_each(|number| put(&mut out, *number));
        let mut reader = Reader::new(&out);
        assert_eq!(numbers.map(|_| reader.number()), numbers);
        assert_eq!(reader.number(), 0, "after the end");
    }
}
