use crate::base::finding::Finding;
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::yaml::{Entry, Node};

declare! {
    /// A key of Helm values ends with a quotation mark that does not belong to it.
    ///
    /// ## Why
    ///
    /// A plain YAML key may contain quotation marks. If its first quotation mark is missing, the last one is part of the
    /// key. The chart does not read such a key and uses its default value. Helm does not report unknown keys.
    ///
    /// The rule checks the `values` of a HelmRelease. The API server reports unknown fields of other objects.
    ///
    /// ## How to fix it
    ///
    /// Remove the quotation mark, or add the other one.
    ///
    /// ## Bad
    ///
    /// ```yaml
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
    ///     cpu_limit": 4
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
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
    ///     cpu_limit: 4
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [YAML: plain scalars](https://yaml.org/spec/1.2.2/#733-plain-style)
    "stray-quote", Warning, "a key of Helm values ends with a quotation mark that does not belong to it",
    Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    if !applied.object.is(groups::HELM, "HelmRelease") {
        return;
    }
    if let Some(values) = applied.object.node.at_keys(&["spec", "values"]) {
        let mut keys = Vec::new();
        add_keys(values, &mut keys);
        found.extend(keys.into_iter().map(|entry| finding(applied, entry)));
    }
}

/// Adds the entries whose plain keys end with the only quotation mark in them.
fn add_keys<'a>(node: &'a Node, found: &mut Vec<&'a Entry>) {
    for entry in node.entries() {
        if ['"', '\''].into_iter().any(|quote| is_stray(&entry.key, quote)) && *entry.key_span().text() == *entry.key {
            found.push(entry);
        }
        add_keys(&entry.node, found);
    }
    node.items().iter().for_each(|item| add_keys(item, found));
}

fn is_stray(key: &str, quote: char) -> bool {
    key.strip_suffix(quote).is_some_and(|rest| !rest.contains(quote) && rest.chars().any(char::is_alphabetic))
}

fn finding(applied: &Applied<'_>, entry: &Entry) -> Finding {
    let object = applied.object.reference();
    let message = format!("{object} has a key with a stray quotation mark in its values: `{}`", entry.key);
    let meant = entry.key.trim_end_matches(['"', '\'']);
    let help = format!("write `{meant}`: the chart does not read the key with the quotation mark");
    let summary = format!(" keys in the values of {object} have a stray quotation mark");
    let finding = Finding::warning(RULE.id, applied.by.place(&entry.key_span()), message).help(help);
    finding.caused_by(object.to_string(), "", summary).about(object)
}
