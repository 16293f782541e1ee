//! Selectors of patches and replacements.

use std::cell::Cell;

use super::resources::{Resource, ResourceId, ResourceIndex, Resources};
use crate::base::go_regexp::{MAX_NAME, Regexp};
use crate::base::similar_names::did_you_mean;
use crate::kube::selector::Selector as LabelSelector;
use crate::yaml::Node;

/// The maximum number of steps of the regular expressions of a selector. A further text does not match.
const MAX_STEPS: usize = 200_000_000;

/// The number of steps of a regular expression that take as much time as the visit of a node.
pub(crate) const STEPS_OF_VISIT: usize = 10;

/// A selector. Every field is an anchored regular expression; an empty field matches anything.
pub(crate) struct Selector {
    group: Pattern,
    version: Pattern,
    kind: Pattern,
    name: Pattern,
    namespace: Pattern,
    labels: LabelSelector,
    annotations: LabelSelector,
    /// The number of steps of the regular expressions.
    steps: Cell<usize>,
}

/// An invalid field of a selector, and the reason.
pub(crate) struct SelectorError {
    pub(crate) node: Node,
    pub(crate) message: String,
}

enum Pattern {
    Any,
    /// A text without special characters of regular expressions, which the index can look up.
    Literal(String),
    /// A text in which each `.` stands for any character, such as an API group.
    Dotted(String),
    Regexp(Regexp),
}

impl Pattern {
    fn read(node: Option<&Node>) -> Result<Self, SelectorError> {
        let Some((node, text)) = node.and_then(|node| Some((node, node.text()?))) else { return Ok(Self::Any) };
        if text.is_empty() || node.is_null() {
            return Ok(Self::Any);
        }
        if text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':')) {
            return Ok(Self::Literal(text.into()));
        }
        if text.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.')) {
            return Ok(Self::Dotted(text.into()));
        }
        let regexp = Regexp::compile(&format!("^(?:{text})$"));
        regexp.map(Self::Regexp).map_err(|refused| SelectorError {
            node: node.clone(),
            message: format!("`{text}` is not a valid regular expression: {refused}"),
        })
    }

    fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Any | Self::Dotted(_) | Self::Regexp(_) => None,
        }
    }

    fn matches(&self, text: &str, steps: &Cell<usize>) -> bool {
        match self {
            Self::Any => true,
            Self::Literal(literal) => literal == text,
            Self::Dotted(pattern) => matches_dotted(pattern, text),
            Self::Regexp(regexp) => {
                steps.set(steps.get().saturating_add(regexp.steps(text)));
                steps.get() <= MAX_STEPS && regexp.is_match_of_name(text)
            }
        }
    }
}

/// Returns whether a text equals a pattern in which each `.` stands for any character.
fn matches_dotted(pattern: &str, text: &str) -> bool {
    let mut wanted = pattern.chars();
    let is_alike =
        |found: char| wanted.next().is_some_and(|wanted| wanted == found || (wanted == '.' && found != '\n'));
    text.len() <= MAX_NAME && text.chars().all(is_alike) && wanted.next().is_none()
}

impl Selector {
    /// Reads the `target` of a patch, or a selector of a replacement.
    pub(crate) fn read(node: &Node) -> Result<Self, SelectorError> {
        let selector = |field: &str| match node.get(field).and_then(Node::text) {
            Some(text) => LabelSelector::parse(text).ok_or_else(|| SelectorError {
                node: node.get(field).cloned().unwrap_or_else(|| node.clone()),
                message: format!("`{text}` is not a valid label selector"),
            }),
            None => Ok(LabelSelector::default()),
        };
        Ok(Self {
            group: Pattern::read(node.get("group"))?,
            version: Pattern::read(node.get("version"))?,
            kind: Pattern::read(node.get("kind"))?,
            name: Pattern::read(node.get("name"))?,
            namespace: Pattern::read(node.get("namespace"))?,
            labels: selector("labelSelector")?,
            annotations: selector("annotationSelector")?,
            steps: Cell::default(),
        })
    }

    /// The number of steps of the regular expressions since the last call.
    pub(crate) fn take_steps(&self) -> usize {
        self.steps.take() / STEPS_OF_VISIT
    }

    fn field(&self, pattern: &Pattern, text: &str) -> bool {
        pattern.matches(text, &self.steps)
    }

    /// The positions of the selected objects, in order.
    pub(crate) fn select(&self, resources: &Resources, positions: &ResourceIndex) -> Vec<usize> {
        let matches = |position: &usize| resources.list.get(*position).is_some_and(|one| self.matches(one));
        match &self.name {
            Pattern::Literal(name) => {
                positions.with_name(name).iter().copied().filter(|position| matches(position)).collect()
            }
            Pattern::Any | Pattern::Dotted(_) | Pattern::Regexp(_) => {
                (0..resources.list.len()).filter(|position| matches(position)).collect()
            }
        }
    }

    /// The name, if it is a literal.
    pub(crate) fn literal_name(&self) -> Option<&str> {
        self.name.literal()
    }

    /// The kind, if it is a literal.
    pub(crate) fn literal_kind(&self) -> Option<&str> {
        self.kind.literal()
    }

    /// Returns whether the selector selects an id in the given namespace.
    pub(crate) fn selects_id(&self, id: &ResourceId, namespace: &str) -> bool {
        self.field(&self.kind, &id.kind)
            && self.field(&self.name, &id.name)
            && self.field(&self.namespace, namespace)
            && self.field(&self.version, &id.version)
            && self.field(&self.group, &id.group)
    }

    /// Returns whether the selector selects the labels and annotations of an object.
    pub(crate) fn selects_metadata(&self, node: &Node) -> bool {
        let selected = |selector: &LabelSelector, field: &str| {
            let values = node.at_keys(&["metadata", field]);
            selector.selects(|key| values.and_then(|values| values.get(key)).and_then(Node::text))
        };
        selected(&self.labels, "labels") && selected(&self.annotations, "annotations")
    }

    /// Returns whether the selector has a label or annotation selector.
    pub(crate) fn has_metadata(&self) -> bool {
        !self.labels.is_empty() || !self.annotations.is_empty()
    }

    /// Returns whether the selector has a field of the id, such as `kind` or `name`.
    pub(crate) fn has_id(&self) -> bool {
        let fields = [&self.group, &self.version, &self.kind, &self.name, &self.namespace];
        fields.iter().any(|field| !matches!(field, Pattern::Any))
    }

    fn matches(&self, resource: &Resource) -> bool {
        self.matches_except("", resource)
    }

    fn matches_except(&self, field: &str, resource: &Resource) -> bool {
        let (first, current) = (resource.original(), &resource.id);
        let any = |name: &str| name == field;
        !resource.node.is_null()
            && (any("kind") || self.field(&self.kind, &current.kind))
            && (any("name") || self.field(&self.name, &first.name) || self.field(&self.name, &current.name))
            && (any("namespace")
                || self.field(&self.namespace, &first.namespace)
                || self.field(&self.namespace, &current.namespace))
            && (any("version") || self.field(&self.version, &current.version))
            && (any("group") || self.field(&self.group, &current.group))
            && self.selects_metadata(&resource.node)
    }

    /// Returns whether the selector selects objects of a kind by label or annotation and not by name.
    pub(super) fn is_opt_in(&self) -> bool {
        self.has_metadata() && matches!(self.name, Pattern::Any) && !matches!(self.kind, Pattern::Any)
    }

    /// Returns whether the selector selects all objects of one of the kinds.
    pub(crate) fn selects_all_of(&self, kinds: &[&str]) -> bool {
        let selects_all = matches!((&self.name, &self.namespace), (Pattern::Any, Pattern::Any)) && !self.has_metadata();
        selects_all && !matches!(self.kind, Pattern::Any) && kinds.iter().any(|kind| self.field(&self.kind, kind))
    }

    /// The objects with a variable in their name that differ from the selector in the name only.
    pub(super) fn with_variable_in_name(&self, resources: &Resources) -> impl Iterator<Item = usize> {
        let all = resources.list.iter().enumerate();
        let named = all.filter(|(_, resource)| resource.id.name.contains("${"));
        named.filter(|(_, resource)| self.matches_except("name", resource)).map(|(position, _)| position)
    }

    /// One field, and the position of an object that differs from the selector in this field only.
    pub(super) fn near_match(&self, resources: &Resources) -> Option<(&'static str, usize)> {
        let positions = |field: &'static str| {
            let all = resources.list.iter().enumerate();
            all.filter(move |(_, resource)| self.matches_except(field, resource)).map(|(position, _)| position)
        };
        let exact_fields = ["version", "group", "namespace"];
        let found = exact_fields.into_iter().find_map(|field| Some((field, positions(field).next()?)));
        // Most selectors match many objects if the name is ignored, so only a similar name counts.
        found.or_else(|| {
            let name = self.literal_name()?;
            let names =
                positions("name").filter_map(|position| Some((position, &*resources.list.get(position)?.id.name)));
            let names: Vec<(usize, &str)> = names.collect();
            let suggestion = did_you_mean(name, names.iter().map(|(_, name)| *name))?;
            names.iter().find(|(_, name)| *name == suggestion).map(|(position, _)| ("name", *position))
        })
    }
}
