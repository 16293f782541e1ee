//! Reads a directory as it is in a revision of its Git repository. Nothing is checked out, and no filter runs.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, mpsc};

use super::error::{DiskError, display};
use super::git;
use super::read::is_yaml;
use crate::text::{DecodeError, Entry, File, LoadError, Loader, Tree, folder_of, join};

/// The modes of links and of other repositories in a tree of Git.
const LINK: &str = "120000";
const SUBMODULE: &str = "160000";

/// Reads a directory in a revision, such as `main` or `HEAD~1`.
///
/// Files that are not YAML are read on first access. A link to another file of the revision is that file.
pub fn read_revision(folder: &Path, revision: &str) -> Result<Tree, DiskError> {
    let repository = Repository { folder: folder.to_owned(), revision: revision.to_owned() };
    if !git::is_repository(&std::path::absolute(folder).unwrap_or_default()) {
        return Err(repository.error("the directory is not in a Git repository"));
    }
    let commit =
        repository.query(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{revision}^{{commit}}")]);
    let commit =
        commit.map_err(|_| repository.error("there is no such commit; a shallow clone has only few of them"))?;
    let prefix = repository.query(&["rev-parse", "--show-prefix"])?;
    let prefix = prefix.trim_end_matches('\n');
    let listed = repository.query(&[
        "ls-tree",
        "-r",
        "-z",
        "-l",
        "--full-tree",
        commit.trim(),
        "--",
        if prefix.is_empty() { "." } else { prefix },
    ])?;
    let mut blobs: BTreeMap<String, Blob> = listed.split('\0').filter_map(|line| Blob::parse(line, prefix)).collect();
    let texts = repository.contents(blobs.values().filter(|blob| blob.mode == LINK))?;
    follow_links(&mut blobs, &texts);
    let is_read = |(path, blob): &(&String, &Blob)| is_yaml(path) && blob.size <= File::MAX_LEN && blob.mode != LINK;
    let texts = repository.contents(blobs.iter().filter(is_read).map(|(_, blob)| blob))?;
    let mut tree = Tree::with_loader(Arc::new(RevisionLoader {
        repository,
        blobs: blobs.iter().map(|(path, blob)| (path.clone(), blob.id.clone())).collect(),
    }));
    for (path, blob) in &blobs {
        let entry = if blob.mode == LINK {
            Entry::Opaque(LoadError::Linked)
        } else if blob.size > File::MAX_LEN {
            Entry::Opaque(DecodeError::TooLarge.into())
        } else {
            match texts.get(&blob.id).filter(|_| is_yaml(path)) {
                Some(bytes) => File::decode(path.as_str(), bytes.clone())
                    .map_or_else(|error| Entry::Opaque(error.into()), Entry::Text),
                None => Entry::Deferred,
            }
        };
        tree.insert_entry(path, entry);
    }
    Ok(tree)
}

/// A file of a revision.
#[derive(Clone)]
struct Blob {
    mode: String,
    id: String,
    size: usize,
}

impl Blob {
    /// Parses a line of `git ls-tree -l`, and returns the path below `prefix` with the file.
    fn parse(line: &str, prefix: &str) -> Option<(String, Self)> {
        let (facts, path) = line.split_once('\t')?;
        let mut facts = facts.split_ascii_whitespace();
        let (mode, _, id, size) = (facts.next()?, facts.next()?, facts.next()?, facts.next()?);
        let path = path.strip_prefix(prefix)?;
        (mode != SUBMODULE).then(|| {
            let size = size.parse().unwrap_or_default();
            (path.to_owned(), Self { mode: mode.to_owned(), id: id.to_owned(), size })
        })
    }
}

/// The maximum number of files that links to directories add. Further links stay.
const MAX_COPIES: usize = 100_000;

/// Replaces links to files of the revision by these files. Other links stay.
fn follow_links(blobs: &mut BTreeMap<String, Blob>, texts: &BTreeMap<String, Vec<u8>>) {
    let links: Vec<(String, String)> = blobs
        .iter()
        .filter(|(_, blob)| blob.mode == LINK)
        .filter_map(|(path, blob)| {
            let target = std::str::from_utf8(texts.get(&blob.id)?).ok()?;
            Some((path.clone(), join(folder_of(path), target)?))
        })
        .collect();
    let mut room = MAX_COPIES;
    for (path, target) in links {
        if let Some(blob) = blobs.get(&target).filter(|blob| blob.mode != LINK).cloned() {
            blobs.insert(path, blob);
            continue;
        }
        let folder = format!("{target}/");
        if path.starts_with(&folder) {
            continue;
        }
        let below = blobs.range(folder.clone()..).take_while(|(below, _)| below.starts_with(&folder));
        let copies: Vec<(String, Blob)> = below
            .filter(|(_, blob)| blob.mode != LINK)
            .take(room + 1)
            .map(|(below, blob)| (format!("{path}{}", below.trim_start_matches(target.as_str())), blob.clone()))
            .collect();
        if copies.len() > room {
            room = 0;
        } else if !copies.is_empty() {
            room -= copies.len();
            blobs.remove(&path);
            blobs.extend(copies);
        }
    }
}

/// A Git repository, by a directory in it.
struct Repository {
    folder: PathBuf,
    revision: String,
}

impl Repository {
    fn error(&self, reason: impl Into<String>) -> DiskError {
        DiskError::Revision { revision: self.revision.clone(), path: display(&self.folder), reason: reason.into() }
    }

    /// Runs a query of `git`, and returns its output.
    fn query(&self, arguments: &[&str]) -> Result<String, DiskError> {
        let mut git = git::command(&self.folder);
        git.args(arguments);
        let output = git::output(git, &self.folder)?.ok_or_else(|| self.error("`git` failed, or does not run"))?;
        String::from_utf8(output).map_err(|_| self.error("a path is not valid UTF-8"))
    }

    /// Returns the contents of files, by their ids.
    fn contents<'a>(&self, blobs: impl Iterator<Item = &'a Blob>) -> Result<BTreeMap<String, Vec<u8>>, DiskError> {
        let ids: Vec<String> = blobs.map(|blob| blob.id.clone()).collect();
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut git = git::command(&self.folder);
        git.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let failed = |error: std::io::Error| self.error(error.to_string());
        let mut running = git.spawn().map_err(failed)?;
        let (stdin, stdout) = (running.stdin.take(), running.stdout.take());
        let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else { return Err(self.error("`git` has no output")) };
        let request = ids.join("\n") + "\n";
        // `git` answers while it reads, so a single thread could block both programs.
        let writer = std::thread::spawn(move || stdin.write_all(request.as_bytes()));
        let (sender, receiver) = mpsc::sync_channel(16);
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            while sender.send(next(&mut reader)).is_ok() {}
        });
        let mut contents = BTreeMap::new();
        let mut outcome = Ok(());
        for id in ids {
            // `git` never ends if an object of the repository is a pipe.
            let answer = receiver.recv_timeout(git::TIMEOUT).map_err(|_| self.error("`git` did not answer in time"));
            match answer.and_then(|bytes| bytes.map_err(failed)) {
                Ok(bytes) => _ = contents.insert(id, bytes),
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        let _ = running.kill();
        let _ = running.wait();
        let _ = writer.join();
        outcome.map(|()| contents)
    }
}

/// Reads one answer of `git cat-file --batch`: a line with id, type and size, then the content and a newline.
fn next(reader: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let size = line.split_ascii_whitespace().nth(2).and_then(|size| size.parse::<usize>().ok());
    let size =
        size.ok_or_else(|| std::io::Error::other("the repository does not contain all files of the revision"))?;
    let mut bytes = Vec::new();
    reader.by_ref().take(size as u64 + 1).read_to_end(&mut bytes)?;
    bytes.truncate(size);
    Ok(bytes)
}

/// A loader for the files of a revision that are read on first access.
struct RevisionLoader {
    repository: Repository,
    blobs: BTreeMap<String, String>,
}

impl Loader for RevisionLoader {
    fn load(&self, path: &str) -> Result<File, LoadError> {
        Ok(File::decode(path, self.bytes(path)?)?)
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        let id = self.blobs.get(path).ok_or(LoadError::Missing)?;
        let blob = Blob { mode: String::new(), id: id.clone(), size: 0 };
        let mut contents = self.repository.contents(std::iter::once(&blob));
        let found = contents.as_mut().ok().and_then(|contents| contents.remove(id));
        found
            .ok_or_else(|| LoadError::Unreadable(format!("Git cannot read the file in `{}`", self.repository.revision)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::folder;
    use super::*;

    #[test]
    fn a_revision_is_read_as_it_was() {
        let folder = folder(&[("fleet/a.yaml", "a: 1"), ("fleet/b.txt", "b"), ("other.yaml", "")]);
        let git = |args: &[&str]| {
            let mut git = git::command(folder.path());
            git.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]).args(args);
            assert!(git.output().unwrap().status.success(), "{args:?}");
        };
        #[cfg(unix)]
        std::os::unix::fs::symlink("a.yaml", folder.path().join("fleet/link.yaml")).unwrap();
        git(&["init", "-q"]);
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", "first"]);
        std::fs::write(folder.path().join("fleet/a.yaml"), "a: 2").unwrap();
        let tree = read_revision(&folder.path().join("fleet"), "HEAD").unwrap();
        assert_eq!(tree.file("a.yaml").unwrap().text(), "a: 1");
        assert_eq!(tree.file("b.txt").unwrap().text(), "b");
        #[cfg(unix)]
        assert_eq!(tree.file("link.yaml").unwrap().text(), "a: 1");
        assert_eq!(tree.len(), if cfg!(unix) { 3 } else { 2 });
        let error = read_revision(folder.path(), "--output=/tmp/x").unwrap_err().to_string();
        assert!(error.contains("there is no such commit"), "{error}");
    }
}
