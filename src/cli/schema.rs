//! `schema`: prints the JSON Schemas of input and output files.

use super::error::Error;
use super::exit::Exit;
use super::layout;
use super::streams::Streams;
use crate::lint::with_rules;

/// Prints the JSON Schema of fleet.yaml, its included files, .fleetwright.yaml, or the JSON output of a command.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright schema fleet > .fleetwright.schema.json   for editors\n",
    "  fleetwright schema fleet --layout ./layouts/mine      with the `values` of a layout\n",
    "  fleetwright schema report                             for `lint --format json`\n\n",
    "Exit codes:\n",
    "  0  printed\n",
    "  2  no such schema or layout",
))]
pub(super) struct Args {
    /// The schema to print.
    #[arg(default_value = "fleet")]
    name: Name,
    /// Include the schemas of the `values` of this layout: its name or its directory.
    #[arg(long, value_name = "LAYOUT")]
    layout: Option<String>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Name {
    /// The file fleet.yaml.
    Fleet,
    /// An included file with a cluster.
    Cluster,
    /// An included file with a tenant.
    Tenant,
    /// The file layout.yaml.
    Layout,
    /// The file .fleetwright.yaml.
    Config,
    /// The output of `lint --format json`.
    Report,
    /// The output of `build --format json`.
    Build,
    /// The output of `trace --format json`.
    Trace,
    /// The output of `graph --format json`.
    Graph,
    /// The output of `access --format json`.
    Access,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let schema = match args.name {
        Name::Fleet => with_rules(crate::fleet::schema()),
        Name::Cluster => crate::fleet::cluster_schema(),
        Name::Tenant => crate::fleet::tenant_schema(),
        Name::Layout => crate::fleet::layout_schema(),
        Name::Config => with_rules(crate::config::schema()),
        Name::Report => crate::report::json::schema(),
        Name::Build => crate::report::build::schema(),
        Name::Trace => crate::report::trace::schema(),
        Name::Graph => crate::report::graph::schema(),
        Name::Access => crate::report::access::schema(),
    };
    let schema = match &args.layout {
        Some(layout) => crate::fleet::with_values(schema, &layout::find(layout)?),
        None => schema,
    };
    writeln!(streams.out, "{schema:#}")?;
    Ok(Exit::Clean)
}
