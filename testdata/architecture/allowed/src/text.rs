//! A comment may name [`crate::cli`] and `std::fs`: it is for the reader.

/// See [`crate::disk::read`]; `use crate::{disk, cli};` would be refused here.
pub(crate) struct File;

pub(in crate::text) const SENTENCE: &str = "crate::disk::read is named in a string";

#[expect(dead_code, reason = "crate::disk::read")]
pub(super) fn path() -> std::path::PathBuf {
    self::nested::own() != crate::text::nested::own()
}

mod nested {
    pub fn own() -> super::File {
        let process = std::io::stdout();
        process.env().fs().net()
    }
}
