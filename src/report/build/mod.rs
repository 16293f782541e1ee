//! What clusters receive: manifests for people and for `kubectl apply`, or JSON with provenance.

mod json;
mod yaml;

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::flux::{Applier, ApplierKind, Group, Receiver, State};
use crate::yaml::Node;

use super::mask::{Masks, conceal};
use super::text::printable;

pub use json::schema;

/// What a receiver gets, by applier.
#[derive(Debug)]
pub struct Delivery<'a> {
    /// Who receives.
    pub receiver: Receiver<'a>,
    /// What, by applier.
    pub groups: Vec<Group<'a>>,
}

/// Whether the values of Secrets are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// They are masked.
    Masked,
    /// They are shown.
    Shown,
}

/// A way to write what clusters receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildFormat {
    /// Manifests, with a comment for each applier.
    Yaml,
    /// One JSON document with the provenance of each field.
    Json,
}

/// Writes deliveries.
pub fn write(
    deliveries: &[Delivery<'_>],
    format: BuildFormat,
    secrets: Secrets,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        BuildFormat::Yaml => yaml::write(deliveries, secrets, out),
        BuildFormat::Json => json::write(deliveries, secrets, out),
    }
}

fn shown(node: &Node, secrets: Secrets, masks: &mut Masks) -> Node {
    match secrets {
        Secrets::Masked => conceal(node, masks),
        Secrets::Shown => node.clone(),
    }
}

/// An applier in a line: what it is, what it applies, and how that went.
fn describe(group: &Group<'_>) -> String {
    let Applier { kind, reference, source, folder, state, .. } = &**group.applier;
    let name = match &reference.namespace {
        Some(namespace) => format!("{} {namespace}/{}", reference.kind, reference.name),
        None => format!("{} {}", reference.kind, reference.name),
    };
    let place = if folder.is_empty() { "." } else { folder };
    let mut line = match (kind, source) {
        (ApplierKind::Folder, _) => format!("folder {place}"),
        (ApplierKind::Bootstrap, _) => format!("installed by hand, with {name}"),
        (_, Some(source)) => {
            let namespace = source.namespace.as_ref().filter(|own| Some(*own) != reference.namespace.as_ref());
            let namespace = namespace.map(|namespace| format!("{namespace}/")).unwrap_or_default();
            format!("{name}: {place} of {} {namespace}{}", source.kind, source.name)
        }
        (_, None) => name,
    };
    if group.applier.is_suspended() {
        line.push_str(" (suspended)");
    }
    match state {
        State::Failed => line.push_str(" (does not build)"),
        State::NotBuilt(why) => drop(write!(line, " (not built: {why})")),
        State::Built if group.objects.is_empty() && *kind != ApplierKind::Bootstrap => line.push_str(" (nothing)"),
        State::Built => {}
    }
    printable(&line).replace(['\n', '\t'], " ")
}
