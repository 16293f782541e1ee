//! Reads single files below a root.

use std::io::Read as _;
use std::path::Path;

use arcstr::ArcStr;

use super::error::reason;
use super::journal;
use super::root::{Place, Root};
use super::walk::FoundFile;
use crate::text::{DecodeError, Entry, File, LoadError};

/// The entry of a file that is not read.
pub(super) fn unread(found: FoundFile) -> Entry {
    match found {
        FoundFile::File | FoundFile::Linked => Entry::Deferred,
        FoundFile::Link => Entry::Opaque(LoadError::Linked),
        FoundFile::Special => Entry::Opaque(LoadError::Decode(DecodeError::NotText)),
        FoundFile::Unreadable(why) => Entry::Opaque(LoadError::Unreadable(why)),
    }
}

pub(super) fn in_root(file: File, called: Option<&ArcStr>) -> File {
    match called {
        Some(root) => file.in_root(root.clone()),
        None => file,
    }
}

pub(super) fn read_place(root: &Root, path: &str) -> Option<Entry> {
    match root.find(path) {
        Place::File(real) => Some(read_text(path, root, &real)),
        Place::Refused(_) => Some(Entry::Opaque(LoadError::Linked)),
        Place::Unreadable(why) => Some(Entry::Opaque(LoadError::Unreadable(why))),
        Place::Special => Some(Entry::Opaque(LoadError::Decode(DecodeError::NotText))),
        Place::Folder(_) | Place::Nothing => None,
    }
}

fn read_text(path: &str, root: &Root, real: &Path) -> Entry {
    read_file(path, root, real).map_or_else(Entry::Opaque, Entry::Text)
}

/// Reads the file at `real`, which contains no link, as the file `path`.
pub(super) fn read_file(path: &str, root: &Root, real: &Path) -> Result<File, LoadError> {
    Ok(File::decode(path, read_bytes(root, real)?)?)
}

/// Returns the bytes of the file at a path that contains no link.
pub(super) fn read_bytes(root: &Root, real: &Path) -> Result<Vec<u8>, LoadError> {
    noted(read_up_to(File::MAX_LEN, root, real))
}

/// Reports a file that cannot be read, since the journal does not contain its content.
pub(super) fn noted<T>(read: Result<T, LoadError>) -> Result<T, LoadError> {
    if read.is_err() {
        journal::doubt();
    }
    read
}

/// Returns the bytes of the file at a path that contains no link, unless there are more than `most` bytes.
pub(super) fn read_up_to(most: usize, root: &Root, real: &Path) -> Result<Vec<u8>, LoadError> {
    let unreadable = |error: std::io::Error| LoadError::Unreadable(reason(&error));
    let (mut file, metadata) = root.file(real)?;
    if metadata.len() > most as u64 {
        return Err(DecodeError::TooLarge.into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
    // Without the limit, the read of a file that keeps growing, as in /proc, would not end.
    file.by_ref().take(most as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > most {
        return Err(DecodeError::TooLarge.into());
    }
    journal::content(&root.path().join(real), &metadata, &bytes);
    Ok(bytes)
}

pub(super) fn is_yaml(path: &str) -> bool {
    let path = Path::new(path);
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
        || path.file_name().is_some_and(|name| name == "Kustomization")
}
