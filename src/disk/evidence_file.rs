//! The binary form of evidence.

use super::evidence::{Evidence, Item};
use super::journal::{Hash, Question, Stamp};

/// Writes values to bytes.
#[derive(Debug, Default)]
pub struct ByteWriter(Vec<u8>);

/// Reads values from bytes. Each function returns `None` if the bytes have another form.
#[derive(Debug)]
pub struct ByteReader<'a>(&'a [u8]);

impl ByteWriter {
    /// Writes a number.
    pub fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Writes bytes with their number.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// The bytes.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

impl<'a> ByteReader<'a> {
    /// Creates a reader.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Reads a number.
    pub fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    /// Reads bytes with their number.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    /// Reads a text.
    pub fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// Reads a list. Each item has at least one byte, so that the length of the bytes bounds the list.
    pub fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = usize::try_from(self.number()?).ok().filter(|count| *count <= self.0.len())?;
        (0..count).map(|_| read(self)).collect()
    }

    /// Returns whether all bytes are read.
    pub fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    fn hash(&mut self) -> Option<Hash> {
        let (hash, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*hash)
    }
}

impl Evidence {
    /// Writes the evidence.
    pub fn write(&self, out: &mut ByteWriter) {
        out.number(self.answers.len() as u64);
        for (question, path, answer) in &self.answers {
            out.number(*question as u64);
            out.bytes(path.as_bytes());
            out.bytes(answer.as_bytes());
        }
        out.number(self.tracked.len() as u64);
        for (root, names) in &self.tracked {
            out.bytes(root.as_bytes());
            out.0.extend_from_slice(names);
        }
        out.number(self.revisions.len() as u64);
        for (root, name, files) in &self.revisions {
            out.bytes(root.as_bytes());
            out.bytes(name.as_bytes());
            out.0.extend_from_slice(files);
        }
        for items in [&self.folders, &self.files] {
            out.number(items.len() as u64);
            let mut last = "";
            for item in items {
                // Sorted paths have long common starts.
                let common = item.path.bytes().zip(last.bytes()).take_while(|(one, other)| one == other).count();
                let common = item.path.floor_char_boundary(common);
                out.number(common as u64);
                out.bytes(item.path.get(common..).unwrap_or_default().as_bytes());
                out.0.extend_from_slice(&item.hash);
                out.number(u64::from(item.stamp.is_some()));
                item.stamp.iter().flat_map(|stamp| stamp.values).for_each(|value| out.number(value));
                last = &item.path;
            }
        }
    }

    /// Reads evidence.
    pub fn read(bytes: &mut ByteReader<'_>) -> Option<Self> {
        let answers = bytes.list(|bytes| {
            let question = *Question::ALL.get(usize::try_from(bytes.number()?).ok()?)?;
            Some((question, bytes.text()?.to_owned(), bytes.text()?.to_owned()))
        })?;
        let tracked = bytes.list(|bytes| Some((bytes.text()?.to_owned(), bytes.hash()?)))?;
        let revisions =
            bytes.list(|bytes| Some((bytes.text()?.to_owned(), bytes.text()?.to_owned(), bytes.hash()?)))?;
        Some(Self { answers, tracked, revisions, folders: items(bytes)?, files: items(bytes)? })
    }
}

fn items(bytes: &mut ByteReader<'_>) -> Option<Vec<Item>> {
    let mut last = String::new();
    bytes.list(|bytes| {
        let common = usize::try_from(bytes.number()?).ok()?;
        let mut path = last.get(..common)?.to_owned();
        path.push_str(bytes.text()?);
        last.clone_from(&path);
        let hash = bytes.hash()?;
        let stamp = match bytes.number()? {
            0 => None,
            1 => {
                let mut values = [0; Stamp::VALUES];
                for value in &mut values {
                    *value = bytes.number()?;
                }
                Some(Stamp { values })
            }
            _ => return None,
        };
        Some(Item { path, stamp, hash })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence() -> Evidence {
        let item = |path: &str, stamp| Item { path: path.to_owned(), stamp, hash: [7; 32] };
        let stamp = Some(Stamp { values: [1, 2, 3, 4, 5, 6, 7, 8] });
        Evidence {
            answers: vec![(Question::Kind, "/a".to_owned(), "file".to_owned())],
            tracked: vec![("/a".to_owned(), [1; 32])],
            revisions: vec![("/a".to_owned(), "main".to_owned(), [2; 32])],
            folders: vec![item("/a", stamp), item("/a/é", None)],
            files: vec![item("/a/é/x.yaml", stamp), item("/a/è/y.yaml", stamp)],
        }
    }

    fn read(bytes: &[u8]) -> Option<Evidence> {
        let mut reader = ByteReader::new(bytes);
        Evidence::read(&mut reader).filter(|_| reader.is_at_end())
    }

    #[test]
    fn evidence_is_read_as_it_was_written_and_other_bytes_are_refused() {
        let mut out = ByteWriter::default();
        evidence().write(&mut out);
        let bytes = out.finish();
        assert_eq!(read(&bytes), Some(evidence()));
        for end in 0..bytes.len() {
            assert_eq!(read(bytes.get(..end).unwrap()), None, "{end}");
        }
        for at in 0..bytes.len() {
            // Any other byte is another evidence or none, and never a panic or a large allocation.
            let mut other = bytes.clone();
            other[at] ^= 0xFF;
            assert_ne!(read(&other), Some(evidence()), "{at}");
        }
    }
}
