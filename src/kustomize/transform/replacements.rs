//! `replacements`: values copied from one object into fields of others.

use std::sync::Arc;

use crate::base::finding::Finding;
use crate::kustomize::file::files::Files;
use crate::kustomize::objects::resources::{Resource, ResourceId, Resources};
use crate::kustomize::objects::selector::{Selector, SelectorError};
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Accumulator;
use crate::kustomize::text::field_change::{Change, Shape};
use crate::kustomize::text::field_path::{look_up, split};
use crate::kustomize::text::retype::{Retyped, retype};
use crate::kustomize::text::{size_limits, structured};
use crate::text::{Index, Span};
use crate::yaml::{By, Node, Origin, Step, Style, Value};

/// Carries out the entries of `replacements` in order; those that name a file stand for what it holds.
pub(crate) fn apply(files: &Files, folder: &str, entries: &[Node], accumulator: &mut Accumulator) {
    let mut all = Vec::new();
    for entry in entries {
        match entry.get("path").filter(|path| path.text().is_some_and(|text| !text.is_empty())) {
            None => all.push(entry.clone()),
            Some(path) if entry.get("source").is_some() || entry.get("targets").is_some() => {
                let message = "a replacement has both `path` and what the file would say";
                accumulator
                    .fail(Finding::error(FAILED_BUILD, path.span().clone(), message).help("keep one of the two"));
            }
            Some(path) => all.extend(read_file(files, folder, path, accumulator)),
        }
    }
    if all.is_empty() {
        return;
    }
    let mut candidate_index = CandidateIndex::new(&accumulator.resources);
    for replacement in &all {
        if let Err(error) = apply_one(replacement, &mut candidate_index, accumulator) {
            match error {
                // What it needs may be made by something that was not done.
                ReplacementError::NotFound(_) if accumulator.is_incomplete => {}
                ReplacementError::NotFound(finding) | ReplacementError::Invalid(finding) => accumulator.fail(*finding),
            }
        }
    }
}

fn read_file(files: &Files, folder: &str, path: &Node, accumulator: &mut Accumulator) -> Vec<Node> {
    let text = path.text().unwrap_or_default();
    let parsed = match files.read_named(folder, path) {
        Ok(parsed) => parsed,
        Err(finding) => {
            accumulator.fail(finding);
            return Vec::new();
        }
    };
    parsed.findings.iter().cloned().for_each(|finding| accumulator.fail(finding));
    match parsed.documents.first().map(|document| &document.node) {
        Some(node) if node.is_seq() => node.items().to_vec(),
        Some(node) if node.is_map() => vec![node.clone()],
        _ => {
            let message = format!("`{text}` holds neither a replacement nor a list of them");
            accumulator.fail(Finding::error(FAILED_BUILD, path.span().clone(), message));
            Vec::new()
        }
    }
}

enum ReplacementError {
    /// Something is not there.
    NotFound(Box<Finding>),
    /// It is wrong whatever the objects are.
    Invalid(Box<Finding>),
}

impl From<SelectorError> for ReplacementError {
    fn from(error: SelectorError) -> Self {
        invalid(error.node.span(), error.message)
    }
}

fn invalid(span: &Span, message: impl Into<String>) -> ReplacementError {
    ReplacementError::Invalid(Box::new(Finding::error(FAILED_BUILD, span.clone(), message)))
}

fn not_found(span: &Span, message: impl Into<String>) -> ReplacementError {
    ReplacementError::NotFound(Box::new(Finding::error(FAILED_BUILD, span.clone(), message)))
}

/// Where objects stand, by the names and kinds they have and had.
struct CandidateIndex {
    by_name: Index<Arc<str>, Vec<usize>>,
    by_kind: Index<Arc<str>, Vec<usize>>,
    all: Vec<usize>,
}

impl CandidateIndex {
    fn new(resources: &Resources) -> Self {
        let all = (0..resources.list.len()).collect();
        let mut candidate_index = Self { by_name: Index::default(), by_kind: Index::default(), all };
        for (position, resource) in resources.list.iter().enumerate() {
            candidate_index.add(position, resource);
        }
        candidate_index
    }

    fn add(&mut self, position: usize, resource: &Resource) {
        for id in resource.previous_ids().chain([resource.id.clone()]) {
            for positions in [self.by_name.entry(id.name.clone()), self.by_kind.entry(id.kind.clone())] {
                if let Err(index) = positions.binary_search(&position) {
                    positions.insert(index, position);
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
struct SourceValue {
    value: Node,
    source: Span,
}

fn apply_one(
    replacement: &Node,
    candidate_index: &mut CandidateIndex,
    accumulator: &mut Accumulator,
) -> Result<(), ReplacementError> {
    let field_value = |field: &str| replacement.get(field).filter(|node| !node.is_null());
    let (source, fixed) = (field_value("source"), field_value("sourceValue"));
    let targets = field_value("targets").filter(|targets| !targets.items().is_empty());
    let (Some(given), Some(targets)) = (source.or(fixed), targets) else {
        return Err(invalid(replacement.span(), "a replacement needs a `source`, or a `sourceValue`, and `targets`"));
    };
    let source_value = match (source, fixed) {
        (Some(_), Some(fixed)) => {
            return Err(invalid(fixed.span(), "a replacement has both `source` and `sourceValue`"));
        }
        (None, Some(fixed)) => SourceValue { value: fixed.clone(), source: fixed.span().clone() },
        _ => find_source(given, candidate_index, &accumulator.resources)?,
    };
    targets.items().iter().try_for_each(|target| write_to(target, &source_value, candidate_index, accumulator))
}

fn text_of<'a>(node: &'a Node, field: &str) -> Option<&'a str> {
    node.get(field).filter(|node| !node.is_null()).and_then(Node::text).filter(|text| !text.is_empty())
}

fn find_source(
    source: &Node,
    candidate_index: &CandidateIndex,
    resources: &Resources,
) -> Result<SourceValue, ReplacementError> {
    let (name, kind) = (text_of(source, "name"), text_of(source, "kind"));
    let selector = SourceSelector { name, kind, group: text_of(source, "group"), version: text_of(source, "version") };
    let namespace = text_of(source, "namespace").map(|namespace| selector.effective(namespace));
    let selected = |position: &usize| {
        let resource = resources.list.get(*position).filter(|resource| !resource.node.is_null())?;
        let mut ids = std::iter::once(resource.id.clone()).chain(resource.previous_ids());
        ids.any(|id| selector.matches(&id) && namespace.is_none_or(|expected| expected == &*id.namespace))
            .then_some(resource)
    };
    let mut found = candidate_index.candidates(name, kind).iter().filter_map(selected);
    let Some(resource) = found.next() else {
        return Err(not_found(
            source.span(),
            format!("this replacement's source is no object: there is no {selector}"),
        ));
    };
    if let Some(second) = found.next() {
        let finding = Finding::error(
            FAILED_BUILD,
            source.span().clone(),
            format!("several objects are {selector}; one is needed"),
        )
        .related(resource.node.span().clone(), "one")
        .related(second.node.span().clone(), "another")
        .help("say more of `group`, `version`, `kind`, `name` and `namespace`");
        return Err(ReplacementError::NotFound(Box::new(finding)));
    }
    let path = source.get("fieldPath").filter(|path| path.text().is_some_and(|text| !text.is_empty()));
    let text = path.and_then(Node::text).unwrap_or("metadata.name");
    let span = path.unwrap_or(source).span();
    let value = look_up(&resource.node, &split(text)).map_err(|message| not_found(span, message))?;
    let empty = |node: &Node| {
        node.is_null() || (node.is_map() && node.entries().is_empty()) || (node.is_seq() && node.items().is_empty())
    };
    let Some(value) = value.filter(|value| !empty(value)) else {
        let message = format!("`{text}` is missing in {} `{}`", resource.id.kind, resource.id.name);
        return Err(not_found(span, message));
    };
    extract_part(source, value)
}

/// The identity that a source asks for; what it does not say matches anything.
struct SourceSelector<'a> {
    group: Option<&'a str>,
    version: Option<&'a str>,
    kind: Option<&'a str>,
    name: Option<&'a str>,
}

impl SourceSelector<'_> {
    fn matches(&self, id: &ResourceId) -> bool {
        let same = |expected: Option<&str>, actual: &str| expected.is_none_or(|expected| expected == actual);
        same(self.group, &id.group)
            && same(self.version, &id.version)
            && same(self.kind, &id.kind)
            && same(self.name, &id.name)
    }

    /// The namespace to compare with: an object of a kind without namespaces has none, whatever is asked for.
    fn effective<'a>(&self, namespace: &'a str) -> &'a str {
        let field_value = Option::unwrap_or_default;
        let scoped = crate::kustomize::text::scope::is_cluster_scoped(
            field_value(self.group),
            field_value(self.version),
            field_value(self.kind),
        );
        if scoped { "_non_namespaceable_" } else { namespace }
    }
}

impl std::fmt::Display for SourceSelector<'_> {
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
fn delimiter(options: Option<&Node>) -> Result<Option<(&str, i64)>, ReplacementError> {
    let Some(options) = options else { return Ok(None) };
    let index = match options.get("index").filter(|index| !index.is_null()) {
        None => 0,
        Some(index) => index
            .text()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| invalid(index.span(), "`index` is a whole number"))?,
    };
    Ok(text_of(options, "delimiter").map(|delimiter| (delimiter, index)))
}

fn extract_part(source: &Node, value: &Node) -> Result<SourceValue, ReplacementError> {
    let source_value = |value: Node| SourceValue { source: value.span().clone(), value };
    let options = source.get("options");
    let Some((delimiter, index)) = delimiter(options)? else { return Ok(source_value(value.clone())) };
    let span = options.unwrap_or(source).span();
    let Some(text) = value.text() else {
        return Err(not_found(span, "`delimiter` needs a single value, and the source is a list or a mapping"));
    };
    let piece = usize::try_from(index).ok().and_then(|index| text.split(delimiter).nth(index));
    let Some(piece) = piece else {
        return Err(not_found(span, format!("`{text}` has no part {index} between `{delimiter}`")));
    };
    let style = match retype(value, piece, false) {
        Retyped::Compatible(style) => style,
        Retyped::Incompatible(_) => Style::Double,
    };
    Ok(source_value(Node { value: Value::Scalar(piece.into(), style), origin: value.origin.clone() }))
}

/// A target as it is written: where it selects objects and which fields of them.
struct TargetFields<'a> {
    source_value: &'a SourceValue,
    delimiter: Option<(&'a str, i64)>,
    create: bool,
    /// The field paths and their places.
    paths: Vec<(Vec<String>, Span)>,
}

fn write_to(
    target: &Node,
    source_value: &SourceValue,
    candidate_index: &mut CandidateIndex,
    accumulator: &mut Accumulator,
) -> Result<(), ReplacementError> {
    let Some(select) = target.get("select").filter(|select| !select.is_null()) else {
        return Err(invalid(target.span(), "a target of a replacement says in `select` which objects it is for"));
    };
    let selector = Selector::read(select)?;
    let rejects = target.get("reject").map_or(&[][..], Node::items).iter().filter(|node| !node.is_null());
    let rejects = rejects.map(Selector::read).collect::<Result<Vec<_>, _>>()?;
    let options = target.get("options").filter(|options| !options.is_null());
    let written = target.get("fieldPaths").map_or(&[][..], Node::items);
    let mut paths: Vec<_> =
        written.iter().filter_map(|path| Some((split(path.text()?), path.span().clone()))).collect();
    if paths.is_empty() {
        paths.push((split("metadata.name"), select.span().clone()));
    }
    let create = options.and_then(|options| options.get("create")).and_then(Node::text) == Some("true");
    let fields = TargetFields { source_value, delimiter: delimiter(options)?, create, paths };
    let candidates = candidate_index.candidates(selector.literal_name(), selector.literal_kind()).to_vec();
    for position in candidates {
        let Some(resource) = accumulator.resources.list.get_mut(position).filter(|one| !one.node.is_null()) else {
            continue;
        };
        if !selects(&selector, &rejects, resource) {
            continue;
        }
        let changed = fields.apply(resource)?;
        let id = resource.id.clone();
        resource.replace(changed);
        if resource.id != id {
            candidate_index.add(position, resource);
        }
    }
    Ok(())
}

fn selects(selector: &Selector, rejects: &[Selector], resource: &Resource) -> bool {
    let namespace = resource.node.at_keys(&["metadata", "namespace"]).and_then(Node::text).unwrap_or_default();
    // The current namespace is compared as written, former ones as kustomize notes them.
    let any = |target: &Selector| {
        target.selects_id(&resource.id, namespace)
            || resource.previous_ids().any(|id| target.selects_id(&id, &id.namespace))
    };
    let rejected = |reject: &Selector| {
        (reject.has_metadata() && reject.selects_metadata(&resource.node)) || (reject.has_id() && any(reject))
    };
    selector.selects_metadata(&resource.node) && !rejects.iter().any(rejected) && any(selector)
}

impl TargetFields<'_> {
    fn apply(&self, resource: &Resource) -> Result<Node, ReplacementError> {
        let mut node = resource.node.clone();
        for (path, span) in &self.paths {
            let value = &self.source_value.value;
            if let Some(written) = structured::write(&node, path, value, self.create, span) {
                node = written;
                continue;
            }
            let set = |old: &Node, is_new: bool| self.set(old, is_new, span);
            let create = self.create.then(|| Shape::of(value));
            let change = Change { create, span, set: &set };
            let shown = path.join(".");
            let error = |message: String| {
                let finding = Finding::error(FAILED_BUILD, span.clone(), message)
                    .related(resource.node.span().clone(), "this object");
                ReplacementError::NotFound(Box::new(finding))
            };
            let object = format!("{} `{}`", resource.id.kind, resource.id.name);
            match change.apply(&node, path) {
                Ok(Some(changed)) => {
                    let refused = |message| error(format!("`{shown}` cannot be replaced in {object}: {message}"));
                    size_limits::check_object_size(&changed, value).map_err(refused)?;
                    node = changed;
                }
                Ok(None) => return Err(error(format!("there is no field `{shown}` in {object}"))),
                Err(message) => return Err(error(format!("`{shown}` cannot be replaced in {object}: {message}"))),
            }
        }
        Ok(node)
    }

    fn set(&self, old: &Node, is_new: bool, span: &Span) -> Result<Node, String> {
        let value = &self.source_value.value;
        let new = match (old.text(), self.delimiter) {
            (None, Some(_)) => return Err("`delimiter` needs a single value".into()),
            (None, None) => value.value.clone(),
            (Some(before), delimiter) => {
                let text = match delimiter {
                    Some((delimiter, index)) => {
                        replace_part(before, delimiter, index, value.text().unwrap_or_default())
                    }
                    None => value.text().unwrap_or_default().to_string(),
                };
                size_limits::check_text_size(&text)?;
                match retype(old, &text, is_new) {
                    Retyped::Compatible(style) => Value::Scalar(text.into(), style),
                    Retyped::Incompatible(tag) => {
                        return Err(format!("`{text}` does not have the type `{tag}` of the field"));
                    }
                }
            }
        };
        let via =
            |by: &Span, was: Origin| Origin::Via(Arc::new(Step::new(By::Field(by.clone()), Some(was), Box::default())));
        // The source's place stays between the old one and the replacement's.
        Ok(Node { value: new, origin: via(span, via(&self.source_value.source, old.origin.clone())) })
    }
}

/// The text with one of its parts replaced, or with one more before or behind them.
fn replace_part(text: &str, delimiter: &str, index: i64, value: &str) -> String {
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
        let mut candidate_index = Vec::new();
        let mut origin = Some(&value.origin);
        while let Some(now) = origin {
            candidate_index.push(now.span().text().to_string());
            origin = match now {
                Origin::Via(step) => step.was.as_ref(),
                Origin::At(_) => None,
            };
        }
        assert_eq!((value.text(), candidate_index), (Some("new"), vec!["data.to".into(), "new".into(), "old".into()]));
    }
}
