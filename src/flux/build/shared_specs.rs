//! The specifications of Kustomizations whose files are copies. The directories of clusters have many copies of a file.

use std::sync::{Arc, Mutex, PoisonError};

use arcstr::ArcStr;

use super::applier_spec::{ApplierSpec, SpecValues};
use crate::flux::model::applier_kind::ApplierKind;
use crate::kube::{Object, ObjectKey};
use crate::text::{Index, Span};
use crate::yaml::{Entry, Node, Origin, Value};

/// The values of specifications, by the address of the text of the file and the offset of the object. The objects are
/// kept, so that addresses stay unique.
#[derive(Default)]
pub(crate) struct SharedSpecs(Mutex<Index<Place, (Object, Arc<SpecValues>)>>);

/// The address of a text, and an offset in it.
type Place = (usize, usize);

impl SharedSpecs {
    /// The specification of an applier. It shares the values of a copy of the object.
    pub(super) fn read(&self, kind: ApplierKind, object: &Object, key: impl FnOnce() -> Arc<ObjectKey>) -> ApplierSpec {
        let make = || ApplierSpec::read(kind, object, key);
        let Origin::At(span) = &object.node.origin else { return make() };
        let place = (span.file().shared_text().as_ptr().addr(), span.range().start);
        // A panic in another thread leaves complete entries, since each entry is inserted in one step.
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&place).cloned();
        if let Some((_, values)) = known.as_ref().filter(|(known, _)| is_copy(&known.node, &object.node)) {
            return ApplierSpec::of_copy(object, values.clone());
        }
        let spec = make();
        if let Some(values) = spec.shareable().filter(|_| known.is_none()) {
            lock().entry_or(place, || (object.clone(), values.clone()));
        }
        spec
    }
}

/// Returns whether two nodes are the same part of the same text, without changes.
fn is_copy(node: &Node, other: &Node) -> bool {
    let (Origin::At(span), Origin::At(place)) = (&node.origin, &other.origin) else { return false };
    is_same_place(span, place)
        && match (&node.value, &other.value) {
            (Value::Scalar(text, style), Value::Scalar(other, other_style)) => text == other && style == other_style,
            (Value::Seq(items), Value::Seq(others)) => {
                items.len() == others.len() && items.iter().zip(others.iter()).all(|(item, other)| is_copy(item, other))
            }
            (Value::Map(entries), Value::Map(others)) => {
                let is_same =
                    |(entry, other): (&Entry, &Entry)| entry.key == other.key && is_copy(&entry.node, &other.node);
                entries.len() == others.len() && entries.iter().zip(others.iter()).all(is_same)
            }
            _ => false,
        }
}

fn is_same_place(span: &Span, other: &Span) -> bool {
    ArcStr::ptr_eq(span.file().shared_text(), other.file().shared_text()) && span.range() == other.range()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{File, SharedTexts};
    use crate::yaml::{ChangedBy, parse};

    const TEXT: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
                        metadata: {name: apps, namespace: flux-system}\nspec: {path: ./apps}\n";

    fn object(path: &str, text: &str, texts: &SharedTexts) -> Object {
        let file = File::decode_shared(path, text.into(), texts).unwrap();
        Object::new(parse(&file).documents.remove(0).node).unwrap()
    }

    fn shares(first: &Object, second: &Object) -> bool {
        let specs = SharedSpecs::default();
        let read = |object: &Object| specs.read(ApplierKind::Kustomization, object, || Arc::new(ObjectKey::of(object)));
        let (first, second) = (read(first), read(second));
        assert_eq!(
            second.folder,
            crate::flux::object::kustomization_path::clamp(
                second.object.text_at(&["spec", "path"]).unwrap_or_default()
            )
        );
        Arc::ptr_eq(first.fields(), second.fields())
    }

    #[test]
    fn copies_share_their_values() {
        let texts = SharedTexts::default();
        assert!(shares(&object("a/apps.yaml", TEXT, &texts), &object("b/apps.yaml", TEXT, &texts)));
    }

    #[test]
    fn a_changed_copy_has_its_own_values() {
        let texts = SharedTexts::default();
        let (first, mut second) = (object("a/apps.yaml", TEXT, &texts), object("b/apps.yaml", TEXT, &texts));
        let spec = second.node.entry("spec").unwrap().clone();
        let path = spec.node.entry("path").unwrap().clone();
        let by = ChangedBy::Field(first.span().clone());
        let changed = path.node.changed(Value::Scalar("./other".into(), crate::yaml::Style::Plain), by);
        second.node = second.node.with(spec.with_node(spec.node.with(path.with_node(changed))));
        assert!(!shares(&first, &second));
        assert!(!shares(&second, &first));
    }

    #[test]
    fn inline_variables_have_positions() {
        let texts = SharedTexts::default();
        let text = TEXT.replace("./apps}", "./apps, postBuild: {substitute: {A: b}}}");
        assert!(!shares(&object("a/apps.yaml", &text, &texts), &object("b/apps.yaml", &text, &texts)));
    }
}
