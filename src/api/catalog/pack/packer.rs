//! Creates packs. Only the generator of the data and tests use it.

use std::collections::BTreeMap;

use super::bytes::{Strings, put};
use super::record::{self, Numbers};
use crate::api::schema::{Link, Schema};
use crate::kube::Scope;

/// A pack in the making.
#[derive(Debug, Default)]
pub struct Packer {
    strings: Strings,
    releases: Vec<String>,
    kinds: BTreeMap<[String; 3], Packed>,
    records: Vec<Vec<u8>>,
    /// The numbers of the records.
    numbers: BTreeMap<Vec<u8>, u32>,
    /// The numbers of the named schemas.
    named: BTreeMap<String, u32>,
    /// The named schemas that are being written, with a number if they are recursive.
    open: BTreeMap<String, Option<u32>>,
}

#[derive(Debug)]
struct Packed {
    plural: String,
    scope: Scope,
    /// The first release, the last release and the schema.
    runs: Vec<(usize, usize, u32)>,
}

/// Returns the schema of a link with a number, and a name that is equal only for equal schemas.
pub type Resolve<'a> = dyn Fn(u32) -> (String, Schema) + 'a;

impl Packer {
    /// Starts the next release. Releases are added in ascending order.
    pub fn release(&mut self, name: &str) {
        self.releases.push(name.to_string());
    }

    /// Adds a kind of the current release, by group, version and kind.
    pub fn kind(&mut self, id: [&str; 3], plural: &str, scope: Scope, schema: &Schema, resolve: &Resolve<'_>) {
        let record = record::write(schema, &mut Writing { packer: self, resolve });
        let number = self.record(record);
        let release = self.releases.len().saturating_sub(1);
        let new = || Packed { plural: plural.to_string(), scope, runs: Vec::new() };
        let packed = self.kinds.entry(id.map(str::to_string)).or_insert_with(new);
        match packed.runs.last_mut() {
            Some((_, last, known)) if *known == number && *last + 1 == release => *last = release,
            _ => packed.runs.push((release, release, number)),
        }
    }

    /// The number of an equal record, or of a new one.
    fn record(&mut self, record: Vec<u8>) -> u32 {
        if let Some(known) = self.numbers.get(&record) {
            return *known;
        }
        let number = self.reserve();
        self.numbers.insert(record.clone(), number);
        if let Some(place) = self.records.last_mut() {
            *place = record;
        }
        number
    }

    fn reserve(&mut self) -> u32 {
        self.records.push(Vec::new());
        u32::try_from(self.records.len() - 1).unwrap_or(u32::MAX)
    }

    /// The compressed bytes of the pack.
    pub fn finish(mut self) -> Vec<u8> {
        let mut kinds = Vec::new();
        put(&mut kinds, self.releases.len() as u64);
        for release in &self.releases {
            put(&mut kinds, self.strings.number(release));
        }
        put(&mut kinds, self.kinds.len() as u64);
        for (id, packed) in &self.kinds {
            for text in id.iter().chain([&packed.plural]) {
                put(&mut kinds, self.strings.number(text));
            }
            put(&mut kinds, (packed.scope == Scope::Cluster).into());
            put(&mut kinds, packed.runs.len() as u64);
            for (first, last, number) in &packed.runs {
                put(&mut kinds, *first as u64);
                put(&mut kinds, *last as u64);
                put(&mut kinds, (*number).into());
            }
        }
        let mut out = Vec::new();
        table(&mut out, self.strings.texts.iter().map(String::as_bytes));
        table(&mut out, self.records.iter().map(Vec::as_slice));
        out.append(&mut kinds);
        miniz_oxide::deflate::compress_to_vec(&out, 10)
    }
}

/// Writes the lengths of some items, then the items.
fn table<'a>(out: &mut Vec<u8>, items: impl ExactSizeIterator<Item = &'a [u8]> + Clone) {
    put(out, items.len() as u64);
    items.clone().for_each(|item| put(out, item.len() as u64));
    items.for_each(|item| out.extend_from_slice(item));
}

struct Writing<'a> {
    packer: &'a mut Packer,
    resolve: &'a Resolve<'a>,
}

impl Numbers for Writing<'_> {
    fn text(&mut self, text: &str) -> u64 {
        self.packer.strings.number(text)
    }

    fn link(&mut self, link: &Link) -> u64 {
        let Some(number) = link.number() else {
            let record = record::write(link, self);
            return self.packer.record(record).into();
        };
        let (name, schema) = (self.resolve)(number);
        if let Some(known) = self.packer.named.get(&name) {
            return (*known).into();
        }
        match self.packer.open.get(&name) {
            Some(Some(reserved)) => return (*reserved).into(),
            Some(None) => {
                let reserved = self.packer.reserve();
                self.packer.open.insert(name, Some(reserved));
                return reserved.into();
            }
            None => self.packer.open.insert(name.clone(), None),
        };
        let record = record::write(&schema, self);
        let number = match self.packer.open.remove(&name).flatten() {
            Some(reserved) => {
                if let Some(place) = self.packer.records.get_mut(reserved as usize) {
                    *place = record;
                }
                reserved
            }
            None => self.packer.record(record),
        };
        self.packer.named.insert(name, number);
        number.into()
    }
}
