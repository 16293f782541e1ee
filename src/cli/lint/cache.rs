//! The cache of `lint`: the output of earlier runs, with the evidence that a new run would have the same output.
//!
//! An entry has what a run printed, hashes, and names of files. Secret values are masked in output, so no entry has any.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::linter;
use crate::cli::source::{folder_of, or_current};
use crate::cli::streams::{Destination, Lines, Part, Streams};
use crate::disk::{self, ByteReader, ByteWriter, CacheDirectory, CacheFault, Comparison, Evidence};

/// The program: its version, and a digest of its sources.
const PROGRAM: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("FLEETWRIGHT_SOURCES"));

/// The environment variables that change the output or the limits of a run.
const VARIABLES: [&str; 2] = ["FLEETWRIGHT_MEMORY", "GITHUB_WORKSPACE"];

/// Options of the cache.
#[derive(Debug, Default, clap::Args)]
pub(super) struct CacheOptions {
    /// Stores the result in this directory, and prints it again if nothing has changed.
    ///
    /// The directory is created for the user alone. It must be outside of the repository, or in its `.git`.
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

/// The cache of a run.
pub(super) struct Cache {
    directory: CacheDirectory,
    /// The directory as it was typed.
    typed: PathBuf,
    /// The name of the entry: a digest of all inputs that are not files.
    key: String,
}

/// The result of an earlier run.
struct Entry {
    evidence: Evidence,
    exit: Exit,
    parts: Vec<Part>,
}

impl CacheOptions {
    /// Opens the cache, if the user requested one. A run with other effects than output has no entry.
    pub(super) fn open(
        &self,
        dir: &Path,
        has_other_effects: bool,
        streams: &mut Streams,
    ) -> Result<Option<Cache>, Error> {
        let Some(typed) = &self.cache else { return Ok(None) };
        let linted = if disk::is_file(dir) { folder_of(dir) } else { dir.to_owned() };
        match CacheDirectory::open(typed, or_current(&linted)) {
            Ok(_) if has_other_effects => Ok(None),
            Ok(directory) => Ok(Some(Cache { directory, typed: typed.clone(), key: key(streams) })),
            Err(CacheFault::Unusable(why)) => {
                streams.message(format_args!("the cache `{}` is not used: {why}", typed.display()));
                Ok(None)
            }
            Err(fault @ CacheFault::Inside(_)) => {
                let message = format!("`{}` cannot be a cache: {fault}", typed.display());
                let help = "pass a directory outside of the repository, or one in `.git`, such as `.git/fleetwright`";
                Err(Error::with_help(message, help))
            }
        }
    }
}

impl Cache {
    /// Prints the stored result if it still holds. Otherwise, runs the linter and stores its result. `files` are the
    /// files of the outputs.
    pub(super) fn run(
        &self,
        files: &[PathBuf],
        streams: &mut Streams,
        lint: impl FnOnce(&mut Streams) -> Result<Exit, Error>,
    ) -> Result<Exit, Error> {
        if let Some(exit) = self.repeat(files, streams)? {
            return Ok(exit);
        }
        disk::observe();
        streams.start_transcript();
        let exit = lint(streams);
        let (parts, evidence) = (streams.finish_transcript(), disk::observed());
        let exit = exit?;
        if let (Some(parts), Some(evidence)) = (parts, evidence) {
            self.directory.store(&self.key, &Entry { evidence, exit, parts }.write());
        }
        Ok(exit)
    }

    /// Prints the stored result if it still holds.
    fn repeat(&self, files: &[PathBuf], streams: &mut Streams) -> Result<Option<Exit>, Error> {
        let loaded = self.directory.load(&self.key).and_then(|bytes| match bytes {
            Some(bytes) => {
                Entry::read(&bytes, files).map(Some).ok_or_else(|| "its content has another form".to_owned())
            }
            None => Ok(None),
        });
        let mut entry = match loaded {
            Ok(Some(entry)) => entry,
            Ok(None) => return Ok(None),
            Err(why) => {
                let typed = self.typed.display();
                streams.message(format_args!("an entry of the cache `{typed}` is not used: {why}"));
                return Ok(None);
            }
        };
        match entry.evidence.compare() {
            Comparison::Different => return Ok(None),
            Comparison::Equal => {}
            Comparison::EqualWith(evidence) => {
                entry.evidence = evidence;
                self.directory.store(&self.key, &entry.write());
            }
        }
        for part in &entry.parts {
            match &part.destination {
                Destination::Results => {
                    streams.write_as(Lines::Data, |out| out.write_all(&part.bytes))?;
                }
                Destination::Messages => streams.repeat_messages(&part.bytes),
                Destination::File(path) => disk::replace(path, &part.bytes)?,
            }
        }
        Ok(Some(entry.exit))
    }
}

impl Entry {
    fn write(&self) -> Vec<u8> {
        let mut out = ByteWriter::default();
        self.evidence.write(&mut out);
        out.number(self.exit as u64);
        out.number(self.parts.len() as u64);
        for part in &self.parts {
            match &part.destination {
                Destination::Results => out.number(0),
                Destination::Messages => out.number(1),
                Destination::File(path) => {
                    out.number(2);
                    out.bytes(path.as_os_str().as_encoded_bytes());
                }
            }
            out.bytes(&part.bytes);
        }
        out.finish()
    }

    /// Reads an entry that writes no other files than `files`.
    fn read(bytes: &[u8], files: &[PathBuf]) -> Option<Self> {
        let mut bytes = ByteReader::new(bytes);
        let evidence = Evidence::read(&mut bytes)?;
        let exit = match bytes.number()? {
            0 => Exit::Clean,
            1 => Exit::Found,
            _ => return None,
        };
        let parts = bytes.list(|bytes| {
            let destination = match bytes.number()? {
                0 => Destination::Results,
                1 => Destination::Messages,
                2 => {
                    let path = bytes.bytes()?;
                    Destination::File(files.iter().find(|file| file.as_os_str().as_encoded_bytes() == path)?.clone())
                }
                _ => return None,
            };
            Some(Part { destination, bytes: bytes.bytes()?.to_owned() })
        })?;
        bytes.is_at_end().then_some(Self { evidence, exit, parts })
    }
}

/// A digest of all inputs of a run that are not files: the program, its arguments and environment, and the date.
fn key(streams: &Streams) -> String {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update(bytes.len().to_le_bytes());
        hash.update(bytes);
    };
    add(PROGRAM.as_bytes());
    add(linter::today().to_string().as_bytes());
    add(format!("{:?} {}", streams.colors, streams.is_terminal).as_bytes());
    add(disk::working_directory().as_os_str().as_encoded_bytes());
    for name in VARIABLES {
        add(std::env::var_os(name).unwrap_or_default().as_encoded_bytes());
    }
    for argument in std::env::args_os().skip(1) {
        add(argument.as_encoded_bytes());
    }
    data_encoding::HEXLOWER.encode(&hash.finalize())
}
