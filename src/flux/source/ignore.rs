//! The ignored files of a source: `.sourceignore`, `spec.ignore` and the defaults.
//!
//! The patterns have the syntax of `.gitignore`, but source-controller's matcher differs from Git's: a file below an
//! excluded directory can be included again, a segment that contains `**` and other characters matches nothing, and the
//! last pattern that matches a path decides. `testdata/oracles/sourceignore` records the answers of source-controller.

use super::wildcard;
use crate::text::{Tree, folder_of};

/// The name of a file with patterns, in any directory.
pub(super) const FILE: &str = ".sourceignore";

/// The name of Git's file with patterns, in any directory.
const GIT_FILE: &str = ".gitignore";

/// The patterns that always exclude files, unless a later pattern includes the files again.
const VERSION_CONTROL: [&str; 4] = [".git/", ".gitignore", ".gitmodules", ".gitattributes"];

/// The default patterns of a source that defines no patterns: pictures, archives, and files of CI systems and tools.
const DEFAULTS: [&str; 20] = [
    "*.jpg",
    "*.jpeg",
    "*.gif",
    "*.png",
    "*.wmv",
    "*.flv",
    "*.tar.gz",
    "*.zip",
    ".github/",
    ".circleci/",
    ".travis.yml",
    ".gitlab-ci.yml",
    "appveyor.yml",
    ".drone.yml",
    "cloudbuild.yaml",
    "codeship-services.yml",
    "codeship-steps.yml",
    "**/.goreleaser.yml",
    "**/.sops.yaml",
    "**/.flux.yaml",
];

/// The length of the longest line, in bytes. The reader of source-controller silently stops at a longer line.
const LONGEST_LINE: usize = 64 * 1024 - 1;

/// The files that the `.sourceignore` files of a repository exclude from the artifact, or that the `.gitignore` files
/// exclude from the repository.
#[derive(Debug)]
pub struct Exclusions(Ignore);

impl Exclusions {
    /// The exclusions of a tree.
    pub fn of_tree(tree: &Tree) -> Self {
        Self(Ignore::of_tree(tree, None))
    }

    /// The exclusions of the field `spec.ignore` of a source.
    pub(crate) fn of_source(ignore: &str) -> Self {
        Self(Ignore { patterns: read(ignore, "").collect() })
    }

    /// The exclusions of the `.gitignore` files of a tree.
    pub fn of_git(tree: &Tree) -> Self {
        Self(Ignore { patterns: patterns(tree, GIT_FILE) })
    }

    /// Returns whether a file is excluded.
    pub fn contain(&self, path: &str) -> bool {
        self.0.leaves_out(path)
    }
}

/// The patterns of a source.
#[derive(Debug, Clone, Default)]
pub(super) struct Ignore {
    /// The patterns in order; the last match decides.
    patterns: Vec<Pattern>,
}

impl Ignore {
    /// The patterns of a Git or OCI source: the patterns of each directory, then the patterns of the object.
    pub(super) fn of_tree(tree: &Tree, own: Option<&str>) -> Self {
        let mut said = patterns(tree, FILE);
        said.extend(own.into_iter().flat_map(|text| read(text, "")));
        Self::with_defaults(said)
    }

    /// The patterns of a Bucket: the patterns of the `.sourceignore` at the root, then the patterns of the object.
    pub(super) fn of_bucket(tree: &Tree, own: Option<&str>) -> Self {
        let mut patterns: Vec<Pattern> =
            tree.file(FILE).map(|file| read(file.text(), "").collect()).unwrap_or_default();
        patterns.extend(own.into_iter().flat_map(|text| read(text, "")));
        Self { patterns }
    }

    /// The patterns of an artifact that defines no patterns.
    pub(super) fn defaults() -> Self {
        Self::with_defaults(Vec::new())
    }

    fn with_defaults(mut said: Vec<Pattern>) -> Self {
        let always = VERSION_CONTROL.iter().map(|pattern| Pattern::new(pattern, ""));
        let defaults = DEFAULTS.iter().filter(|_| said.is_empty()).map(|pattern| Pattern::new(pattern, ""));
        let mut patterns: Vec<Pattern> = always.chain(defaults).collect();
        patterns.append(&mut said);
        Self { patterns }
    }

    /// The number of patterns that need a search for each path.
    pub(super) fn wildcards(&self) -> usize {
        let is_wild = |segment: &Segment| matches!(segment, Segment::Wild(pattern) if &**pattern != "**");
        self.patterns.iter().filter(|pattern| pattern.segments.iter().any(is_wild)).count()
    }

    /// Returns whether a file is ignored.
    pub(super) fn leaves_out(&self, path: &str) -> bool {
        self.leaves_out_as(path, false)
    }

    /// Returns whether a directory is ignored. A directory may stay although all of its files are ignored.
    pub(super) fn leaves_out_folder(&self, path: &str) -> bool {
        self.leaves_out_as(path, true)
    }

    fn leaves_out_as(&self, path: &str, is_folder: bool) -> bool {
        let segments: Vec<&str> = path.split('/').collect();
        let mut verdicts = self.patterns.iter().rev().filter_map(|pattern| pattern.verdict(&segments, is_folder));
        verdicts.next() == Some(Verdict::LeftOut)
    }
}

/// The patterns of the files with a name.
fn patterns(tree: &Tree, name: &str) -> Vec<Pattern> {
    let files = ignore_files(tree, name).filter_map(|path| Some((tree.file(path).ok()?, folder_of(path))));
    files.flat_map(|(file, folder)| read(file.text(), folder).collect::<Vec<_>>()).collect()
}

/// The files with patterns: a directory before its subdirectories, siblings by name.
fn ignore_files<'a>(tree: &'a Tree, name: &str) -> impl Iterator<Item = &'a str> {
    let is_ignore_file = |path: &&str| path.rsplit('/').next() == Some(name);
    let in_git = |path: &str| folder_of(path).split('/').any(|segment| segment == ".git");
    let paths = tree.entries().map(|(path, _)| path).filter(is_ignore_file).filter(move |path| !in_git(path));
    let mut paths: Vec<&str> = paths.collect();
    paths.sort_by_key(|path| folder_of(path).split('/').filter(|segment| !segment.is_empty()).collect::<Vec<_>>());
    paths.into_iter()
}

/// Parses the patterns of a file in a directory.
fn read<'a>(text: &'a str, folder: &'a str) -> impl Iterator<Item = Pattern> + 'a {
    let lines = text.split('\n').take_while(|line| line.len() <= LONGEST_LINE);
    let lines = lines.map(|line| line.strip_suffix('\r').unwrap_or(line));
    let said = lines.filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    said.map(move |line| Pattern::new(line, folder))
}

/// The effect of a matching pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    LeftOut,
    Included,
}

/// A pattern, from one line.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    /// The segments of the directory with the pattern; none for the root.
    domain: Box<[Box<str>]>,
    segments: Box<[Segment]>,
    verdict: Verdict,
    /// Whether the pattern matches only directories and the files below these directories.
    folders_only: bool,
    /// Whether the pattern is a path. If not, the pattern is a name that may match any segment.
    is_path: bool,
}

/// The pattern of one path segment. Most segments need no wildcard search.
#[derive(Debug, Clone)]
enum Segment {
    /// An exact name.
    Name(Box<str>),
    /// `*` followed by a suffix.
    End(Box<str>),
    /// Any other pattern.
    Wild(Box<str>),
}

impl Segment {
    fn of(pattern: &str) -> Self {
        let is_plain = |text: &str| !text.contains(['*', '?', '[', '\\']);
        match pattern.strip_prefix('*') {
            Some(rest) if is_plain(rest) => Self::End(rest.into()),
            None if is_plain(pattern) => Self::Name(pattern.into()),
            _ => Self::Wild(pattern.into()),
        }
    }

    fn matches(&self, name: &str) -> Result<bool, wildcard::BadPattern> {
        match self {
            Self::Name(is) => Ok(**is == *name),
            Self::End(end) => Ok(name.ends_with(&**end)),
            Self::Wild(pattern) => wildcard::matches(pattern, name),
        }
    }
}

impl Pattern {
    pub(super) fn new(line: &str, folder: &str) -> Self {
        let (verdict, line) = line.strip_prefix('!').map_or((Verdict::LeftOut, line), |rest| (Verdict::Included, rest));
        let line = if line.ends_with("\\ ") { line } else { line.trim_end_matches(' ') };
        let (folders_only, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
        let domain = if folder.is_empty() { Box::default() } else { folder.split('/').map(Into::into).collect() };
        let segments = line.split('/').map(Segment::of).collect();
        Self { domain, segments, verdict, folders_only, is_path: line.contains('/') }
    }

    /// The effect on the path of a file or directory; `None` if the pattern does not match.
    pub(super) fn verdict(&self, path: &[&str], is_folder: bool) -> Option<Verdict> {
        let (domain, path) = path.split_at_checked(self.domain.len())?;
        let is_inside = domain.iter().zip(&self.domain).all(|(segment, own)| **segment == **own);
        let matches = if self.is_path { Self::matches_path } else { Self::matches_name };
        (is_inside && !path.is_empty() && matches(self, path, is_folder)).then_some(self.verdict)
    }

    fn matches_name(&self, path: &[&str], is_folder: bool) -> bool {
        let [pattern] = &*self.segments else { unreachable!("a name has no `/` in it") };
        for (at, name) in path.iter().enumerate() {
            match pattern.matches(name) {
                Err(_) => return false,
                Ok(false) => {}
                Ok(true) => return is_folder || !(self.folders_only && at + 1 == path.len()),
            }
        }
        false
    }

    fn matches_path(&self, path: &[&str], is_folder: bool) -> bool {
        let mut path = path.iter();
        let (mut matched, mut may_skip) = (false, false);
        for (at, pattern) in self.segments.iter().enumerate() {
            match pattern {
                Segment::Name(name) if name.is_empty() => may_skip = false,
                Segment::Wild(stars) if &**stars == "**" && at + 1 == self.segments.len() => break,
                Segment::Wild(stars) if &**stars == "**" => may_skip = true,
                Segment::Wild(wild) if wild.contains("**") => return false,
                _ if may_skip => {
                    may_skip = false;
                    if path.len() == 0 {
                        return false;
                    }
                    match path.find_map(|name| pattern.matches(name).map(|is| is.then_some(())).transpose()) {
                        Some(Err(_)) => return false,
                        found => matched = found.is_some(),
                    }
                }
                _ => {
                    let Some(name) = path.next() else { return false };
                    if pattern.matches(name) != Ok(true) {
                        return false;
                    }
                    matched = true;
                }
            }
        }
        matched && (is_folder || !(self.folders_only && path.len() == 0))
    }
}
