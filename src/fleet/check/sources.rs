//! Revisions and signature verifications that do not match the kind of a source.

use super::names::DUPLICATE_NAME;
use crate::base::finding::Finding;
use crate::fleet::input::layout::Layout;
use crate::fleet::merge::levels::Merged;
use crate::fleet::resolve::dependencies::name;
use crate::fleet::resolve::derive::kind_of;
use crate::fleet::resolve::fleet::SourceKind;
use crate::fleet::rule_ids::INVALID_FLEET;
use crate::text::Index;
use crate::yaml::Node;

pub(super) fn check(merged: &Merged, layout: Option<&Layout>, findings: &mut Vec<Finding>) {
    operators_fit(merged, findings);
    let mut of_platform: Index<&str, (&str, &Node)> = Index::default();
    for tenant in &merged.tenants {
        let platform = tenant.node.get("role").and_then(Node::text) == Some("platform");
        for (index, source) in tenant.sources.iter().enumerate() {
            source_fits(source, findings);
            // The layout sets the name of the first source; without a layout the name is unknown.
            if index > 0 || layout.is_some() {
                is_named(source, findings);
            }
            let (Some(own), Some(tenant)) = (name(source), name(&tenant.node)) else { continue };
            let at = source.get("url").unwrap_or(source);
            match of_platform.get(own).copied() {
                Some((other, first)) if platform && other != tenant => {
                    let message = format!("platform tenants `{other}` and `{tenant}` both define a source `{own}`");
                    let finding = Finding::error(DUPLICATE_NAME, at.span().clone(), message);
                    let help = "rename one of them; both define the same object in the namespace of Flux";
                    findings.push(finding.related(first.span().clone(), "the other source").help(help));
                }
                None if platform => {
                    of_platform.insert(own, (tenant, at));
                }
                _ => {}
            }
        }
    }
}

/// Checks the signature verification of the operator's chart, once for each place.
fn operators_fit(merged: &Merged, findings: &mut Vec<Finding>) {
    let mut seen: Index<(String, u32), ()> = Index::default();
    for flux in merged.clusters.iter().filter_map(|cluster| cluster.get("flux")).chain([&merged.flux]) {
        let Some(verify) = flux.at_keys(&["operator", "verify"]).filter(|verify| verify.is_map()) else { continue };
        let (path, start, _) = verify.span().order();
        if seen.insert((path.to_owned(), start), ()).is_none() {
            verify_fits(verify, SourceKind::OCIRepository, findings);
        }
    }
}

fn is_named(source: &Node, findings: &mut Vec<Finding>) {
    let Some(url) = source.get("url").filter(|_| name(source).is_none()) else { return };
    let message = format!("source `{}` has no `name`", url.text().unwrap_or_default());
    let help = "set a name for components to reference, for example `name: charts`";
    findings.push(Finding::error(INVALID_FLEET, url.span().clone(), message).help(help));
}

fn source_fits(source: &Node, findings: &mut Vec<Finding>) {
    let Some(url) = source.get("url").and_then(Node::text) else { return };
    let kind = kind_of(url);
    let changes = source.get("environments").map(Node::entries).unwrap_or_default();
    let levels = std::iter::once(source).chain(changes.iter().map(|entry| &entry.node));
    for level in levels {
        revision_fits(level, source, findings);
    }
    provider_fits(source, kind, findings);
    if let Some(timeout) = source.get("timeout")
        && let Some(text) = timeout.text().filter(|text| text.contains('h'))
    {
        let message = format!("`{text}` is not a valid timeout of a source: Flux does not accept hours");
        findings.push(
            Finding::error(INVALID_FLEET, timeout.span().clone(), message).help("use minutes, for example `60m`"),
        );
    }
}

/// Checks the `ref` and `verify` of a level of a source.
pub(super) fn revision_fits(level: &Node, source: &Node, findings: &mut Vec<Finding>) {
    let Some(url) = source.get("url").and_then(Node::text) else { return };
    let kind = kind_of(url);
    if let Some(reference) = level.get("ref") {
        reference_fits(reference, kind, findings);
    }
    if let Some(verify) = level.get("verify").filter(|verify| verify.is_map()) {
        verify_fits(verify, kind, findings);
    }
}

pub(super) fn provider_fits(source: &Node, kind: SourceKind, findings: &mut Vec<Finding>) {
    let Some(provider) = source.get("provider") else { return };
    let what = match (kind, provider.text()) {
        (SourceKind::GitRepository, Some("gcp")) => "a Git repository",
        (SourceKind::OCIRepository, Some("github")) => "an OCI artifact",
        _ => return,
    };
    let message = format!("provider `{}` does not support {what}", provider.text().unwrap_or_default());
    findings.push(Finding::error(INVALID_FLEET, provider.span().clone(), message).help("use `secret`"));
}

fn reference_fits(reference: &Node, kind: SourceKind, findings: &mut Vec<Finding>) {
    let said: Vec<_> = reference.entries().iter().filter(|entry| !entry.node.is_null()).collect();
    if reference.is_map() && said.is_empty() {
        let finding = Finding::error(INVALID_FLEET, reference.span().clone(), "`ref` does not set a revision");
        findings.push(finding.help("set one of `branch`, `tag`, `semver`, `commit` and `digest`, or remove `ref`"));
    }
    if let [first, second, ..] = said.as_slice() {
        let message = format!("`ref` sets both `{}` and `{}`", first.key, second.key);
        let finding = Finding::error(INVALID_FLEET, second.key_span(), message);
        findings.push(
            finding
                .related(first.key_span(), "the other field")
                .help("remove one of them; Flux silently ignores the other"),
        );
    }
    for entry in said {
        let (fits, what, instead) = match kind {
            SourceKind::GitRepository => {
                (&*entry.key != "digest", "a Git repository does not have digests", "`commit`")
            }
            SourceKind::OCIRepository => (
                !matches!(&*entry.key, "branch" | "commit"),
                "an OCI artifact does not have branches or commits",
                "`tag`, `semver` or `digest`",
            ),
        };
        if !fits {
            let finding =
                Finding::error(INVALID_FLEET, entry.key_span(), format!("`{}` is not supported: {what}", entry.key));
            findings.push(finding.help(format!("use {instead}")));
        }
    }
}

fn verify_fits(verify: &Node, kind: SourceKind, findings: &mut Vec<Finding>) {
    for entry in verify.entries().iter().filter(|entry| !entry.node.is_null()) {
        let (fits, of) = match kind {
            SourceKind::GitRepository => (matches!(&*entry.key, "mode" | "secret"), "an OCI artifact"),
            SourceKind::OCIRepository => (&*entry.key != "mode", "a Git repository"),
        };
        if !fits {
            let message = format!("`{}` is not supported: it verifies the signature of {of}", entry.key);
            findings.push(Finding::error(INVALID_FLEET, entry.key_span(), message));
        }
    }
    let is_set = |key: &str| verify.get(key).is_some_and(|node| !node.is_null());
    let needs_keys =
        kind == SourceKind::GitRepository || verify.get("provider").and_then(Node::text) == Some("notation");
    if needs_keys && !is_set("secret") {
        let message = "`verify` has no `secret`: Flux needs the public keys of the trusted signers";
        let help = "set it, for example `secret: trusted-keys`";
        findings.push(Finding::error(INVALID_FLEET, verify.span().clone(), message).help(help));
    }
    if is_set("issuer") != is_set("subject") {
        let (one, other) = if is_set("issuer") { ("issuer", "subject") } else { ("subject", "issuer") };
        let message = format!("`verify` sets `{one}` without `{other}`: both identify the signer");
        let help = format!("add `{other}`, a regular expression");
        findings.push(Finding::error(INVALID_FLEET, verify.span().clone(), message).help(help));
    }
}
