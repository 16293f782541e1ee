//! `schema`: prints the JSON Schemas of input and output files, and the schemas of the kinds of clusters.

mod kinds;

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};

use super::error::Error;
use super::exit::Exit;
use super::layout;
use super::repository::Options;
use super::streams::Streams;
use crate::lint::with_rules;

/// Prints the JSON Schema of an input or output file, or the schema of a kind of Kubernetes objects.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright schema fleet > .fleetwright.schema.json   for editors\n",
    "  fleetwright schema fleet --layout ./layouts/mine      with the `values` of a layout\n",
    "  fleetwright schema report                             for `lint --format json`\n",
    "  fleetwright schema list                               the known kinds and their origins\n",
    "  fleetwright schema HelmRelease                        the newest version of a kind\n",
    "  fleetwright schema certificate.cert-manager.io        a kind of a group\n",
    "  fleetwright schema apps/v1/Deployment                 a version of a kind\n\n",
    "Exit codes:\n",
    "  0  printed\n",
    "  2  no such schema, kind or layout",
))]
pub(super) struct Args {
    /// A file, `list`, or a kind: `Kind`, `kind.group`, or `group/version/Kind`.
    #[arg(value_name = "FILE|list|KIND", default_value = "fleet", value_parser = Names)]
    name: String,
    /// The directory of the repository whose kinds are known too.
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Include the schemas of the `values` of this layout: its name or its directory.
    #[arg(long, value_name = "LAYOUT")]
    layout: Option<String>,
    #[command(flatten)]
    options: Options,
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
    /// The output of `diff --format json`.
    Diff,
}

/// Accepts any text, and completes the names of files.
#[derive(Debug, Clone, Copy)]
struct Names;

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let files = Name::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let list = PossibleValue::new("list").help("The kinds with a known schema, and their origins");
        Some(Box::new(files.chain([list])))
    }
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let Ok(name) = Name::from_str(&args.name, false) else {
        let known = kinds::Known::collect(&args.options, &args.dir, streams)?;
        if args.name == "list" {
            streams.write(|out| known.list(out))?;
        } else {
            let files = Name::value_variants().iter().filter_map(ValueEnum::to_possible_value);
            let files: Vec<String> = files.map(|file| file.get_name().to_string()).collect();
            let schema = known.schema(&args.name, &files)?;
            writeln!(streams.out(), "{schema:#}")?;
        }
        return Ok(Exit::Clean);
    };
    let schema = match name {
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
        Name::Diff => crate::report::changes::schema(),
    };
    let schema = match &args.layout {
        Some(layout) => crate::fleet::with_values(schema, &layout::find(layout)?),
        None => schema,
    };
    writeln!(streams.out(), "{schema:#}")?;
    Ok(Exit::Clean)
}
