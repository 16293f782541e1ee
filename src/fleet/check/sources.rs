//! Sources whose revision or signature does not fit their kind.

use super::names::DUPLICATE_NAME;
use crate::base::finding::Finding;
use crate::fleet::input::files::Input;
use crate::fleet::input::layout::Layout;
use crate::fleet::merge::levels::Merged;
use crate::fleet::resolve::dependencies::name;
use crate::fleet::resolve::derive::kind_of;
use crate::fleet::resolve::fleet::SourceKind;
use crate::fleet::rule_ids::INVALID_FLEET;
use crate::text::Index;
use crate::yaml::Node;

pub(super) fn check(input: &Input, merged: &Merged, layout: Option<&Layout>, findings: &mut Vec<Finding>) {
    if let Some(repository) = input.root.get("repository")
        && let Some(url) = repository.get("url").and_then(Node::text)
    {
        provider_fits(repository, kind_of(url), findings);
    }
    operators_fit(merged, findings);
    let mut of_platform: Index<&str, (&str, &Node)> = Index::default();
    for tenant in &merged.tenants {
        let platform = tenant.node.get("role").and_then(Node::text) == Some("platform");
        for (index, source) in tenant.sources.iter().enumerate() {
            source_fits(source, findings);
            // The layout names the first source; without a layout nobody can know.
            if index > 0 || layout.is_some() {
                is_named(source, findings);
            }
            let (Some(own), Some(tenant)) = (name(source), name(&tenant.node)) else { continue };
            let at = source.get("url").unwrap_or(source);
            match of_platform.get(own).copied() {
                Some((other, first)) if platform && other != tenant => {
                    let message = format!("the platform tenants `{other}` and `{tenant}` both have a source `{own}`");
                    let finding = Finding::error(DUPLICATE_NAME, at.span().clone(), message);
                    let help = "both would be one object in the namespace of Flux; name one of them differently";
                    findings.push(finding.related(first.span().clone(), "the other one").help(help));
                }
                None if platform => {
                    of_platform.insert(own, (tenant, at));
                }
                _ => {}
            }
        }
    }
}

/// The signatures of the operator's charts, each once.
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
    let help = "components choose it by its name: `name: charts`";
    findings.push(Finding::error(INVALID_FLEET, url.span().clone(), message).help(help));
}

fn source_fits(source: &Node, findings: &mut Vec<Finding>) {
    let Some(url) = source.get("url").and_then(Node::text) else { return };
    let kind = kind_of(url);
    let changes = source.get("environments").map(Node::entries).unwrap_or_default();
    let levels = std::iter::once(source).chain(changes.iter().map(|entry| &entry.node));
    for level in levels {
        if let Some(reference) = level.get("ref") {
            reference_fits(reference, kind, findings);
        }
        if let Some(verify) = level.get("verify").filter(|verify| verify.is_map()) {
            verify_fits(verify, kind, findings);
        }
    }
    provider_fits(source, kind, findings);
    if let Some(timeout) = source.get("timeout")
        && let Some(text) = timeout.text().filter(|text| text.contains('h'))
    {
        let message = format!("`{text}` is no timeout of a source: Flux takes minutes at most");
        findings.push(Finding::error(INVALID_FLEET, timeout.span().clone(), message).help("for example `60m`"));
    }
}

fn provider_fits(source: &Node, kind: SourceKind, findings: &mut Vec<Finding>) {
    let Some(provider) = source.get("provider") else { return };
    let what = match (kind, provider.text()) {
        (SourceKind::GitRepository, Some("gcp")) => "a Git repository",
        (SourceKind::OCIRepository, Some("github")) => "an OCI artifact",
        _ => return,
    };
    let message = format!("`{}` does not fit: it is no way to fetch {what}", provider.text().unwrap_or_default());
    findings.push(Finding::error(INVALID_FLEET, provider.span().clone(), message).help("use a `secret`"));
}

fn reference_fits(reference: &Node, kind: SourceKind, findings: &mut Vec<Finding>) {
    let said: Vec<_> = reference.entries().iter().filter(|entry| !entry.node.is_null()).collect();
    if reference.is_map() && said.is_empty() {
        let finding = Finding::error(INVALID_FLEET, reference.span().clone(), "`ref` names no revision");
        findings.push(finding.help("say one of `branch`, `tag`, `semver`, `commit` and `digest`, or leave `ref` out"));
    }
    if let [first, second, ..] = said.as_slice() {
        let message = format!("`ref` says `{}` and `{}`; one of them names the revision", first.key, second.key);
        let finding = Finding::error(INVALID_FLEET, second.key_span(), message);
        findings.push(finding.related(first.key_span(), "the other one").help("keep one: Flux would silently choose"));
    }
    for entry in said {
        let (fits, what, instead) = match kind {
            SourceKind::GitRepository => (&*entry.key != "digest", "a Git repository has no digests", "`commit`"),
            SourceKind::OCIRepository => (
                !matches!(&*entry.key, "branch" | "commit"),
                "an OCI artifact has no branches or commits",
                "`tag`, `semver` or `digest`",
            ),
        };
        if !fits {
            let finding =
                Finding::error(INVALID_FLEET, entry.key_span(), format!("`{}` does not fit: {what}", entry.key));
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
            let message = format!("`{}` does not fit: it is for the signature of {of}", entry.key);
            findings.push(Finding::error(INVALID_FLEET, entry.key_span(), message));
        }
    }
    let said = |key: &str| verify.get(key).is_some_and(|node| !node.is_null());
    let needs_keys =
        kind == SourceKind::GitRepository || verify.get("provider").and_then(Node::text) == Some("notation");
    if needs_keys && !said("secret") {
        let message = "`verify` has no `secret`: Flux would not know whose signature counts";
        let help = "add it, for example `secret: trusted-keys`";
        findings.push(Finding::error(INVALID_FLEET, verify.span().clone(), message).help(help));
    }
    if said("issuer") != said("subject") {
        let (one, other) = if said("issuer") { ("issuer", "subject") } else { ("subject", "issuer") };
        let message = format!("`verify` says `{one}` without `{other}`: a signer is known by both");
        let help = format!("add `{other}`, a regular expression");
        findings.push(Finding::error(INVALID_FLEET, verify.span().clone(), message).help(help));
    }
}
