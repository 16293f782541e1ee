//! `graph`: draws the Flux objects of each cluster and the edges between them, or the surroundings of one object.

use std::path::{Path, PathBuf};

use super::build::clusters_of;
use super::error::Error;
use super::exit::Exit;
use super::repository::{Options, refuse_unread};
use super::selection::{received, selector, unknown_object};
use super::streams::{Lines, Streams};
use crate::base::finding::ObjectRef;
use crate::disk;
use crate::flux::query::select::{Miss, Selector};
use crate::flux::{Applied, Receiver};
use crate::graph::{Graph, around, around_referenced, of_cluster};
use crate::report::graph::{GraphFormat, exceeded_limits, write};
use crate::report::mask::SecretValues;

/// The maximum width of a line on a terminal, unless a name in it is longer.
const WIDTH: usize = 100;

/// Draws the sources, Kustomizations and HelmReleases of each cluster, with their origins, sources and dependencies.
///
/// With an object, draws the objects that it needs and the objects that need it, directly or indirectly.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright graph                              a tree for each cluster\n",
    "  fleetwright graph --cluster staging            one cluster\n",
    "  fleetwright graph Secret/flux-system/chat      what one object needs, and what needs it\n",
    "  fleetwright graph --format mermaid             for Markdown\n",
    "  fleetwright graph --format dot | dot -Tsvg > fleet.svg\n\n",
    "Exit codes:\n",
    "  0  printed\n",
    "  2  fleetwright failed: no such directory, cluster or object",
))]
pub(super) struct Args {
    /// An object as `Kind/namespace/name`, or `Kind/name` if it has no namespace; or the directory of the repository.
    #[arg(value_name = "OBJECT|DIR")]
    subject: Option<String>,
    /// The directory of the repository.
    #[arg(long, short = 'C', value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The output format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// A tree for terminals.
    Text,
    /// JSON for programs.
    Json,
    /// A Mermaid flowchart for Markdown.
    Mermaid,
    /// A Graphviz digraph.
    Dot,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let Subject { dir, object } = subject(args)?;
    let repository = args.options.open(dir, streams)?;
    let repo = repository.load();
    streams.hide(&SecretValues::of(&repository.tree, Some(&repo)))?;
    let receivers = args.options.receivers(&repo.clusters)?;
    let graphs: Vec<Graph> = match object {
        Some((typed, selector)) => surroundings(&selector, &receivers).map_err(|miss| match miss {
            Miss::Unknown(None) if args.dir.is_none() => neither(typed),
            miss => unknown_object(typed, miss, &receivers),
        })?,
        None => clusters_of(&receivers).into_iter().map(of_cluster).collect(),
    };
    let format = match args.format {
        Format::Text => GraphFormat::Text { width: streams.is_terminal.then_some(WIDTH) },
        Format::Json => GraphFormat::Json,
        Format::Mermaid => GraphFormat::Mermaid,
        Format::Dot => GraphFormat::Dot,
    };
    let mut text = Vec::new();
    write(&graphs, format, &mut text)?;
    let lines = if format == GraphFormat::Json { Lines::Json } else { Lines::Text };
    streams.write_as(lines, |out| out.write_all(&text))?;
    if format == GraphFormat::Mermaid {
        let characters = String::from_utf8_lossy(&text).chars().count();
        if let Some(message) = exceeded_limits(&graphs, characters) {
            streams.message(message);
        }
    }
    if repo.clusters.iter().all(|cluster| cluster.name.is_empty()) {
        streams.message(
            "this directory bootstraps no cluster; the graph shows its directories as if one cluster received them",
        );
    }
    refuse_unread(&repository.tree, "read")?;
    Ok(Exit::Clean)
}

/// The directory of the repository, and the object as typed and parsed.
struct Subject<'a> {
    dir: &'a Path,
    object: Option<(&'a str, Selector)>,
}

/// Reads the arguments. An existing directory is not an object, unless the option for the directory is set.
fn subject(args: &Args) -> Result<Subject<'_>, Error> {
    let here = Path::new(".");
    Ok(match (&args.dir, args.subject.as_deref()) {
        (Some(dir), Some(typed)) => Subject { dir, object: Some((typed, selector(typed)?)) },
        (dir, None) => Subject { dir: dir.as_deref().unwrap_or(here), object: None },
        (None, Some(typed)) => match Selector::parse(typed).filter(|_| !disk::exists(Path::new(typed))) {
            Some(selector) => Subject { dir: here, object: Some((typed, selector)) },
            None => Subject { dir: Path::new(typed), object: None },
        },
    })
}

/// Returns the error for an argument that may be meant as a directory or as an object.
fn neither(typed: &str) -> Error {
    let message = format!("`{typed}` is neither a directory nor an object that a cluster receives");
    Error::with_help(message, "pass an object as `Kind/namespace/name`; run `fleetwright build` to see all objects")
}

/// The graphs around an object, one for each cluster that receives or references it.
fn surroundings(selector: &Selector, receivers: &[Receiver<'_>]) -> Result<Vec<Graph>, Miss> {
    let clusters = clusters_of(receivers).into_iter();
    let found = match received(selector, receivers) {
        Ok(found) => found,
        Err(miss @ Miss::Several(_)) => return Err(miss),
        Err(miss @ Miss::Unknown(_)) => {
            // Flux objects may reference an object that no manifest defines.
            let matches = |reference: &ObjectRef| selector.matches(reference);
            let graphs: Vec<Graph> = clusters.filter_map(|cluster| around_referenced(cluster, matches)).collect();
            return if graphs.is_empty() { Err(miss) } else { Ok(graphs) };
        }
    };
    let graphs = clusters.filter_map(|cluster| {
        let of_cluster = found.iter().filter(|(of, _)| of.name == cluster.name).map(|(_, applied)| *applied);
        let of_cluster: Vec<Applied<'_>> = of_cluster.collect();
        of_cluster.split_first().map(|(first, others)| around(cluster, *first, others))
    });
    Ok(graphs.collect())
}
