//! `build`: a repository → the objects that its clusters receive.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::error::Error;
use super::exit::Exit;
use super::judge;
use super::repository::{Options, listed};
use super::streams::Streams;
use crate::base::finding::{Finding, Severity, did_you_mean};
use crate::flux::{
    Applied, ApplierKind, ApplyMode, NotBuiltReason, Receiver, Repo, SHELL_VARIABLE_SUBSTITUTED, State,
    UNDEFINED_VARIABLE,
};
use crate::report::build::{BuildFormat, Delivery, Secrets, write};
use crate::report::{counted, printable};
use crate::yaml::{Node, Style, Value};

/// Prints the objects that clusters receive, grouped by what applies them.
///
/// The values of Secrets are masked. What is not known, such as a variable that a Secret holds, is shown as the variable;
/// a name that ends in a hash of what is decrypted first, as `login-xxxxxxxxxx`.
///
/// What Flux adds while it applies is not shown, since no line of the repository says it: the labels by which each
/// applier knows its own objects (`kustomize.toolkit.fluxcd.io/name`, `resourceset.fluxcd.controlplane.io/name`, each with
/// a `namespace` beside it), and checksums of what it copied. What annotations keep Flux from applying is left out.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright build --cluster staging                   what one cluster receives\n",
    "  fleetwright build --kustomization flux-system/apps    what one Kustomization applies\n",
    "  fleetwright build --source https://github.com/acme/apps.git=../apps\n",
    "                                                        with a copy of another repository\n",
    "  fleetwright build --format json                       with the file and line of each field\n\n",
    "Exit codes:\n",
    "  0  built\n",
    "  1  something does not build; the findings say why\n",
    "  2  the work could not be done: no such folder, cluster or Kustomization",
))]
pub(super) struct Args {
    /// The folder of the repository.
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// What this Kustomization applies alone.
    #[arg(long, value_name = "NAMESPACE/NAME")]
    kustomization: Option<String>,
    /// How it is printed.
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
    /// With the provenance of each field.
    Json,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let repository = args.options.open(&args.dir, streams)?;
    let repo = repository.load();
    let receivers = args.options.receivers(&repo.clusters)?;
    let mut deliveries: Vec<Delivery<'_>> =
        receivers.into_iter().map(|receiver| Delivery { groups: receiver.groups(), receiver }).collect();
    if let Some(name) = &args.kustomization {
        narrow(&mut deliveries, name)?;
    }
    let ignored = leave_out_ignored(&mut deliveries);
    let format = match args.format {
        Format::Yaml => BuildFormat::Yaml,
        Format::Json => BuildFormat::Json,
    };
    let secrets = if args.show_secrets { Secrets::Shown } else { Secrets::Masked };
    streams.write(|out| write(&deliveries, format, secrets, out))?;
    let scope = if args.kustomization.is_some() { Scope::Kustomization } else { Scope::Cluster };
    let findings = failures(&repo, &deliveries, scope);
    let failed = !findings.is_empty();
    judge::show(findings, &repository.shown, streams)?;
    say(&deliveries, secrets, streams);
    if ignored > 0 {
        let what = counted(ignored, "object");
        streams.say(format_args!("left out: {what} whose annotations or labels keep Flux from applying them"));
    }
    Ok(if failed { Exit::Found } else { Exit::Clean })
}

/// Leaves what one Kustomization applies.
fn narrow(deliveries: &mut Vec<Delivery<'_>>, name: &str) -> Result<(), Error> {
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
        _ if names.is_empty() => "no Kustomization reaches a cluster here".to_owned(),
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there are {}", listed(&names)),
    };
    Err(Error::said(format!("there is no Kustomization `{name}`"), help))
}

/// Leaves out what Flux does not apply, and tells how much that is.
fn leave_out_ignored(deliveries: &mut [Delivery<'_>]) -> usize {
    let mut ignored = 0;
    for group in deliveries.iter_mut().flat_map(|delivery| &mut delivery.groups) {
        let all = group.objects.len();
        group.objects.retain(|applied| applied.apply_mode() != ApplyMode::Ignored);
        ignored += all - group.objects.len();
    }
    ignored
}

/// What of a cluster is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// All of it.
    Cluster,
    /// What one Kustomization applies.
    Kustomization,
}

/// What does not build, of that which is printed.
fn failures(repo: &Repo, deliveries: &[Delivery<'_>], scope: Scope) -> Vec<Finding> {
    let mut clusters: BTreeSet<&str> = BTreeSet::new();
    // What is wrong with a cluster as a whole is in the state of none of its appliers.
    let mut whole: BTreeSet<&str> = BTreeSet::new();
    for Delivery { receiver, groups } in deliveries {
        let failed = |state: &State| *state == State::Failed;
        if scope == Scope::Cluster && receiver.target.is_none() {
            whole.insert(&receiver.cluster.name);
        }
        // A folder of a repository without a root has no state of its own.
        let is_rootless = receiver.cluster.name.is_empty();
        if is_rootless || groups.iter().any(|group| failed(&group.applier.state)) {
            clusters.insert(&receiver.cluster.name);
        }
    }
    let concerns = |finding: &Finding| match finding.clusters.as_slice() {
        [] => !clusters.is_empty(),
        names => names.iter().any(|name| clusters.contains(&**name) || whole.contains(&**name)),
    };
    // Where nothing says which Flux runs, an undefined variable is a warning, and the build is that of a Flux that fails.
    let is_failure = |finding: &&Finding| {
        finding.severity == Severity::Error || [UNDEFINED_VARIABLE, SHELL_VARIABLE_SUBSTITUTED].contains(&finding.rule)
    };
    let errors = repo.problems.iter().filter(is_failure);
    errors.filter(|finding| concerns(finding)).cloned().collect()
}

/// Says what the result does not: for whom it is, what was not built, what is masked or not known.
fn say(deliveries: &[Delivery<'_>], secrets: Secrets, streams: &mut Streams) {
    let receivers: Vec<String> = deliveries.iter().map(|delivery| delivery.receiver.to_string()).collect();
    if receivers.len() > 1 {
        let message = format!("these are {} clusters: {}", receivers.len(), printable(&listed(&receivers)));
        streams.say(format_args!("{message}; `--cluster NAME` prints one"));
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
            if matches!(why, NotBuiltReason::NoCopy(_)) { "; `--source URL=DIR` says where one lies" } else { "" };
        streams.say(printable(&format!("not built: {what}: {why}{help}")));
    }
    if masked > 0 && secrets == Secrets::Masked {
        let what = counted(masked, "Secret");
        streams.say(format_args!("the values of {what} are masked; `--show-secrets` prints them"));
    }
    if unknown > 0 {
        let what = counted(unknown, "object");
        streams.say(format_args!(
            "{what} with values that nobody can know here: they are shown as `${{NAME}}` or `ENC[…]`"
        ));
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

/// The clusters of receivers, each once, in their order.
pub(super) fn clusters_of<'a>(receivers: &[Receiver<'a>]) -> Vec<&'a crate::flux::Cluster> {
    let mut clusters: Vec<&crate::flux::Cluster> = Vec::new();
    for receiver in receivers {
        if clusters.last().is_none_or(|last| last.name != receiver.cluster.name) {
            clusters.push(receiver.cluster);
        }
    }
    clusters
}
