//! `images`: other names, tags and digests for the images of containers.

use regex::Regex;

use crate::base::finding::Finding;
use crate::kustomize::fieldspec::field_spec::{CreateKind, FieldError, FieldSpec, each_item};
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Accumulator;
use crate::yaml::{By, Node, Reader, Scalar, Style, Value};

/// Rewrites the images of all objects, entry by entry.
///
/// Each entry is applied to whatever is called `containers` or `initContainers`, at any depth, and then where the
/// configuration says; so a suffix that matches again is appended twice, as by kustomize.
pub(crate) fn apply(entries: &[Node], specs: &[FieldSpec], accumulator: &mut Accumulator) {
    for entry in entries {
        let image = match Image::read(entry) {
            Ok(image) => image,
            Err(finding) => {
                accumulator.fail(finding);
                continue;
            }
        };
        for position in 0..accumulator.resources.list.len() {
            let Some(resource) = accumulator.resources.list.get_mut(position) else { break };
            // A definition of a kind describes fields that are called as those of pods.
            if resource.node.is_null() || &*resource.id.kind == "CustomResourceDefinition" {
                continue;
            }
            let everywhere = image.walk(&resource.node);
            let mut node = match everywhere {
                Ok(node) => node.unwrap_or_else(|| resource.node.clone()),
                Err(error) => {
                    accumulator.fail(Finding::error(FAILED_BUILD, error.span, error.message));
                    continue;
                }
            };
            let mut failure = None;
            for spec in specs.iter().filter(|spec| spec.matches(&resource.id)) {
                let mut change = |node: Option<&Node>| node.map_or(Ok(None), |node| image.update(node));
                match spec.apply(&node, CreateKind::Nothing, &mut change) {
                    Ok(changed) => node = changed.unwrap_or(node),
                    Err(error) => failure = Some(error),
                }
            }
            resource.node = node;
            if let Some(error) = failure {
                accumulator.fail(Finding::error(FAILED_BUILD, error.span, error.message));
            }
        }
    }
}

/// One entry of `images`.
struct Image {
    pattern: Regex,
    name: Option<Node>,
    tag: Option<Node>,
    digest: Option<Node>,
    suffix: Option<Node>,
}

impl Image {
    fn read(entry: &Node) -> Result<Self, Finding> {
        let field = |name: &str| match entry.get(name) {
            None => Ok(None),
            Some(node) => match node.resolve(Reader::Kubernetes) {
                Some(Scalar::Null | Scalar::String("")) => Ok(None),
                Some(Scalar::String(_)) => Ok(Some(node.clone())),
                _ => {
                    let message = format!("`{name}` must be a string");
                    Err(Finding::error(FAILED_BUILD, node.span().clone(), message).help("put it into quotes"))
                }
            },
        };
        let name = field("name")?;
        let text = name.as_ref().and_then(Node::text).unwrap_or_default();
        // kustomize takes the name for a regular expression, and knows digests of SHA-256 only.
        let pattern = format!("^{text}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
        let pattern = regex::RegexBuilder::new(&pattern).size_limit(1 << 20).build().map_err(|_| {
            let span = name.as_ref().unwrap_or(entry).span().clone();
            let message = format!("`{text}` is no regular expression, which kustomize takes an image's name for");
            Finding::error(FAILED_BUILD, span, message)
                .help("put a backslash before characters such as `[`, `(`, `*`, `+`")
        })?;
        let (name, tag) = (field("newName")?, field("newTag")?);
        Ok(Self { pattern, name, tag, digest: field("digest")?, suffix: field("tagSuffix")? })
    }

    /// The node with the images of all containers below it rewritten; `None` when there are none to rewrite.
    fn walk(&self, node: &Node) -> Result<Option<Node>, FieldError> {
        match &node.value {
            Value::Scalar(..) => Ok(None),
            Value::Seq(items) => each_item(node, items, |item| self.walk(item)),
            Value::Map(entries) => {
                let mut changed = None;
                for (index, entry) in entries.iter().enumerate() {
                    let below = self.walk(&entry.node)?;
                    let child = below.as_ref().unwrap_or(&entry.node);
                    let rewritten = match &*entry.key {
                        "containers" | "initContainers" => self.containers(child)?,
                        _ => None,
                    };
                    if let Some(child) = rewritten.or(below)
                        && let Some(place) = changed.get_or_insert_with(|| entries.to_vec()).get_mut(index)
                    {
                        *place = entry.with_node(child);
                    }
                }
                Ok(changed.map(|entries| Node { value: Value::Map(entries.into()), origin: node.origin.clone() }))
            }
        }
    }

    fn containers(&self, list: &Node) -> Result<Option<Node>, FieldError> {
        each_item(list, list.items(), |container| {
            if !container.is_map() && !container.is_null() {
                let message = "`image` cannot be below this: a container is a mapping".to_string();
                return Err(FieldError { span: container.span().clone(), message });
            }
            let Some(image) = container.entry("image") else { return Ok(None) };
            Ok(self.update(&image.node)?.map(|node| container.with(image.with_node(node))))
        })
    }

    /// The image as it shall be; `None` when it is another one or stays as it is.
    fn update(&self, image: &Node) -> Result<Option<Node>, FieldError> {
        let Some(text) = image.text() else {
            let message = "an image is a single value".to_string();
            return Err(FieldError { span: image.span().clone(), message });
        };
        if !self.pattern.is_match(text) {
            return Ok(None);
        }
        let new = |field: &Option<Node>| field.as_ref().and_then(Node::text).map(str::to_string);
        let (name, tag, digest) = split(text);
        let name = new(&self.name).unwrap_or_else(|| name.to_string());
        let (tag, digest) = match (new(&self.tag), new(&self.digest), new(&self.suffix)) {
            (Some(tag), digest, _) => (tag, digest.unwrap_or_default()),
            (None, Some(digest), _) => (String::new(), digest),
            (None, None, Some(suffix)) => (format!("{tag}{suffix}"), String::new()),
            (None, None, None) => (tag.to_string(), digest.to_string()),
        };
        let part = |sign: &str, part: &str| if part.is_empty() { String::new() } else { format!("{sign}{part}") };
        let whole = format!("{name}{}{}", part(":", &tag), part("@", &digest));
        if whole == text {
            return Ok(None);
        }
        // The type is forgotten, so a plain image is what its text looks like.
        let style = match image.value {
            Value::Scalar(_, style) => style,
            Value::Seq(_) | Value::Map(_) => Style::Plain,
        };
        // Each field that decided a part of it stays in its history.
        let suffix = self.suffix.as_ref().filter(|_| self.tag.is_none() && self.digest.is_none());
        let fields = [self.name.as_ref(), self.digest.as_ref(), self.tag.as_ref(), suffix];
        let value = Value::Scalar(whole.into(), style);
        let changed = fields
            .into_iter()
            .flatten()
            .fold(image.clone(), |node, field| node.changed(value.clone(), By::Field(field.span().clone())));
        Ok(Some(changed))
    }
}

/// Name, tag and digest of an image. A colon before the first slash belongs to the host.
fn split(image: &str) -> (&str, &str, &str) {
    let port = image.find('/').unwrap_or(0);
    let tail = image.get(port..).unwrap_or_default();
    let (rest, digest) = match tail.split_once('@') {
        Some((rest, digest)) => (rest, digest),
        None => (tail, ""),
    };
    let (_, tag) = rest.split_once(':').unwrap_or((rest, ""));
    let end = port + rest.find(':').unwrap_or(rest.len());
    (image.get(..end).unwrap_or(image), tag, digest)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn the_port_of_a_registry_is_no_tag() {
        assert_eq!(split("reg:5000/nginx"), ("reg:5000/nginx", "", ""));
        assert_eq!(split("reg:5000/nginx:1.2@sha256:ab"), ("reg:5000/nginx", "1.2", "sha256:ab"));
        assert_eq!(split("nginx@sha256:ab"), ("nginx", "", "sha256:ab"));
        assert_eq!(split("nginx:1"), ("nginx", "1", ""));
    }
}
