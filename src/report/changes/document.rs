//! The document that all formats print. Its values are masked.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::finding::ObjectRef;
use crate::changes::{Change, Changes, FieldChange, RightsChange, Unbuilt, What};
use crate::kube::Object;
use crate::report::mask::{Masks, mask_object};
use crate::report::printable::one_line;
use crate::report::result::display_path;
use crate::text::Span;
use crate::yaml::{Node, Path, Reader, Value, to_json};

/// The version of the document format; an incompatible change increments it.
const VERSION: u32 = 1;

/// The maximum number of characters of a value.
const MAX_VALUE: usize = 200;

/// The maximum size of the listed changes in bytes. A small repository may change many objects, and a page in HTML is
/// three times as large.
const MAX_LISTED: usize = 8 << 20;

/// The maximum size of the listed fields of one change in bytes.
const MAX_FIELDS: usize = 1 << 20;

/// The prefixes of displayed paths in each state.
#[derive(Debug, Clone, Copy)]
pub struct Roots<'a> {
    /// The prefix of paths in the earlier state.
    pub before: &'a str,
    /// The prefix of paths in the later state.
    pub after: &'a str,
}

impl Roots<'_> {
    fn of(&self, is_later: bool) -> &str {
        if is_later { self.after } else { self.before }
    }
}

/// The output of `fleetwright diff --format json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    /// The version of the format.
    version: u32,
    /// The numbers of changes.
    pub summary: Counts,
    /// The clusters that only the later state has.
    pub new_clusters: Vec<String>,
    /// The clusters that only the earlier state has.
    pub former_clusters: Vec<String>,
    /// The changes of objects, dangerous ones first.
    pub objects: Vec<ObjectChange>,
    /// The changes of the rights of service accounts.
    pub rights: Vec<AccountChange>,
    /// The appliers whose objects are not compared.
    pub not_compared: Vec<NotCompared>,
    /// The clusters whose rights of service accounts are not compared, since they are too many.
    pub uncompared_rights: Vec<String>,
    /// The files that cannot be read in one of the states.
    pub unread_files: Vec<String>,
    /// The number of changes that are not listed, since the output would be too large.
    pub not_listed: usize,
}

/// The numbers of changes.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Counts {
    /// Added objects.
    pub added: usize,
    /// Removed objects.
    pub removed: usize,
    /// Objects with another applier.
    pub moved: usize,
    /// Objects with changed fields.
    pub changed: usize,
    /// Dangerous changes: those of objects, removed clusters, and changes of the rights of service accounts.
    pub dangerous: usize,
}

/// The change of an object.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObjectChange {
    /// The object.
    pub object: ObjectRef,
    /// `added`, `removed`, `moved` or `changed`.
    pub change: &'static str,
    /// The applier; for a removed object the former one.
    pub applier: ObjectRef,
    /// The former applier of a moved object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub former_applier: Option<ObjectRef>,
    /// The file of the object.
    pub path: String,
    /// The line of the object.
    pub line: u32,
    /// The reasons why the change is dangerous.
    pub dangers: Vec<String>,
    /// Other consequences.
    pub notes: Vec<String>,
    /// The applier whose own addition or removal causes the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<ObjectRef>,
    /// The changed fields.
    pub fields: Vec<FieldRow>,
    /// The clusters with this change; empty in a repository without clusters.
    pub clusters: Vec<String>,
}

/// A change with those that follow from it.
#[derive(Debug, Serialize)]
pub(super) struct Cause<'a> {
    pub change: &'a ObjectChange,
    /// The changes that follow, in words.
    pub following: Vec<String>,
    /// Whether the change or one that follows is dangerous.
    pub is_dangerous: bool,
}

/// The change of a field.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FieldRow {
    /// The path of the field.
    pub field: String,
    /// The earlier value; missing if the field was not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The later value; missing if the field is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The file that causes the change.
    pub path: String,
    /// The line that causes the change.
    pub line: u32,
}

/// The change of the rights of an account.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AccountChange {
    /// The service account, as `namespace/name`.
    pub account: String,
    /// The gained rights.
    pub gained: Vec<String>,
    /// The lost rights.
    pub lost: Vec<String>,
    /// The clusters with this change.
    pub clusters: Vec<String>,
}

/// An applier whose objects are not compared.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NotCompared {
    /// The applier.
    pub applier: ObjectRef,
    /// The state without a build: `before` or `after`.
    pub state: &'static str,
    /// Whether its build fails.
    pub failed: bool,
    /// The reason.
    pub reason: String,
    /// The clusters.
    pub clusters: Vec<String>,
}

impl Document {
    pub(super) fn new(changes: &Changes, roots: Roots<'_>) -> Self {
        let mut masks = Masks::default();
        let dangerous = changes.former_clusters.len() + changes.rights.len();
        let mut summary = Counts { dangerous, ..Counts::default() };
        for change in &changes.objects {
            *match change.what {
                What::Added { .. } => &mut summary.added,
                What::Removed { .. } => &mut summary.removed,
                What::Moved { .. } => &mut summary.moved,
                What::Changed { .. } => &mut summary.changed,
            } += 1;
            summary.dangerous += usize::from(!change.dangers.is_empty());
        }
        // The changes of objects and of rights do not displace each other.
        let (mut room, mut room_of_rights, mut room_of_appliers) = (MAX_LISTED, MAX_LISTED / 2, MAX_LISTED / 2);
        let rights: Vec<AccountChange> =
            listed(&changes.rights, AccountChange::new, AccountChange::size, &mut room_of_rights);
        let new = |change: &Change| ObjectChange::new(change, roots, &mut masks);
        let objects: Vec<ObjectChange> = listed(&changes.objects, new, ObjectChange::size, &mut room);
        let new = |unbuilt: &Unbuilt| NotCompared::new(unbuilt, roots);
        let not_compared: Vec<NotCompared> = listed(&changes.unbuilt, new, NotCompared::size, &mut room_of_appliers);
        let all = changes.objects.len() + changes.rights.len() + changes.unbuilt.len();
        Self {
            version: VERSION,
            summary,
            new_clusters: texts(&changes.new_clusters),
            former_clusters: texts(&changes.former_clusters),
            not_listed: all - objects.len() - rights.len() - not_compared.len(),
            objects,
            rights,
            not_compared,
            uncompared_rights: texts(&changes.uncompared_rights),
            unread_files: changes.unread.iter().map(|path| one_line(path)).collect(),
        }
    }

    /// The faults of the comparison as a whole, as messages.
    pub(super) fn gaps(&self) -> Vec<String> {
        let rights = (!self.uncompared_rights.is_empty()).then(|| {
            let is_named = self.uncompared_rights.iter().all(|cluster| !cluster.is_empty());
            let on = if is_named { on_clusters(&self.uncompared_rights) } else { String::new() };
            format!("the rights of service accounts{on} are not compared, since they are too many")
        });
        let files = self.unread_files.first().map(|first| {
            let more = match self.unread_files.len() - 1 {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            format!("`{first}`{more} cannot be read in one of the states, and is not compared")
        });
        let unlisted = (self.not_listed > 0).then(|| {
            format!("{} further changes are not listed, since the output would be too large", self.not_listed)
        });
        rights.into_iter().chain(files).chain(unlisted).collect()
    }

    /// The changes that do not follow from another one, each with those that follow from it: the dangerous ones, and the
    /// others.
    pub(super) fn causes(&self) -> [Vec<Cause<'_>>; 2] {
        let key = |object: &ObjectRef, change: &ObjectChange| (object.clone(), change.change, change.clusters.clone());
        let mut followers: BTreeMap<_, Vec<&ObjectChange>> = BTreeMap::new();
        for change in &self.objects {
            if let Some(cause) = &change.follows {
                followers.entry(key(cause, change)).or_default().push(change);
            }
        }
        let causes = self.objects.iter().filter(|change| change.follows.is_none());
        let causes = causes.map(|change| {
            let following = followers.remove(&key(&change.object, change)).unwrap_or_default();
            let is_dangerous = !change.dangers.is_empty() || following.iter().any(|change| !change.dangers.is_empty());
            Cause { change, following: self::followers(change, &following), is_dangerous }
        });
        let (dangerous, others) = causes.partition(|cause| cause.is_dangerous);
        [dangerous, others]
    }

    /// The summary in one line.
    pub(super) fn summary_line(&self) -> String {
        let Counts { added, removed, moved, changed, dangerous } = self.summary;
        let counts = [(added, "added"), (removed, "removed"), (moved, "moved"), (changed, "changed")];
        let parts: Vec<String> =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, verb)| format!("{count} {verb}")).collect();
        let others = match self.not_compared.len() {
            0 => String::new(),
            1 => "; the objects of 1 applier are not compared".to_owned(),
            count => format!("; the objects of {count} appliers are not compared"),
        };
        let danger = if dangerous > 0 { format!("; {dangerous} dangerous") } else { String::new() };
        let numbers = [(self.new_clusters.len(), "new"), (self.former_clusters.len(), "removed")];
        let clusters: Vec<String> =
            numbers.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        if parts.is_empty() && !clusters.is_empty() {
            return format!("clusters: {}{danger}{others}", clusters.join(", "));
        }
        if parts.is_empty() {
            let what = if others.is_empty() { "no object changes" } else { "no changes of the compared objects" };
            return format!("{what}{others}");
        }
        format!("objects: {}{danger}{others}", parts.join(", "))
    }
}

impl ObjectChange {
    fn new(change: &Change, roots: Roots<'_>, masks: &mut Masks) -> Self {
        let (applier, former_applier) = match &change.what {
            What::Added { by } | What::Removed { by } | What::Changed { by } => (by.clone(), None),
            What::Moved { from, to } => (to.clone(), Some(from.clone())),
        };
        let mut masked = |object: &Option<Object>| object.as_ref().map(|object| mask_object(&object.node, masks));
        let (before, after) = (masked(&change.before), masked(&change.after));
        let row = |field: &FieldChange| {
            let (path, line) = place(&field.cause, roots.of(field.after.is_some()));
            FieldRow {
                field: one_line(&field.field),
                before: value(before.as_ref(), field.before.as_ref()),
                after: value(after.as_ref(), field.after.as_ref()),
                path,
                line,
            }
        };
        let mut room = MAX_FIELDS;
        let fields = listed(&change.fields, row, FieldRow::size, &mut room);
        let mut notes: Vec<String> = change.notes.iter().map(|note| one_line(note)).collect();
        if fields.len() < change.fields.len() {
            notes.push(format!("{} further fields change", change.fields.len() - fields.len()));
        }
        let (path, line) = place(&change.at, roots.of(change.after.is_some()));
        Self {
            object: change.object.clone(),
            change: change.what.verb(),
            applier,
            former_applier,
            path,
            line,
            dangers: change.dangers.iter().map(|danger| one_line(&danger.to_string())).collect(),
            notes,
            follows: change.follows.clone(),
            fields,
            clusters: texts(&change.clusters),
        }
    }

    fn size(&self) -> usize {
        let texts = self.dangers.iter().chain(&self.notes).chain(&self.clusters);
        let objects = [Some(&self.object), Some(&self.applier), self.former_applier.as_ref(), self.follows.as_ref()];
        let objects = objects.into_iter().flatten().map(size_of_object).sum::<usize>();
        size_of_texts(texts) + objects + self.path.len() + self.fields.iter().map(FieldRow::size).sum::<usize>()
    }
}

impl FieldRow {
    fn size(&self) -> usize {
        let values = [&self.before, &self.after].into_iter().flatten();
        size_of_texts(values.chain([&self.field, &self.path]))
    }
}

fn size_of_object(object: &ObjectRef) -> usize {
    object.kind.len() + object.namespace.as_deref().map_or(0, str::len) + object.name.len() + TEXT
}

/// The size of some texts in bytes, with a constant for each.
fn size_of_texts<'a>(texts: impl IntoIterator<Item = &'a String>) -> usize {
    texts.into_iter().map(|text| text.len() + TEXT).sum()
}

/// The size of the notation around a text in bytes.
const TEXT: usize = 16;

/// The first items, up to a size.
fn listed<'a, T, U>(
    all: &'a [T],
    mut new: impl FnMut(&'a T) -> U,
    size: impl Fn(&U) -> usize,
    room: &mut usize,
) -> Vec<U> {
    let mut listed = Vec::new();
    for one in all {
        let one = new(one);
        let Some(left) = room.checked_sub(size(&one)) else {
            *room = 0;
            break;
        };
        *room = left;
        listed.push(one);
    }
    listed
}

impl AccountChange {
    fn new(change: &RightsChange) -> Self {
        let lines = |all: &[String]| all.iter().map(|line| one_line(line)).collect();
        Self {
            account: one_line(&change.account),
            gained: lines(&change.gained),
            lost: lines(&change.lost),
            clusters: texts(&change.clusters),
        }
    }

    fn size(&self) -> usize {
        size_of_texts([&self.account].into_iter().chain(&self.gained).chain(&self.lost).chain(&self.clusters))
    }
}

impl NotCompared {
    fn new(unbuilt: &Unbuilt, roots: Roots<'_>) -> Self {
        Self {
            applier: unbuilt.applier.clone(),
            state: if unbuilt.is_later { "after" } else { "before" },
            failed: unbuilt.failed,
            reason: reason(unbuilt, roots),
            clusters: texts(&unbuilt.clusters),
        }
    }

    fn size(&self) -> usize {
        size_of_object(&self.applier) + size_of_texts(self.clusters.iter().chain([&self.reason]))
    }
}

/// The reason why the objects of an applier are not compared, with its place.
pub fn reason(unbuilt: &Unbuilt, roots: Roots<'_>) -> String {
    let reason = one_line(&unbuilt.reason);
    let Some(at) = &unbuilt.at else { return reason };
    let (path, line) = place(at, roots.of(unbuilt.is_later));
    format!("{path}:{line}: {reason}")
}

fn texts(names: &[crate::yaml::Name]) -> Vec<String> {
    names.iter().map(|name| one_line(name)).collect()
}

fn place(span: &Span, root: &str) -> (String, u32) {
    (one_line(&display_path(root, span.file())), span.position().line)
}

/// The value at a path of a masked object.
fn value(object: Option<&Node>, path: Option<&Path>) -> Option<String> {
    let node = path?.find(object?)?;
    let text = match &node.value {
        Value::Scalar(text, _) => text.to_string(),
        _ => to_json(node, Reader::Kustomize).to_string(),
    };
    let text = one_line(&text);
    let mut shown: String = text.chars().take(MAX_VALUE).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    Some(shown)
}

/// The objects that follow from a change, in words: each one with a further danger, the number of each other kind, and the
/// kinds with each danger that the change itself does not have.
fn followers(cause: &ObjectChange, changes: &[&ObjectChange]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut dangers: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for change in changes {
        match change.dangers.iter().find(|danger| danger.contains(": ")) {
            Some(danger) => lines.push(format!(
                "also {} {}: {}",
                change.change,
                change.object,
                danger.split_once(": ").map_or(danger.as_str(), |(_, rest)| rest)
            )),
            None => *kinds.entry(&change.object.kind).or_default() += 1,
        }
        let is_new = |danger: &&String| {
            !danger.contains(": ") && !cause.dangers.iter().any(|known| known.starts_with(danger.as_str()))
        };
        for danger in change.dangers.iter().filter(is_new) {
            *dangers.entry(danger).or_default().entry(&change.object.kind).or_default() += 1;
        }
    }
    let counted = |kinds: &BTreeMap<&str, usize>| {
        kinds.iter().map(|(kind, count)| format!("{count} × {kind}")).collect::<Vec<String>>().join(", ")
    };
    if !kinds.is_empty() {
        let verb = changes.first().map_or("changed", |change| change.change);
        lines.push(format!("also {verb}: {}", counted(&kinds)));
    }
    lines.extend(dangers.iter().map(|(danger, kinds)| format!("danger of {}: {danger}", counted(kinds))));
    lines
}

/// The danger of a change of rights.
pub(super) fn danger_of(rights: &AccountChange) -> &'static str {
    match (rights.gained.is_empty(), rights.lost.is_empty()) {
        (false, true) => "the account gains rights",
        (true, _) => "the account loses rights",
        (false, false) => "the account gains and loses rights",
    }
}

/// The clusters of a change, in words, after a space.
pub(super) fn on_clusters(clusters: &[String]) -> String {
    const SHOWN: usize = 5;
    match clusters {
        [] => String::new(),
        [one] => format!(" on cluster {one}"),
        all if all.len() <= SHOWN => format!(" on clusters {}", all.join(", ")),
        all => format!(" on {} clusters: {}, …", all.len(), all.get(..SHOWN).unwrap_or_default().join(", ")),
    }
}

/// The change of a field, in words.
pub(super) fn values(row: &FieldRow) -> (Option<&str>, Option<&str>) {
    (row.before.as_deref(), row.after.as_deref())
}
