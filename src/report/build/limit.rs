//! The limit of an output: a small repository can describe many clusters with the same large objects.

use std::io::{self, ErrorKind, Write};

/// The maximum size of an output in bytes.
pub const MAX_OUTPUT: usize = 1 << 30;

/// A writer that fails after a number of bytes, with [`ErrorKind::FileTooLarge`].
pub(super) struct LimitedWriter<'a> {
    pub(super) out: &'a mut dyn Write,
    /// The number of bytes that may follow.
    pub(super) left: usize,
}

impl Write for LimitedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.left {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let written = self.out.write(bytes)?;
        self.left -= written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_fails_before_it_exceeds_its_limit() {
        let mut out = Vec::new();
        let mut limited = LimitedWriter { out: &mut out, left: 5 };
        limited.write_all(b"abcd").unwrap();
        assert_eq!(limited.write_all(b"ef").unwrap_err().kind(), ErrorKind::FileTooLarge);
        limited.write_all(b"e").unwrap();
        assert_eq!(out, b"abcde");
    }
}
