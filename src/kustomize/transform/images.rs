//! `images`: new names, tags and digests of container images.

use std::cell::Cell;

use crate::base::finding::Finding;
use crate::base::go_regexp::Regexp;
use crate::kustomize::fieldspec::field_spec::{CreateKind, FieldError, FieldSpec, each_item};
use crate::kustomize::objects::patch_targets::PatchTarget;
use crate::kustomize::objects::selector::STEPS_OF_VISIT;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Accumulator;
use crate::yaml::{ChangedBy, Node, Reader, Scalar, Style, Value};

/// The first release of Flux with kustomize 5.7, which reads the images of volumes.
///
/// Source: `imagesFieldSpecs` of kustomize's `builtinpluginconsts`, since `api` 0.20.0; `go.mod` of kustomize-controller 1.6
/// (`kustomize/api` 0.19.0) and 1.7 (0.20.1).
const FLUX_WITH_VOLUMES: (u64, u64) = (2, 7);

/// The message about a field `volumes` with another type than that of a Pod.
const IMAGES_OF_VOLUMES: &str =
    "`images` sets the images of `volumes`, and kustomize fails because this is not an item of a Pod's volumes";

/// Applies the entries of `images` to all objects.
///
/// Each entry applies to all fields `containers` and `initContainers` at any depth, and then to the configured field
/// specs. As in kustomize, a suffix is appended twice if the image matches again.
pub(crate) fn apply(entries: &[Node], specs: &[FieldSpec], accumulator: &mut Accumulator) {
    for entry in entries {
        if !accumulator.take_fields(specs, 1, entry.span()) {
            return;
        }
        let image = match Image::read(entry) {
            Ok(image) => image,
            Err(finding) => {
                accumulator.fail(finding);
                continue;
            }
        };
        for position in 0..accumulator.resources.list.len() {
            let Some(resource) = accumulator.resources.list.get_mut(position) else { break };
            // A CustomResourceDefinition has schema fields with the same names.
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
                    Err(error) if spec.path.ends_with("volumes[]/image/reference") => {
                        let message = IMAGES_OF_VOLUMES;
                        failure = Some(Finding::error(FAILED_BUILD, error.span, message).since_flux(FLUX_WITH_VOLUMES));
                    }
                    Err(error) => failure = Some(Finding::error(FAILED_BUILD, error.span, error.message)),
                }
            }
            resource.node = node;
            if !accumulator.take_bytes(image.grown.take(), entry.span())
                || !accumulator.take_steps(image.steps.take() / STEPS_OF_VISIT, entry.span())
            {
                return;
            }
            if let Some(finding) = failure {
                accumulator.fail(finding);
            }
        }
        if let Some(name) = entry.get("name") {
            let is_matched = image.is_matched.get() || accumulator.is_incomplete || accumulator.awaits_bootstrap;
            accumulator.patch_targets.push(PatchTarget::image(name, is_matched));
        }
    }
}

/// An entry of `images`.
struct Image {
    pattern: Regexp,
    name: Option<Node>,
    tag: Option<Node>,
    digest: Option<Node>,
    suffix: Option<Node>,
    /// Whether the image of a container matches.
    is_matched: Cell<bool>,
    /// The bytes that were added to images.
    grown: Cell<usize>,
    /// The steps of the pattern.
    steps: Cell<usize>,
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
                    Err(Finding::error(FAILED_BUILD, node.span().clone(), message).help("put the value in quotes"))
                }
            },
        };
        let name = field("name")?;
        let text = name.as_ref().and_then(Node::text).unwrap_or_default();
        // kustomize uses the name as a regular expression, and only supports SHA-256 digests.
        let pattern = format!("^{text}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
        let pattern = Regexp::compile(&pattern).map_err(|_| {
            let span = name.as_ref().unwrap_or(entry).span().clone();
            let message = format!(
                "`{text}` is not a valid regular expression, but kustomize requires one as the name of an image"
            );
            Finding::error(FAILED_BUILD, span, message)
                .help("escape special characters, such as `[`, `(`, `*` and `+`, with a backslash")
        })?;
        let (name, tag) = (field("newName")?, field("newTag")?);
        Ok(Self {
            pattern,
            name,
            tag,
            digest: field("digest")?,
            suffix: field("tagSuffix")?,
            is_matched: Cell::default(),
            grown: Cell::default(),
            steps: Cell::default(),
        })
    }

    /// The node with updated images of all its containers; `None` if no image changes.
    fn walk(&self, node: &Node) -> Result<Option<Node>, FieldError> {
        match &node.value {
            Value::Scalar(..) => Ok(None),
            Value::Seq(items) => each_item(node, items, |item| self.walk(item)),
            Value::Map(entries) => {
                let mut changed = None;
                for (index, entry) in entries.iter().enumerate() {
                    let below = self.walk(&entry.node)?;
                    let child = below.as_ref().unwrap_or(&entry.node);
                    let new_list = match &*entry.key {
                        "containers" | "initContainers" => self.containers(child)?,
                        _ => None,
                    };
                    if let Some(child) = new_list.or(below)
                        && let Some(slot) = changed.get_or_insert_with(|| entries.to_vec()).get_mut(index)
                    {
                        *slot = entry.with_node(child);
                    }
                }
                Ok(changed.map(|entries| Node { value: Value::Map(entries.into()), origin: node.origin.clone() }))
            }
        }
    }

    fn containers(&self, list: &Node) -> Result<Option<Node>, FieldError> {
        each_item(list, list.items(), |container| {
            if !container.is_map() && !container.is_null() {
                let message = "this container is not a mapping".to_string();
                return Err(FieldError { span: container.span().clone(), message });
            }
            let Some(image) = container.entry("image") else { return Ok(None) };
            Ok(self.update(&image.node)?.map(|node| container.with(image.with_node(node))))
        })
    }

    /// The updated image; `None` if the image does not match or does not change.
    fn update(&self, image: &Node) -> Result<Option<Node>, FieldError> {
        let Some(text) = image.text() else {
            let message = "an image must be a string".to_string();
            return Err(FieldError { span: image.span().clone(), message });
        };
        self.steps.set(self.steps.get().saturating_add(self.pattern.steps(text)));
        if !self.pattern.is_match_of_name(text) {
            return Ok(None);
        }
        self.is_matched.set(true);
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
        self.grown.set(self.grown.get().saturating_add(whole.len().saturating_sub(text.len())));
        // kustomize drops the type, so the type of a plain image depends on its text.
        let style = match image.value {
            Value::Scalar(_, style) => style,
            Value::Seq(_) | Value::Map(_) => Style::Plain,
        };
        // Each field that contributes to the image is part of its origin.
        let suffix = self.suffix.as_ref().filter(|_| self.tag.is_none() && self.digest.is_none());
        let fields = [self.name.as_ref(), self.digest.as_ref(), self.tag.as_ref(), suffix];
        let value = Value::Scalar(whole.into(), style);
        let changed = fields
            .into_iter()
            .flatten()
            .fold(image.clone(), |node, field| node.changed(value.clone(), ChangedBy::Field(field.span().clone())));
        Ok(Some(changed))
    }
}

/// Splits an image into name, tag and digest. A colon before the first slash belongs to the host.
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
    fn the_port_of_a_registry_is_not_a_tag() {
        assert_eq!(split("reg:5000/nginx"), ("reg:5000/nginx", "", ""));
        assert_eq!(split("reg:5000/nginx:1.2@sha256:ab"), ("reg:5000/nginx", "1.2", "sha256:ab"));
        assert_eq!(split("nginx@sha256:ab"), ("nginx", "", "sha256:ab"));
        assert_eq!(split("nginx:1"), ("nginx", "1", ""));
    }
}
