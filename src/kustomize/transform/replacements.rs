//! `replacements`: values copied from one object into fields of others.

use std::sync::Arc;

use crate::base::finding::Finding;
use crate::kustomize::file::files::Files;
use crate::kustomize::objects::resources::{Id, Resource, Resources};
use crate::kustomize::objects::selector::{Target, Unreadable};
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Partial;
use crate::kustomize::text::field_change::{Change, Shape};
use crate::kustomize::text::field_path::{look_up, split};
use crate::kustomize::text::retype::{Retyped, retype};
use crate::kustomize::text::{growth, structured};
use crate::text::{Index, Span};
use crate::yaml::{ChangedBy, Node, Origin, Style, Value, ValueChange};

/// Carries out the entries of `replacements` in order; those that name a file stand for what it holds.
pub(crate) fn apply(files: &Files, folder: &str, entries: &[Node], partial: &mut Partial) {
    let mut all = Vec::new();
    for entry in entries {
        match entry.get("path").filter(|path| path.text().is_some_and(|text| !text.is_empty())) {
            None => all.push(entry.clone()),
            Some(path) if entry.get("source").is_some() || entry.get("targets").is_some() => {
                let message = "a replacement has both `path` and what the file would say";
                partial.fail(Finding::error(FAILED_BUILD, path.span().clone(), message).help("keep one of the two"));
            }
            Some(path) => all.extend(read_file(files, folder, path, partial)),
        }
    }
    if all.is_empty() {
        return;
    }
    let mut places = Places::of(&partial.resources);
    for replacement in &all {
        if let Err(fault) = apply_one(replacement, &mut places, partial) {
            match fault {
                // What it needs may be made by something that was not done.
                Fault::Missing(_) if partial.uncertain => {}
                Fault::Missing(finding) | Fault::Wrong(finding) => partial.fail(*finding),
            }
        }
    }
}

fn read_file(files: &Files, folder: &str, path: &Node, partial: &mut Partial) -> Vec<Node> {
    let text = path.text().unwrap_or_default();
    let parsed = match files.read_named(folder, path) {
        Ok(parsed) => parsed,
        Err(finding) => {
            partial.fail(finding);
            return Vec::new();
        }
    };
    parsed.findings.iter().cloned().for_each(|finding| partial.fail(finding));
    match parsed.documents.first().map(|document| &document.node) {
        Some(node) if node.is_seq() => node.items().to_vec(),
        Some(node) if node.is_map() => vec![node.clone()],
        _ => {
            let message = format!("`{text}` holds neither a replacement nor a list of them");
            partial.fail(Finding::error(FAILED_BUILD, path.span().clone(), message));
            Vec::new()
        }
    }
}

enum Fault {
    /// Something is not there.
    Missing(Box<Finding>),
    /// It is wrong whatever the objects are.
    Wrong(Box<Finding>),
}

impl From<Unreadable> for Fault {
    fn from(unreadable: Unreadable) -> Self {
        wrong(unreadable.node.span(), unreadable.message)
    }
}

fn wrong(at: &Span, message: impl Into<String>) -> Fault {
    Fault::Wrong(Box::new(Finding::error(FAILED_BUILD, at.clone(), message)))
}

fn missing(at: &Span, message: impl Into<String>) -> Fault {
    Fault::Missing(Box::new(Finding::error(FAILED_BUILD, at.clone(), message)))
}

/// Where objects stand, by the names and kinds they have and had.
struct Places {
    by_name: Index<Arc<str>, Vec<usize>>,
    by_kind: Index<Arc<str>, Vec<usize>>,
    all: Vec<usize>,
}

impl Places {
    fn of(resources: &Resources) -> Self {
        let all = (0..resources.list.len()).collect();
        let mut places = Self { by_name: Index::default(), by_kind: Index::default(), all };
        for (position, resource) in resources.list.iter().enumerate() {
            places.add(position, resource);
        }
        places
    }

    fn add(&mut self, position: usize, resource: &Resource) {
        for id in resource.previous().chain([resource.id.clone()]) {
            for positions in [self.by_name.entry(id.name.clone()), self.by_kind.entry(id.kind.clone())] {
                if let Err(at) = positions.binary_search(&position) {
                    positions.insert(at, position);
                }
            }
        }
    }

    /// The objects that can have a name and a kind, where they are known, in order.
    fn candidates(&self, name: Option<&str>, kind: Option<&str>) -> &[usize] {
        match (name, kind) {
            (Some(name), _) => self.by_name.get(name).map_or(&[], Vec::as_slice),
            (None, Some(kind)) => self.by_kind.get(kind).map_or(&[], Vec::as_slice),
            (None, None) => &self.all,
        }
    }
}

/// What is written, and where it came from.
struct Replaced {
    value: Node,
    source: Span,
}

fn apply_one(replacement: &Node, places: &mut Places, partial: &mut Partial) -> Result<(), Fault> {
    let said = |field: &str| replacement.get(field).filter(|node| !node.is_null());
    let (source, fixed) = (said("source"), said("sourceValue"));
    let targets = said("targets").filter(|targets| !targets.items().is_empty());
    let (Some(given), Some(targets)) = (source.or(fixed), targets) else {
        return Err(wrong(replacement.span(), "a replacement needs a `source`, or a `sourceValue`, and `targets`"));
    };
    let replaced = match (source, fixed) {
        (Some(_), Some(fixed)) => return Err(wrong(fixed.span(), "a replacement has both `source` and `sourceValue`")),
        (None, Some(fixed)) => Replaced { value: fixed.clone(), source: fixed.span().clone() },
        _ => find_source(given, places, &partial.resources)?,
    };
    targets.items().iter().try_for_each(|target| write_to(target, &replaced, places, partial))
}

fn text_of<'a>(node: &'a Node, field: &str) -> Option<&'a str> {
    node.get(field).filter(|node| !node.is_null()).and_then(Node::text).filter(|text| !text.is_empty())
}

fn find_source(source: &Node, places: &Places, resources: &Resources) -> Result<Replaced, Fault> {
    let (name, kind) = (text_of(source, "name"), text_of(source, "kind"));
    let wanted = Wanted { name, kind, group: text_of(source, "group"), version: text_of(source, "version") };
    let namespace = text_of(source, "namespace").map(|namespace| wanted.effective(namespace));
    let selected = |position: &usize| {
        let resource = resources.list.get(*position).filter(|resource| !resource.node.is_null())?;
        let mut ids = std::iter::once(resource.id.clone()).chain(resource.previous());
        ids.any(|id| wanted.is(&id) && namespace.is_none_or(|wanted| wanted == &*id.namespace)).then_some(resource)
    };
    let mut found = places.candidates(name, kind).iter().filter_map(selected);
    let Some(resource) = found.next() else {
        return Err(missing(source.span(), format!("this replacement's source is no object: there is no {wanted}")));
    };
    if let Some(second) = found.next() {
        let finding =
            Finding::error(FAILED_BUILD, source.span().clone(), format!("several objects are {wanted}; one is needed"))
                .related(resource.node.span().clone(), "one")
                .related(second.node.span().clone(), "another")
                .help("say more of `group`, `version`, `kind`, `name` and `namespace`");
        return Err(Fault::Missing(Box::new(finding)));
    }
    let path = source.get("fieldPath").filter(|path| path.text().is_some_and(|text| !text.is_empty()));
    let text = path.and_then(Node::text).unwrap_or("metadata.name");
    let at = path.unwrap_or(source).span();
    let value = look_up(&resource.node, &split(text)).map_err(|message| missing(at, message))?;
    let empty = |node: &Node| {
        node.is_null() || (node.is_map() && node.entries().is_empty()) || (node.is_seq() && node.items().is_empty())
    };
    let Some(value) = value.filter(|value| !empty(value)) else {
        let message = format!("`{text}` is missing in {} `{}`", resource.id.kind, resource.id.name);
        return Err(missing(at, message));
    };
    refine(source, value)
}

/// The identity that a source asks for; what it does not say matches anything.
struct Wanted<'a> {
    group: Option<&'a str>,
    version: Option<&'a str>,
    kind: Option<&'a str>,
    name: Option<&'a str>,
}

impl Wanted<'_> {
    fn is(&self, id: &Id) -> bool {
        let same = |wanted: Option<&str>, is: &str| wanted.is_none_or(|wanted| wanted == is);
        same(self.group, &id.group)
            && same(self.version, &id.version)
            && same(self.kind, &id.kind)
            && same(self.name, &id.name)
    }

    /// The namespace to compare with: an object of a kind without namespaces has none, whatever is asked for.
    fn effective<'a>(&self, namespace: &'a str) -> &'a str {
        let said = Option::unwrap_or_default;
        let scoped =
            crate::kustomize::text::scope::is_cluster_scoped(said(self.group), said(self.version), said(self.kind));
        if scoped { "_non_namespaceable_" } else { namespace }
    }
}

impl std::fmt::Display for Wanted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.kind, self.name) {
            (Some(kind), Some(name)) => write!(f, "{kind} `{name}`"),
            (Some(kind), None) => write!(f, "{kind}"),
            (None, Some(name)) => write!(f, "object `{name}`"),
            (None, None) => write!(f, "object of that kind"),
        }
    }
}

/// The delimiter and the index of `options`.
fn delimiter(options: Option<&Node>) -> Result<Option<(&str, i64)>, Fault> {
    let Some(options) = options else { return Ok(None) };
    let index = match options.get("index").filter(|index| !index.is_null()) {
        None => 0,
        Some(index) => index
            .text()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| wrong(index.span(), "`index` is a whole number"))?,
    };
    Ok(text_of(options, "delimiter").map(|delimiter| (delimiter, index)))
}

fn refine(source: &Node, value: &Node) -> Result<Replaced, Fault> {
    let replaced = |value: Node| Replaced { source: value.span().clone(), value };
    let options = source.get("options");
    let Some((delimiter, index)) = delimiter(options)? else { return Ok(replaced(value.clone())) };
    let at = options.unwrap_or(source).span();
    let Some(text) = value.text() else {
        return Err(missing(at, "`delimiter` needs a single value, and the source is a list or a mapping"));
    };
    let piece = usize::try_from(index).ok().and_then(|index| text.split(delimiter).nth(index));
    let Some(piece) = piece else {
        return Err(missing(at, format!("`{text}` has no part {index} between `{delimiter}`")));
    };
    let style = match retype(value, piece, false) {
        Retyped::As(style) => style,
        Retyped::Clash(_) => Style::Double,
    };
    Ok(replaced(Node { value: Value::Scalar(piece.into(), style), origin: value.origin.clone() }))
}

/// A target as it is written: where it selects objects and which fields of them.
struct Writing<'a> {
    replaced: &'a Replaced,
    delimiter: Option<(&'a str, i64)>,
    create: bool,
    /// The field paths and their places.
    paths: Vec<(Vec<String>, Span)>,
}

fn write_to(target: &Node, replaced: &Replaced, places: &mut Places, partial: &mut Partial) -> Result<(), Fault> {
    let Some(select) = target.get("select").filter(|select| !select.is_null()) else {
        return Err(wrong(target.span(), "a target of a replacement says in `select` which objects it is for"));
    };
    let selector = Target::read(select)?;
    let rejects = target.get("reject").map_or(&[][..], Node::items).iter().filter(|node| !node.is_null());
    let rejects = rejects.map(Target::read).collect::<Result<Vec<_>, _>>()?;
    let options = target.get("options").filter(|options| !options.is_null());
    let written = target.get("fieldPaths").map_or(&[][..], Node::items);
    let mut paths: Vec<_> =
        written.iter().filter_map(|path| Some((split(path.text()?), path.span().clone()))).collect();
    if paths.is_empty() {
        paths.push((split("metadata.name"), select.span().clone()));
    }
    let create = options.and_then(|options| options.get("create")).and_then(Node::text) == Some("true");
    let writing = Writing { replaced, delimiter: delimiter(options)?, create, paths };
    let candidates = places.candidates(selector.literal_name(), selector.literal_kind()).to_vec();
    for position in candidates {
        let Some(resource) = partial.resources.list.get_mut(position).filter(|one| !one.node.is_null()) else {
            continue;
        };
        if !selects(&selector, &rejects, resource) {
            continue;
        }
        let changed = writing.apply(resource)?;
        let id = resource.id.clone();
        resource.replace(changed);
        if resource.id != id {
            places.add(position, resource);
        }
    }
    Ok(())
}

fn selects(selector: &Target, rejects: &[Target], resource: &Resource) -> bool {
    let namespace = resource.node.at_keys(&["metadata", "namespace"]).and_then(Node::text).unwrap_or_default();
    // The current namespace is compared as written, former ones as kustomize notes them.
    let any = |target: &Target| {
        target.selects_id(&resource.id, namespace)
            || resource.previous().any(|id| target.selects_id(&id, &id.namespace))
    };
    let rejected = |reject: &Target| {
        (reject.has_metadata() && reject.selects_metadata(&resource.node)) || (reject.has_id() && any(reject))
    };
    selector.selects_metadata(&resource.node) && !rejects.iter().any(rejected) && any(selector)
}

impl Writing<'_> {
    fn apply(&self, resource: &Resource) -> Result<Node, Fault> {
        let mut node = resource.node.clone();
        for (path, at) in &self.paths {
            let value = &self.replaced.value;
            if let Some(written) = structured::write(&node, path, value, self.create, at) {
                node = written;
                continue;
            }
            let set = |old: &Node, made: bool| self.set(old, made, at);
            let create = self.create.then(|| Shape::of(value));
            let change = Change { create, span: at, set: &set };
            let shown = path.join(".");
            let fault = |message: String| {
                let finding = Finding::error(FAILED_BUILD, at.clone(), message)
                    .related(resource.node.span().clone(), "this object");
                Fault::Missing(Box::new(finding))
            };
            let object = format!("{} `{}`", resource.id.kind, resource.id.name);
            match change.apply(&node, path) {
                Ok(Some(changed)) => {
                    let refused = |message| fault(format!("`{shown}` cannot be replaced in {object}: {message}"));
                    growth::check_copy(&changed, value).map_err(refused)?;
                    node = changed;
                }
                Ok(None) => return Err(fault(format!("there is no field `{shown}` in {object}"))),
                Err(message) => return Err(fault(format!("`{shown}` cannot be replaced in {object}: {message}"))),
            }
        }
        Ok(node)
    }

    fn set(&self, old: &Node, made: bool, at: &Span) -> Result<Node, String> {
        let value = &self.replaced.value;
        let new = match (old.text(), self.delimiter) {
            (None, Some(_)) => return Err("`delimiter` needs a single value".into()),
            (None, None) => value.value.clone(),
            (Some(before), delimiter) => {
                let text = match delimiter {
                    Some((delimiter, index)) => inserted(before, delimiter, index, value.text().unwrap_or_default()),
                    None => value.text().unwrap_or_default().to_string(),
                };
                growth::check_text(&text)?;
                match retype(old, &text, made) {
                    Retyped::As(style) => Value::Scalar(text.into(), style),
                    Retyped::Clash(tag) => return Err(format!("`{text}` does not have the type `{tag}` of the field")),
                }
            }
        };
        let via = |by: &Span, was: Origin| {
            Origin::Via(Arc::new(ValueChange::new(ChangedBy::Field(by.clone()), Some(was), Box::default())))
        };
        // The source's place stays between the old one and the replacement's.
        Ok(Node { value: new, origin: via(at, via(&self.replaced.source, old.origin.clone())) })
    }
}

/// The text with one of its parts replaced, or with one more before or behind them.
fn inserted(text: &str, delimiter: &str, index: i64, value: &str) -> String {
    let mut parts: Vec<&str> = text.split(delimiter).collect();
    match usize::try_from(index) {
        Err(_) => parts.insert(0, value),
        Ok(index) => match parts.get_mut(index) {
            Some(part) => *part = value,
            None => parts.push(value),
        },
    }
    parts.join(delimiter)
}

#[cfg(test)]
mod tests {
    use crate::kustomize::build;
    use crate::text::File;
    use crate::text::Tree;
    use crate::yaml::Origin;

    #[test]
    fn a_replaced_value_remembers_the_replacement_the_source_and_what_it_was() {
        let replacement = "resources: [a.yaml]\nreplacements:\n  - source: {name: a, fieldPath: data.from}\n    targets:\n      - select: {name: a}\n        fieldPaths: [data.to]\n";
        let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  from: new\n  to: old\n";
        let tree: Tree =
            [File::new("kustomization.yaml", replacement), File::new("a.yaml", object)].into_iter().collect();
        let build = build(&tree, "");
        assert!(build.findings.is_empty(), "{:?}", build.findings);
        let value = build.objects[0].node.at_keys(&["data", "to"]).unwrap();
        let mut places = Vec::new();
        let mut origin = Some(&value.origin);
        while let Some(now) = origin {
            places.push(now.span().text().to_string());
            origin = match now {
                Origin::Via(step) => step.previous.as_ref(),
                Origin::At(_) => None,
            };
        }
        assert_eq!((value.text(), places), (Some("new"), vec!["data.to".into(), "new".into(), "old".into()]));
    }
}
