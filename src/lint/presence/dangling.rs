//! References to missing objects, grouped by the missing object, since all references to one object have one cause.

use std::collections::{BTreeMap, BTreeSet};

use super::missing::MissingSearch;
use super::missing_object::Missing;
use crate::base::finding::{Finding, Fix, Part};
use crate::flux::Applied;
use crate::kube::{Object, ObjectId};
use crate::lint::findings::Findings;
use crate::lint::refs::reference::Reference;
use crate::text::Span;
use crate::yaml::Node;

/// The maximum number of further users that a finding lists.
const MAX_LISTED: usize = 5;

/// The references of objects to other objects.
#[derive(Default)]
pub(crate) struct References<'a> {
    by_target: BTreeMap<ObjectId<'a>, Vec<(Applied<'a>, &'a Node)>>,
}

/// A missing object with its users.
pub(crate) struct Dangling<'a> {
    /// The missing object.
    pub(crate) target: ObjectId<'a>,
    /// The result of the search.
    pub(crate) missing: Missing<'a>,
    /// The users, each with its reference; there is at least one.
    users: Vec<(Applied<'a>, &'a Node)>,
}

impl<'a> References<'a> {
    /// Adds the references of an object.
    pub(crate) fn add(&mut self, user: Applied<'a>, references: impl IntoIterator<Item = Reference<'a>>) {
        for Reference { node, target } in references {
            self.by_target.entry(target).or_default().push((user, node));
        }
    }

    /// The referenced objects that are certainly missing.
    ///
    /// Flux applies the users of an object even if the object does not exist.
    pub(crate) fn dangling(self, search: &mut MissingSearch<'_, 'a>, found: &mut Findings) -> Vec<Dangling<'a>> {
        let mut all = Vec::new();
        for (target, users) in &self.by_target {
            let Some(missing) = search.missing(*target, None, found) else { continue };
            let Some((first, _)) = users.first() else { continue };
            let is_first = |(user, _): &(Applied<'_>, &Node)| std::ptr::eq(user.object, first.object);
            let references = |near: ObjectId<'_>| self.by_target.get(&near).is_some_and(|of| of.iter().any(is_first));
            let missing = missing.for_references(first.object, references);
            all.push(Dangling { target: *target, missing, users: users.clone() });
        }
        all
    }
}

impl Dangling<'_> {
    /// The objects that reference the missing object.
    pub(crate) fn users(&self) -> impl Iterator<Item = &Object> {
        self.users.iter().map(|(user, _)| user.object)
    }

    /// The finding at the first reference, with some of the others as related positions.
    ///
    /// `verb` is the use of the object in the message. `otherwise` is the help if no similar object exists.
    pub(crate) fn finding(&self, rule: &'static str, verb: &str, otherwise: &str) -> Finding {
        let Self { target, missing, users } = self;
        let (first, node) = users[0];
        let by = first.object.reference();
        // One object may reference the missing object several times.
        let objects: BTreeSet<ObjectId<'_>> = users.iter().map(|(user, _)| ObjectId::of(user.object)).collect();
        let others = match objects.len() - 1 {
            0 => String::new(),
            1 => " (and one other object)".to_owned(),
            others => format!(" (and {others} other objects)"),
        };
        let message = format!("{by}{others} {verb} {target}, which the cluster does not receive");
        let finding = Finding::error(rule, first.by.place(node.span()), message).about(by);
        let fixes = users.iter().map(|(user, node)| Some(missing.fix(node)?.moved(|span| user.by.place(span))));
        let fix = fixes.collect::<Option<Vec<Fix>>>().and_then(Fix::join);
        let part = |(user, node): &(Applied<'_>, &Node)| Part {
            span: user.by.place(node.span()),
            object: Some(user.object.reference()),
            fault: target.to_string(),
        };
        let finding = missing.explain_to(&first, finding, otherwise).fixed_by(fix).with_parts(users.iter().map(part));
        // Several appliers may apply the same file.
        let at = first.by.place(node.span());
        let others =
            users.iter().map(|(user, node)| (user, user.by.place(node.span()))).filter(|(_, span)| *span != at);
        let mut labels: Vec<(Span, String)> = Vec::new();
        for (user, span) in others {
            let label = (span, format!("also referenced by {}", user.object.reference()));
            if labels.len() < MAX_LISTED && !labels.contains(&label) {
                labels.push(label);
            }
        }
        labels.into_iter().fold(finding, |finding, (span, label)| finding.related(span, label))
    }
}
