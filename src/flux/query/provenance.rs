//! The provenance of the fields of an applied object: the places that determine each value, from the base to the
//! variable.

use std::collections::BTreeMap;
use std::ops::Range;

use arcstr::ArcStr;

use crate::base::finding::ObjectRef;
use crate::flux::cluster::applied_set::Applied;
use crate::flux::cluster::applier::Applier;
use crate::flux::cluster::desired_state::Cluster;
use crate::text::{File, Span};
use crate::yaml::{ChangedBy, Key, Name, Node, Origin, Path, Value, ValueChange};

/// A place that determines a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    /// The kind of the place.
    pub by: Agent,
    /// The place.
    pub place: Span,
}

/// The kinds of places that determine a value, in the order of the build.
#[derive(Debug, Clone, PartialEq)]
pub enum Agent {
    /// The manifest of the object.
    Base,
    /// An entry of a generator.
    Generator,
    /// A field of a kustomization, such as `namespace`.
    Field,
    /// A patch of a kustomization.
    Patch,
    /// A patch of the applier.
    FluxPatch,
    /// Another field of the applier, such as `targetNamespace`.
    FluxField,
    /// A variable that Flux substitutes.
    Variable {
        /// The name of the variable.
        name: Name,
        /// The value; `None` if it is unknown.
        value: Option<ArcStr>,
        /// The object that defines the variable; `None` for the applier itself.
        from: Option<ObjectRef>,
    },
}

/// The provenance of the fields of one object.
#[derive(Debug)]
pub struct Provenance<'a> {
    cluster: &'a Cluster,
    applier: &'a Applier,
    /// The file of the object's manifest; `None` for a generated object.
    base: Option<File>,
    /// The fields of the applier, by their files.
    fields: BTreeMap<FilePath, Vec<ApplierNode<'a>>>,
}

/// The root and the path of a file.
type FilePath = (Option<ArcStr>, String);

/// A node of the applier.
#[derive(Debug)]
struct ApplierNode<'a> {
    at: Range<usize>,
    node: &'a Node,
    is_patch: bool,
}

/// The fields of an applier that contain patches.
const PATCHES: [&[&str]; 4] =
    [&["patches"], &["patchesStrategicMerge"], &["patchesJson6902"], &["kustomize", "patches"]];
/// The other fields of an applier that set values of objects.
const FIELDS: [&[&str]; 6] =
    [&["targetNamespace"], &["namePrefix"], &["nameSuffix"], &["images"], &["commonMetadata"], &["buildMetadata"]];

fn file_path_of(file: &File) -> FilePath {
    (file.root().cloned(), file.path().to_owned())
}

impl<'a> Provenance<'a> {
    /// Prepares the provenance of an object of a cluster.
    pub fn of(cluster: &'a Cluster, applied: Applied<'a>) -> Self {
        let identity = applied.object.node.get("kind").unwrap_or(&applied.object.node);
        let mut fields = BTreeMap::new();
        let spec = applied.by.object.as_ref().and_then(|object| object.node.get("spec"));
        for (field, is_patch) in PATCHES.iter().map(|field| (field, true)).chain(FIELDS.iter().map(|at| (at, false))) {
            spec.and_then(|spec| spec.at_keys(field)).into_iter().for_each(|node| take(node, is_patch, &mut fields));
        }
        let base = (!is_generated(&identity.origin)).then(|| identity.origin.written().file().clone());
        Self { cluster, applier: applied.by, base, fields }
    }

    /// The places that determine the value of a node, in the order of the build.
    pub fn causes(&self, node: &Node) -> Vec<Cause> {
        let mut causes = Vec::new();
        for origin in steps_of(&node.origin) {
            let shown = match origin {
                Origin::At(span) => span,
                Origin::Via(step) => match &step.by {
                    ChangedBy::Patch(span)
                    | ChangedBy::Generator(span)
                    | ChangedBy::Field(span)
                    | ChangedBy::Applier(span) => span,
                    ChangedBy::Variable(_) | ChangedBy::Inherited(..) => {
                        causes.extend(self.variables(step, 0));
                        continue;
                    }
                },
            };
            // Clusters share builds, and a shared build has the places of one cluster. `own` is the place on this
            // cluster.
            let own = self.applier.own_place(shown);
            let applier_node = self.applier_node(&own);
            let is_patch = applier_node.is_some_and(|applier_node| applier_node.is_patch);
            let applier_node = applier_node.filter(|applier_node| !applier_node.is_patch);
            let by = match origin {
                Origin::At(_) => self.written(&own),
                Origin::Via(step) => match &step.by {
                    ChangedBy::Patch(_) if is_patch => Agent::FluxPatch,
                    ChangedBy::Patch(_) => Agent::Patch,
                    ChangedBy::Generator(_) => Agent::Generator,
                    ChangedBy::Field(_) if applier_node.is_none() => Agent::Field,
                    _ => Agent::FluxField,
                },
            };
            if by == Agent::Generator
                && self.base.is_none()
                && let (Origin::Via(step), [first]) = (origin, causes.as_mut_slice())
                && matches!(step.previous, Some(Origin::At(_)))
            {
                // The generator's entry references the file with the value.
                first.by = Agent::Generator;
            }
            let is_field = matches!(by, Agent::Field | Agent::FluxField);
            causes.push(Cause { by, place: self.applier.place_in_parent(&own) });
            if is_field {
                causes.extend(
                    applier_node.into_iter().flat_map(|applier_node| self.inherited(&applier_node.node.origin, 1)),
                );
            }
        }
        causes
    }

    /// The kind of the original place of a value. A field that a patch adds has its place in the patch.
    fn written(&self, span: &Span) -> Agent {
        if self.is_flux_patch(span) {
            Agent::FluxPatch
        } else if self.base.as_ref().is_some_and(|base| file_path_of(span.file()) == file_path_of(base)) {
            Agent::Base
        } else {
            Agent::Patch
        }
    }

    fn is_flux_patch(&self, span: &Span) -> bool {
        self.applier_node(span).is_some_and(|applier_node| applier_node.is_patch)
    }

    /// The innermost node of the applier that contains a place.
    fn applier_node(&self, span: &Span) -> Option<&ApplierNode<'a>> {
        let range = span.range();
        let places = self.fields.get(&file_path_of(span.file()))?;
        places.iter().find(|applier_node| applier_node.at.start <= range.start && range.end <= applier_node.at.end)
    }

    /// The variables of a value, relative to the ancestor that is `up` levels higher.
    fn inherited(&self, origin: &Origin, up: usize) -> Vec<Cause> {
        let steps = steps_of(origin).into_iter().filter_map(|origin| match origin {
            Origin::Via(step) if matches!(step.by, ChangedBy::Variable(_) | ChangedBy::Inherited(..)) => Some(step),
            _ => None,
        });
        steps.flat_map(|step| self.variables(step, up)).collect()
    }

    /// The distinct variables of a step, in the order of the text.
    fn variables(&self, step: &ValueChange, up: usize) -> Vec<Cause> {
        let (first, up) = match &step.by {
            ChangedBy::Variable(name) => (name, up),
            ChangedBy::Inherited(name, further) => (name, up + usize::from(*further)),
            _ => return Vec::new(),
        };
        let mut names: Vec<&Name> = Vec::new();
        for name in step.pieces.iter().map(|(_, name)| name).chain([first]) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.into_iter().flat_map(|name| self.variable(name, up)).collect()
    }

    /// The place of a variable, and the provenance of the variable's value in the parent of the defining applier; empty
    /// for an undefined variable, whose default is in the base.
    fn variable(&self, name: &Name, up: usize) -> Vec<Cause> {
        let Some(applier) = self.above(up) else { return Vec::new() };
        let Some(variable) = applier.variables.values.get(name) else { return Vec::new() };
        let (value, from) = (variable.value.clone(), variable.from.clone());
        let place = if from.is_none() { applier.place_in_parent(&variable.place) } else { variable.place.clone() };
        let own = applier.object.as_ref().filter(|_| from.is_none());
        let own = own.and_then(|object| object.node.at_keys(&["spec", "postBuild", "substitute", name]));
        let mut causes = vec![Cause { by: Agent::Variable { name: name.clone(), value, from }, place }];
        causes.extend(own.into_iter().flat_map(|node| self.inherited(&node.origin, up + 1)));
        causes
    }

    /// The applier, or its ancestor `up` levels higher.
    fn above(&self, up: usize) -> Option<&Applier> {
        (0..up).try_fold(self.applier, |at, _| {
            let parent = at.parent.filter(|parent| *parent < at.at)?;
            self.cluster.appliers.get(parent).map(|applier| &**applier)
        })
    }
}

/// An origin and its predecessors, the earliest first.
fn steps_of(origin: &Origin) -> Vec<&Origin> {
    let mut steps = vec![origin];
    let mut at = origin;
    while let Origin::Via(step) = at
        && let Some(was) = &step.previous
    {
        steps.push(was);
        at = was;
    }
    steps.reverse();
    steps
}

fn is_generated(origin: &Origin) -> bool {
    steps_of(origin)
        .iter()
        .any(|origin| matches!(origin, Origin::Via(step) if matches!(step.by, ChangedBy::Generator(_))))
}

/// Records a node of the applier and all nodes below it, the innermost first: a patch may be written as a mapping.
fn take<'a>(node: &'a Node, is_patch: bool, fields: &mut BTreeMap<FilePath, Vec<ApplierNode<'a>>>) {
    match &node.value {
        Value::Scalar(..) => {}
        Value::Seq(items) => items.iter().for_each(|item| take(item, is_patch, fields)),
        Value::Map(entries) => entries.iter().for_each(|entry| take(&entry.node, is_patch, fields)),
    }
    let span = node.span();
    fields.entry(file_path_of(span.file())).or_default().push(ApplierNode { at: span.range(), node, is_patch });
}

/// The leaves of an object: its scalars and empty collections, in order.
pub fn leaves<'a>(root: &'a Node, at: &Path) -> Vec<(Path, &'a Node)> {
    fn walk<'a>(node: &'a Node, path: &Path, out: &mut Vec<(Path, &'a Node)>) {
        match &node.value {
            Value::Seq(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    walk(item, &path.child(Key::Index(index)), out);
                }
            }
            Value::Map(entries) if !entries.is_empty() => {
                for entry in entries.iter() {
                    walk(&entry.node, &path.child(Key::Name(entry.key.clone())), out);
                }
            }
            Value::Scalar(..) | Value::Seq(_) | Value::Map(_) => out.push((path.clone(), node)),
        }
    }
    let mut out = Vec::new();
    walk(root, at, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::flux::model::applier_fields::ApplierFields;
    use crate::flux::model::applier_kind::ApplierKind;
    use crate::flux::model::applier_kind::State;
    use crate::flux::model::completion::Completion;
    use crate::flux::model::variables::Variable;
    use crate::flux::model::variables::Variables;
    use crate::kube::Object;
    use crate::yaml::Style;
    use crate::yaml::parse;

    fn node(path: &str, text: &str) -> Node {
        parse(&File::new(path, text)).documents.remove(0).node
    }

    fn applier(by: &Node, variables: Variables) -> Arc<Applier> {
        let applier = Object::new(by.clone()).unwrap();
        Arc::new(Applier {
            fields: Arc::new(ApplierFields {
                kind: ApplierKind::Kustomization,
                reference: applier.reference(),
                source: None,
                folder: String::new(),
                target: None,
            }),
            object: Some(applier),
            at: 0,
            parent: None,
            parent_applier: None,
            shares_with: Arc::default(),
            variables: Arc::new(variables),
            is_known: true,
            state: State::Built,
            lacks_changes: false,
        })
    }

    #[test]
    fn the_chain_runs_from_the_base_over_the_patches_to_the_variable() {
        let base = node("base.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  key: old\n");
        let patch = node("patch.yaml", "data:\n  key: ${X}\n  added: here\n");
        let applier = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: k}\n\
                       spec:\n  patches:\n  - patch: newer\n";
        let applier = node("sync.yaml", applier);
        let flux = applier.at_keys(&["spec", "patches"]).unwrap().items()[0].get("patch").unwrap().span().clone();
        let scalar = |text: &str| Value::Scalar(text.into(), Style::Plain);
        let value = base.at_keys(&["data", "key"]).unwrap();
        let by_file =
            value.changed(scalar("${X}"), ChangedBy::Patch(patch.at_keys(&["data", "key"]).unwrap().span().clone()));
        let by_flux = by_file.changed(scalar("${X}${Y}"), ChangedBy::Patch(flux));
        let pieces = [(0..1, Name::from("X")), (1..2, Name::from("Y"))];
        let step = ValueChange::new(ChangedBy::Variable("X".into()), Some(by_flux.origin.clone()), pieces.into());
        let done = Node { value: scalar("12"), origin: Origin::Via(Arc::new(step)) };

        let file = File::new("vars.yaml", "X: 1\nY: 2\n");
        let variable = |at: Range<usize>| Variable { value: Some("1".into()), place: file.span(at), from: None };
        let values = [(Name::from("X"), variable(3..4)), (Name::from("Y"), variable(8..9))];
        let variables = Variables { values: values.into(), ..Variables::default() };
        let (object, by, completion) =
            (Object { node: base.clone() }, self::applier(&applier, variables), Completion::default());
        let lookups = crate::flux::cluster::lookups::Lookups::default();
        let cluster = Cluster {
            name: "".into(),
            folder: String::new(),
            evidence: crate::flux::install::roots::evidence::RootEvidence::default(),
            appliers: Vec::new(),
            applied_sets: Vec::new(),
            lookups,
        };
        let provenance = Provenance::of(&cluster, Applied { object: &object, by: &by, completion: &completion });
        let chain: Vec<String> = provenance
            .causes(&done)
            .iter()
            .map(|cause| {
                let agent = match &cause.by {
                    Agent::Variable { name, .. } => format!("variable {name}"),
                    other => format!("{other:?}"),
                };
                format!("{agent} {}:{}", cause.place.file().path(), cause.place.position().line)
            })
            .collect();
        let expected = [
            "Base base.yaml:5",
            "Patch patch.yaml:2",
            "FluxPatch sync.yaml:6",
            "variable X vars.yaml:1",
            "variable Y vars.yaml:2",
        ];
        assert_eq!(chain, expected);
        let added = provenance.causes(patch.at_keys(&["data", "added"]).unwrap());
        assert_eq!(added.iter().map(|cause| &cause.by).collect::<Vec<_>>(), [&Agent::Patch]);
    }

    #[test]
    fn empty_collections_are_fields_too() {
        let node = node("a.yaml", "a: {b: [1, {c: []}], d: {}}\n");
        let paths: Vec<String> = leaves(&node, &Path::default()).iter().map(|(path, _)| path.to_string()).collect();
        assert_eq!(paths, ["a.b[0]", "a.b[1].c", "a.d"]);
    }
}
