//! `schema`: the JSON Schemas of what is read and written.

use super::error::Error;
use super::exit::Exit;
use super::streams::Streams;
use crate::lint::with_rules;

/// Prints a JSON Schema: of fleet.yaml, of the files it includes, of .fleetwright.yaml, or of what commands write.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright schema fleet > .fleetwright.schema.json   what editors read\n",
    "  fleetwright schema report                             of `lint --format json`\n\n",
    "Exit codes:\n",
    "  0  printed\n",
    "  2  no such schema",
))]
pub(super) struct Args {
    /// Which schema.
    #[arg(default_value = "fleet")]
    name: Name,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Name {
    /// fleet.yaml.
    Fleet,
    /// An included file with a cluster.
    Cluster,
    /// An included file with a tenant.
    Tenant,
    /// .fleetwright.yaml.
    Config,
    /// What `lint --format json` writes.
    Report,
    /// What `build --format json` writes.
    Build,
    /// What `trace --format json` writes.
    Trace,
    /// What `graph --format json` writes.
    Graph,
    /// What `access --format json` writes.
    Access,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let schema = match args.name {
        Name::Fleet => with_rules(crate::fleet::schema()),
        Name::Cluster => crate::fleet::cluster_schema(),
        Name::Tenant => crate::fleet::tenant_schema(),
        Name::Config => with_rules(crate::config::schema()),
        Name::Report => crate::report::json::schema(),
        Name::Build => crate::report::build::schema(),
        Name::Trace => crate::report::trace::schema(),
        Name::Graph => crate::report::graph::schema(),
        Name::Access => crate::report::access::schema(),
    };
    writeln!(streams.out, "{schema:#}")?;
    Ok(Exit::Clean)
}
