//! A digest of many short texts.

use sha2::{Digest as _, Sha256};

/// The number of bytes that are collected before the digest is updated.
const BUFFER: usize = 8 << 10;

/// A SHA-256 digest that collects bytes, since few large updates are faster than many small ones.
pub(crate) struct BufferedDigest {
    digest: Sha256,
    buffer: Vec<u8>,
}

impl BufferedDigest {
    /// Starts a digest.
    pub(crate) fn new() -> Self {
        Self { digest: Sha256::new(), buffer: Vec::with_capacity(BUFFER / 4) }
    }

    /// Adds one byte.
    pub(crate) fn byte(&mut self, byte: u8) {
        self.buffer.push(byte);
    }

    /// Adds bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() > BUFFER {
            self.digest.update(&self.buffer);
            self.buffer.clear();
        }
    }

    /// Adds a number.
    pub(crate) fn number(&mut self, number: usize) {
        self.bytes(&(number as u64).to_le_bytes());
    }

    /// Adds the length of a text, and the text.
    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len());
        self.bytes(text.as_bytes());
    }

    /// Returns the digest.
    pub(crate) fn finish(mut self) -> [u8; 32] {
        self.digest.update(&self.buffer);
        self.digest.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_does_not_depend_on_the_sizes_of_the_updates() {
        let text = "0123456789abcdef".repeat(3 * BUFFER / 16 + 1);
        for size in [1, 7, 8191, 8192, 8193, text.len()] {
            let mut digest = BufferedDigest::new();
            text.as_bytes().chunks(size).for_each(|bytes| digest.bytes(bytes));
            assert_eq!(digest.finish(), <[u8; 32]>::from(Sha256::digest(&text)), "{size}");
        }
    }
}
