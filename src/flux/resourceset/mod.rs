//! ResourceSets of the Flux Operator: templates of objects, expanded once for each input set.
//!
//! The operator prints each item of `spec.resources` as YAML, executes the text as a template, and parses the output.
//! `spec.resourcesTemplate` is already such a text. Therefore, a template may change types and add structure. Every
//! node of the result is mapped back to the template, or to the input with the value of the node.

mod template;
mod inputs;
mod place;

use std::collections::BTreeMap;

use crate::base::finding::{Finding, ObjectRef};
use crate::kube::{Object, groups};
use crate::kustomize::FAILED_BUILD;
use crate::text::{Index, Span};
use crate::yaml::{ChangedBy, DUPLICATE_KEY, Entry, Name, Node, Style, Value as Yaml, parse};
use inputs::{InputSet, Missing, RECONCILE, inputs};
use place::{Ground, Places, file};
use template::Template;
use template::budget::Budget;
use template::fault::Fault;
use template::output::Output;
use template::value::Value;

/// The result of expanding a ResourceSet.
#[derive(Debug, Clone, Default)]
pub struct Expansion {
    /// The objects, in apply order.
    pub objects: Vec<Object>,
    /// The reason why a set without a fault was not expanded: it depends on the cluster, or on an unsupported feature.
    pub not_expanded: Option<String>,
    /// The faults for which the operator rejects the set.
    pub findings: Vec<Finding>,
    /// The cost of the expansion, as a number of visited values.
    pub steps: usize,
}

/// Returns whether an object is a ResourceSet.
pub fn is_resource_set(object: &Object) -> bool {
    object.is(groups::FLUX_OPERATOR, "ResourceSet")
}

/// Returns whether an object is a ResourceSetInputProvider.
pub fn is_input_provider(object: &Object) -> bool {
    object.is(groups::FLUX_OPERATOR, "ResourceSetInputProvider")
}

/// Expands a ResourceSet of a cluster with the input providers of the cluster.
pub fn expand(set: &Object, providers: &[Object]) -> Expansion {
    if set.annotation(RECONCILE).is_some_and(|value| value.eq_ignore_ascii_case("disabled")) {
        return Expansion {
            not_expanded: Some("an annotation disables the ResourceSet".into()),
            ..Expansion::default()
        };
    }
    let sets = match inputs(set, providers) {
        Ok(Some(sets)) if sets.is_empty() => return Expansion::default(),
        Ok(sets) => sets,
        Err(Missing::Unknown(reason)) => {
            return Expansion { not_expanded: Some(reason), ..Expansion::default() };
        }
        Err(Missing::Wrong(at, message)) => return refused(set, &at, &message, None),
    };
    let mut expander = Expander { set, budget: Budget::new() };
    let expansion = match expander.spec(sets.as_deref()) {
        Ok(mut objects) => match common_metadata(set, &mut objects, &mut expander.budget) {
            Ok(()) => Expansion { objects, ..Expansion::default() },
            Err((at, fault)) => refused(set, &at, &fault.message, None),
        },
        Err(Stop::Ours(reason)) => Expansion { not_expanded: Some(reason), ..Expansion::default() },
        Err(Stop::Fault { at, message, input }) => refused(set, &at, &message, input.as_ref()),
    };
    Expansion { steps: expander.budget.spent(), ..expansion }
}

fn refused(set: &Object, at: &Span, message: &str, input: Option<&Span>) -> Expansion {
    let reference = set.reference();
    let mut finding = Finding::error(FAILED_BUILD, at.clone(), format!("{reference} cannot be expanded: {message}"));
    if let Some(input) = input {
        finding = finding.related(input.clone(), "with this input");
    }
    Expansion { findings: vec![finding.about(reference)], ..Expansion::default() }
}

/// The reason why a set is not expanded: an unsupported feature, or a fault of the set.
enum Stop {
    Ours(String),
    Fault { at: Span, message: String, input: Option<Span> },
}

struct Expander<'a> {
    set: &'a Object,
    budget: Budget,
}

/// Objects in order, with unique identities.
#[derive(Default)]
struct Built {
    objects: Vec<Object>,
    known: BTreeMap<Key, usize>,
}

/// The identity of an object: the group (without the version), the kind, the namespace and the name.
type Key = (String, Name, Option<Name>, Name);

impl Stop {
    fn fault(at: &Span, message: impl Into<String>) -> Self {
        Self::Fault { at: at.clone(), message: message.into(), input: None }
    }
}

impl Expander<'_> {
    fn spec(&mut self, sets: Option<&[InputSet]>) -> Result<Vec<Object>, Stop> {
        let Some(spec) = self.set.node.get("spec") else {
            return Err(Stop::fault(self.set.span(), "it has no `spec`"));
        };
        let steps = spec.get("steps").map_or(&[][..], Node::items);
        let has = |node: &Node| {
            node.get("resources").is_some_and(|list| !list.items().is_empty())
                || node.get("resourcesTemplate").and_then(Node::text).is_some_and(|text| !text.is_empty())
        };
        if steps.is_empty() {
            return Ok(self.resources(spec, sets)?.objects);
        }
        if has(spec) {
            let message = "`steps` cannot be combined with `resources` or `resourcesTemplate`";
            return Err(Stop::fault(self.set.span(), message));
        }
        let mut objects = Vec::new();
        let mut step_of: BTreeMap<Key, String> = BTreeMap::new();
        for step in steps {
            let name = step.get("name").and_then(Node::text).unwrap_or_default().to_owned();
            if !has(step) {
                return Err(Stop::fault(step.span(), format!("step `{name}` has no resources")));
            }
            for object in self.resources(step, sets)?.objects {
                let known = step_of.entry(key(&object)).or_insert_with(|| name.clone());
                if *known != name {
                    let message = format!("steps `{known}` and `{name}` both define {}", object.reference());
                    return Err(Stop::fault(object.span(), message));
                }
                objects.push(object);
            }
        }
        Ok(objects)
    }

    fn resources(&mut self, from: &Node, sets: Option<&[InputSet]>) -> Result<Built, Stop> {
        let mut built = Built::default();
        for item in from.get("resources").map_or(&[][..], Node::items) {
            let (text, ground) = Ground::printed(item);
            self.run(&text, &ground, sets, |output| {
                Self::resource(output, &ground).map(|object| {
                    // Without inputs, the operator neither skips disabled objects nor removes duplicates.
                    built.add(object, sets.is_some());
                })
            })?;
        }
        let Some(scalar) = from.get("resourcesTemplate").filter(|node| !node.is_null()) else { return Ok(built) };
        if matches!(scalar.value, Yaml::Scalar(_, Style::Unknown)) {
            return Err(Stop::Ours("its template has unknown values".into()));
        }
        let text = scalar.text().unwrap_or_default();
        if !text.is_empty() {
            let ground = Ground::text(scalar);
            self.run(text, &ground, sets, |output| {
                for object in Self::documents(output, &ground)? {
                    built.add(object, true);
                }
                Ok(())
            })?;
        }
        Ok(built)
    }

    /// Executes a template with every input set.
    fn run(
        &mut self,
        text: &str,
        ground: &Ground<'_>,
        sets: Option<&[InputSet]>,
        mut take: impl FnMut(&Output) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let stopped = |fault: Fault, input: Option<&InputSet>| {
            if fault.ours {
                return Stop::Ours(fault.message);
            }
            let input = input.and_then(|input| input.place.clone());
            Stop::Fault { at: ground.origin(fault.at..fault.at).span().clone(), message: fault.message, input }
        };
        let template = Template::parse(text).map_err(|fault| stopped(fault, None))?;
        let none = [InputSet { value: Value::map(BTreeMap::new()), place: None }];
        let sets = sets.unwrap_or(&none);
        // Without an action, every input gives the same objects, and duplicates are removed.
        let needed = if template.is_plain() { sets.get(..1).unwrap_or_default() } else { sets };
        for input in needed {
            let output = template.run(&input.value, &mut self.budget).map_err(|fault| stopped(fault, Some(input)))?;
            take(&output).map_err(|stop| match stop {
                Stop::Fault { at, message, input: None } => Stop::Fault { at, message, input: input.place.clone() },
                other => other,
            })?;
        }
        Ok(())
    }

    /// The object that an item of `resources` creates. Further documents are ignored.
    fn resource(output: &Output, ground: &Ground<'_>) -> Result<Object, Stop> {
        let nodes = Self::parse(output, ground)?;
        let Some(node) = nodes.into_iter().next() else {
            let at = ground.origin(0..0);
            return Err(Stop::fault(at.span(), "a resource is empty"));
        };
        let place = node.span().clone();
        Self::object(node)?.ok_or_else(|| Stop::fault(&place, "a resource has no `apiVersion` or `kind`"))
    }

    /// The objects of a text with several documents. Skips objects without a name, and expands Lists.
    fn documents(output: &Output, ground: &Ground<'_>) -> Result<Vec<Object>, Stop> {
        let mut objects = Vec::new();
        for node in Self::parse(output, ground)? {
            if node.is_null() {
                continue;
            }
            let place = node.span().clone();
            let Some(object) = Self::object(node)? else {
                return Err(Stop::fault(&place, "an object has no `apiVersion` or `kind`"));
            };
            let kind = object.kind();
            let items = object.node.get("items").filter(|items| kind.ends_with("List") && items.is_seq());
            if let Some(items) = items {
                for item in items.items() {
                    objects.extend(Self::object(item.clone())?);
                }
                continue;
            }
            let of_kustomize = kind.eq_ignore_ascii_case("kustomization")
                && object.api_version().starts_with("kustomize.config.k8s.io/");
            if !object.name().is_empty() && !of_kustomize {
                objects.push(object);
            }
        }
        Ok(objects)
    }

    fn parse(output: &Output, ground: &Ground<'_>) -> Result<Vec<Node>, Stop> {
        let parsed = parse(&file(output));
        let places = Places::new(output, ground);
        // The YAML reader of Kubernetes uses the last of duplicate keys.
        if let Some(wrong) = parsed.findings.iter().find(|finding| finding.rule != DUPLICATE_KEY) {
            let at = places.span(&wrong.at.span.range());
            return Err(Stop::fault(&at, format!("the output is not valid YAML: {}", wrong.message)));
        }
        Ok(parsed.documents.iter().map(|document| places.document(&document.node)).collect())
    }

    /// Creates an object with a known identity; `None` without `apiVersion` or `kind`.
    fn object(node: Node) -> Result<Option<Object>, Stop> {
        let identity = [&["apiVersion"][..], &["kind"], &["metadata", "namespace"], &["metadata", "name"]];
        for keys in identity {
            let found = node.at_keys(keys);
            if let Some(Yaml::Scalar(text, Style::Unknown)) = found.map(|node| &node.value) {
                let field = keys.join(".");
                return Err(Stop::Ours(format!(
                    "`{field}` of an object is `{text}`, which is known only on the cluster"
                )));
            }
        }
        Ok(Object::new(node))
    }
}

impl Built {
    fn add(&mut self, object: Object, once: bool) {
        if once && object.annotation(RECONCILE) == Some("disabled") {
            return;
        }
        let key = key(&object);
        if once && self.known.contains_key(&key) {
            return;
        }
        self.known.insert(key, self.objects.len());
        self.objects.push(object);
    }
}

fn key(object: &Object) -> Key {
    let ObjectRef { kind, namespace, name, .. } = object.reference();
    (object.group().to_owned(), kind, namespace, name)
}

/// The memory for a common label or annotation of an object, in bytes. Objects share its text.
const BYTES_OF_COMMON: usize = 64;

/// Adds the common labels and annotations of the set to every object. Returns the place of those that exceed the budget.
fn common_metadata(set: &Object, objects: &mut [Object], budget: &mut Budget) -> Result<(), (Span, Fault)> {
    for field in ["labels", "annotations"] {
        let Some(common) = set.node.at_keys(&["spec", "commonMetadata", field]) else { continue };
        if common.entries().is_empty() {
            continue;
        }
        let size = objects.len().saturating_mul(common.entries().len()).saturating_mul(BYTES_OF_COMMON);
        budget.bytes(size).map_err(|fault| (common.span().clone(), fault))?;
        for object in &mut *objects {
            let Some(metadata) = object.node.entry("metadata") else { continue };
            let Some(node) = with_common(&metadata.node, field, common) else { continue };
            object.node = object.node.with(metadata.with_node(node));
        }
    }
    Ok(())
}

fn with_common(metadata: &Node, field: &str, common: &Node) -> Option<Node> {
    if !metadata.is_map() {
        return None;
    }
    let old = metadata.get(field).filter(|node| node.is_map());
    let old = old.cloned().unwrap_or_else(|| Node::at(Yaml::Map([].into()), common.span().clone()));
    let mut entries: Vec<Entry> = old.entries().to_vec();
    let mut known: Index<Name, usize> = Index::default();
    for (at, one) in entries.iter().enumerate() {
        known.entry_or(one.key.clone(), || at);
    }
    for entry in common.entries() {
        let style = match entry.node.value {
            Yaml::Scalar(_, Style::Unknown) => Style::Unknown,
            _ => Style::Double,
        };
        let value = Yaml::Scalar(entry.node.shared_text().unwrap_or_else(|| "".into()), style);
        if let Some(old) = known.get(&entry.key).and_then(|at| entries.get_mut(*at)) {
            let by = ChangedBy::Applier(entry.node.span().clone());
            *old = old.with_node(old.node.changed(value, by));
        } else {
            known.insert(entry.key.clone(), entries.len());
            entries.push(entry.with_node(Node { value, origin: entry.node.origin.clone() }));
        }
    }
    let node = Node { value: Yaml::Map(entries.into()), origin: old.origin.clone() };
    let entry = match metadata.entry(field) {
        Some(entry) => entry.with_node(node),
        None => Entry::new(field, common.span(), node),
    };
    Some(metadata.with(entry))
}
