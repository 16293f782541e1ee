//! Opens packs.

use std::sync::{LazyLock, OnceLock};

use miniz_oxide::inflate::decompress_to_vec;

use super::bytes::Reader;
use super::record;
use crate::api::schema::{Link, Numbered, Schema};
use crate::kube::Scope;

/// An open pack.
#[derive(Debug)]
pub struct Pack {
    bytes: Vec<u8>,
    /// The start of each string in `bytes`, and the end of the last.
    strings: Vec<usize>,
    /// The start of each schema in `bytes`, and the end of the last.
    records: Vec<usize>,
    schemas: Vec<OnceLock<Box<Schema>>>,
    /// The releases that the pack knows, in ascending order.
    pub releases: Vec<Box<str>>,
    /// The kinds, sorted by group, version and kind.
    pub kinds: Vec<Kind>,
}

/// A version of a kind in a pack.
#[derive(Debug)]
pub struct Kind {
    /// The group; empty for the core group.
    pub group: Box<str>,
    /// The version of the API.
    pub version: Box<str>,
    /// The kind.
    pub kind: Box<str>,
    /// The name of the resource.
    pub plural: Box<str>,
    /// Whether objects have a namespace.
    pub scope: Scope,
    /// The releases that serve this version, in ascending order.
    pub runs: Vec<Run>,
}

/// Consecutive releases with the same schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The index of the first release.
    pub first: usize,
    /// The index of the last release.
    pub last: usize,
    /// The number of the schema.
    schema: u32,
}

impl Pack {
    /// Opens a pack.
    pub fn open(compressed: &[u8]) -> Self {
        let bytes = decompress_to_vec(compressed).unwrap_or_default();
        let mut reader = Reader::new(&bytes);
        let strings = table(&mut reader, bytes.len());
        let records = table(&mut reader, bytes.len());
        let text = |number| -> Box<str> { text(&bytes, &strings, number).into() };
        let releases = (0..reader.count()).map(|_| text(reader.number())).collect();
        let kinds = (0..reader.count())
            .map(|_| {
                let [group, version, kind, plural] = [(); 4].map(|()| text(reader.number()));
                let scope = if reader.number() == 1 { Scope::Cluster } else { Scope::Namespaced };
                let runs = (0..reader.count()).map(|_| run(&mut reader)).collect();
                Kind { group, version, kind, plural, scope, runs }
            })
            .collect();
        let schemas = std::iter::repeat_with(OnceLock::new).take(records.len().saturating_sub(1)).collect();
        Self { strings, records, schemas, releases, kinds, bytes }
    }

    /// The schema of a kind in some releases.
    pub fn link(&'static self, run: &Run) -> Link {
        Link::numbered(self, run.schema)
    }
}

impl Numbered for Pack {
    fn schema(&'static self, number: u32) -> &'static Schema {
        static ANY: LazyLock<Schema> = LazyLock::new(Schema::default);
        let Some(cell) = self.schemas.get(number as usize) else { return &ANY };
        cell.get_or_init(|| {
            let record = slice(&self.bytes, &self.records, number as usize).unwrap_or_default();
            let text = |number| text(&self.bytes, &self.strings, number).into();
            let link = |number: u64| Link::numbered(self, u32::try_from(number).unwrap_or(u32::MAX));
            Box::new(record::read(record, &text, &link))
        })
    }
}

fn run(reader: &mut Reader<'_>) -> Run {
    let [first, last, schema] = [(); 3].map(|()| reader.number());
    let index = |number| usize::try_from(number).unwrap_or_default();
    Run { first: index(first), last: index(last), schema: u32::try_from(schema).unwrap_or(u32::MAX) }
}

/// Reads the lengths of some items, and returns their starts and the end of the last.
fn table(reader: &mut Reader<'_>, total: usize) -> Vec<usize> {
    let lengths: Vec<usize> = (0..reader.count()).map(|_| reader.count()).collect();
    let mut end = total - reader.left();
    let mut ends = vec![end];
    for length in lengths {
        end += length;
        ends.push(end);
        reader.take(length);
    }
    ends
}

/// The string with a number, from 1.
fn text<'a>(bytes: &'a [u8], ends: &[usize], number: u64) -> &'a str {
    let number = usize::try_from(number).unwrap_or_default();
    slice(bytes, ends, number.wrapping_sub(1)).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default()
}

fn slice<'a>(bytes: &'a [u8], ends: &[usize], index: usize) -> Option<&'a [u8]> {
    bytes.get(*ends.get(index)?..*ends.get(index.checked_add(1)?)?)
}
