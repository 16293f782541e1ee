//! The variables of a Kustomization: the variables of `substituteFrom` in order, then the variables of `substitute`.

use std::sync::Arc;

use arcstr::ArcStr;

use super::variable_name::is_name;
use crate::base::finding::{Finding, ObjectRef};
use crate::flux::model::variables::{Variable, VariableSource, Variables};
use crate::flux::producer::produced::Produced;
use crate::kube::{Object, ObjectId, ObjectKey};
use crate::yaml::{Entry, Node, Style, Value};

/// The rule about keys that are not valid names of variables.
const INVALID_VARIABLE_NAME: &str = "invalid-variable-name";

/// The variables of a Kustomization, with the findings that prevent substitution.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoadedVariables {
    pub(crate) variables: Arc<Variables>,
    /// Findings that fail the build when Flux substitutes the first object.
    pub(crate) findings: Vec<Finding>,
    /// The missing objects that an applier may still create.
    pub(crate) missing: Vec<ObjectKey>,
}

/// The lookup of the `ConfigMap`s and Secrets of a cluster.
pub(crate) trait ValuesLookup {
    /// A ConfigMap or Secret that an applier applies or that a controller creates.
    fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<Produced>;

    /// Returns whether an unknown producer may create objects in a namespace.
    fn may_bring(&self, namespace: &str) -> bool;

    /// Returns whether a webhook adds variables to Kustomizations.
    fn injects_variables(&self) -> bool;
}

/// Returns whether Flux substitutes even without variables.
pub(crate) fn always(kustomization: &Object) -> bool {
    kustomization.text_at(&["spec", "postBuild", "substituteStrategy"]) == Some("Always")
}

/// Loads the variables of a Kustomization from the objects of a cluster.
pub(crate) fn load(kustomization: &Object, cluster: &dyn ValuesLookup) -> LoadedVariables {
    let mut loaded = LoadedVariables::default();
    let mut variables = Variables { open: cluster.injects_variables(), ..Variables::default() };
    let mut invalid = InvalidNames::default();
    let namespace = kustomization.namespace().unwrap_or_default();
    let post_build = kustomization.node.at_keys(&["spec", "postBuild"]);
    let sources = post_build.and_then(|node| node.get("substituteFrom")).map_or(&[][..], Node::items);
    let mut lacks_optional = false;
    for source in sources {
        let text_of = |key: &str| source.get(key).and_then(Node::text).unwrap_or_default();
        let (kind, name, optional) = (text_of("kind"), text_of("name"), text_of("optional") == "true");
        let found = cluster.find(kind, namespace, name);
        variables.open |= found.as_ref().is_some_and(|found| found.open);
        let place = found.as_ref().map(|found| found.object.span().clone());
        variables.sources.push(VariableSource { kind: kind.into(), name: name.into(), place });
        match (kind, found) {
            ("ConfigMap", Some(found)) => take(&mut variables, &found.object, "data", known, &mut invalid),
            ("Secret", Some(found)) => {
                take(&mut variables, &found.object, "data", |_| None, &mut invalid);
                take(&mut variables, &found.object, "stringData", |_| None, &mut invalid);
            }
            // Most repositories contain no Secrets, so the keys of a missing Secret are unknown.
            ("Secret", None) => {
                variables.open = true;
                loaded.missing.push(ObjectKey::from(ObjectId { group: "", kind, namespace, name }.settled()));
            }
            // Without a required ConfigMap, Flux applies nothing. The objects are checked nevertheless, since a program
            // that creates clusters often creates the ConfigMap. A rule reports the missing ConfigMap.
            ("ConfigMap", None) => {
                loaded.missing.push(ObjectKey::from(ObjectId { group: "", kind, namespace, name }.settled()));
                variables.open |= !optional || cluster.may_bring(namespace);
                lacks_optional |= optional;
            }
            _ => {}
        }
    }
    if let Some(inline) = post_build.and_then(|node| node.get("substitute")) {
        for entry in inline.entries() {
            invalid.check(entry, kustomization);
            variables.values.insert(entry.key.clone(), variable(entry, None, known));
        }
    }
    // Without any variable, Flux does not substitute at all, not even defaults. Another program may create the optional
    // ConfigMap, so it is unknown whether Flux substitutes.
    variables.open |= lacks_optional && variables.values.is_empty() && !always(kustomization);
    loaded.findings = invalid.findings();
    loaded.variables = Arc::new(variables);
    loaded
}

/// Adds the variables of a field of an object, and the findings of invalid names.
fn take(
    variables: &mut Variables,
    object: &Object,
    field: &str,
    value: fn(&Node) -> Option<ArcStr>,
    invalid: &mut InvalidNames,
) {
    let reference = object.reference();
    let entries = object.node.get(field).map_or(&[][..], Node::entries);
    for entry in entries {
        variables.values.insert(entry.key.clone(), variable(entry, Some(&reference), value));
        invalid.check(entry, object);
    }
}

fn variable(entry: &Entry, from: Option<&ObjectRef>, value: fn(&Node) -> Option<ArcStr>) -> Variable {
    Variable { value: value(&entry.node), place: entry.node.span().clone(), from: from.cloned() }
}

/// The value that Flux substitutes, without line breaks; `None` if it is unknown.
fn known(node: &Node) -> Option<ArcStr> {
    let Value::Scalar(text, style) = &node.value else { return None };
    let one_line = || if text.contains('\n') { text.replace('\n', "").into() } else { text.clone() };
    (*style != Style::Unknown).then(one_line)
}

const HELP: &str = "use letters, digits and `_`, and do not start with a digit";

/// The maximum number of findings of a Kustomization. Many Kustomizations may read the same ConfigMap.
const MAX_INVALID: usize = 20;

/// The invalid names of variables. If one name is invalid, Flux fails all substitutions of the Kustomization.
#[derive(Default)]
struct InvalidNames {
    findings: Vec<Finding>,
    /// The number of names without a finding.
    further: usize,
}

impl InvalidNames {
    fn check(&mut self, entry: &Entry, object: &Object) {
        if is_name(&entry.key) {
            return;
        }
        if self.findings.len() == MAX_INVALID {
            self.further += 1;
            return;
        }
        let message = format!("`{}` is not a valid variable name, so Flux fails to substitute any variable", entry.key);
        let finding = Finding::error(INVALID_VARIABLE_NAME, entry.key_span(), message).help(HELP);
        self.findings.push(finding.about(object.reference()));
    }

    fn findings(mut self) -> Vec<Finding> {
        if let (Some(last), 1..) = (self.findings.last_mut(), self.further) {
            last.help = Some(format!("{HELP}; {} further names are not valid", self.further));
        }
        self.findings
    }
}
