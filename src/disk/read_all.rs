//! Reads all files of a directory, up to a maximum size.

use std::path::Path;

use arcstr::ArcStr;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::file::{in_root, is_yaml, noted, read_bytes, read_place, read_up_to, unread};
use super::root::Root;
use super::walk::FoundFile;
use crate::text::{DecodeError, Entry, File, LoadError, SharedTexts};

/// The maximum length of all YAML files of a directory in bytes. A fleet of a thousand clusters has a tenth of it.
pub(super) const MAX_BYTES: usize = 512 << 20;

/// The number of files that are read before their bytes are counted.
pub(super) const AT_ONCE: usize = 512;

/// The length from which the bytes of a file are counted before the next file is read.
const LARGE: usize = 1 << 20;

/// A path below the root, with the kind of the file.
type Found = (String, FoundFile);

/// Reads the files of a directory.
pub(super) struct Reading<'a> {
    root: &'a Root,
    /// The directory as it was typed, if it is a copy of another repository.
    called: Option<&'a ArcStr>,
    texts: SharedTexts,
}

impl<'a> Reading<'a> {
    pub(super) fn new(root: &'a Root, called: Option<&'a ArcStr>) -> Self {
        Self { root, called, texts: SharedTexts::default() }
    }

    /// Reads files in parallel until they have [`MAX_BYTES`]. The files after them have entries without a text.
    pub(super) fn read_all(&self, files: Vec<Found>) -> Vec<(ArcStr, Entry)> {
        let mut entries: Vec<(ArcStr, Entry)> = Vec::with_capacity(files.len());
        let (mut files, mut bytes) = (files.into_iter(), 0);
        while files.len() > 0 {
            let some: Vec<Found> = files.by_ref().take(AT_ONCE).collect();
            if bytes > MAX_BYTES {
                entries.extend(some.into_iter().map(|(path, found)| beyond(path, found)));
                continue;
            }
            let small: Vec<Result<(ArcStr, Entry), Found>> =
                some.into_par_iter().map(|(path, found)| self.read_small(path, found)).collect();
            bytes += small.iter().flatten().map(|(_, entry)| length(entry)).sum::<usize>();
            for entry in small {
                entries.push(match entry {
                    Ok(entry) => entry,
                    Err((path, found)) if bytes > MAX_BYTES => beyond(path, found),
                    Err((path, found)) => {
                        let entry = match found {
                            FoundFile::File => self.decode(&path, read_bytes(self.root, Path::new(&path))),
                            _ => read_place(self.root, &path).unwrap_or(Entry::Opaque(LoadError::Missing)),
                        };
                        bytes += length(&entry);
                        self.named(&path, entry)
                    }
                });
            }
        }
        entries
    }

    /// Reads a file, unless it is large, or a link, which may lead to a large file.
    fn read_small(&self, path: String, found: FoundFile) -> Result<(ArcStr, Entry), Found> {
        let entry = match found {
            FoundFile::File if is_yaml(&path) => match read_up_to(LARGE, self.root, Path::new(&path)) {
                Err(LoadError::Decode(DecodeError::TooLarge)) => return Err((path, found)),
                read => self.decode(&path, noted(read)),
            },
            FoundFile::Linked if is_yaml(&path) => return Err((path, found)),
            other => unread(other),
        };
        Ok(self.named(&path, entry))
    }

    fn decode(&self, path: &str, read: Result<Vec<u8>, LoadError>) -> Entry {
        let decoded = read.and_then(|bytes| Ok(File::decode_shared(path, bytes, &self.texts)?));
        decoded.map_or_else(Entry::Opaque, Entry::Text)
    }

    fn named(&self, path: &str, entry: Entry) -> (ArcStr, Entry) {
        match entry {
            Entry::Text(file) => (file.shared_path().clone(), Entry::Text(in_root(file, self.called))),
            entry => (path.into(), entry),
        }
    }
}

/// The length of the text of an entry in bytes.
pub(super) fn length(entry: &Entry) -> usize {
    match entry {
        Entry::Text(file) => file.text().len(),
        Entry::Deferred | Entry::Opaque(_) => 0,
    }
}

/// The entry of a file behind too many bytes.
fn beyond(path: String, found: FoundFile) -> (ArcStr, Entry) {
    let entry = match found {
        FoundFile::File | FoundFile::Linked if is_yaml(&path) => too_many_bytes(),
        other => unread(other),
    };
    (path.into(), entry)
}

/// The entry of a YAML file behind too many bytes.
pub(super) fn too_many_bytes() -> Entry {
    Entry::Opaque(LoadError::Unreadable(format!("the files before it have more than {} MiB", MAX_BYTES >> 20)))
}
