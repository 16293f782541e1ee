use arcstr::ArcStr;

use crate::api::catalog::{Releases, built_in};
use crate::api::schema::{Schema, Type};
use crate::base::finding::{Finding, Severity};
use crate::flux::Applied;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::yaml::{ChangedBy, Name, Node, Origin, Reader, Scalar, Value};

declare! {
    /// A variable changes the type of a quoted value.
    ///
    /// ## Why
    ///
    /// Flux prints each object before it substitutes variables, so that quotes around `"${TAG}"` are lost. A value that
    /// YAML reads as another type then changes: `1.10` becomes the number 1.1, `1e3` becomes 1000, and `0123` becomes 83.
    /// `yes` becomes true. An empty value becomes null, which removes a default of a Helm chart. A value such as `{a: b}`
    /// becomes a mapping. Flux removes line breaks from values, so that several lines become one. A boolean or an integer in its usual form, such as `true` or `8080`, is a pedantic finding, since
    /// the author may intend it.
    ///
    /// The rule checks values that have quotes in the file. `schema-mismatch` reports a value whose new type the API
    /// server rejects, and numbers are correct where the schema expects them.
    ///
    /// ## How to fix it
    ///
    /// Put quotes into the value of the variable: `TAG: '"1.10"'`. Or substitute a part of a longer text, such as
    /// `image: example.com/web:${TAG}`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/web
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   postBuild:
    ///     substitute:
    ///       TAG: "1.10"
    /// # web/release.yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: web
    ///   namespace: web
    /// spec:
    ///   interval: 1h
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: web
    ///   values:
    ///     tag: "${TAG}"
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/web
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   postBuild:
    ///     substitute:
    ///       TAG: '"1.10"'
    /// # web/release.yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: web
    ///   namespace: web
    /// spec:
    ///   interval: 1h
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: web
    ///   values:
    ///     tag: "${TAG}"
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: post build variable substitution](https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution)
    "retyped-by-substitution", Warning, "a variable changes the type of a quoted value",
    Check::Object(check),
}

/// The maximum depth of a value.
const MAX_DEPTH: usize = 100;

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    if applied.by.state != crate::flux::State::Built || !has_candidate(applied, &object.node, 0) {
        return;
    }
    let version = object.api_version().rsplit('/').next().unwrap_or_default();
    let schema = built_in(object.group(), version, object.kind(), &Releases::default());
    let mut walk = Walk { applied, is_core: !object.group().contains('.'), found };
    for entry in object.node.entries() {
        let field = schema.as_ref().and_then(|found| found.schema.field(&entry.key));
        walk.node(&entry.key, &entry.node, field, 0);
    }
}

/// Returns whether a variable determines a value that has quotes, or that joins the lines of the variable. Most objects
/// have no such value and need no schema.
fn has_candidate(applied: &Applied<'_>, node: &Node, depth: usize) -> bool {
    let is_candidate = |variable: &Name| is_quoted(node) || is_joined(applied, variable);
    depth <= MAX_DEPTH
        && (variable_of(node).is_some_and(is_candidate)
            || node.entries().iter().any(|entry| has_candidate(applied, &entry.node, depth + 1))
            || node.items().iter().any(|item| has_candidate(applied, item, depth + 1)))
}

/// Returns whether Flux removes line breaks within the value of a variable.
fn is_joined(applied: &Applied<'_>, variable: &Name) -> bool {
    let place = applied.by.variables.values.get(variable).map(|variable| variable.place.text());
    place.is_some_and(has_lines)
}

struct Walk<'a, 'f> {
    applied: &'a Applied<'a>,
    /// Whether the object is one of Kubernetes' own kinds, for which null is the empty text.
    is_core: bool,
    found: &'f mut Findings,
}

impl Walk<'_, '_> {
    fn node(&mut self, key: &str, node: &Node, schema: Option<&Schema>, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        if let Some(variable) = variable_of(node) {
            if is_joined(self.applied, variable) {
                self.joined(key, node, variable);
            } else if is_quoted(node) {
                self.quoted(key, node, variable, schema);
            }
            if is_quoted(node) {
                return;
            }
        }
        for entry in node.entries() {
            let field = schema.and_then(|schema| schema.field(&entry.key));
            self.node(&entry.key, &entry.node, field, depth + 1);
        }
        for item in node.items() {
            let items = schema.and_then(|schema| schema.items.as_ref());
            self.node(key, item, items.map(|link| &**link), depth + 1);
        }
    }

    fn quoted(&mut self, key: &str, node: &Node, variable: &Name, schema: Option<&Schema>) {
        let expected = schema.and_then(|schema| schema.value_type);
        // The API server rejects another type than that of the schema, which is another rule.
        let is_typed = expected.is_some_and(|expected| expected != Type::String && expected != Type::IntOrString);
        let Some((becomes, is_usual)) = retyped(node, self.value_of(node, variable).as_deref()) else { return };
        let is_null = becomes == "null";
        if is_null && self.is_undefined(node, variable) {
            // `undefined-variable` reports the cause.
            return;
        }
        if is_typed || (expected == Some(Type::String) && !is_null) || (is_null && self.is_core) {
            return;
        }
        let object = self.applied.object.reference();
        let message = format!("variable `{variable}` changes the quoted value of `{key}` of {object} to {becomes}");
        let help = format!("put quotes into the value of `{variable}`: Flux drops the quotes in this file");
        let finding = Finding::warning(RULE.id, node.span().clone(), message).help(help).about(object);
        // The author of `"${ENABLED}"` may intend a boolean, and of `"${PORT}"` a number.
        let severity = if is_usual { Severity::Pedantic } else { finding.severity };
        self.found.push(Finding { severity, ..finding });
    }

    /// Returns whether no source defines the variable of a node, and the node has no default.
    fn is_undefined(&self, node: &Node, variable: &Name) -> bool {
        let is_plain = node.span().text().trim_matches(['"', '\'']) == format!("${{{variable}}}");
        is_plain && !self.applied.by.variables.values.contains_key(variable)
    }

    fn joined(&mut self, key: &str, node: &Node, variable: &Name) {
        let object = self.applied.object.reference();
        let message = format!("the lines of variable `{variable}` become one line in `{key}` of {object}");
        let help = format!(
            "set a variable for each line, or move the text of `{variable}` into this file: Flux removes line breaks from \
             values"
        );
        self.found.push(Finding::warning(RULE.id, node.span().clone(), message).help(help).about(object));
    }

    /// The value of a reference that is the whole value of a node: of its variable, or else its default.
    fn value_of(&self, node: &Node, variable: &Name) -> Option<ArcStr> {
        let whole = node.span().text().trim_matches(['"', '\'']);
        let inner = whole.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'))?;
        if inner.contains(['$', '{', '}']) {
            return None;
        }
        let operator = inner.strip_prefix(&**variable)?;
        let default = match operator {
            "" => "",
            _ => [":-", ":=", "-", "="].into_iter().find_map(|sign| operator.strip_prefix(sign))?,
        };
        let known = self.applied.by.variables.values.get(variable).and_then(|variable| variable.value.clone());
        Some(known.filter(|value| !value.is_empty()).unwrap_or_else(|| default.into()))
    }
}

/// Returns whether the written form of a text has several lines that are not empty.
fn has_lines(written: &str) -> bool {
    if let Some(inner) = written.strip_prefix('"') {
        let lines = inner.trim_end_matches('"').split("\\n");
        return lines.filter(|line| !line.trim().is_empty()).count() > 1;
    }
    let mut lines = written.lines();
    let is_literal = lines.next().is_some_and(|header| header.starts_with('|'));
    let mut lines = lines.map(str::trim).filter(|line| !line.is_empty());
    // JSON has the same meaning on one line.
    is_literal && lines.next().is_some_and(|first| !first.starts_with(['{', '['])) && lines.next().is_some()
}

/// The variable that determines a value.
fn variable_of(node: &Node) -> Option<&Name> {
    let Origin::Via(step) = &node.origin else { return None };
    match &step.by {
        ChangedBy::Variable(name) => Some(name),
        _ => None,
    }
}

/// Returns whether the file contains the value in quotes.
fn is_quoted(node: &Node) -> bool {
    let text = node.span().text();
    text.starts_with(['"', '\'']) && text.contains("${")
}

/// The value that replaces a text, and whether it is a boolean or an integer in its usual form; `None` if the value is
/// that text. `written` is the value of the variable.
fn retyped(node: &Node, written: Option<&str>) -> Option<(String, bool)> {
    let text = match &node.value {
        Value::Map(_) => return Some(("a mapping".to_owned(), false)),
        Value::Seq(_) => return Some(("a list".to_owned(), false)),
        Value::Scalar(text, _) => text,
    };
    let is_usual = |shown: &str| *shown == **text && written.is_none_or(|written| written == shown);
    match node.resolve(Reader::Kustomize)? {
        Scalar::Null => Some(("null".to_owned(), false)),
        Scalar::Bool(value) => Some((format!("the boolean {value}"), is_usual(&value.to_string()))),
        Scalar::Int(_) | Scalar::Float(_) => {
            let number = crate::yaml::to_json(node, Reader::Kustomize).to_string();
            let is_usual = is_usual(&number);
            Some((format!("the number {number}"), is_usual))
        }
        Scalar::String(_) => None,
    }
}
