//! `trace`: an object → who applies it where, and which lines gave its fields their values.

use std::path::PathBuf;

use super::build::clusters_of;
use super::error::Error;
use super::exit::Exit;
use super::repository::{Options, listed};
use super::streams::Streams;
use crate::flux::query::field::{self, NoField};
use crate::flux::query::select::{Miss, Selector};
use crate::flux::query::trace::{trace, written_field};
use crate::flux::{Applied, Cluster, State};
use crate::report::{printable, trace as report};
use crate::yaml::Path;

/// Says where an object and its fields come from: who applies it on which clusters, and for each field the lines.
///
/// The lines stand in the order in which they act: base, patches, Flux's patches, variables. The last one decided.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright trace Deployment/apps/web\n",
    "  fleetwright trace Deployment/apps/web spec.template.spec.containers[name=web].image\n",
    "  fleetwright trace HelmRelease/apps/web /spec/values/image/tag --cluster staging\n",
    "  fleetwright trace Namespace/apps 'metadata.labels[\"app.kubernetes.io/name\"]'\n\n",
    "Exit codes:\n",
    "  0  traced\n",
    "  2  the work could not be done: no such folder, cluster, object or field",
))]
pub(super) struct Args {
    /// The object, as `Kind/namespace/name`, or `Kind/name` for one without a namespace.
    #[arg(value_name = "OBJECT")]
    object: String,
    /// The field, as `spec.replicas` or `/spec/replicas`; all fields when left out.
    field: Option<String>,
    /// The folder of the repository.
    #[arg(long, short = 'C', value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// How it is printed.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let Some(selector) = Selector::parse(&args.object) else {
        let help = "for example `Deployment/apps/web`, or `Namespace/apps`";
        return Err(Error::said(format!("`{}` is no `Kind/namespace/name`", args.object), help));
    };
    let repository = args.options.open(&args.dir, streams)?;
    let repo = repository.load();
    let receivers = args.options.receivers(&repo.clusters)?;
    let clusters = clusters_of(&receivers);
    let mut found = selector.find(&clusters).map_err(|miss| refuse(&args.object, miss, &clusters))?;
    found.retain(|(cluster, applied)| {
        let is_for = |target: &Option<_>| *target == applied.by.target;
        receivers.iter().any(|receiver| receiver.cluster.name == cluster.name && is_for(&receiver.target))
    });
    let paths = paths(args.field.as_deref().unwrap_or_default(), &found)?;
    let mut traces = Vec::new();
    for path in paths {
        traces.extend(trace(&found, &path));
    }
    streams.write(|out| match args.format {
        Format::Text => report::text(&traces, &repository.shown, out),
        Format::Json => report::json(&traces, out),
    })?;
    Ok(Exit::Clean)
}

/// The paths that a typed field means: an item that is named by its name may stand elsewhere on another cluster.
fn paths(typed: &str, found: &[(&Cluster, Applied<'_>)]) -> Result<Vec<Path>, Error> {
    let mut paths: Vec<Path> = Vec::new();
    let mut miss = None;
    for (_, applied) in found {
        match field::find(&applied.object.node, typed) {
            Ok((path, _)) if !paths.contains(&path) => paths.push(path),
            Ok(_) => {}
            Err(no_field) => miss = Some(no_field),
        }
    }
    match miss.filter(|_| paths.is_empty()) {
        Some(no_field) => Err(refuse_field(typed, &no_field, found)),
        None => Ok(paths),
    }
}

fn refuse_field(typed: &str, no_field: &NoField, found: &[(&Cluster, Applied<'_>)]) -> Error {
    let NoField { known, missing, meant, has_fields } = no_field;
    let known = field::shown(known);
    let place = if known.is_empty() { "the object".to_owned() } else { format!("`{known}`") };
    let message = if *has_fields {
        format!("there is no field `{typed}`: {place} has no `{missing}`")
    } else {
        format!("there is no field `{typed}`: {place} is a value without fields")
    };
    let written = found.iter().find_map(|(_, applied)| written_field(*applied, typed));
    let help = match (written, meant) {
        (Some(written), _) => {
            let place = format!("{}:{}", written.file().path(), written.position().line);
            printable(&format!("`{place}` says it, and a patch or a null takes it out on the way")).into_owned()
        }
        (None, Some(meant)) => format!("did you mean `{}`?", field::shown(meant)),
        (None, None) => "leave the field out to see all of them".to_owned(),
    };
    Error::said(printable(&message), help)
}

fn refuse(typed: &str, miss: Miss, clusters: &[&Cluster]) -> Error {
    match miss {
        Miss::Several(names) => {
            Error::said(format!("`{typed}` may be any of {}", listed(&names)), "say which: `Kind/namespace/name`")
        }
        Miss::Unknown(meant) => {
            let message = match clusters {
                [cluster] if !cluster.name.is_empty() => format!("cluster `{}` receives no `{typed}`", cluster.name),
                [_] => format!("there is no `{typed}`"),
                _ => format!("no cluster receives `{typed}`"),
            };
            let unbuilt = clusters.iter().flat_map(|cluster| &cluster.appliers);
            let unbuilt = unbuilt.filter(|applier| applier.state != State::Built).count();
            let help = match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None if unbuilt > 0 => {
                    format!("{unbuilt} appliers were not built, and one may bring it; `fleetwright graph` shows them")
                }
                None => "`fleetwright build` prints what there is".to_owned(),
            };
            Error::said(message, help)
        }
    }
}
