//! The objects of a receiver, and the display of appliers and objects.

use crate::flux::{ApplierFields, ApplierKind, Group, Receiver, State};
use crate::report::mask::{Masks, mask_object};
use crate::report::printable::one_line;
use crate::yaml::Node;
use std::fmt::Write as _;

/// The objects of one receiver.
#[derive(Debug)]
pub struct Delivery<'a> {
    /// The receiver.
    pub receiver: Receiver<'a>,
    /// The objects, grouped by applier.
    pub groups: Vec<Group<'a>>,
}

/// The display of Secret values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// Values are masked.
    Masked,
    /// Values are printed.
    Shown,
}

pub(super) fn for_display(node: &Node, secrets: Secrets, masks: &mut Masks) -> Node {
    match secrets {
        Secrets::Masked => mask_object(node, masks),
        Secrets::Shown => node.clone(),
    }
}

/// Describes an applier in one line: its identity, its directory, its source and its state.
pub(super) fn describe(group: &Group<'_>) -> String {
    let applier = group.applier;
    let ApplierFields { kind, reference, source, folder, .. } = &***applier;
    let name = match &reference.namespace {
        Some(namespace) => format!("{} {namespace}/{}", reference.kind, reference.name),
        None => format!("{} {}", reference.kind, reference.name),
    };
    let place = if folder.is_empty() { "." } else { folder };
    let mut line = match (kind, source) {
        (ApplierKind::Folder, _) => format!("directory {place}"),
        (ApplierKind::Bootstrap, _) => format!("installed by bootstrap, with {name}"),
        (_, Some(source)) => {
            let namespace = source.namespace.as_ref().filter(|own| Some(*own) != reference.namespace.as_ref());
            let namespace = namespace.map(|namespace| format!("{namespace}/")).unwrap_or_default();
            format!("{name}: {place} of {} {namespace}{}", source.kind, source.name)
        }
        (_, None) => name,
    };
    if applier.is_suspended() {
        line.push_str(" (suspended)");
    }
    match &applier.state {
        State::Failed => line.push_str(" (build failed)"),
        State::NotBuilt(why) => drop(write!(line, " (not built: {why})")),
        State::Built if group.objects.is_empty() && *kind != ApplierKind::Bootstrap => line.push_str(" (no objects)"),
        State::Built => {}
    }
    one_line(&line)
}
