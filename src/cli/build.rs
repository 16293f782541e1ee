//! `build`: prints the objects that the clusters of a repository receive.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::PathBuf;

use super::error::Error;
use super::exit::Exit;
use super::linter;
use super::repository::{Options, join_names, refuse_unread};
use super::streams::{Lines, Streams};
use crate::base::finding::{Finding, Severity};
use crate::base::similar_names::did_you_mean;
use crate::flux::{
    Applied, ApplierKind, ApplyMode, NotBuiltReason, Receiver, Repo, SHELL_VARIABLE_SUBSTITUTED, State,
    UNDEFINED_VARIABLE,
};
use crate::report::build::{BuildFormat, Delivery, MAX_OUTPUT, Secrets, write};
use crate::report::mask::SecretValues;
use crate::report::{counted, one_line};
use crate::yaml::{Node, Style, Value};

/// Prints the objects that clusters receive, grouped by their applier.
///
/// The values of Secrets are masked. An unknown value, such as a variable from a Secret, is shown as the variable. A
/// hash of decrypted contents in a name is shown as `login-xxxxxxxxxx`.
///
/// The output lacks labels and annotations that Flux adds while it applies objects: owner labels
/// (`kustomize.toolkit.fluxcd.io/name`, `resourceset.fluxcd.controlplane.io/name`, and the corresponding `namespace`
/// labels), and checksums of copied objects. Objects that Flux ignores because of their annotations or labels are
/// omitted.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright build --cluster staging                   the objects of one cluster\n",
    "  fleetwright build --kustomization flux-system/apps    the objects of one Kustomization\n",
    "  fleetwright build --source https://github.com/acme/apps.git=../apps\n",
    "                                                        with a local copy of another repository\n",
    "  fleetwright build --format json                       with the file and line of each field\n\n",
    "Exit codes:\n",
    "  0  built\n",
    "  1  a build failed; the findings show the cause\n",
    "  2  fleetwright failed: no such directory, cluster or Kustomization",
))]
pub(super) struct Args {
    /// The directory of the repository.
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// Prints the objects of this Kustomization only.
    #[arg(long, value_name = "NAMESPACE/NAME")]
    kustomization: Option<String>,
    /// The output format.
    #[arg(long, value_name = "FORMAT", default_value = "yaml")]
    format: Format,
    /// Prints the values of Secrets.
    #[arg(long)]
    show_secrets: bool,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// Manifests for `kubectl apply`, with a comment for each applier.
    Yaml,
    /// JSON with the provenance of each field.
    Json,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let repository = args.options.open(&args.dir, streams)?;
    let repo = repository.load();
    let receivers = args.options.receivers(&repo.clusters)?;
    let mut deliveries: Vec<Delivery<'_>> =
        receivers.into_iter().map(|receiver| Delivery { groups: receiver.groups(), receiver }).collect();
    if let Some(name) = &args.kustomization {
        retain_kustomization(&mut deliveries, name)?;
    }
    let ignored = remove_ignored(&mut deliveries);
    let format = match args.format {
        Format::Yaml => BuildFormat::Yaml,
        Format::Json => BuildFormat::Json,
    };
    let secrets = if args.show_secrets { Secrets::Shown } else { Secrets::Masked };
    if secrets == Secrets::Masked {
        streams.hide(&SecretValues::of(&repository.tree, Some(&repo)))?;
    }
    let lines = if format == BuildFormat::Json { Lines::Json } else { Lines::Yaml };
    let written = streams.write_as(lines, |out| write(&deliveries, format, secrets, out));
    if written.as_ref().is_err_and(|error| error.kind() == ErrorKind::FileTooLarge) {
        let message = format!("the output has more than {} MiB, and is incomplete", MAX_OUTPUT >> 20);
        return Err(Error::with_help(message, "pass `--cluster` or `--kustomization` to print fewer objects"));
    }
    written?;
    let scope = if args.kustomization.is_some() { Scope::Kustomization } else { Scope::Cluster };
    let findings = failures(&repo, &deliveries, scope);
    let failed = !findings.is_empty();
    linter::print_findings(findings, &repository.prefix, streams)?;
    print_notes(&deliveries, secrets, streams);
    if ignored > 0 {
        let what = counted(ignored, "object");
        streams.message(format_args!("omitted: {what} that Flux ignores because of annotations or labels"));
    }
    refuse_unread(&repository.tree, "read")?;
    Ok(if failed { Exit::Found } else { Exit::Clean })
}

/// Retains the objects of one Kustomization.
fn retain_kustomization(deliveries: &mut Vec<Delivery<'_>>, name: &str) -> Result<(), Error> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for delivery in deliveries.iter_mut() {
        delivery.groups.retain(|group| {
            let reference = &group.applier.reference;
            if group.applier.kind != ApplierKind::Kustomization {
                return false;
            }
            let full = format!("{}/{}", reference.namespace.as_deref().unwrap_or_default(), reference.name);
            let is_meant = full == name || *reference.name == *name;
            names.insert(full);
            is_meant
        });
    }
    deliveries.retain(|delivery| !delivery.groups.is_empty());
    if !deliveries.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = names.into_iter().collect();
    let help = match did_you_mean(name, names.iter().map(String::as_str)) {
        _ if names.is_empty() => "pass another directory; no cluster of this directory has a Kustomization".to_owned(),
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("pass one of the known Kustomizations: {}", join_names(&names)),
    };
    Err(Error::with_help(format!("there is no Kustomization `{name}`"), help))
}

/// Removes the objects that Flux ignores, and returns their number.
fn remove_ignored(deliveries: &mut [Delivery<'_>]) -> usize {
    let mut ignored = 0;
    for group in deliveries.iter_mut().flat_map(|delivery| &mut delivery.groups) {
        let all = group.objects.len();
        group.objects.retain(|applied| applied.apply_mode() != ApplyMode::Ignored);
        ignored += all - group.objects.len();
    }
    ignored
}

/// The part of a cluster that is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// All objects.
    Cluster,
    /// The objects of one Kustomization.
    Kustomization,
}

/// Returns the build errors of the printed appliers.
fn failures(repo: &Repo, deliveries: &[Delivery<'_>], scope: Scope) -> Vec<Finding> {
    let mut clusters: BTreeSet<&str> = BTreeSet::new();
    // The state of an applier does not include errors of the cluster as a whole.
    let mut whole: BTreeSet<&str> = BTreeSet::new();
    for Delivery { receiver, groups } in deliveries {
        let failed = |state: &State| *state == State::Failed;
        if scope == Scope::Cluster && receiver.target.is_none() {
            whole.insert(&receiver.cluster.name);
        }
        // In a repository without a root, a directory has no state of its own.
        let is_rootless = receiver.cluster.name.is_empty();
        if is_rootless || groups.iter().any(|group| failed(&group.applier.state)) {
            clusters.insert(&receiver.cluster.name);
        }
    }
    let concerns = |finding: &Finding| match finding.clusters.as_slice() {
        [] => !clusters.is_empty(),
        names => names.iter().any(|name| clusters.contains(&**name) || whole.contains(&**name)),
    };
    // If the version of Flux is unknown, an undefined variable is a warning, but the build assumes a version of Flux
    // that fails.
    let is_failure = |finding: &&Finding| {
        finding.severity == Severity::Error || [UNDEFINED_VARIABLE, SHELL_VARIABLE_SUBSTITUTED].contains(&finding.rule)
    };
    let errors = repo.problems.iter().filter(is_failure);
    errors.filter(|finding| concerns(finding)).cloned().collect()
}

/// Prints notes on the result: several clusters, appliers that were not built, masked and unknown values.
fn print_notes(deliveries: &[Delivery<'_>], secrets: Secrets, streams: &mut Streams) {
    let receivers: Vec<String> = deliveries.iter().map(|delivery| delivery.receiver.to_string()).collect();
    if receivers.len() > 1 {
        let message = format!(
            "the output contains the objects of {} clusters: {}",
            receivers.len(),
            one_line(&join_names(&receivers))
        );
        streams.message(format_args!("{message}; pass `--cluster NAME` to print one cluster"));
    }
    let mut reasons: BTreeMap<&NotBuiltReason, BTreeSet<String>> = BTreeMap::new();
    let (mut masked, mut unknown) = (0, 0);
    let appliers = deliveries.iter().flat_map(|delivery| &delivery.groups);
    for group in appliers {
        if let State::NotBuilt(why) = &group.applier.state {
            reasons.entry(why).or_default().insert(group.applier.reference.to_string());
        }
        masked += group.objects.iter().filter(|applied| is_secret(applied)).count();
        unknown += group.objects.iter().filter(|applied| is_unknown(&applied.object.node)).count();
    }
    for (why, names) in reasons {
        let what = match names.first() {
            Some(name) if names.len() == 1 => name.clone(),
            _ => format!("{} appliers", names.len()),
        };
        let help =
            if matches!(why, NotBuiltReason::NoCopy(_)) { "; pass a local copy with `--source URL=DIR`" } else { "" };
        streams.message(one_line(&format!("not built: {what}: {why}{help}")));
    }
    if masked > 0 && secrets == Secrets::Masked {
        let what = counted(masked, "Secret");
        streams.message(format_args!("the values of {what} are masked; use `--show-secrets` to print them"));
    }
    if unknown > 0 {
        let what = counted(unknown, "object");
        streams.message(format_args!("the unknown values of {what} are shown as `${{NAME}}` or `ENC[…]`"));
    }
}

fn is_secret(applied: &Applied<'_>) -> bool {
    let has = |field: &str| applied.object.node.get(field).is_some_and(|values| !values.entries().is_empty());
    applied.object.is("", "Secret") && (has("data") || has("stringData"))
}

fn is_unknown(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(_, style) => *style == Style::Unknown,
        Value::Seq(items) => items.iter().any(is_unknown),
        Value::Map(entries) => entries.iter().any(|entry| is_unknown(&entry.node)),
    }
}

/// Returns the clusters of receivers in order, without duplicates.
pub(super) fn clusters_of<'a>(receivers: &[Receiver<'a>]) -> Vec<&'a crate::flux::Cluster> {
    let mut clusters: Vec<&crate::flux::Cluster> = Vec::new();
    for receiver in receivers {
        if clusters.last().is_none_or(|last| last.name != receiver.cluster.name) {
            clusters.push(receiver.cluster);
        }
    }
    clusters
}
