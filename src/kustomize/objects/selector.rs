//! Targets of patches: which objects a patch is for.

use regex_lite::{Regex, RegexBuilder};

use super::resources::{Resource, ResourceId, ResourceIndex, Resources};
use crate::base::finding::did_you_mean;
use crate::kube::selector::Selector as LabelSelector;
use crate::yaml::Node;

/// The `target` of a patch. Every field is a regular expression for the whole text; an empty one matches anything.
pub(crate) struct Selector {
    group: Pattern,
    version: Pattern,
    kind: Pattern,
    name: Pattern,
    namespace: Pattern,
    labels: LabelSelector,
    annotations: LabelSelector,
}

/// A place in the target that cannot be read, and why.
pub(crate) struct SelectorError {
    pub(crate) node: Node,
    pub(crate) message: String,
}

enum Pattern {
    Any,
    /// Text without the characters that regular expressions give a meaning to: found through the index.
    Literal(String),
    Regex(Regex),
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
        let regex = RegexBuilder::new(&format!("^(?:{text})$")).size_limit(1 << 20).build();
        regex.map(Self::Regex).map_err(|_| SelectorError {
            node: node.clone(),
            message: format!("`{text}` is no regular expression that can be read"),
        })
    }

    fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Any | Self::Regex(_) => None,
        }
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Literal(literal) => literal == text,
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

impl Selector {
    pub(crate) fn read(node: &Node) -> Result<Self, SelectorError> {
        let selector = |field: &str| match node.get(field).and_then(Node::text) {
            Some(text) => LabelSelector::parse(text).ok_or_else(|| SelectorError {
                node: node.get(field).cloned().unwrap_or_else(|| node.clone()),
                message: format!("`{text}` is no label selector"),
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
        })
    }

    /// The positions of the objects it selects, in order.
    pub(crate) fn select(&self, resources: &Resources, positions: &ResourceIndex) -> Vec<usize> {
        let matches = |position: &usize| resources.list.get(*position).is_some_and(|one| self.matches(one));
        match &self.name {
            Pattern::Literal(name) => {
                positions.with_name(name).iter().copied().filter(|position| matches(position)).collect()
            }
            Pattern::Any | Pattern::Regex(_) => {
                (0..resources.list.len()).filter(|position| matches(position)).collect()
            }
        }
    }

    /// The name it asks for, when no other can match.
    pub(crate) fn literal_name(&self) -> Option<&str> {
        self.name.literal()
    }

    /// The kind it asks for, when no other can match.
    pub(crate) fn literal_kind(&self) -> Option<&str> {
        self.kind.literal()
    }

    /// Tells whether an identity matches, with the namespace given apart.
    pub(crate) fn selects_id(&self, id: &ResourceId, namespace: &str) -> bool {
        self.kind.matches(&id.kind)
            && self.name.matches(&id.name)
            && self.namespace.matches(namespace)
            && self.version.matches(&id.version)
            && self.group.matches(&id.group)
    }

    /// Tells whether labels and annotations match.
    pub(crate) fn selects_metadata(&self, node: &Node) -> bool {
        let selected = |selector: &LabelSelector, field: &str| {
            let values = node.at_keys(&["metadata", field]);
            selector.selects(|key| values.and_then(|values| values.get(key)).and_then(Node::text))
        };
        selected(&self.labels, "labels") && selected(&self.annotations, "annotations")
    }

    /// Tells whether it asks for labels or annotations.
    pub(crate) fn has_metadata(&self) -> bool {
        !self.labels.is_empty() || !self.annotations.is_empty()
    }

    /// Tells whether it asks for an identity.
    pub(crate) fn has_id(&self) -> bool {
        let fields = [&self.group, &self.version, &self.kind, &self.name, &self.namespace];
        fields.iter().any(|field| !matches!(field, Pattern::Any))
    }

    fn matches(&self, resource: &Resource) -> bool {
        self.matches_except("", resource)
    }

    fn matches_except(&self, field: &str, resource: &Resource) -> bool {
        let (first, now) = (resource.original(), &resource.id);
        let any = |name: &str| name == field;
        !resource.node.is_null()
            && (any("kind") || self.kind.matches(&now.kind))
            && (any("name") || self.name.matches(&first.name) || self.name.matches(&now.name))
            && (any("namespace") || self.namespace.matches(&first.namespace) || self.namespace.matches(&now.namespace))
            && (any("version") || self.version.matches(&now.version))
            && (any("group") || self.group.matches(&now.group))
            && self.selects_metadata(&resource.node)
    }

    /// The object that it would select but for one field, and that field.
    pub(super) fn near_match(&self, resources: &Resources) -> Option<(&'static str, usize)> {
        let positions = |field: &'static str| {
            let all = resources.list.iter().enumerate();
            all.filter(move |(_, resource)| self.matches_except(field, resource)).map(|(position, _)| position)
        };
        let exact_fields = ["version", "group", "namespace"];
        let found = exact_fields.into_iter().find_map(|field| Some((field, positions(field).next()?)));
        // Any other name would do for most targets, so that only one which looks like it counts.
        found.or_else(|| {
            let typed = self.literal_name()?;
            let names =
                positions("name").filter_map(|position| Some((position, &*resources.list.get(position)?.id.name)));
            let names: Vec<(usize, &str)> = names.collect();
            let meant = did_you_mean(typed, names.iter().map(|(_, name)| *name))?;
            names.iter().find(|(_, name)| *name == meant).map(|(position, _)| ("name", *position))
        })
    }
}
