//! Where each field of an applied object comes from: the chain of places from the base to the variable.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::base::finding::ObjectRef;
use crate::flux::cluster::applied_set::Applied;
use crate::flux::cluster::applier::Applier;
use crate::flux::cluster::desired_state::Cluster;
use crate::text::{File, Span};
use crate::yaml::{By, Key, Name, Node, Origin, Path, Step, Value};

/// A place that had a say in a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    /// What stands there.
    pub by: Agent,
    /// Where.
    pub place: Span,
}

/// What had a say in a value, in the order in which they act.
#[derive(Debug, Clone, PartialEq)]
pub enum Agent {
    /// The manifest that the object was first written in.
    Base,
    /// An entry of a generator.
    Generator,
    /// A field of a kustomization, such as `namespace`.
    Field,
    /// A patch of a kustomization.
    Patch,
    /// A patch of the Flux object that applies it.
    FluxPatch,
    /// Another field of the Flux object that applies it, such as `targetNamespace`.
    FluxField,
    /// A variable that Flux substitutes.
    Variable {
        /// Its name.
        name: Name,
        /// What it stands for; `None` when nobody can know.
        value: Option<Arc<str>>,
        /// The object that defines it, when that is not the applier itself.
        from: Option<ObjectRef>,
    },
}

/// What tells the places of one object's fields apart.
#[derive(Debug)]
pub struct Provenance<'a> {
    cluster: &'a Cluster,
    applier: &'a Applier,
    /// The file that the object was first written in; `None` for one that a generator made.
    base: Option<File>,
    /// The applier's fields, by the file that they stand in.
    fields: BTreeMap<Place, Vec<Said<'a>>>,
}

/// The root and the path of a file.
type Place = (Option<Arc<str>>, String);

/// A node of the applier's.
#[derive(Debug)]
struct Said<'a> {
    at: Range<usize>,
    node: &'a Node,
    is_patch: bool,
}

/// The fields of an applier that patches stand in, and those that give objects other values.
const PATCHES: [&[&str]; 4] =
    [&["patches"], &["patchesStrategicMerge"], &["patchesJson6902"], &["kustomize", "patches"]];
const FIELDS: [&[&str]; 6] =
    [&["targetNamespace"], &["namePrefix"], &["nameSuffix"], &["images"], &["commonMetadata"], &["buildMetadata"]];

fn place_of(file: &File) -> Place {
    (file.root().cloned(), file.path().to_owned())
}

impl<'a> Provenance<'a> {
    /// Looks at an object and at who applies it: one of the cluster's.
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

    /// The places that had a say in a node's value, the first one first.
    pub fn causes(&self, node: &Node) -> Vec<Cause> {
        let mut causes = Vec::new();
        for origin in steps_of(&node.origin) {
            let shown = match origin {
                Origin::At(span) => span,
                Origin::Via(step) => match &step.by {
                    By::Patch(span) | By::Generator(span) | By::Field(span) | By::Applier(span) => span,
                    By::Variable(_) | By::Inherited(..) => {
                        causes.extend(self.variables(step, 0));
                        continue;
                    }
                },
            };
            // Clusters share builds, and with them the places of the first; here each has its own.
            let own = self.applier.own_place(shown);
            let said = self.said(&own);
            let is_patch = said.is_some_and(|said| said.is_patch);
            let said = said.filter(|said| !said.is_patch);
            let by = match origin {
                Origin::At(_) => self.written(&own),
                Origin::Via(step) => match &step.by {
                    By::Patch(_) if is_patch => Agent::FluxPatch,
                    By::Patch(_) => Agent::Patch,
                    By::Generator(_) => Agent::Generator,
                    By::Field(_) if said.is_none() => Agent::Field,
                    _ => Agent::FluxField,
                },
            };
            if by == Agent::Generator
                && self.base.is_none()
                && let (Origin::Via(step), [first]) = (origin, causes.as_mut_slice())
                && matches!(step.was, Some(Origin::At(_)))
            {
                // The generator's entry names a file, which has the value.
                first.by = Agent::Generator;
            }
            let is_field = matches!(by, Agent::Field | Agent::FluxField);
            causes.push(Cause { by, place: self.applier.settled_place(&own) });
            if is_field {
                causes.extend(said.into_iter().flat_map(|said| self.inherited(&said.node.origin, 1)));
            }
        }
        causes
    }

    /// What a place is that nothing moved or changed: a patch that adds a field leaves it where the patch says it.
    fn written(&self, span: &Span) -> Agent {
        if self.is_flux_patch(span) {
            Agent::FluxPatch
        } else if self.base.as_ref().is_some_and(|base| place_of(span.file()) == place_of(base)) {
            Agent::Base
        } else {
            Agent::Patch
        }
    }

    fn is_flux_patch(&self, span: &Span) -> bool {
        self.said(span).is_some_and(|said| said.is_patch)
    }

    /// The innermost node of the applier's that a place lies in.
    fn said(&self, span: &Span) -> Option<&Said<'a>> {
        let range = span.range();
        let places = self.fields.get(&place_of(span.file()))?;
        places.iter().find(|said| said.at.start <= range.start && range.end <= said.at.end)
    }

    /// The variables that a value went through, as seen from so many appliers further up.
    fn inherited(&self, origin: &Origin, up: usize) -> Vec<Cause> {
        let steps = steps_of(origin).into_iter().filter_map(|origin| match origin {
            Origin::Via(step) if matches!(step.by, By::Variable(_) | By::Inherited(..)) => Some(step),
            _ => None,
        });
        steps.flat_map(|step| self.variables(step, up)).collect()
    }

    /// The variables of a step, each once, in the order of the text.
    fn variables(&self, step: &Step, up: usize) -> Vec<Cause> {
        let (first, up) = match &step.by {
            By::Variable(name) => (name, up),
            By::Inherited(name, further) => (name, up + usize::from(*further)),
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

    /// The place of a variable, and what its own value was made of by whoever brings the applier that defines it; none
    /// for one that is not defined, whose default stands in the base.
    fn variable(&self, name: &Name, up: usize) -> Vec<Cause> {
        let Some(applier) = self.above(up) else { return Vec::new() };
        let Some(variable) = applier.variables.values.get(name) else { return Vec::new() };
        let (value, from) = (variable.value.clone(), variable.from.clone());
        let place = if from.is_none() { applier.settled_place(&variable.place) } else { variable.place.clone() };
        let own = applier.object.as_ref().filter(|_| from.is_none());
        let own = own.and_then(|object| object.node.at_keys(&["spec", "postBuild", "substitute", name]));
        let mut causes = vec![Cause { by: Agent::Variable { name: name.clone(), value, from }, place }];
        causes.extend(own.into_iter().flat_map(|node| self.inherited(&node.origin, up + 1)));
        causes
    }

    /// The applier, or the one so many steps above it.
    fn above(&self, up: usize) -> Option<&Applier> {
        (0..up).try_fold(self.applier, |at, _| {
            let parent = at.parent.filter(|parent| *parent < at.at)?;
            self.cluster.appliers.get(parent).map(|applier| &**applier)
        })
    }
}

/// An origin and all before it, the first one first.
fn steps_of(origin: &Origin) -> Vec<&Origin> {
    let mut steps = vec![origin];
    let mut at = origin;
    while let Origin::Via(step) = at
        && let Some(was) = &step.was
    {
        steps.push(was);
        at = was;
    }
    steps.reverse();
    steps
}

fn is_generated(origin: &Origin) -> bool {
    steps_of(origin).iter().any(|origin| matches!(origin, Origin::Via(step) if matches!(step.by, By::Generator(_))))
}

/// Notes a node of the applier's and all below it, the innermost first: a patch may be written as a mapping.
fn take<'a>(node: &'a Node, is_patch: bool, fields: &mut BTreeMap<Place, Vec<Said<'a>>>) {
    match &node.value {
        Value::Scalar(..) => {}
        Value::Seq(items) => items.iter().for_each(|item| take(item, is_patch, fields)),
        Value::Map(entries) => entries.iter().for_each(|entry| take(&entry.node, is_patch, fields)),
    }
    let span = node.span();
    fields.entry(place_of(span.file())).or_default().push(Said { at: span.range(), node, is_patch });
}

/// The fields of an object that hold a value: its scalars and empty collections, in the order of the object.
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
    use super::*;
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
            kind: ApplierKind::Kustomization,
            reference: applier.reference(),
            object: Some(applier),
            at: 0,
            parent: None,
            brought_by: None,
            shares_with: Vec::new(),
            source: None,
            folder: String::new(),
            target: None,
            variables: Arc::new(variables),
            is_known: true,
            state: State::Built,
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
        let by_file = value.changed(scalar("${X}"), By::Patch(patch.at_keys(&["data", "key"]).unwrap().span().clone()));
        let by_flux = by_file.changed(scalar("${X}${Y}"), By::Patch(flux));
        let pieces = [(0..1, Name::from("X")), (1..2, Name::from("Y"))];
        let step = Step::new(By::Variable("X".into()), Some(by_flux.origin.clone()), pieces.into());
        let done = Node { value: scalar("12"), origin: Origin::Via(Arc::new(step)) };

        let file = File::new("vars.yaml", "X: 1\nY: 2\n");
        let variable = |at: Range<usize>| Variable { value: Some("1".into()), place: file.span(at), from: None };
        let values = [(Name::from("X"), variable(3..4)), (Name::from("Y"), variable(8..9))];
        let variables = Variables { values: values.into(), ..Variables::default() };
        let (object, by, completion) =
            (Object { node: base.clone() }, self::applier(&applier, variables), Completion::default());
        let lookups = crate::flux::cluster::lookups::Lookups::default();
        let cluster = Cluster { name: "".into(), appliers: Vec::new(), brought: Vec::new(), lookups };
        let provenance = Provenance::of(&cluster, Applied { object: &object, by: &by, completion: &completion });
        let said: Vec<String> = provenance
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
        assert_eq!(said, expected);
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
