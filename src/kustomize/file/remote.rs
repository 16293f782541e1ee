//! Remote repositories and files, and local copies of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use arcstr::ArcStr;

use crate::address::{Address, Location, short_reference};
use crate::text::{Tree, normalize};

/// A local copy of a repository.
#[derive(Debug, Clone)]
pub struct Copy {
    /// The address of the repository, or of a directory of files on an HTTP server.
    pub address: Address,
    /// The branch, tag or commit of the copy; `None` matches all.
    pub reference: Option<ArcStr>,
    /// The files of the copy.
    pub tree: Tree,
}

impl Copy {
    /// Creates a copy from an argument of `--source` and the files of the copy.
    pub fn new(location: &Location, tree: Tree) -> Self {
        Self { address: location.address.clone(), reference: location.reference.clone(), tree }
    }
}

/// Copies of remote repositories with their directories. The trees of many sources share them.
#[derive(Debug, Clone, Default)]
pub struct CopySet {
    pub(super) all: Arc<[Copy]>,
    /// The trees of the copies by the names of their directories.
    pub(super) trees: Arc<BTreeMap<String, Tree>>,
}

impl CopySet {
    /// The set with these copies after others, whose directories a tree already contains.
    pub(super) fn after(&self, others: &[Copy]) -> Self {
        let numbered = self.all.iter().enumerate();
        let trees = numbered.map(|(number, copy)| (copy_folder(others.len() + number), copy.tree.clone()));
        Self { trees: Arc::new(trees.collect()), all: others.iter().chain(&*self.all).cloned().collect() }
    }
}

impl FromIterator<Copy> for CopySet {
    fn from_iter<I: IntoIterator<Item = Copy>>(copies: I) -> Self {
        let all: Arc<[Copy]> = copies.into_iter().collect();
        Self { all, trees: Arc::default() }.after(&[])
    }
}

/// The directory of a copy in the tree. File names of repositories cannot contain NUL.
pub(super) fn copy_folder(index: usize) -> String {
    format!("\0{index}")
}

/// A remote resource that a kustomization references by URL.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Remote {
    /// The normalized address of the repository; it is equal for all URLs of one repository.
    repository: String,
    /// The path in the repository; empty for its root.
    path: String,
    /// The branch, tag or commit.
    reference: Option<ArcStr>,
}

impl Remote {
    /// Parses a URL by kustomize's rules; `None` for a path.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.starts_with('/') {
            return None;
        }
        file(text).or_else(|| repository(text)).or_else(|| address(text))
    }

    /// The index of the matching copy, and the path in the copy.
    ///
    /// A copy of a specific branch, tag or commit matches only that reference, and has precedence over other copies.
    pub(crate) fn find(&self, copies: &[Copy]) -> Option<(usize, String)> {
        let mut found: Option<(bool, usize, String)> = None;
        for (index, copy) in copies.iter().enumerate() {
            let Some(path) = self.path_in_copy(copy.address.key()) else { continue };
            let is_exact = copy.reference.is_some();
            if is_exact && copy.reference != self.reference {
                continue;
            }
            if found.as_ref().is_none_or(|(before, ..)| is_exact && !before) {
                found = Some((is_exact, index, path));
            }
        }
        found.map(|(_, index, path)| (index, path))
    }

    /// The path in a copy of `repository`, which may be the parent directory of a file's URL.
    fn path_in_copy(&self, repository: &str) -> Option<String> {
        let whole = format!("{}/{}", self.repository, self.path);
        let rest =
            if self.repository == repository { Some(self.path.as_str()) } else { whole.strip_prefix(repository) };
        let rest = rest.filter(|rest| self.repository == repository || rest.starts_with('/'))?;
        normalize(rest.trim_start_matches('/'))
    }
}

/// Parses the URL of a file of a repository on GitHub. kustomize fetches the file by HTTP.
fn file(text: &str) -> Option<Remote> {
    let rest = strip_ignoring_case(text, "https://").or_else(|| strip_ignoring_case(text, "http://"))?;
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let parts: Vec<&str> = rest.split('/').collect();
    let (owner, name, rest) = match parts.as_slice() {
        [host, owner, name, rest @ ..] if host.eq_ignore_ascii_case("raw.githubusercontent.com") => (owner, name, rest),
        [host, owner, name, "raw", rest @ ..] if host.eq_ignore_ascii_case("github.com") => (owner, name, rest),
        _ => return None,
    };
    let (["refs", "heads" | "tags", reference, path @ ..] | [reference, path @ ..]) = rest else { return None };
    let repository = key(&format!("https://github.com/{owner}/{name}"));
    Some(Remote { repository, path: path.join("/"), reference: Some((*reference).into()) })
}

/// Parses the URL of any other file.
fn address(text: &str) -> Option<Remote> {
    let has_scheme = ["https://", "http://"].iter().any(|scheme| strip_ignoring_case(text, scheme).is_some());
    has_scheme.then(|| Remote {
        repository: key(text.split(['?', '#']).next().unwrap_or(text)),
        path: String::new(),
        reference: None,
    })
}

/// Parses the URL of a repository, by the rules with which kustomize distinguishes a URL from a path.
fn repository(text: &str) -> Option<Remote> {
    let (address, query) = text.split_once('?').unwrap_or((text, ""));
    let parameter = |name: &str| {
        let values = query.split('&').filter_map(|pair| pair.split_once('='));
        values.filter(|(key, value)| *key == name && !value.is_empty()).map(|(_, value)| value.to_owned()).next()
    };
    let reference =
        parameter("ref").or_else(|| parameter("version")).map(|reference| short_reference(&reference).into());
    let rest = strip_ignoring_case(address, "git::").unwrap_or(address);
    let schemes = ["ssh://", "https://", "http://", "file://"];
    let scheme = schemes.into_iter().find(|scheme| strip_ignoring_case(rest, scheme).is_some());
    let rest = scheme.and_then(|scheme| strip_ignoring_case(rest, scheme)).unwrap_or(rest);
    let user = rest.split_once('@').map(|(user, _)| user).filter(|user| is_user(user));
    let rest = user.and_then(|user| rest.get(user.len() + 1..)).unwrap_or(rest);
    let github = ["github.com/", "github.com:"].iter().any(|host| strip_ignoring_case(rest, host).is_some());
    let short = scheme.is_none() && (user.is_some() || github);
    if scheme.is_none() && !short {
        return None;
    }
    if scheme == Some("file://") {
        let (repository, path) = split_at_repository_end(rest).unwrap_or((rest, ""));
        return remote("", repository, path, reference);
    }
    let end = match (rest.find('/'), rest.find(':').filter(|_| short)) {
        (Some(slash), Some(colon)) if colon > 0 && colon < slash => colon,
        (None, Some(colon)) => colon,
        (Some(slash), _) => slash,
        (None, None) => return None,
    };
    let (host, path) = (rest.get(..end)?, rest.get(end + 1..)?);
    let (repository, path) = split_at_repository_end(path).or_else(|| split_after_owner_and_name(path))?;
    remote(host, repository, path, reference)
}

fn remote(host: &str, repository: &str, path: &str, reference: Option<ArcStr>) -> Option<Remote> {
    let path = path.trim_start_matches('/');
    if repository.is_empty() || normalize(path).is_none() {
        return None;
    }
    let repository = key(&format!("https://{host}/{repository}"));
    Some(Remote { repository, path: path.to_owned(), reference })
}

/// Splits at the end of the repository: the name after `_git/`, `//`, or `.git`.
fn split_at_repository_end(path: &str) -> Option<(&str, &str)> {
    if let Some(offset) = path.find("_git/") {
        let start = offset + "_git/".len();
        let end = path.get(start..)?.find('/').map_or(path.len(), |slash| start + slash);
        return Some((path.get(..end)?, path.get(end..)?.trim_start_matches('/')));
    }
    if let Some(split) = path.split_once("//") {
        return Some(split);
    }
    let end = path.find(".git")? + ".git".len();
    Some((path.get(..end)?, path.get(end..)?))
}

/// Splits after the owner and the name, as on GitHub.
fn split_after_owner_and_name(path: &str) -> Option<(&str, &str)> {
    let first = path.find('/')?;
    let second = path.get(first + 1..)?.find('/').map(|offset| first + 1 + offset);
    Some(
        second.map_or((path, ""), |offset| {
            (path.get(..offset).unwrap_or(path), path.get(offset + 1..).unwrap_or_default())
        }),
    )
}

fn key(url: &str) -> String {
    Address::new(url).key().to_owned()
}

fn is_user(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

fn strip_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, String, Option<ArcStr>)> {
        Remote::parse(text).map(|remote| (remote.repository, remote.path, remote.reference))
    }

    #[test]
    fn repository_urls_are_distinguished_from_paths() {
        let some = |repository: &str, path: &str, reference: Option<&str>| {
            Some((repository.to_owned(), path.to_owned(), reference.map(ArcStr::from)))
        };
        assert_eq!(read("github.com/org/repo/a/b?ref=v1"), some("github.com/org/repo", "a/b", Some("v1")));
        assert_eq!(read("https://github.com/org/repo.git/a?version=v2"), some("github.com/org/repo", "a", Some("v2")));
        assert_eq!(read("git@gitlab.com:group/sub/repo.git//a"), some("gitlab.com/group/sub/repo", "a", None));
        assert_eq!(read("git@github.com:org/repo"), some("github.com/org/repo", "", None));
        assert_eq!(read("ssh://git@host.example/org/repo//a/b?ref=x"), some("host.example/org/repo", "a/b", Some("x")));
        let azure = "https://dev.azure.com/org/project/_git/repo/a";
        assert_eq!(read(azure), some("dev.azure.com/org/project/_git/repo", "a", None));
        let raw = "https://raw.githubusercontent.com/org/repo/v1/a/b.yaml";
        assert_eq!(read(raw), some("github.com/org/repo", "a/b.yaml", Some("v1")));
        for path in ["../base", "base.git/x", "/abs/github.com", "gitlab.com/org/repo", "a@b", "x?ref=y"] {
            assert_eq!(read(path), None, "{path}");
        }
    }

    #[test]
    fn a_copy_matches_any_url_of_its_repository_with_the_same_reference() {
        let copies = |texts: &[&str]| {
            let locations = texts.iter().map(|text| Location::parse(&format!("{text}=x")).unwrap());
            locations.map(|location| Copy::new(&location, Tree::default())).collect::<Vec<_>>()
        };
        let remote = Remote::parse("https://github.com/org/repo//a?ref=v1").unwrap();
        let find = |texts: &[&str]| remote.find(&copies(texts));
        assert_eq!(find(&["git@github.com:org/repo.git"]), Some((0, "a".to_owned())));
        assert_eq!(find(&["https://github.com/org/repo", "https://github.com/org/repo#v1"]), Some((1, "a".to_owned())));
        assert_eq!(find(&["https://github.com/org/repo#v2", "https://github.com/org/rep"]), None);
        let release = Remote::parse("https://github.com/org/repo/releases/download/v1/install.yaml").unwrap();
        let below = copies(&["https://github.com/org/repo/releases/download/v1"]);
        assert_eq!(release.find(&below), Some((0, "install.yaml".to_owned())));
    }
}
