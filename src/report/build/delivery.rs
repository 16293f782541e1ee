//! The objects of a receiver, and how an applier and its objects are shown.

use crate::flux::{Applier, ApplierKind, Group, Receiver, State};
use crate::report::mask::{Masks, conceal};
use crate::report::printable::printable;
use crate::yaml::Node;
use std::fmt::Write as _;

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

pub(super) fn shown(node: &Node, secrets: Secrets, masks: &mut Masks) -> Node {
    match secrets {
        Secrets::Masked => conceal(node, masks),
        Secrets::Shown => node.clone(),
    }
}

/// An applier in a line: what it is, what it applies, and how that went.
pub(super) fn describe(group: &Group<'_>) -> String {
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
