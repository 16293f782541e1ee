//! Options of commands that read a repository, and the loading of a repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::Error;
use super::linter;
use super::source::{display_prefix, folder_of, governing_fleet, or_current, remove_templates};
use super::streams::Streams;
use crate::address::{Address, Location, LocationError, short_reference};
use crate::base::finding::Finding;
use crate::base::similar_names::did_you_mean;
use crate::config::{self, Bearings, DeclaredCopy, DeclaredFolder, DeclaredRoot};
use crate::disk::{self, CopyFault, DiskError, Refusal};
use crate::flux::source::Copy;
use crate::flux::{Cluster, Receiver, Repo, Settings};
use crate::policy;
use crate::report::one_line;
use crate::text::{Span, Tree, is_inside, normalize};
use crate::yaml::{Style, Value};

/// The message for a repository without clusters.
pub(super) const NO_CLUSTER: &str = "no cluster was found: there is no FluxInstance with `spec.sync`, no `gotk-sync.yaml`, \
    no Kustomization that applies its own directory, no Kustomization beside its source, and no directory below \
    `clusters/` with Kustomizations or HelmReleases that nothing applies";

/// The advice to declare a cluster.
pub(super) const DECLARE: &str = "declare a cluster with `clusters.NAME.root` in .fleetwright.yaml";

/// Options of every command that reads a repository.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of every command that reads a repository")]
pub(super) struct Options {
    /// Selects this cluster, by its name in the output of `graph`; may be repeated.
    #[arg(long = "cluster", value_name = "NAME")]
    clusters: Vec<String>,
    /// The local copy of a source, or of one branch, tag or version with `URL#REF=DIR`; may be repeated.
    #[arg(long = "source", value_name = "URL=DIR", value_parser = location)]
    sources: Vec<Location>,
    /// The version of Flux on the clusters; overrides the version in the repository.
    #[arg(long, value_name = "VERSION", value_parser = version)]
    flux_version: Option<String>,
    /// The version of Kubernetes on the clusters; overrides the configuration.
    #[arg(long, value_name = "VERSION", value_parser = version)]
    kubernetes_version: Option<String>,
    /// The configuration [default: the nearest .fleetwright.yaml, from the directory upwards].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    trust: Trust,
}

/// Trust in the configuration of the repository.
#[derive(Debug, Default, Clone, Copy, clap::Args)]
pub(super) struct Trust {
    /// Permits the repository's configuration to reference copies outside of the repository.
    #[arg(long)]
    trust_config: bool,
}

fn location(text: &str) -> Result<Location, LocationError> {
    Location::parse(text)
}

/// Parses a version such as `2.8` or `v2.8.1`.
fn version(text: &str) -> Result<String, String> {
    let bare = text.strip_prefix('v').unwrap_or(text);
    let numbers = bare.split('.').all(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    let count = bare.split('.').count();
    if numbers && (2..=3).contains(&count) {
        return Ok(bare.to_owned());
    }
    Err("expected a version such as `2.8` or `2.8.1`".to_owned())
}

/// A repository and its settings.
pub(super) struct Repository {
    /// The files.
    pub tree: Tree,
    /// The prefix of displayed paths: the directory as it was typed; empty for the current directory.
    pub prefix: String,
    /// The configuration, the copies of sources and the version of Flux.
    pub settings: Settings,
}

impl Options {
    /// Creates the options of a command that accepts only [`Trust`].
    pub(super) fn with_trust(trust: Trust) -> Self {
        Self { trust, ..Self::default() }
    }

    /// Reads a repository: its files, its configuration, the copies of its sources, and its fleet.yaml if it is valid.
    pub(super) fn open(&self, dir: &Path, streams: &mut Streams) -> Result<Repository, Error> {
        let tree = disk::read(dir)?;
        self.open_tree(tree, dir, streams)
    }

    /// Reads the settings of a repository whose files are read.
    pub(super) fn open_tree(&self, mut tree: Tree, dir: &Path, streams: &mut Streams) -> Result<Repository, Error> {
        let folder = if disk::is_file(dir) { folder_of(dir) } else { dir.to_owned() };
        let prefix = display_prefix(&folder);
        let fleet = governing_fleet(dir, &tree, &folder)?.filter(|source| source.loaded.fleet.is_some());
        if let Some(source) = &fleet {
            remove_templates(&mut tree, source);
        }
        let mut settings = self.settings(&tree, &folder, &prefix, streams)?;
        if let Some(source) = &fleet {
            linter::add_fleet(&mut settings, source, &tree);
        }
        Ok(Repository { tree, prefix, settings })
    }

    /// Reads the configuration of a repository and the copies of its sources.
    pub(super) fn settings(
        &self,
        tree: &Tree,
        folder: &Path,
        prefix: &str,
        streams: &mut Streams,
    ) -> Result<Settings, Error> {
        let folder = or_current(folder);
        let (mut config, from) = self.config(tree, folder, prefix, streams)?;
        let mut copies = Vec::new();
        let mut bearings = Bearings { folder: from.within.clone(), copies: BTreeMap::new() };
        let mut take = |place: &Path, copy: Copy| {
            // Globs of the configuration also match paths in the copy, relative to the configuration.
            if let Some(way) = disk::path_between(place, or_current(&from.base)) {
                bearings.copies.insert(place.display().to_string().into(), way);
            }
            copies.push(copy);
        };
        for location in &self.sources {
            let place = Path::new(&location.folder);
            take(place, copy(location, place, folder, tree)?);
        }
        let named = self.declared_copies(&config, &from, folder, prefix, streams)?;
        for (location, named) in named {
            let place = named.typed().to_owned();
            let copy = match path_inside(named.path(), folder, tree) {
                Some(inside) => Copy::inside(&location, &inside),
                None => Copy::new(&location, named.read()?),
            };
            take(&place, copy);
        }
        let help = "copy the definitions into the repository";
        let schemas = self.declared_folders(&config.schemas, help, &from, folder, prefix, streams)?;
        let policies = self.policies_above(&config, &from, folder, prefix, streams)?;
        if !bearings.folder.is_empty() {
            config.roots = config.roots.into_iter().filter_map(|root| below(root, &bearings.folder)).collect();
            // The configuration applies to a larger directory, which may contain the other clusters.
            config.named_clusters.clear();
            config.lint.named_clusters.clear();
        }
        config.lint = config.lint.seen_from(bearings);
        let (flux_version, kubernetes_version) = (self.flux_version.clone(), self.kubernetes_version.clone());
        Ok(Settings { copies, schemas, policies, flux_version, kubernetes_version, config, ..Settings::default() })
    }

    /// Returns the copies that the configuration references, without the copies that the command line sets.
    ///
    /// A configuration in the repository may only reference the repository's directories: a pull request may change it.
    fn declared_copies(
        &self,
        config: &config::Settings,
        from: &ConfigLocation,
        folder: &Path,
        prefix: &str,
        streams: &mut Streams,
    ) -> Result<Vec<(Location, CopyDirectory)>, Error> {
        let bounds = if self.trust.trust_config || config.sources.is_empty() {
            None
        } else {
            disk::Copies::for_config(&from.file, or_current(&from.folder), folder)?
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
                None => named.push((location, CopyDirectory::Trusted(from.folder.join(&copy.path)))),
                Some(bounds) => match bounds.find(&copy.path) {
                    Ok(own) => named.push((location, CopyDirectory::Own(own))),
                    Err(fault) => {
                        let instead = format!("pass the directory with `--source {}=DIR`", copy.url);
                        findings.push(refused(&format!("copy `{}`", copy.path), at, &fault, &instead));
                    }
                },
            }
        }
        if findings.is_empty() {
            return Ok(named);
        }
        linter::print_findings(findings, prefix, streams)?;
        Err(Error::Printed(format!("`{}` is invalid", from.file.display())))
    }

    /// Reads the directories with policies, if the configuration applies to a larger directory than the linted one.
    fn policies_above(
        &self,
        config: &config::Settings,
        from: &ConfigLocation,
        folder: &Path,
        prefix: &str,
        streams: &mut Streams,
    ) -> Result<Vec<(String, Tree)>, Error> {
        if from.within.is_empty() {
            return Ok(Vec::new());
        }
        let paths = config.policies.iter().filter_map(|policy| Some((policy.config.path.clone()?, &policy.at)));
        let (paths, folders): (Vec<String>, Vec<DeclaredFolder>) = paths
            .map(|(path, at)| {
                let parent = policy::folder_of_policies(&path).to_owned();
                (path, DeclaredFolder { path: parent, at: at.clone() })
            })
            .unzip();
        let help = "copy the policies into the repository";
        let trees = self.declared_folders(&folders, help, from, folder, prefix, streams)?;
        Ok(paths.into_iter().zip(trees).collect())
    }

    /// Reads directories that the configuration references.
    fn declared_folders(
        &self,
        folders: &[DeclaredFolder],
        instead: &str,
        from: &ConfigLocation,
        folder: &Path,
        prefix: &str,
        streams: &mut Streams,
    ) -> Result<Vec<Tree>, Error> {
        let bounds = if self.trust.trust_config || folders.is_empty() {
            None
        } else {
            disk::Copies::for_config(&from.file, or_current(&from.folder), folder)?
        };
        let (mut trees, mut findings) = (Vec::new(), Vec::new());
        for DeclaredFolder { path, at } in folders {
            match &bounds {
                None => trees.push(disk::read_copy(&from.folder.join(path))?),
                Some(bounds) => match bounds.find(path) {
                    Ok(own) => trees.push(own.read()?),
                    Err(fault) => {
                        findings.push(refused(&format!("directory `{path}`"), at, &fault, instead));
                    }
                },
            }
        }
        if findings.is_empty() {
            return Ok(trees);
        }
        linter::print_findings(findings, prefix, streams)?;
        Err(Error::Printed(format!("`{}` is invalid", from.file.display())))
    }

    /// Reads the configuration, and returns it with its location.
    fn config(
        &self,
        tree: &Tree,
        folder: &Path,
        prefix: &str,
        streams: &mut Streams,
    ) -> Result<(config::Settings, ConfigLocation), Error> {
        let (name, from, file) = match &self.config {
            None => {
                let Some(found) = disk::nearest(folder, config::PATH) else {
                    return Ok((config::Settings::default(), ConfigLocation::default_for(folder)));
                };
                let file = if found.within.is_empty() && tree.has_file(config::PATH) {
                    tree.file(config::PATH)
                } else {
                    let alone = disk::read_some(or_current(&found.folder), [config::PATH])?;
                    alone
                        .file(config::PATH)
                        .map(|file| file.in_root(super::source::display_prefix(&found.folder).into()))
                };
                let name = Path::new(&super::source::display_prefix(&found.folder)).join(config::PATH);
                let from = ConfigLocation {
                    file: name.clone(),
                    base: found.folder.clone(),
                    folder: found.folder,
                    within: found.within,
                };
                (name, from, file)
            }
            Some(path) => {
                let own = folder_of(path);
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                let alone = disk::read_some(or_current(&own), [name.as_str()])?;
                let file = alone.file(&name).map(|file| file.in_root(super::source::display_prefix(&own).into()));
                let from = match disk::relative(folder, or_current(&own)) {
                    Some(within) => ConfigLocation { file: path.clone(), base: own.clone(), folder: own, within },
                    None => ConfigLocation { file: path.clone(), folder: own, ..ConfigLocation::default_for(folder) },
                };
                (path.clone(), from, file)
            }
        };
        let file = file.map_err(|error| {
            let help = "pass a configuration with `--config FILE`; `fleetwright schema config` prints its schema";
            Error::with_help(format!("cannot read `{}`: {error}", name.display()), help)
        })?;
        let (settings, mut findings) = config::read(&file);
        findings.extend(crate::lint::unknown_rules(&settings.lint, config::INVALID_CONFIG));
        crate::base::group_findings::sort(&mut findings);
        let failed = linter::has_errors(&findings);
        linter::print_findings(findings, prefix, streams)?;
        if failed {
            return Err(Error::Printed(format!("`{}` is invalid", name.display())));
        }
        Ok((settings, from))
    }

    /// Returns the receivers that `--cluster` selects; by default, all receivers.
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

    /// Returns the versions of Flux and Kubernetes on the command line.
    pub(super) fn versions(&self) -> (Option<&str>, Option<&str>) {
        (self.flux_version.as_deref(), self.kubernetes_version.as_deref())
    }

    /// Returns whether `--cluster` is set.
    pub(super) fn selects_clusters(&self) -> bool {
        !self.clusters.is_empty()
    }
}

/// The location of a configuration.
struct ConfigLocation {
    /// The path of the file.
    file: PathBuf,
    /// The directory of the file, as a user would type it.
    folder: PathBuf,
    /// The directory that globs are relative to: `folder` if it contains the linted directory, else the linted directory.
    base: PathBuf,
    /// The path of the linted directory relative to `base`.
    within: String,
}

impl ConfigLocation {
    /// Creates the location of a configuration in the linted directory.
    fn default_for(folder: &Path) -> Self {
        Self {
            file: folder.join(config::PATH),
            folder: folder.to_owned(),
            base: folder.to_owned(),
            within: String::new(),
        }
    }
}

impl Repository {
    /// Builds the model of the repository.
    pub(super) fn load(&self) -> Repo {
        Repo::load(&self.tree, &self.settings)
    }

    /// Builds the model of the repository, and keeps its builds for another state of the repository.
    pub(super) fn load_shareable(&self) -> Repo {
        Repo::load_shareable(&self.tree, &self.settings)
    }

    /// Builds the model of the repository, which shares documents and builds with another state of the repository.
    pub(super) fn load_beside(&self, other: &Repo) -> Repo {
        Repo::load_beside(&self.tree, &self.settings, other)
    }
}

/// Returns the root with its path relative to `folder`; `None` if the root is outside of `folder`.
fn below(mut declared: DeclaredRoot, folder: &str) -> Option<DeclaredRoot> {
    let path = normalize(&declared.root.path)?;
    let inside = is_inside(&path, folder).then(|| path.get(folder.len()..))??.trim_start_matches('/').to_owned();
    declared.path.value = Value::Scalar(format!("./{inside}").into(), Style::Plain);
    declared.root.path = inside;
    Some(declared)
}

fn copy(location: &Location, place: &Path, folder: &Path, tree: &Tree) -> Result<Copy, Error> {
    Ok(match path_inside(place, folder, tree) {
        Some(inside) => Copy::inside(location, &inside),
        None => Copy::new(location, disk::read_copy(place)?),
    })
}

/// Returns the path of a copy inside the linted directory. Such a copy is linted as a part of the directory, unless Git
/// ignores the copy.
fn path_inside(place: &Path, folder: &Path, tree: &Tree) -> Option<String> {
    disk::relative(place, folder).filter(|inside| tree.has_folder(inside))
}

/// The directory of a copy that a configuration references.
enum CopyDirectory {
    /// A directory anywhere, since the configuration is trusted.
    Trusted(PathBuf),
    /// A directory in the repository.
    Own(disk::NamedCopy),
}

impl CopyDirectory {
    /// Returns the directory as a user would type it.
    fn typed(&self) -> &Path {
        match self {
            Self::Trusted(place) => place,
            Self::Own(own) => own.typed(),
        }
    }

    /// Returns the path of the directory for file system calls.
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

/// Returns an error if a file or directory cannot be read, since the output is then incomplete. `done` is what the command
/// did with the other files.
pub(super) fn refuse_unread(tree: &Tree, done: &str) -> Result<(), Error> {
    let mut unread = tree.unreadable();
    let Some((path, why)) = unread.next() else { return Ok(()) };
    let more = unread.count();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let message = format!("cannot read `{}`: {why}{more}", one_line(path));
    Err(Error::with_help(message, format!("make each unreadable file readable; all other files were {done}")))
}

/// Creates a finding about a directory that is not read. `instead` is the alternative to its path.
fn refused(named: &str, at: &Span, fault: &CopyFault, instead: &str) -> Finding {
    let (message, help) = match fault {
        CopyFault::Refused(Refusal::Outside) => (
            format!("the configuration of the repository references {named} outside of the repository"),
            format!(
                "{instead}, use a configuration outside of the repository with `--config FILE`, or set \
                `--trust-config`; a pull request can change this file, and must not gain access to other files of the \
                machine"
            ),
        ),
        CopyFault::Refused(Refusal::Link) => (
            format!("{named} contains a symbolic link that leads out of the repository"),
            format!("set a directory of the repository, or {instead}"),
        ),
        CopyFault::Refused(Refusal::Git) => (
            format!("{named} is in `.git`, which is never read"),
            format!("set a directory of the repository, or {instead}"),
        ),
        CopyFault::Missing => {
            (format!("there is no {named} in the repository"), format!("correct the path, or {instead}"))
        }
        CopyFault::Unreadable(why) => {
            (format!("{named} cannot be read: {why}"), format!("make it readable, or {instead}"))
        }
    };
    Finding::error(config::INVALID_CONFIG, at.clone(), message).help(help)
}

fn unknown_cluster(wanted: &str, names: &[String]) -> Error {
    let message = format!("there is no cluster `{wanted}`");
    if names.is_empty() {
        return Error::with_help(message, format!("{NO_CLUSTER}; {DECLARE}"));
    }
    let help = match did_you_mean(wanted, names.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("pass one of the known clusters: {}", join_names(names)),
    };
    Error::with_help(message, help)
}

/// Joins names for a message. Names after the twelfth are only counted.
pub(super) fn join_names(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(SHOWN);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}
