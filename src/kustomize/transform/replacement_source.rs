//! The sources of `replacements`: lookup of objects and of the values to copy.

use arcstr::ArcStr;

use crate::base::finding::Finding;
use crate::kustomize::objects::resources::{NO_NAMESPACE, Resource, ResourceId, Resources};
use crate::kustomize::objects::selector::SelectorError;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::text::field_path::{look_up, split};
use crate::kustomize::text::retype::{Retyped, retype};
use crate::kustomize::text::scope::is_cluster_scoped;
use crate::text::{Index, Span};
use crate::yaml::{Node, Style, Value};

/// The reason why a replacement fails.
pub(super) enum ReplacementError {
    /// An object or field does not exist.
    NotFound(Box<Finding>),
    /// The replacement is invalid, regardless of the objects.
    Invalid(Box<Finding>),
}

impl From<SelectorError> for ReplacementError {
    fn from(error: SelectorError) -> Self {
        invalid(error.node.span(), error.message)
    }
}

/// The error about an invalid replacement.
pub(super) fn invalid(span: &Span, message: impl Into<String>) -> ReplacementError {
    ReplacementError::Invalid(Box::new(Finding::error(FAILED_BUILD, span.clone(), message)))
}

fn not_found(span: &Span, message: impl Into<String>) -> ReplacementError {
    ReplacementError::NotFound(Box::new(Finding::error(FAILED_BUILD, span.clone(), message)))
}

/// An index of objects by current and former names and kinds.
pub(super) struct CandidateIndex {
    by_name: Index<ArcStr, Vec<usize>>,
    by_kind: Index<ArcStr, Vec<usize>>,
    all: Vec<usize>,
}

impl CandidateIndex {
    /// Indexes all objects.
    pub(super) fn new(resources: &Resources) -> Self {
        let all = (0..resources.list.len()).collect();
        let mut candidate_index = Self { by_name: Index::default(), by_kind: Index::default(), all };
        for (position, resource) in resources.list.iter().enumerate() {
            candidate_index.add(position, resource);
        }
        candidate_index
    }

    /// Adds an object with its current and former ids.
    pub(super) fn add(&mut self, position: usize, resource: &Resource) {
        for id in resource.previous_ids().chain([resource.id.clone()]) {
            for positions in [self.by_name.entry(id.name.clone()), self.by_kind.entry(id.kind.clone())] {
                if let Err(index) = positions.binary_search(&position) {
                    positions.insert(index, position);
                }
            }
        }
    }

    /// The candidates for a name and a kind, in order.
    pub(super) fn candidates(&self, name: Option<&str>, kind: Option<&str>) -> &[usize] {
        match (name, kind) {
            (Some(name), _) => self.by_name.get(name).map_or(&[], Vec::as_slice),
            (None, Some(kind)) => self.by_kind.get(kind).map_or(&[], Vec::as_slice),
            (None, None) => &self.all,
        }
    }
}

/// The value of a source, and its position.
pub(super) struct SourceValue {
    pub(super) value: Node,
    pub(super) source: Span,
}

/// The text of a field; `None` if it is empty.
pub(super) fn text_of<'a>(node: &'a Node, field: &str) -> Option<&'a str> {
    node.get(field).filter(|node| !node.is_null()).and_then(Node::text).filter(|text| !text.is_empty())
}

/// Reads the value of a source.
pub(super) fn find_source(
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
        return Err(not_found(source.span(), format!("the source of this replacement does not exist: {selector}")));
    };
    if let Some(second) = found.next() {
        let finding = Finding::error(
            FAILED_BUILD,
            source.span().clone(),
            format!("the source of this replacement is ambiguous: several objects match {selector}"),
        )
        .related(resource.node.span().clone(), "the first object")
        .related(second.node.span().clone(), "the second object")
        .help("add `group`, `version`, `kind`, `name` or `namespace`");
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

/// The identity of a source; a missing field matches anything.
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

    /// The namespace for a comparison. A source of a cluster-scoped kind has no namespace, regardless of the field
    /// `namespace`.
    fn effective<'a>(&self, namespace: &'a str) -> &'a str {
        let or_empty = Option::unwrap_or_default;
        let scoped = is_cluster_scoped(or_empty(self.group), or_empty(self.version), or_empty(self.kind));
        if scoped { NO_NAMESPACE } else { namespace }
    }
}

impl std::fmt::Display for SourceSelector<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.kind, self.name) {
            (Some(kind), Some(name)) => write!(f, "{kind} `{name}`"),
            (Some(kind), None) => write!(f, "{kind}"),
            (None, Some(name)) => write!(f, "object `{name}`"),
            (None, None) => write!(f, "an object of this group or version"),
        }
    }
}

/// The delimiter and the index of `options`.
pub(super) fn delimiter(options: Option<&Node>) -> Result<Option<(&str, i64)>, ReplacementError> {
    let Some(options) = options else { return Ok(None) };
    let index = match options.get("index").filter(|index| !index.is_null()) {
        None => 0,
        Some(index) => index
            .text()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| invalid(index.span(), "`index` must be an integer"))?,
    };
    Ok(text_of(options, "delimiter").map(|delimiter| (delimiter, index)))
}

/// The part of a value that `delimiter` and `index` select.
fn extract_part(source: &Node, value: &Node) -> Result<SourceValue, ReplacementError> {
    let source_value = |value: Node| SourceValue { source: value.span().clone(), value };
    let options = source.get("options");
    let Some((delimiter, index)) = delimiter(options)? else { return Ok(source_value(value.clone())) };
    let span = options.unwrap_or(source).span();
    let Some(text) = value.text() else {
        return Err(not_found(span, "`delimiter` requires a scalar, but the source is a list or a mapping"));
    };
    let piece = usize::try_from(index).ok().and_then(|index| text.split(delimiter).nth(index));
    let Some(piece) = piece else {
        return Err(not_found(span, format!("`{text}` has no part {index} when split at `{delimiter}`")));
    };
    let style = match retype(value, piece, false) {
        Retyped::Compatible(style) => style,
        Retyped::Incompatible(_) => Style::Double,
    };
    Ok(source_value(Node { value: Value::Scalar(piece.into(), style), origin: value.origin.clone() }))
}
