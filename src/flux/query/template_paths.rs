//! The directories that the templates of Kustomizations and kustomization files apply. A program fills in the
//! templates, so that the objects of these directories may be on a cluster.

use std::collections::BTreeSet;

use memchr::memchr2;

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
        let field = entry(line);
        if let Some((_, version)) = field.filter(|(key, _)| *key == "apiVersion") {
            group = version.trim_matches(['"', '\'']).split('/').next().unwrap_or_default();
        } else if group == groups::KUSTOMIZE {
            found.extend(field.filter(|(key, _)| *key == "path").and_then(|(_, path)| plain(path)).map(clamp));
        } else if group == "kustomize.config.k8s.io" {
            let resource = line.strip_prefix("- ").and_then(plain).filter(|path| !path.contains(':'));
            found.extend(resource.and_then(|path| join(folder_of(file.path()), path)));
        }
    }
    // The root contains all files of the repository, also those that no template mentions.
    found.remove("");
    found
}

/// The key and the value of a line in YAML, `name: shop`, or in the language of Terraform, `"name" = "shop"`.
pub(super) fn entry(line: &str) -> Option<(&str, &str)> {
    let line = if line.starts_with("- ") { line.trim_start_matches("- ") } else { line };
    let at = memchr2(b':', b'=', line.as_bytes())?;
    let (key, value) = (line.get(..at)?, line.get(at + 1..)?);
    Some((key.trim().trim_matches(['"', '\'']), value.trim()))
}

/// A scalar without quotes; `None` if it contains a variable.
fn plain(value: &str) -> Option<&str> {
    let value = value.split(" #").next().unwrap_or(value).trim().trim_matches(['"', '\'']);
    (!value.is_empty() && !value.contains(['$', '{', '}', '<', '%'])).then_some(value)
}
