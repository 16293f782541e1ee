//! `graph`: a repository → its clusters, sources and Kustomizations, and what holds between them.

use std::path::PathBuf;

use super::build::clusters_of;
use super::error::Error;
use super::exit::Exit;
use super::repository::Options;
use super::streams::Streams;
use crate::flux::query::graph::Graph;
use crate::report::graph::{GraphFormat, write};

/// Draws clusters, sources, Kustomizations and releases: who creates whom, builds from what, waits for whom.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright graph                              a tree for each cluster\n",
    "  fleetwright graph --cluster staging            of one cluster\n",
    "  fleetwright graph --format mermaid             for Markdown\n",
    "  fleetwright graph --format dot | dot -Tsvg > fleet.svg\n\n",
    "Exit codes:\n",
    "  0  drawn\n",
    "  2  the work could not be done: no such folder, no such cluster",
))]
pub(super) struct Args {
    /// The folder of the repository.
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// How it is drawn.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// A tree for terminals.
    Text,
    /// For programs.
    Json,
    /// For Markdown.
    Mermaid,
    /// For Graphviz.
    Dot,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let repository = args.options.open(&args.dir, streams)?;
    let repo = repository.load();
    let receivers = args.options.receivers(&repo.clusters)?;
    let graphs: Vec<Graph> = clusters_of(&receivers).into_iter().map(Graph::of).collect();
    let format = match args.format {
        Format::Text => GraphFormat::Text,
        Format::Json => GraphFormat::Json,
        Format::Mermaid => GraphFormat::Mermaid,
        Format::Dot => GraphFormat::Dot,
    };
    streams.write(|out| write(&graphs, format, out))?;
    if repo.clusters.iter().all(|cluster| cluster.name.is_empty()) {
        streams.say("no cluster is bootstrapped from this folder; its own folders are shown as if one received them");
    }
    Ok(Exit::Clean)
}
