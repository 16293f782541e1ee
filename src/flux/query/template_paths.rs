//! The directories that the templates of Kustomizations and kustomization files apply. A program fills in the
//! templates, so that the objects of these directories may be on a cluster.

use std::collections::BTreeSet;

use crate::flux::object::kustomization_path::clamp;
use crate::kube::groups;
use crate::text::{File, folder_of, join};

/// The directories that the manifests inside a file apply. The file is read line by line, since it may not be YAML.
pub(super) fn template_paths(file: &File) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if !file.text().contains("Kustomization") {
        return found;
    }
    let mut group = "";
    for line in file.text().lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some(version) = line.trim_start_matches("- ").strip_prefix("apiVersion:") {
            group = version.trim().split('/').next().unwrap_or_default();
        } else if group == groups::KUSTOMIZE {
            found.extend(line.strip_prefix("path:").and_then(plain).map(clamp));
        } else if group == "kustomize.config.k8s.io" {
            let resource = line.strip_prefix("- ").and_then(plain).filter(|path| !path.contains(':'));
            found.extend(resource.and_then(|path| join(folder_of(file.path()), path)));
        }
    }
    // The root contains all files of the repository, also those that no template mentions.
    found.remove("");
    found
}

/// A scalar without quotes; `None` if it contains a variable.
fn plain(value: &str) -> Option<&str> {
    let value = value.split(" #").next().unwrap_or(value).trim().trim_matches(['"', '\'']);
    (!value.is_empty() && !value.contains(['$', '{', '}', '<', '%'])).then_some(value)
}
