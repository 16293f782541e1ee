//! `graph`: draws the sources, Kustomizations and releases of each cluster and the edges between them.

use std::path::PathBuf;

use super::build::clusters_of;
use super::error::Error;
use super::exit::Exit;
use super::repository::Options;
use super::streams::Streams;
use crate::flux::query::graph::Graph;
use crate::report::graph::{GraphFormat, write};

/// Draws the sources, Kustomizations and releases of each cluster, with their origins, sources and dependencies.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright graph                              a tree for each cluster\n",
    "  fleetwright graph --cluster staging            one cluster\n",
    "  fleetwright graph --format mermaid             for Markdown\n",
    "  fleetwright graph --format dot | dot -Tsvg > fleet.svg\n\n",
    "Exit codes:\n",
    "  0  printed\n",
    "  2  fleetwright failed: no such directory, no such cluster",
))]
pub(super) struct Args {
    /// The directory of the repository.
    #[arg(default_value = ".")]
    dir: PathBuf,
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
        streams.message(
            "this directory bootstraps no cluster; the graph shows its directories as if one cluster received them",
        );
    }
    Ok(Exit::Clean)
}
