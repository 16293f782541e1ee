//! The options that every command takes which reads a repository, and reading it with them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::Error;
use super::judge;
use super::source::{folder_of, or_here, shown};
use super::streams::Streams;
use crate::address::{Address, Location, LocationError, short_reference};
use crate::base::finding::{Finding, did_you_mean};
use crate::config::{self, Bearings, DeclaredCopy, SourceCopy};
use crate::disk::{self, CopyFault, DiskError, Refusal};
use crate::flux::source::Copy;
use crate::flux::{Cluster, Receiver, Repo, Settings};
use crate::text::{Span, Tree};

/// Says what is read, beside the folder.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of every command that reads a repository")]
pub(super) struct Options {
    /// This cluster alone, as `graph` names it; may be repeated.
    #[arg(long = "cluster", value_name = "NAME")]
    clusters: Vec<String>,
    /// Where a copy of a source lies; `URL#REF=DIR` is one of a branch, tag or version; may be repeated.
    #[arg(long = "source", value_name = "URL=DIR", value_parser = location)]
    sources: Vec<Location>,
    /// The version of Flux on the clusters, when it is not the one that the repository says.
    #[arg(long, value_name = "VERSION", value_parser = version)]
    flux_version: Option<String>,
    /// The configuration, when it is not the nearest .fleetwright.yaml: of the folder, or of one above it.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    trust: Trust,
}

/// How far the configuration of the repository is trusted.
#[derive(Debug, Default, Clone, Copy, clap::Args)]
pub(super) struct Trust {
    /// Reads the copies that a configuration of the repository names outside of the repository.
    #[arg(long)]
    trust_config: bool,
}

fn location(text: &str) -> Result<Location, LocationError> {
    Location::parse(text)
}

/// A version as people write it: `2.8`, `v2.8.1`.
fn version(text: &str) -> Result<String, String> {
    let bare = text.strip_prefix('v').unwrap_or(text);
    let numbers = bare.split('.').all(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    let count = bare.split('.').count();
    if numbers && (2..=3).contains(&count) {
        return Ok(bare.to_owned());
    }
    Err("say it as `2.8` or `2.8.1`".to_owned())
}

/// A repository that was opened, and how it is to be read.
pub(super) struct Repository {
    /// Its files.
    pub tree: Tree,
    /// What stands before its paths when they are shown: the folder as it was typed; empty for this one.
    pub shown: String,
    /// What is known of it beside its files.
    pub settings: Settings,
}

impl Options {
    /// The options of a command that takes none but how far the configuration is trusted.
    pub(super) fn trusting(trust: Trust) -> Self {
        Self { trust, ..Self::default() }
    }

    /// Opens a repository: its files, its configuration, the copies of its sources.
    pub(super) fn open(&self, dir: &Path, streams: &mut Streams) -> Result<Repository, Error> {
        let tree = disk::read(dir)?;
        let folder = if disk::is_file(dir) { folder_of(dir) } else { dir.to_owned() };
        let shown = shown(&folder);
        let settings = self.settings(&tree, &folder, &shown, streams)?;
        Ok(Repository { tree, shown, settings })
    }

    /// What is known of a repository beside its files.
    pub(super) fn settings(
        &self,
        tree: &Tree,
        folder: &Path,
        shown: &str,
        streams: &mut Streams,
    ) -> Result<Settings, Error> {
        let folder = or_here(folder);
        let (mut config, from) = self.config(tree, folder, shown, streams)?;
        let mut copies = Vec::new();
        let mut bearings = Bearings { folder: from.within.clone(), copies: BTreeMap::new() };
        let mut take = |place: &Path, copy: Copy| {
            // Beside the folder that is judged, what speaks of both may lie in neither.
            if let Some(way) = disk::way(place, or_here(&from.base)) {
                bearings.copies.insert(place.display().to_string().into(), way);
            }
            copies.push(copy);
        };
        for location in &self.sources {
            let place = Path::new(&location.folder);
            take(place, copy(location, place, folder, tree)?);
        }
        let named = self.named_copies(&config, &from, folder, shown, streams)?;
        for (location, named) in named {
            let place = named.typed().to_owned();
            let copy = match inside(named.path(), folder, tree) {
                Some(inside) => Copy::inside(&location, &inside),
                None => Copy::new(&location, named.read()?),
            };
            take(&place, copy);
        }
        if !bearings.folder.is_empty() {
            // Of a part of what the file speaks of, nobody can say which clusters there are not.
            config.named_clusters.clear();
            config.lint.named_clusters.clear();
        }
        config.lint = config.lint.seen_from(bearings);
        Ok(Settings { copies, flux_version: self.flux_version.clone(), config, ..Settings::default() })
    }

    /// The copies that a configuration names and the command line does not.
    ///
    /// A configuration of the repository may name directories of the repository alone: a pull request may change it.
    fn named_copies(
        &self,
        config: &config::Settings,
        from: &From,
        folder: &Path,
        shown: &str,
        streams: &mut Streams,
    ) -> Result<Vec<(Location, Named)>, Error> {
        let bounds = if self.trust.trust_config || config.sources.is_empty() {
            None
        } else {
            disk::Copies::of(&from.file, or_here(&from.folder), folder)?
        };
        let (mut named, mut findings) = (Vec::new(), Vec::new());
        for DeclaredCopy { copy, at } in &config.sources {
            let location = Location {
                address: Address::new(&copy.url),
                reference: copy.reference.as_deref().map(|text| short_reference(text).into()),
                folder: copy.path.clone(),
            };
            let is_same = |other: &Location| other.address == location.address && other.reference == location.reference;
            if self.sources.iter().any(is_same) {
                continue;
            }
            match &bounds {
                None => named.push((location, Named::Trusted(from.folder.join(&copy.path)))),
                Some(bounds) => match bounds.find(&copy.path) {
                    Ok(own) => named.push((location, Named::Own(own))),
                    Err(fault) => findings.push(refused(copy, at, &fault)),
                },
            }
        }
        if findings.is_empty() {
            return Ok(named);
        }
        judge::show(findings, shown, streams)?;
        Err(Error::Shown(format!("nothing was done: `{}` has mistakes", from.file.display())))
    }

    /// The configuration, and where it was found.
    fn config(
        &self,
        tree: &Tree,
        folder: &Path,
        shown: &str,
        streams: &mut Streams,
    ) -> Result<(config::Settings, From), Error> {
        let (name, from, file) = match &self.config {
            None => {
                let Some(found) = disk::nearest(folder, config::PATH) else {
                    return Ok((config::Settings::default(), From::beside(folder)));
                };
                let file = if found.within.is_empty() && tree.has_file(config::PATH) {
                    tree.file(config::PATH)
                } else {
                    let alone = disk::read_some(or_here(&found.folder), [config::PATH])?;
                    alone.file(config::PATH).map(|file| file.in_root(super::source::shown(&found.folder).into()))
                };
                let name = Path::new(&super::source::shown(&found.folder)).join(config::PATH);
                let from =
                    From { file: name.clone(), base: found.folder.clone(), folder: found.folder, within: found.within };
                (name, from, file)
            }
            Some(path) => {
                let own = folder_of(path);
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                let alone = disk::read_some(or_here(&own), [name.as_str()])?;
                let file = alone.file(&name).map(|file| file.in_root(super::source::shown(&own).into()));
                let from = match disk::relative(folder, or_here(&own)) {
                    Some(within) => From { file: path.clone(), base: own.clone(), folder: own, within },
                    None => From { file: path.clone(), folder: own, ..From::beside(folder) },
                };
                (path.clone(), from, file)
            }
        };
        let file = file.map_err(|error| {
            let help = "`--config FILE` names a configuration, as `fleetwright schema config` describes it";
            Error::said(format!("cannot read `{}`: {error}", name.display()), help)
        })?;
        let (settings, mut findings) = config::read(&file);
        findings.extend(crate::lint::unknown_rules(&settings.lint, config::INVALID_CONFIG));
        crate::base::finding::sort(&mut findings);
        let failed = judge::has_errors(&findings);
        judge::show(findings, shown, streams)?;
        if failed {
            return Err(Error::Shown(format!("nothing was done: `{}` has mistakes", name.display())));
        }
        Ok((settings, from))
    }

    /// The receivers that are meant: all of them when no cluster is named.
    pub(super) fn receivers<'a>(&self, clusters: &'a [Cluster]) -> Result<Vec<Receiver<'a>>, Error> {
        let all: Vec<Receiver<'a>> = clusters.iter().flat_map(Receiver::of).collect();
        if self.clusters.is_empty() {
            return Ok(all);
        }
        let names: Vec<String> = all.iter().map(ToString::to_string).filter(|name| !name.is_empty()).collect();
        for wanted in &self.clusters {
            if !names.contains(wanted) {
                return Err(unknown_cluster(wanted, &names));
            }
        }
        Ok(all.into_iter().filter(|receiver| self.clusters.contains(&receiver.to_string())).collect())
    }

    /// Tells whether clusters were named.
    pub(super) fn narrows(&self) -> bool {
        !self.clusters.is_empty()
    }
}

/// Where a configuration was found.
struct From {
    /// Its path.
    file: PathBuf,
    /// The folder that it lies in, as it would be typed.
    folder: PathBuf,
    /// The folder that its globs are relative to: its own one, unless what is judged does not lie there.
    base: PathBuf,
    /// The path of the folder that is judged from there.
    within: String,
}

impl From {
    /// The folder that is judged itself.
    fn beside(folder: &Path) -> Self {
        Self {
            file: folder.join(config::PATH),
            folder: folder.to_owned(),
            base: folder.to_owned(),
            within: String::new(),
        }
    }
}

impl Repository {
    /// Understands it.
    pub(super) fn load(&self) -> Repo {
        Repo::load(&self.tree, &self.settings)
    }
}

fn copy(location: &Location, place: &Path, folder: &Path, tree: &Tree) -> Result<Copy, Error> {
    Ok(match inside(place, folder, tree) {
        Some(inside) => Copy::inside(location, &inside),
        None => Copy::new(location, disk::read_copy(place)?),
    })
}

/// The path of a copy in the folder that is judged. It is shown and judged as a part of it, unless Git ignores it.
fn inside(place: &Path, folder: &Path, tree: &Tree) -> Option<String> {
    disk::relative(place, folder).filter(|inside| tree.has_folder(inside))
}

/// The directory of a copy that a configuration names.
enum Named {
    /// Wherever it lies: the configuration is trusted.
    Trusted(PathBuf),
    /// In the repository.
    Own(disk::NamedCopy),
}

impl Named {
    /// The directory as a user would type it.
    fn typed(&self) -> &Path {
        match self {
            Self::Trusted(place) => place,
            Self::Own(own) => own.typed(),
        }
    }

    /// The directory as the file system takes it.
    fn path(&self) -> &Path {
        match self {
            Self::Trusted(place) => place,
            Self::Own(own) => own.path(),
        }
    }

    fn read(self) -> Result<Tree, DiskError> {
        match self {
            Self::Trusted(place) => disk::read_copy(&place),
            Self::Own(own) => own.read(),
        }
    }
}

/// A finding on the path of a copy that is not read.
fn refused(copy: &SourceCopy, at: &Span, fault: &CopyFault) -> Finding {
    let SourceCopy { url, path, .. } = copy;
    let source = format!("`--source {url}=DIR`");
    let (message, help) = match fault {
        CopyFault::Refused(Refusal::Outside) => (
            format!("copy `{path}` lies outside of the repository, and its own configuration cannot name it"),
            format!(
                "a pull request can change this file, and must not read other files of the machine; name the directory \
                 with {source}, use a configuration outside of the repository with `--config FILE`, or set \
                 `--trust-config`"
            ),
        ),
        CopyFault::Refused(Refusal::Link) => (
            format!("copy `{path}` leads through a symbolic link that does not end in the repository"),
            format!("name a directory of the repository, or name the directory with {source}"),
        ),
        CopyFault::Refused(Refusal::Git) => (
            format!("copy `{path}` lies in `.git`, which is never read"),
            format!("name a directory of the repository, or name the directory with {source}"),
        ),
        CopyFault::Missing => (
            format!("there is no directory `{path}` in the repository"),
            format!("correct the path, or name the directory with {source}"),
        ),
        CopyFault::Hidden(why) => (
            format!("copy `{path}` cannot be read: {why}"),
            format!("make it readable, or name another directory with {source}"),
        ),
    };
    Finding::error(config::INVALID_CONFIG, at.clone(), message).help(help)
}

fn unknown_cluster(wanted: &str, names: &[String]) -> Error {
    let message = format!("there is no cluster `{wanted}`");
    if names.is_empty() {
        let help = "nothing in this folder bootstraps one: no FluxInstance with a `sync`, no `gotk-sync.yaml`";
        return Error::said(message, help);
    }
    let help = match did_you_mean(wanted, names.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there are {}", listed(names)),
    };
    Error::said(message, help)
}

/// Names in a sentence, not all of them when there are many.
pub(super) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(SHOWN);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}
