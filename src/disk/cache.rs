//! A directory with entries of a cache, which other runs may change at the same time.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

use super::error::reason;
use super::place::{bounds_of, is_git, refuse_leaving_output};
use super::root::Root;

/// The end of the name of an entry.
const ENTRY: &str = ".entry";

/// The start of the name of a file that is being written.
const STAGED: &str = ".staged-";

/// The start of each entry: the format and its version.
const FORMAT: &[u8] = b"fleetwright cache 1\n";

/// The number of bytes of the checksum, which follows the format.
const CHECKSUM: usize = 32;

/// The maximum size of all entries in bytes.
const MAX_TOTAL: u64 = 256 << 20;

/// The maximum size of an entry in bytes.
const MAX_ENTRY: u64 = 64 << 20;

/// The age at which a staged file belongs to a run that was interrupted.
const ABANDONED: Duration = Duration::from_hours(1);

/// A directory with entries of a cache.
#[derive(Debug)]
pub struct CacheDirectory(PathBuf);

/// The reason why a directory cannot hold a cache.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CacheFault {
    /// The directory is in the bounds of the linted directory, whose author could write entries.
    #[error("it is inside of `{0}`, whose author could write its entries")]
    Inside(String),
    /// The directory cannot be used. A run does not need it.
    #[error("{0}")]
    Unusable(String),
}

impl CacheDirectory {
    /// Opens a directory, or creates a directory that only its owner can read. `linted` is the linted directory.
    pub fn open(path: &Path, linted: &Path) -> Result<Self, CacheFault> {
        let unusable = |error: std::io::Error| CacheFault::Unusable(reason(&error));
        refuse_leaving_output(path).map_err(|error| CacheFault::Unusable(error.to_string()))?;
        let target = target_of(path).map_err(unusable)?;
        if let Ok(linted) = fs::canonicalize(linted) {
            let bounds = bounds_of(&linted);
            // Neither the linter nor a commit reaches into `.git`.
            if let Ok(inside) = target.strip_prefix(&bounds)
                && !inside.iter().any(is_git)
            {
                return Err(CacheFault::Inside(bounds.display().to_string()));
            }
        }
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&target).map_err(unusable)?;
        let metadata = fs::symlink_metadata(&target).map_err(unusable)?;
        if !metadata.is_dir() {
            return Err(CacheFault::Unusable("it is not a directory".to_owned()));
        }
        if !is_private(&metadata) {
            return Err(CacheFault::Unusable("other users can write to it".to_owned()));
        }
        Ok(Self(target))
    }

    /// Returns an entry; `Ok(None)` if there is none. The error states why the entry is damaged.
    pub fn load(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        use std::io::Read as _;

        let name = format!("{key}{ENTRY}");
        if fs::symlink_metadata(self.0.join(&name)).is_err() {
            return Ok(None);
        }
        let damaged = |why: &str| Err(why.to_owned());
        let opened = Root::at(self.0.clone()).ok().and_then(|root| root.file(Path::new(&name)).ok());
        let Some((file, metadata)) = opened else { return damaged("it is not a readable file") };
        if !is_private(&metadata) {
            return damaged("other users can write to it");
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(MAX_ENTRY)).unwrap_or_default() + 1);
        if file.take(MAX_ENTRY + 1).read_to_end(&mut bytes).is_err() || bytes.len() as u64 > MAX_ENTRY {
            return damaged("it is not readable or too large");
        }
        let Some(rest) = bytes.strip_prefix(FORMAT) else { return damaged("it has another format") };
        match rest.split_first_chunk::<CHECKSUM>() {
            Some((sum, content)) if checksum(key, content) == *sum => Ok(Some(content.to_vec())),
            _ => damaged("its checksum differs"),
        }
    }

    /// Writes an entry in one step, and removes the oldest entries above the maximum size.
    ///
    /// A cache that cannot be written is not an error: the result of the run does not depend on it.
    pub fn store(&self, key: &str, content: &[u8]) {
        if content.len() as u64 + 1024 > MAX_ENTRY {
            return;
        }
        let write = || -> std::io::Result<()> {
            let mut staged = tempfile::Builder::new().prefix(STAGED).tempfile_in(&self.0)?;
            for part in [FORMAT, &checksum(key, content), content] {
                staged.write_all(part)?;
            }
            staged.persist(self.0.join(format!("{key}{ENTRY}"))).map_err(|error| error.error)?;
            Ok(())
        };
        let _ = write();
        self.shrink(MAX_TOTAL);
    }

    /// Removes the oldest entries above a size, and the files of interrupted runs. Another run may do the same.
    fn shrink(&self, most: u64) {
        let now = SystemTime::now();
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let (Some(name), Ok(metadata)) = (name.to_str(), entry.metadata()) else { continue };
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if metadata.is_file() && name.ends_with(ENTRY) {
                entries.push((modified, entry.path(), metadata.len()));
            } else if name.starts_with(STAGED) && now.duration_since(modified).is_ok_and(|age| age > ABANDONED) {
                let _ = fs::remove_file(entry.path());
            }
        }
        entries.sort();
        let mut total: u64 = entries.iter().map(|(_, _, len)| len).sum();
        for (_, path, len) in entries {
            if total <= most {
                break;
            }
            let _ = fs::remove_file(path);
            total -= len;
        }
    }
}

/// The key is a part of the checksum, so that an entry is valid only under its own name.
fn checksum(key: &str, content: &[u8]) -> [u8; CHECKSUM] {
    let mut hash = Sha256::new();
    hash.update(key);
    hash.update(content);
    hash.finalize().into()
}

/// The canonical path of a directory that need not exist.
fn target_of(path: &Path) -> std::io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    for ancestor in path.ancestors() {
        // A dangling link exists, and cannot be resolved.
        if fs::symlink_metadata(ancestor).is_ok() {
            let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
            let is_plain = rest.components().all(|part| matches!(part, std::path::Component::Normal(_)));
            return if is_plain {
                let found = fs::canonicalize(ancestor)?;
                Ok(if rest.as_os_str().is_empty() { found } else { found.join(rest) })
            } else {
                Err(std::io::Error::other("a directory of its path does not exist"))
            };
        }
    }
    Err(std::io::Error::other("its path does not exist"))
}

/// Returns whether only this user can write to a file or a directory.
#[cfg(unix)]
fn is_private(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entries_are_removed_above_the_maximum() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CacheDirectory::open(&folder.path().join("a/b"), Path::new("src")).unwrap();
        for (age, key) in [(3, "a"), (1, "b"), (2, "c")] {
            cache.store(key, &[0; 1000]);
            let file = fs::File::options().write(true).open(cache.0.join(format!("{key}{ENTRY}"))).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
        fs::write(cache.0.join("unrelated"), [0; 5000]).unwrap();
        cache.shrink(2500);
        let kept = ["a", "b", "c"].map(|key| cache.load(key).unwrap().is_some());
        assert_eq!(kept, [false, true, true]);
        assert!(cache.0.join("unrelated").exists());
    }

    #[test]
    fn a_damaged_entry_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CacheDirectory::open(folder.path(), Path::new("src")).unwrap();
        cache.store("a", b"content");
        let path = folder.path().join("a.entry");
        let bytes = fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1;
            fs::write(&path, other).unwrap();
            assert!(cache.load("a").is_err(), "{at}");
            fs::write(&path, bytes.get(..at).unwrap()).unwrap();
            assert!(cache.load("a").is_err(), "{at}");
        }
        fs::write(folder.path().join("b.entry"), &bytes).unwrap();
        assert!(cache.load("b").is_err(), "an entry under another name");
    }
}
