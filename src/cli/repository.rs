//! The options that every command takes which reads a repository, and reading it with them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::Error;
use super::judge;
use super::source::{folder_of, or_here, shown};
use super::streams::Streams;
use crate::address::{Location, LocationError};
use crate::base::finding::did_you_mean;
use crate::config::{self, Bearings};
use crate::disk;
use crate::flux::source::Copy;
use crate::flux::{Cluster, Receiver, Repo, Settings};
use crate::text::{Tree, join};

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
        let mut take = |location: &Location, place: &Path| {
            // Beside the folder that is judged, what speaks of both may lie in neither.
            if let Some(way) = disk::way(place, or_here(&from.base)) {
                bearings.copies.insert(place.display().to_string().into(), way);
            }
            copies.push(copy(location, place, folder, tree)?);
            Ok::<(), Error>(())
        };
        for location in &self.sources {
            take(location, Path::new(&location.folder))?;
        }
        for source in &config.sources {
            let location = Location {
                address: crate::address::Address::new(&source.url),
                reference: source.reference.as_deref().map(|text| crate::address::short_reference(text).into()),
                folder: source.path.clone(),
            };
            let place = match &self.config {
                Some(_) => from.folder.join(&source.path),
                None => near(or_here(&from.folder), &source.path)?,
            };
            take(&location, &place)?;
        }
        if !bearings.folder.is_empty() {
            // Of a part of what the file speaks of, nobody can say which clusters there are not.
            config.named_clusters.clear();
            config.lint.named_clusters.clear();
        }
        config.lint = config.lint.seen_from(bearings);
        Ok(Settings { copies, flux_version: self.flux_version.clone(), config, ..Settings::default() })
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
                let from = From { base: found.folder.clone(), folder: found.folder, within: found.within };
                (name, from, file)
            }
            Some(path) => {
                let own = folder_of(path);
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                let alone = disk::read_some(or_here(&own), [name.as_str()])?;
                let file = alone.file(&name).map(|file| file.in_root(super::source::shown(&own).into()));
                let from = match disk::relative(folder, or_here(&own)) {
                    Some(within) => From { base: own.clone(), folder: own, within },
                    None => From { folder: own, ..From::beside(folder) },
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
        let all: Vec<Receiver<'a>> = clusters.iter().flat_map(Receiver::all).collect();
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
        Self { folder: folder.to_owned(), base: folder.to_owned(), within: String::new() }
    }
}

impl Repository {
    /// Understands it.
    pub(super) fn load(&self) -> Repo {
        Repo::load(&self.tree, &self.settings)
    }
}

fn copy(location: &Location, place: &Path, folder: &Path, tree: &Tree) -> Result<Copy, Error> {
    // A folder of the repository itself is shown and judged as one, unless Git ignores it.
    match disk::relative(place, folder).filter(|inside| tree.has_folder(inside)) {
        Some(inside) => Ok(Copy::inside(location, &inside)),
        None => Ok(Copy::new(location, disk::read_copy(place)?)),
    }
}

/// The folder of a copy that a repository itself names: in it or beside it. What somebody else's repository says reaches
/// no further, unless `--config` names the file.
fn near(folder: &Path, path: &str) -> Result<PathBuf, Error> {
    let beside = path.strip_prefix("../").map(|rest| (Path::new(".."), rest));
    let (from, rest) = beside.unwrap_or((Path::new("."), path));
    let Some(inside) = join("", rest.trim_start_matches('/')) else {
        let help = format!("say `--config {}` if you trust it", folder.join(config::PATH).display());
        return Err(Error::said(format!("`{}` names a copy at `{path}`, which is far from it", config::PATH), help));
    };
    Ok(folder.join(from).join(inside))
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
