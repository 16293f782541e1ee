//! Where each field of an applied object comes from: the chain of places from the base to the variable.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::{Applied, Applier};
use crate::finding::ObjectRef;
use crate::text::{File, Span};
use crate::yaml::{By, Key, Name, Node, Origin, Path, Value};

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
    applier: &'a Applier,
    /// The file that the object was first written in.
    base: File,
    /// The applier's patches, by the file that they stand in.
    patches: BTreeMap<Place, Vec<Range<usize>>>,
}

/// The root and the path of a file.
type Place = (Option<Arc<str>>, String);

fn place_of(file: &File) -> Place {
    (file.root().cloned(), file.path().to_owned())
}

impl<'a> Provenance<'a> {
    /// Looks at an object and at who applies it.
    pub fn of(applied: &'a Applied) -> Self {
        let identity = applied.object.node.get("kind").unwrap_or(&applied.object.node);
        let mut patches = BTreeMap::new();
        let spec = applied.by.object.as_ref().and_then(|object| object.node.get("spec"));
        let fields = [&["patches"][..], &["patchesStrategicMerge"], &["patchesJson6902"], &["kustomize", "patches"]];
        for field in fields {
            spec.and_then(|spec| spec.at_keys(field)).into_iter().for_each(|node| take_places(node, &mut patches));
        }
        Self { applier: &applied.by, base: identity.origin.written().file().clone(), patches }
    }

    /// The places that had a say in a node's value, the first one first.
    pub fn causes(&self, node: &Node) -> Vec<Cause> {
        let mut causes = Vec::new();
        let mut origin = Some(&node.origin);
        while let Some(current) = origin {
            origin = match current {
                Origin::At(span) => {
                    let own = self.applier.own_place(span);
                    causes.push(Cause { by: self.written(&own), place: self.applier.settled_place(&own) });
                    None
                }
                Origin::Via(step) => {
                    let agent = |span: &Span| match &step.by {
                        By::Patch(_) if self.is_flux_patch(span) => Agent::FluxPatch,
                        By::Patch(_) => Agent::Patch,
                        By::Generator(_) => Agent::Generator,
                        By::Field(_) => Agent::Field,
                        By::Applier(_) | By::Variable(_) => Agent::FluxField,
                    };
                    match &step.by {
                        By::Patch(span) | By::Generator(span) | By::Field(span) | By::Applier(span) => {
                            let own = self.applier.own_place(span);
                            causes.push(Cause { by: agent(&own), place: self.applier.settled_place(&own) });
                        }
                        By::Variable(name) => {
                            let mut names: Vec<&Name> = Vec::new();
                            for name in step.pieces.iter().map(|(_, name)| name).chain([name]) {
                                if !names.contains(&name) {
                                    names.push(name);
                                }
                            }
                            causes.extend(names.into_iter().rev().filter_map(|name| self.variable(name)));
                        }
                    }
                    step.was.as_ref()
                }
            };
        }
        causes.reverse();
        causes
    }

    /// What a place is that nothing moved or changed: a patch that adds a field leaves it where the patch says it.
    fn written(&self, span: &Span) -> Agent {
        if self.is_flux_patch(span) {
            Agent::FluxPatch
        } else if place_of(span.file()) == place_of(&self.base) {
            Agent::Base
        } else {
            Agent::Patch
        }
    }

    fn is_flux_patch(&self, span: &Span) -> bool {
        let range = span.range();
        let places = self.patches.get(&place_of(span.file()));
        places.is_some_and(|places| places.iter().any(|place| place.start <= range.start && range.end <= place.end))
    }

    /// The place of a variable; none for one that is not defined, whose default stands in the base.
    fn variable(&self, name: &Name) -> Option<Cause> {
        let variable = self.applier.variables.values.get(name)?;
        let (value, from) = (variable.value.clone(), variable.from.clone());
        Some(Cause { by: Agent::Variable { name: name.clone(), value, from }, place: variable.place.clone() })
    }
}

fn take_places(node: &Node, places: &mut BTreeMap<Place, Vec<Range<usize>>>) {
    let span = node.span();
    places.entry(place_of(span.file())).or_default().push(span.range());
    match &node.value {
        Value::Scalar(..) => {}
        Value::Seq(items) => items.iter().for_each(|item| take_places(item, places)),
        Value::Map(entries) => entries.iter().for_each(|entry| take_places(&entry.node, places)),
    }
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
    use crate::flux::{ApplierKind, Completion, State, Variable, Variables};
    use crate::kube::Object;
    use crate::yaml::{Step, Style, parse};

    fn node(path: &str, text: &str) -> Node {
        parse(&File::new(path, text)).documents.remove(0).node
    }

    fn applied(node: Node, by: &Node, variables: Variables) -> Applied {
        let applier = Object::new(by.clone()).unwrap();
        let by = Applier {
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
            state: State::Built,
        };
        Applied { object: Object { node }, by: Arc::new(by), completion: Completion::default() }
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
        let step = Step { by: By::Variable("X".into()), was: Some(by_flux.origin.clone()), pieces: pieces.into() };
        let done = Node { value: scalar("12"), origin: Origin::Via(Arc::new(step)) };

        let file = File::new("vars.yaml", "X: 1\nY: 2\n");
        let variable = |at: Range<usize>| Variable { value: Some("1".into()), place: file.span(at), from: None };
        let values = [(Name::from("X"), variable(3..4)), (Name::from("Y"), variable(8..9))];
        let variables = Variables { values: values.into(), open: false };
        let built = applied(base.clone(), &applier, variables);
        let provenance = Provenance::of(&built);
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
