//! Stamps of files: metadata that changes whenever the content of a file or the list of a directory changes.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The metadata of a file or a directory.
///
/// Users can set the time of a modification, but not the time of the last status change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::disk) struct Stamp {
    /// The device, the inode, the size, the mode, and two times in seconds and nanoseconds.
    pub values: [u64; Self::VALUES],
}

/// The time between a change and a stamp that can be trusted. A file system may store times in steps of two seconds, and
/// a change within one step does not change the stamp.
const STEP: Duration = Duration::from_secs(3);

/// The resolution of the clock of a local file system that stores nanoseconds.
const TICK: Duration = Duration::from_millis(50);

/// The smallest step of times in a file system that does not store nanoseconds, in nanoseconds.
const COARSE: u32 = 10_000_000;

impl Stamp {
    /// The number of values.
    pub(in crate::disk) const VALUES: usize = 8;

    #[cfg(unix)]
    pub(in crate::disk) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let (modified, changed) = (metadata.mtime(), metadata.ctime());
        let (modified_nanos, changed_nanos) = (metadata.mtime_nsec(), metadata.ctime_nsec());
        let times = [modified, modified_nanos, changed, changed_nanos].map(i64::cast_unsigned);
        let [modified, modified_nanos, changed, changed_nanos] = times;
        let (device, inode, mode) = (metadata.dev(), metadata.ino(), u64::from(metadata.mode()));
        Self { values: [device, inode, metadata.len(), mode, modified, modified_nanos, changed, changed_nanos] }
    }

    #[cfg(not(unix))]
    pub(in crate::disk) fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let (seconds, nanos) = modified.map_or((0, 0), |time| (time.as_secs(), u64::from(time.subsec_nanos())));
        Self { values: [0, 0, metadata.len(), 0, seconds, nanos, seconds, nanos] }
    }

    /// Returns whether an equal stamp proves that nothing has changed since `read`.
    ///
    /// Without the time of a status change, a program can change a file and restore its stamp.
    pub(in crate::disk) fn is_proof(&self, read: SystemTime) -> bool {
        cfg!(unix) && self.latest() + STEP < since_epoch(read)
    }

    /// Returns whether the file may have changed since `start`, according to its stamp.
    pub(in crate::disk) fn is_after(&self, start: SystemTime) -> bool {
        let latest = self.latest();
        let step = if latest.subsec_nanos().is_multiple_of(COARSE) { STEP } else { TICK };
        latest + step >= since_epoch(start)
    }

    /// The later one of the two times.
    fn latest(&self) -> Duration {
        let [.., modified, modified_nanos, changed, changed_nanos] = self.values;
        let time = |seconds: u64, nanos: u64| {
            // A time before 1970 is a negative number.
            Duration::from_secs(u64::try_from(seconds.cast_signed()).unwrap_or_default().min(u64::from(u32::MAX) << 8))
                + Duration::from_nanos(nanos.min(1_000_000_000))
        };
        time(modified, modified_nanos).max(time(changed, changed_nanos))
    }
}

fn since_epoch(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_in_seconds_is_trusted_later_than_a_stamp_in_nanoseconds() {
        let stamp = |nanos: u64| Stamp { values: [0, 0, 0, 0, 90, 0, 100, nanos] };
        let at = |millis: u64| UNIX_EPOCH + Duration::from_millis(millis);
        for (nanos, read, is_after) in
            [(1, 100_040, true), (1, 100_900, false), (0, 100_900, true), (0, 103_001, false)]
        {
            assert_eq!(stamp(nanos).is_after(at(read)), is_after, "{nanos} {read}");
        }
        assert!(!stamp(1).is_proof(at(102_000)) && stamp(1).is_proof(at(104_000)));
    }
}
