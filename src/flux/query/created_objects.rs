//! The objects in the texts of programs: manifests, commands of the flux CLI, and resources of Terraform.

use super::shell::trimmed;
use super::template_paths::entry;
use crate::kube::groups;

/// A manifest inside another file, read line by line.
#[derive(Default)]
pub(super) struct Manifest {
    group: Option<String>,
    kind: Option<&'static str>,
    in_metadata: bool,
}

impl Manifest {
    /// Reads a line, and returns the object whose name it contains.
    pub(super) fn read<'a>(&mut self, line: &'a str) -> Option<(&'static str, &'a str)> {
        let (key, value) = entry(line)?;
        match key {
            "apiVersion" => {
                let group = trimmed(value).rsplit_once('/').map_or("", |(group, _)| group);
                *self = Self { group: Some(group.to_owned()), ..Self::default() };
            }
            "kind" if !self.in_metadata => {
                let created = created_kind(trimmed(value));
                self.kind = created.filter(|created| self.group.as_deref() == Some(created.0)).map(|created| created.1);
            }
            "metadata" => {
                self.in_metadata = true;
                // `metadata = { name = "shop" }` in one line.
                let mut inner = value.split(['{', '}', ',']).filter_map(entry);
                let name = inner.find(|(key, _)| *key == "name");
                return name.and_then(|(_, name)| Some((std::mem::take(self).kind?, name)));
            }
            "name" if self.in_metadata => return Some((std::mem::take(self).kind?, value)),
            _ => {}
        }
        None
    }
}

/// The API group and the kind of an object, if programs create objects of that kind.
pub(super) fn created_kind(kind: &str) -> Option<(&'static str, &'static str)> {
    const KINDS: [(&str, &str); 12] = [
        ("", "Secret"),
        ("", "ConfigMap"),
        ("", "Namespace"),
        ("", "ServiceAccount"),
        ("", "Service"),
        ("gateway.networking.k8s.io", "Gateway"),
        (groups::KUSTOMIZE, "Kustomization"),
        (groups::HELM, "HelmRelease"),
        (groups::SOURCE, "GitRepository"),
        (groups::SOURCE, "OCIRepository"),
        (groups::SOURCE, "HelmRepository"),
        (groups::SOURCE, "Bucket"),
    ];
    KINDS.into_iter().find(|(_, known)| *known == kind)
}

/// The kind of the object that a command `flux create` creates, and the words after the kind.
pub(super) fn created_by_flux<'a, 'w>(words: &'a [&'w str]) -> Option<(&'static str, &'a [&'w str])> {
    let (kind, rest) = words.split_first()?;
    match *kind {
        "kustomization" | "ks" => Some(("Kustomization", rest)),
        "helmrelease" | "hr" => Some(("HelmRelease", rest)),
        "source" => {
            let kinds =
                [("git", "GitRepository"), ("oci", "OCIRepository"), ("helm", "HelmRepository"), ("bucket", "Bucket")];
            let (kind, rest) = rest.split_first()?;
            kinds.into_iter().find(|(word, _)| word == kind).map(|(_, kind)| (kind, rest))
        }
        _ => None,
    }
}

/// The kind of the object of a Terraform resource.
pub(super) fn resource_of(line: &str) -> Option<&'static str> {
    let name = line.strip_prefix("resource")?.trim_start().strip_prefix("\"kubernetes_")?;
    let kinds = [
        ("secret", "Secret"),
        ("config_map", "ConfigMap"),
        ("namespace", "Namespace"),
        ("service_account", "ServiceAccount"),
        ("service", "Service"),
    ];
    kinds.into_iter().find(|(start, _)| name.starts_with(start)).map(|(_, kind)| kind)
}

/// Returns whether the value of a key of Terraform is a Kubernetes service account, or a list of them with namespaces.
pub(super) fn is_key_of_account(key: &str) -> bool {
    let keys = ["k8s_sa_name", "service_account", "service_account_name", "service_accounts"];
    keys.iter().any(|known| key.strip_suffix(known).is_some_and(|start| start.is_empty() || start.ends_with('_')))
}

pub(super) fn is_helmfile(path: &str) -> bool {
    path.split('/').any(|segment| segment.starts_with("helmfile"))
}

/// Returns whether a text has the list of releases of a helmfile.
pub(super) fn contains_releases(text: &str) -> bool {
    text.contains("releases:") && text.lines().any(|line| line.trim_end() == "releases:")
}
