//! `trace`: shows the applier of an object on each cluster, and the lines that set its fields.

use std::path::PathBuf;

use super::error::Error;
use super::exit::Exit;
use super::repository::{Options, refuse_unread};
use super::selection::{received, selector, unknown_object};
use super::streams::{Lines, Streams};
use crate::api::catalog::{Catalog, Lookup};
use crate::base::similar_names::did_you_mean;
use crate::flux::query::field::{self, NoField};
use crate::flux::query::trace::{trace, written_field};
use crate::flux::{Applied, Cluster, catalog_of};
use crate::kube::Object;
use crate::report::mask::SecretValues;
use crate::report::{printable, trace as report};
use crate::yaml::{Key, Path};

/// Shows the applier of an object on each cluster, and the lines that set its fields.
///
/// The lines are in the order of their effect: base, patches, patches of Flux, variables. The last line sets the value.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright trace Deployment/apps/web\n",
    "  fleetwright trace Deployment/apps/web spec.template.spec.containers[name=web].image\n",
    "  fleetwright trace HelmRelease/apps/web /spec/values/image/tag --cluster staging\n",
    "  fleetwright trace Namespace/apps 'metadata.labels[\"app.kubernetes.io/name\"]'\n\n",
    "Exit codes:\n",
    "  0  traced\n",
    "  2  fleetwright failed: no such directory, cluster, object or field",
))]
pub(super) struct Args {
    /// The object as `Kind/namespace/name`, or `Kind/name` if it has no namespace.
    #[arg(value_name = "OBJECT")]
    object: String,
    /// The field as `spec.replicas` or `/spec/replicas`; all fields if omitted.
    field: Option<String>,
    /// The directory of the repository.
    #[arg(long, short = 'C', value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// The output format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// Text for terminals.
    Text,
    /// JSON for programs.
    Json,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let selector = selector(&args.object)?;
    let repository = args.options.open(&args.dir, streams)?;
    let repo = repository.load();
    streams.hide(&SecretValues::of(&repository.tree, Some(&repo)))?;
    let receivers = args.options.receivers(&repo.clusters)?;
    let found = received(&selector, &receivers).map_err(|miss| unknown_object(&args.object, miss, &receivers))?;
    let catalog = |cluster: &Cluster| catalog_of(cluster, &repo, &repository.settings);
    let paths = paths(args.field.as_deref().unwrap_or_default(), &found, &catalog)?;
    let mut traces = Vec::new();
    for path in paths {
        traces.extend(trace(&found, &path));
    }
    let lines = if matches!(args.format, Format::Json) { Lines::Json } else { Lines::Text };
    streams.write_as(lines, |out| match args.format {
        Format::Text => report::text(&traces, &repository.prefix, out),
        Format::Json => report::json(&traces, out),
    })?;
    refuse_unread(&repository.tree, "read")?;
    Ok(Exit::Clean)
}

/// Returns the paths that match a typed field. An item that is selected by name may have a different index on each
/// cluster.
fn paths(typed: &str, found: &[(&Cluster, Applied<'_>)], catalog: &CatalogOf<'_>) -> Result<Vec<Path>, Error> {
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
        Some(no_field) => Err(unknown_field(typed, &no_field, found, catalog)),
        None => Ok(paths),
    }
}

/// Returns the kinds of a cluster.
type CatalogOf<'a> = dyn Fn(&Cluster) -> Catalog + 'a;

fn unknown_field(typed: &str, no_field: &NoField, found: &[(&Cluster, Applied<'_>)], catalog: &CatalogOf<'_>) -> Error {
    let NoField { known, missing, meant, has_fields } = no_field;
    let unset =
        || found.first().and_then(|(cluster, applied)| unset_field(applied.object, no_field, &catalog(cluster)));
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
            printable(&format!("see `{place}`, which sets the field; a patch or a null value removes it")).into_owned()
        }
        (None, Some(meant)) => format!("did you mean `{}`?", field::shown(meant)),
        (None, None) => match unset() {
            Some(field) if field::shown(&field).ends_with(missing.as_str()) => {
                format!("`{}` is a field of the kind, but nothing sets it", field::shown(&field))
            }
            Some(field) => format!("did you mean `{}`? nothing sets it", field::shown(&field)),
            None => "omit the field to see all fields".to_owned(),
        },
    };
    Error::with_help(printable(&message), help)
}

/// A field of the kind that the object does not set, with the missing or a similar name.
fn unset_field(object: &Object, no_field: &NoField, catalog: &Catalog) -> Option<Path> {
    let version = object.api_version().rsplit('/').next().unwrap_or_default();
    let Lookup::Found(found) = catalog.find(object.group(), version, object.kind()) else { return None };
    let mut schema = &*found.schema;
    for key in &no_field.known.0 {
        schema = match key {
            Key::Name(name) => schema.field(name)?,
            Key::Index(_) => schema.items.as_deref()?,
        };
    }
    let names = schema.properties.iter().map(|(name, _)| &**name);
    let meant = names.clone().find(|name| **name == no_field.missing);
    let meant = meant.or_else(|| did_you_mean(&no_field.missing, names))?;
    Some(no_field.known.child(Key::Name(meant.into())))
}
