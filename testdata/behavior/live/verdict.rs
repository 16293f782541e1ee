//! What the record says to a finding.

use std::collections::BTreeSet;

use fleetwright::base::finding::Finding;

use super::record::{Answer, State};

/// What an error of a rule claims, in terms of the record.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Claim {
    /// A Kustomization does not become ready.
    Fails,
    /// Objects are deleted that another Kustomization applies, or are never deleted.
    Deletes,
    /// An object is applied that must not be.
    LetsIn,
    /// An object is applied that must not be, or the API server refuses it.
    FailsOrLetsIn,
    /// A controller decides that does not run there, or the fault is not a failure.
    Elsewhere,
}

/// The kinds whose controllers do not run there.
const ELSEWHERE: &[&str] = &[
    "Alert",
    "Bucket",
    "GitRepository",
    "OCIRepository",
    "ArtifactGenerator",
    "FluxInstance",
    "HelmChart",
    "HelmRelease",
    "HelmRepository",
    "ImagePolicy",
    "ImageRepository",
    "ImageUpdateAutomation",
    "Provider",
    "Receiver",
    "ResourceSet",
    "ResourceSetInputProvider",
];

/// Returns what an error claims.
pub(super) fn claim_of(finding: &Finding) -> Claim {
    match finding.rule {
        "object-owned-twice" | "deletion-deadlock" | "missing-prune" => Claim::Deletes,
        "tenant-escape" | "tenant-cluster-admin" | "lockdown-missing" => Claim::LetsIn,
        "missing-service-account"
        | "rbac-escalation"
        | "sops-misconfigured"
        | "tenant-forbidden-object"
        | "target-namespace-mismatch" => Claim::FailsOrLetsIn,
        // The recorder has no network.
        "remote-base" => Claim::Elsewhere,
        _ if finding.message.contains(" of ResourceSet `") => Claim::Elsewhere,
        // kustomize-controller decides, whatever the kind of the object.
        "default-namespace"
        | "duplicate-key"
        | "failed-build"
        | "invalid-duration"
        | "invalid-yaml"
        | "missing-namespace"
        | "missing-resource"
        | "shell-variable-substituted"
        | "undefined-variable" => Claim::Fails,
        "automation-pushes-to-synced-branch"
        | "dangling-image-policy"
        | "duplicate-cluster-identity"
        | "floating-version"
        | "insecure-source"
        | "invalid-exception"
        | "invalid-git-url"
        | "legacy-oci-helm-repository"
        | "missing-storage-namespace"
        | "plaintext-secret"
        | "privileged-workload"
        | "receiver-target"
        | "registry-without-provider"
        | "tenant-baseline"
        | "unauthenticated-receiver"
        | "unfiltered-image-policy"
        | "missing-drift-detection"
        | "missing-failure-strategy"
        | "missing-timeout"
        | "runtime-info-drift"
        | "suspended-in-git"
        | "unreachable-object"
        | "unsized-instance"
        | "watch-label-missing"
        | "unverified-artifact" => Claim::Elsewhere,
        _ if finding.object.as_ref().is_some_and(|object| ELSEWHERE.contains(&&*object.kind)) => Claim::Elsewhere,
        _ => Claim::Fails,
    }
}

impl Claim {
    /// Whether the record confirms an error about Kustomizations.
    pub(super) fn is_confirmed(self, finding: &Finding, about: &BTreeSet<String>, answer: &Answer) -> bool {
        let states = || about.iter().map(|name| answer.kustomizations.get(name));
        match self {
            // A Kustomization that does not exist was not applied, since its parent failed.
            Self::Fails => states().any(|state| state.is_none_or(|state| !state.is_ready())),
            Self::Deletes => {
                let remains = |names: &BTreeSet<String>| names.iter().any(|name| is_named(finding, name));
                let is_lost = |name: &String| {
                    is_named(finding, name) || states().flatten().any(|state| state.inventory.contains(name))
                };
                answer.lost.iter().any(is_lost) || remains(&answer.stuck) || remains(&answer.kept)
            }
            Self::FailsOrLetsIn => {
                states().any(|state| state.is_none_or(|state| !state.is_ready() || !state.inventory.is_empty()))
            }
            Self::LetsIn => states().flatten().any(|state| state.is_ready() || !state.inventory.is_empty()),
            Self::Elsewhere => true,
        }
    }
}

/// Whether a finding names an object, or is at it.
fn is_named(finding: &Finding, identity: &str) -> bool {
    let (kind, name) = identity.split_once(' ').unwrap();
    let kind = kind.split('.').next().unwrap();
    let of_object =
        finding.object.as_ref().is_some_and(|object| &*object.kind == kind && name.ends_with(&*object.name));
    let short = name.rsplit('/').next().unwrap();
    of_object
        || finding.message.contains(&format!("{kind} `{name}`"))
        || finding.message.contains(&format!("{kind} `{short}`"))
}

/// The Kustomizations that a finding is about: those that it names or is at, else those that apply its object, else those
/// that apply its directory.
pub(super) fn about(finding: &Finding, answer: &Answer) -> BTreeSet<String> {
    let mut names = named(finding);
    if !names.is_empty() {
        return names;
    }
    // The Kustomization that reads the variable fails, wherever the variable is. Its message names one of the variables.
    if finding.rule == "invalid-variable-name" {
        let readers = answer.kustomizations.iter().filter(|(_, state)| state.message.contains("var name is invalid"));
        return readers.map(|(name, _)| name.clone()).collect();
    }
    if let Some(object) = &finding.object {
        let namespace = object.namespace.as_deref();
        let identity =
            namespace.map_or_else(|| object.name.to_string(), |namespace| format!("{namespace}/{}", object.name));
        let applies = |state: &State| {
            let same = |entry: &String| {
                let (kind, name) = entry.split_once(' ').unwrap();
                kind.split('.').next() == Some(&*object.kind) && name == identity
            };
            state.inventory.iter().any(same)
        };
        names.extend(answer.kustomizations.iter().filter(|(_, state)| applies(state)).map(|(name, _)| name.clone()));
    }
    if names.is_empty() {
        let path = finding.at.span.file().path();
        let depth = |state: &State| {
            let folder = state.path.trim_start_matches("./").trim_end_matches('/');
            let is_below = folder.is_empty()
                || folder == "."
                || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
            is_below.then_some(folder.len())
        };
        let deepest = answer.kustomizations.values().filter_map(depth).max();
        let of_folder = answer.kustomizations.iter().filter(|(_, state)| deepest.is_some() && depth(state) == deepest);
        names.extend(of_folder.map(|(name, _)| name.clone()));
    }
    names
}

/// The Kustomizations that a finding names, or whose object it is at.
fn named(finding: &Finding) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let texts = finding.all_related().map(|label| label.message.as_str()).chain([finding.message.as_str()]);
    for text in texts {
        for rest in text.split("Kustomization `").skip(1) {
            let name = rest.split('`').next().unwrap();
            names.insert(if name.contains('/') { name.to_owned() } else { format!("flux-system/{name}") });
        }
    }
    if let Some(object) = &finding.object
        && &*object.kind == "Kustomization"
        && object.api_version.starts_with("kustomize.toolkit.fluxcd.io/")
    {
        names.insert(format!("{}/{}", object.namespace.as_deref().unwrap_or("flux-system"), object.name));
    }
    names
}

/// Whether a finding may be the reason why a Kustomization is not ready.
pub(super) fn explains(finding: &Finding, name: &str, answer: &Answer) -> bool {
    // Without an account, Flux uses its own rights, or those of the default account.
    finding.rule != "missing-service-account"
        && !matches!(claim_of(finding), Claim::LetsIn | Claim::Elsewhere)
        && is_about(finding, name, answer)
}

/// Whether a finding is about a Kustomization, in the widest sense: it names or applies it, or a related place is in its
/// directory.
fn is_about(finding: &Finding, name: &str, answer: &Answer) -> bool {
    if about(finding, answer).contains(name) {
        return true;
    }
    let Some(state) = answer.kustomizations.get(name) else { return false };
    if let Some(object) = &finding.object {
        let namespace = object.namespace.as_deref().map(|namespace| format!("/{namespace}")).unwrap_or_default();
        if state.message.contains(&format!("{}{namespace}/{}", object.kind, object.name)) {
            return true;
        }
    }
    // The place of another object of a grouped finding names the object.
    let is_in_message = |text: &str| {
        let object = text.split_once(" `").map(|(kind, name)| format!("{kind}/{}", name.trim_end_matches('`')));
        object.is_some_and(|object| state.message.contains(&object))
    };
    if finding.all_related().any(|label| is_in_message(&label.message)) {
        return true;
    }
    let folder = state.path.trim_start_matches("./").trim_end_matches('/');
    let places = finding.all_related().chain([&finding.at]);
    !folder.is_empty()
        && places.map(|label| label.span.file().path()).any(|path| path.starts_with(&format!("{folder}/")))
}

/// Whether a Kustomization waits for one that is not ready either.
pub(super) fn follows(state: &State, answer: &Answer) -> bool {
    answer.kustomizations.iter().any(|(other, other_state)| {
        !other_state.is_ready()
            && (state.message.contains(&format!("dependency '{other}' is not ready"))
                || state.message.contains(&format!("Kustomization/{other} status")))
    })
}
