//! The policies that the configuration names: directories of the repository, and built-in policies.

use std::collections::BTreeMap;

use super::built_in::{BUILT_IN, built_in};
use super::yaml_file::is_yaml;
use crate::base::finding::Finding;
use crate::base::similar_names::did_you_mean;
use crate::config::{DeclaredPolicies, INVALID_CONFIG};
use crate::kube::Object;
use crate::text::{Tree, folder_of, is_inside, join};

/// The objects of an item of `policies`.
#[derive(Debug, Clone)]
pub struct Source {
    /// The item.
    pub declared: DeclaredPolicies,
    /// The policies, bindings and parameters.
    pub objects: Vec<Object>,
}

/// The maximum number of files in the directories of policies.
const MAX_FILES: usize = 10_000;

/// The directory to read for a path of the configuration, which may be a file.
pub fn folder_of_policies(path: &str) -> &str {
    if is_yaml(path) { folder_of(path) } else { path }
}

/// Reads the policies that the configuration names. `outside` has the directories of paths that are not relative to the
/// tree.
pub fn load(declared: &[DeclaredPolicies], tree: &Tree, outside: &[(String, Tree)]) -> (Vec<Source>, Vec<Finding>) {
    let (mut sources, mut findings) = (Vec::new(), Vec::new());
    for declared in declared {
        let found = match (&declared.config.path, &declared.config.builtin) {
            (Some(path), _) => of_path(declared, path, tree, outside),
            (None, Some(name)) => of_built_in(declared, name),
            (None, None) => continue,
        };
        match found {
            Ok(objects) => sources.push(Source { declared: declared.clone(), objects }),
            Err(finding) => findings.push(*finding),
        }
    }
    (sources, findings)
}

fn of_path(
    declared: &DeclaredPolicies,
    path: &str,
    tree: &Tree,
    outside: &[(String, Tree)],
) -> Result<Vec<Object>, Box<Finding>> {
    let own = outside.iter().find(|(own, _)| own == path);
    let (tree, folder) = match own {
        Some((_, own)) if is_yaml(path) => (own, path.rsplit('/').next().map(str::to_owned)),
        Some((_, own)) => (own, Some(String::new())),
        None => (tree, join("", path)),
    };
    let files: Vec<&str> = tree
        .entries()
        .map(|(path, _)| path)
        .filter(|path| folder.as_deref().is_some_and(|folder| is_inside(path, folder)))
        .filter(|path| is_yaml(path))
        .take(MAX_FILES + 1)
        .collect();
    if files.len() > MAX_FILES {
        let message =
            format!("`{path}` contains more than {MAX_FILES} YAML files, which are too many policies to read");
        let help = "name directories or files that contain only policies";
        return Err(Box::new(Finding::error(INVALID_CONFIG, declared.at.clone(), message).help(help)));
    }
    let mut objects = Vec::new();
    for path in files {
        let Ok(file) = tree.file(path) else { continue };
        let documents = crate::yaml::parse(&file).documents;
        objects.extend(documents.into_iter().filter_map(|document| Object::new(document.node)));
    }
    if objects.iter().any(|object| object.kind() == "ValidatingAdmissionPolicy") {
        return Ok(objects);
    }
    let message = format!("`{path}` contains no ValidatingAdmissionPolicy");
    let help = "name a directory or a file with policies, relative to this file";
    Err(Box::new(Finding::error(INVALID_CONFIG, declared.at.clone(), message).help(help)))
}

fn of_built_in(declared: &DeclaredPolicies, name: &str) -> Result<Vec<Object>, Box<Finding>> {
    let Some(policy) = built_in(name) else {
        let help = match did_you_mean(name, BUILT_IN.iter().map(|policy| policy.name.as_str())) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "run `fleetwright policy list` for the names".to_owned(),
        };
        let message = format!("there is no built-in policy `{name}`");
        return Err(Box::new(Finding::error(INVALID_CONFIG, declared.at.clone(), message).help(help)));
    };
    let known = policy.parameters();
    for (parameter, at) in &declared.parameters {
        if !known.contains_key(parameter.as_str()) {
            let names: Vec<String> = known.keys().map(|name| format!("`{name}`")).collect();
            let help = if names.is_empty() {
                "remove it: the policy has no parameters".to_owned()
            } else {
                format!("use one of the parameters: {}", names.join(", "))
            };
            let message = format!("the policy `{name}` has no parameter `{parameter}`");
            return Err(Box::new(Finding::error(INVALID_CONFIG, at.clone(), message).help(help)));
        }
    }
    let values: BTreeMap<String, String> =
        declared.config.parameters.iter().map(|(name, value)| (name.clone(), value.0.clone())).collect();
    Ok(policy.objects_with(&values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PolicyConfig;
    use crate::text::File;

    #[test]
    fn a_directory_with_too_many_files_is_an_error() {
        let policy =
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a}\n";
        let tree = |count: usize| -> Tree {
            (0..count).map(|number| File::new(format!("policies/{number:05}.yaml"), policy)).collect()
        };
        let declared = DeclaredPolicies {
            config: PolicyConfig { path: Some("policies".to_owned()), ..PolicyConfig::default() },
            at: File::new(".fleetwright.yaml", "policies: [policies]\n").first_line(),
            parameters: BTreeMap::new(),
        };
        let read = |count| load(std::slice::from_ref(&declared), &tree(count), &[]);
        let (sources, findings) = read(MAX_FILES);
        assert_eq!((sources.len(), findings.len()), (1, 0));
        let (sources, findings) = read(MAX_FILES + 1);
        assert!(sources.is_empty());
        assert!(findings.first().is_some_and(|finding| finding.message.contains("more than 10000 YAML files")));
    }
}
