//! One at a time: two renders that meet in a folder would take each other's files away.

use std::fs::{self, TryLockError};
use std::path::Path;

/// A folder's turn; it ends when this is dropped, or with the process, however that ends.
#[derive(Debug)]
pub struct Turn {
    _locked: Option<fs::File>,
}

/// Waits until nobody else reads or writes a folder by turns; `waiting` is told when that takes a while.
pub fn turn_to_write(folder: &Path, waiting: impl FnOnce()) -> Turn {
    take(folder, waiting, fs::File::try_lock, fs::File::lock)
}

/// Waits until nobody writes a folder by turns; `waiting` is told when that takes a while.
pub fn turn_to_read(folder: &Path, waiting: impl FnOnce()) -> Turn {
    take(folder, waiting, fs::File::try_lock_shared, fs::File::lock_shared)
}

/// Locks the folder itself, or the nearest one that exists. No file is made for it, and none is left behind.
///
/// Where folders cannot be locked, on Windows and on some network file systems, there are no turns.
fn take(
    folder: &Path,
    waiting: impl FnOnce(),
    now: fn(&fs::File) -> Result<(), TryLockError>,
    later: fn(&fs::File) -> std::io::Result<()>,
) -> Turn {
    let here = [Path::new(".")];
    let nearest = folder.ancestors().filter(|path| !path.as_os_str().is_empty()).chain(here).find(|path| path.is_dir());
    let Some(folder) = nearest.and_then(|path| fs::File::open(path).ok()) else { return Turn { _locked: None } };
    let locked = match now(&folder) {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => {
            waiting();
            later(&folder).is_ok()
        }
        Err(TryLockError::Error(_)) => false,
    };
    Turn { _locked: locked.then_some(folder) }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn writers_wait_for_each_other_and_readers_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let readers = [turn_to_read(folder.path(), || panic!()), turn_to_read(folder.path(), || panic!())];
        assert!(readers.iter().all(|turn| turn._locked.is_some()));
        drop(readers);
        let first = turn_to_write(&folder.path().join("not/there"), || panic!());
        let (sender, waited) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| turn_to_write(folder.path(), move || sender.send(()).unwrap()));
            waited.recv().unwrap();
            assert!(!second.is_finished());
            drop(first);
            assert!(second.join().unwrap()._locked.is_some());
        });
    }
}
