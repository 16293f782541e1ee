//! Locks on directories: two concurrent renders into one directory would remove each other's files.

use std::fs::{self, TryLockError};
use std::path::Path;

/// A lock on a directory. It is released on drop, or when the process ends.
#[derive(Debug)]
pub struct DirectoryLock {
    _folder: fs::File,
}

/// Locks a directory exclusively. Calls `waiting` if another process holds a lock.
pub fn lock_exclusive(folder: &Path, waiting: impl FnOnce()) -> Option<DirectoryLock> {
    lock(folder, waiting, fs::File::try_lock, fs::File::lock)
}

/// Locks a directory against writers. Calls `waiting` if another process holds an exclusive lock.
pub fn lock_shared(folder: &Path, waiting: impl FnOnce()) -> Option<DirectoryLock> {
    lock(folder, waiting, fs::File::try_lock_shared, fs::File::lock_shared)
}

/// Locks the directory itself, or the nearest parent that exists, without a lock file.
///
/// Returns `None` where directories cannot be locked: on Windows and on some network file systems.
fn lock(
    folder: &Path,
    waiting: impl FnOnce(),
    now: fn(&fs::File) -> Result<(), TryLockError>,
    later: fn(&fs::File) -> std::io::Result<()>,
) -> Option<DirectoryLock> {
    let here = [Path::new(".")];
    let nearest = folder.ancestors().filter(|path| !path.as_os_str().is_empty()).chain(here).find(|path| path.is_dir());
    let folder = fs::File::open(nearest?).ok()?;
    match now(&folder) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            waiting();
            later(&folder).ok()?;
        }
        Err(TryLockError::Error(_)) => return None,
    }
    Some(DirectoryLock { _folder: folder })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn writers_wait_for_each_other_and_readers_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let readers = [lock_shared(folder.path(), || panic!()), lock_shared(folder.path(), || panic!())];
        assert!(readers.iter().all(Option::is_some));
        drop(readers);
        let first = lock_exclusive(&folder.path().join("not/there"), || panic!());
        let (sender, waited) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| lock_exclusive(folder.path(), move || sender.send(()).unwrap()));
            waited.recv().unwrap();
            assert!(!second.is_finished());
            drop(first);
            assert!(second.join().unwrap().is_some());
        });
    }
}
