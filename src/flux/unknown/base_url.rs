//! The URLs of remote bases, which indicate the contents of the bases.

use crate::address::Address;

/// The URL of a base that kustomize loads.
#[derive(Debug)]
pub(super) struct BaseUrl {
    /// The host, owner and name of the repository, as far as the URL shows them.
    pub(super) repository: String,
    /// Whether the URL references one file.
    pub(super) is_file: bool,
    /// Whether the path indicates CRDs.
    pub(super) has_definitions: bool,
    /// The name of the file or directory, without extension.
    pub(super) name: String,
}

impl BaseUrl {
    /// Reads the URL of a base.
    pub(super) fn new(url: &str) -> Self {
        let plain = url.split(['?', '#']).next().unwrap_or(url);
        let address = Address::new(plain);
        let segments: Vec<&str> = address.key().split('/').filter(|segment| !segment.is_empty()).collect();
        let (host, path) = match segments.as_slice() {
            ["raw.githubusercontent.com", path @ ..] | ["cdn.jsdelivr.net", "gh", path @ ..] => ("github.com", path),
            [host, path @ ..] => (*host, path),
            [] => ("", [].as_slice()),
        };
        let without_version =
            |segment: &str| segment.split('@').next().unwrap_or(segment).trim_end_matches(".git").to_owned();
        let repository: Vec<String> = std::iter::once(host.to_owned())
            .chain(path.iter().take(2).map(|segment| without_version(segment)))
            .collect();
        let rest = path.get(2..).unwrap_or_default();
        let last = path.last().copied().unwrap_or_default();
        let stem = last.strip_suffix(".yaml").or_else(|| last.strip_suffix(".yml"));
        Self {
            repository: repository.join("/"),
            is_file: stem.is_some() && !url.contains("ref="),
            has_definitions: rest.iter().any(|segment| names_definitions(segment))
                || stem.is_some_and(is_definition_file),
            name: without_version(stem.unwrap_or(last)),
        }
    }

    /// The host of the repository.
    pub(super) fn host(&self) -> &str {
        self.repository.split('/').next().unwrap_or_default()
    }

    /// The owner of the repository.
    pub(super) fn owner(&self) -> &str {
        self.repository.split('/').nth(1).unwrap_or_default()
    }
}

/// Returns whether a segment of a path indicates CRDs and no other objects.
pub(super) fn names_definitions(path: &str) -> bool {
    const DEFINITIONS: [&str; 4] = ["crd", "crds", "customresourcedefinition", "customresourcedefinitions"];
    // For example, `with-crds` and `no-crds` contain other objects.
    const OTHERS: [&str; 7] = ["and", "including", "no", "non", "plus", "with", "without"];
    path.split('/').any(|segment| {
        let has_one_of = |list: &[&str]| segment.split(|c: char| !c.is_ascii_alphanumeric()).any(|w| list.contains(&w));
        has_one_of(&DEFINITIONS) && !has_one_of(&OTHERS)
    })
}

/// Returns whether a file has the name that controller-gen gives to a CRD: `GROUP_PLURAL`.
fn is_definition_file(stem: &str) -> bool {
    stem.split_once('_').is_some_and(|(group, plural)| group.contains('.') && !plural.contains(['.', '_', '-']))
}

#[cfg(test)]
mod tests {
    use super::BaseUrl;

    #[test]
    fn a_raw_file_belongs_to_its_repository() {
        let url =
            BaseUrl::new("https://raw.githubusercontent.com/acme/tool/v1/config/crd/bases/acme.example_tools.yaml");
        assert_eq!((&*url.repository, url.is_file, url.has_definitions), ("github.com/acme/tool", true, true));
        let url = BaseUrl::new("https://cdn.jsdelivr.net/gh/acme/tool@v1/deploy/rbac.yaml");
        assert_eq!((&*url.repository, &*url.name, url.has_definitions), ("github.com/acme/tool", "rbac", false));
    }

    #[test]
    fn a_file_with_crds_and_other_objects_is_no_file_of_crds() {
        let of = |name| {
            BaseUrl::new(&format!("https://github.com/acme/tool/releases/download/v1/{name}.yaml")).has_definitions
        };
        assert!(of("crds") && of("tool-crds") && of("crds/tool"));
        assert!(!of("tool-with-crds") && !of("operator-and-crds") && !of("tool-without-crds") && !of("no-crds"));
    }

    #[test]
    fn a_directory_of_a_repository_is_not_a_file() {
        let url = BaseUrl::new("git@git.example.org:acme/platform.git//base?ref=v3");
        assert_eq!((&*url.repository, url.is_file), ("git.example.org/acme/platform", false));
        assert!(
            BaseUrl::new("https://example.org/a/b/releases/download/v1/source-controller.crds.yaml").has_definitions
        );
    }
}
