//! Reads a directory as it is in a revision of its Git repository. Nothing is checked out, and no filter runs.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use arcstr::ArcStr;
use data_encoding::HEXLOWER;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use super::error::{DiskError, display};
use super::file::is_yaml;
use super::git;
use super::journal::{self, Hash};
use super::read_all::{AT_ONCE, MAX_BYTES, length, too_many_bytes};
use crate::text::{DecodeError, Entry, File, LoadError, Loader, SharedTexts, Tree, folder_of, join};

/// The modes of links and of other repositories in a tree of Git.
const LINK: &str = "120000";
const SUBMODULE: &str = "160000";

/// The length of an id of Git, unless the repository uses SHA-256.
const SHA1_DIGITS: usize = 40;

/// A directory in a revision, such as `main` or `HEAD~1`. `git` lists its files while the caller does other work.
pub struct Revision {
    repository: Repository,
    listing: Option<git::Running>,
}

/// A directory in a revision that exists. Its files are not read yet.
pub struct ListedRevision {
    repository: Repository,
    listed: Vec<u8>,
}

impl Revision {
    /// Starts `git` for a directory.
    pub fn open(folder: &Path, revision: &str) -> Result<Self, DiskError> {
        let repository = Repository::new(folder, revision);
        if !git::is_repository(&std::path::absolute(folder).unwrap_or_default()) {
            return Err(repository.error("the directory is not in a Git repository"));
        }
        let listing = git::Running::start(repository.listing());
        Ok(Self { repository, listing })
    }

    /// Waits for the list of files.
    pub fn list(self) -> Result<ListedRevision, DiskError> {
        let Self { repository, listing } = self;
        let listed = repository.list(listing)?;
        journal::revision(&repository.folder, &repository.revision, &listed);
        Ok(ListedRevision { repository, listed })
    }

    /// Returns the digest of the files of a directory in a revision. The ids of files determine their contents.
    pub(super) fn digest(folder: &Path, revision: &str) -> Result<Hash, DiskError> {
        let Self { repository, listing } = Self::open(folder, revision)?;
        Ok(journal::hash_of(Some(&repository.list(listing)?)))
    }
}

impl ListedRevision {
    /// Reads the directory.
    ///
    /// `present` is another state of the directory: files with equal content are shared, and not read from Git. Files
    /// that are not YAML are read on first access. A link to another file of the revision is that file.
    pub fn read(self, present: &Tree) -> Result<Tree, DiskError> {
        let Self { repository, listed } = self;
        repository.start_reader();
        read_files(repository, listed.split(|byte| *byte == 0).filter_map(Blob::parse).collect(), present)
    }
}

/// Reads files of a revision. `present` is another state of the directory.
fn read_files(repository: Repository, mut blobs: BTreeMap<String, Blob>, present: &Tree) -> Result<Tree, DiskError> {
    let links = repository.contents(blobs.values().filter(|blob| blob.is_link).map(|blob| &*blob.id), MAX_LINKS)?;
    let linked = follow_links(&mut blobs, &links);
    let is_read = |(path, blob): &(&String, &Blob)| is_yaml(path) && !blob.is_link && blob.is_named;
    let read: Vec<(&String, &Blob)> = blobs.iter().filter(is_read).collect();
    let shared: BTreeMap<&str, &File> = read
        .par_iter()
        .filter_map(|(path, blob)| match present.entry(path)? {
            Entry::Text(file) => blob.is(file.text().as_bytes()).then_some((path.as_str(), file)),
            Entry::Deferred | Entry::Opaque(_) => None,
        })
        .collect();
    let texts = SharedTexts::default();
    let (mut entries, mut bytes): (Vec<(ArcStr, Entry)>, usize) = (Vec::with_capacity(blobs.len()), 0);
    let all: Vec<(&String, &Blob)> = blobs.iter().collect();
    for some in all.chunks(AT_ONCE) {
        let others = some.iter().filter(|file| is_read(file) && !shared.contains_key(file.0.as_str()));
        let contents = repository.contents(others.map(|(_, blob)| &*blob.id), MAX_BYTES.saturating_sub(bytes))?;
        for (path, blob) in some {
            let entry = if !blob.is_named {
                Entry::Opaque(DecodeError::NotText.into())
            } else if blob.is_link {
                Entry::Opaque(LoadError::Linked)
            } else if !is_yaml(path) {
                Entry::Deferred
            } else if bytes > MAX_BYTES {
                too_many_bytes()
            } else if let Some(file) = shared.get(path.as_str()) {
                Entry::Text((*file).clone())
            } else {
                match contents.get(&blob.id) {
                    Some(Content::Bytes(content)) => File::decode_shared(path.as_str(), content.clone(), &texts)
                        .map_or_else(|error| Entry::Opaque(error.into()), Entry::Text),
                    Some(Content::TooLarge) => Entry::Opaque(DecodeError::TooLarge.into()),
                    None => too_many_bytes(),
                }
            };
            bytes += length(&entry);
            entries.push((path.as_str().into(), entry));
        }
    }
    let mut tree = Tree::with_loader(Arc::new(RevisionLoader { repository, blobs, present: present.clone() }));
    tree.insert_all(entries);
    for path in &linked {
        tree.mark_link(path);
    }
    Ok(tree)
}

/// A file of a revision.
#[derive(Clone)]
struct Blob {
    id: ArcStr,
    is_link: bool,
    /// Whether the path is valid UTF-8. The file of another path has a similar one, and is not read.
    is_named: bool,
}

impl Blob {
    /// Parses a line of `git ls-tree`, and returns the path with the file.
    fn parse(line: &[u8]) -> Option<(String, Self)> {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let (facts, path) = (std::str::from_utf8(line.get(..tab)?).ok()?, line.get(tab + 1..)?);
        let mut facts = facts.split_ascii_whitespace();
        let (mode, _, id) = (facts.next()?, facts.next()?, facts.next()?);
        let path = String::from_utf8_lossy(path);
        let is_named = matches!(path, Cow::Borrowed(_));
        (mode != SUBMODULE).then(|| (path.into_owned(), Self { id: id.into(), is_link: mode == LINK, is_named }))
    }

    /// Returns whether the file has a content.
    fn is(&self, content: &[u8]) -> bool {
        let header = format!("blob {}\0", content.len());
        let id = match self.id.len() {
            SHA1_DIGITS => HEXLOWER.encode(&Sha1::new_with_prefix(&header).chain_update(content).finalize()),
            _ => HEXLOWER.encode(&Sha256::new_with_prefix(&header).chain_update(content).finalize()),
        };
        *self.id == *id
    }
}

/// The maximum length of all targets of links in bytes.
const MAX_LINKS: usize = 64 << 20;

/// Replaces links to files of the revision by these files, and returns their paths. Other links stay, as in a directory.
fn follow_links(blobs: &mut BTreeMap<String, Blob>, texts: &BTreeMap<ArcStr, Content>) -> Vec<String> {
    let targets: Vec<(String, Blob)> = blobs
        .iter()
        .filter(|(_, blob)| blob.is_link)
        .filter_map(|(path, blob)| {
            let Content::Bytes(target) = texts.get(&blob.id)? else { return None };
            let target = join(folder_of(path), std::str::from_utf8(target).ok()?)?;
            Some((path.clone(), blobs.get(&target).filter(|blob| !blob.is_link)?.clone()))
        })
        .collect();
    let paths = targets.iter().map(|(path, _)| path.clone()).collect();
    blobs.extend(targets);
    paths
}

/// The content of a file of a revision.
enum Content {
    Bytes(Vec<u8>),
    /// The file is larger than [`File::MAX_LEN`].
    TooLarge,
}

/// A Git repository, by a directory in it.
struct Repository {
    folder: PathBuf,
    revision: String,
    /// The program that reads files, started on first use.
    reader: Mutex<Option<BlobReader>>,
}

impl Repository {
    fn new(folder: &Path, revision: &str) -> Self {
        Self { folder: folder.to_owned(), revision: revision.to_owned(), reader: Mutex::default() }
    }

    fn error(&self, reason: impl Into<String>) -> DiskError {
        DiskError::Revision { revision: self.revision.clone(), path: display(&self.folder), reason: reason.into() }
    }

    /// The command that lists the files of the directory in the revision. Paths start at the directory.
    fn listing(&self) -> Command {
        let mut git = git::command(&self.folder);
        git.args(["ls-tree", "-r", "-z", "--end-of-options", &format!("{}^{{commit}}", self.revision)]);
        git
    }

    /// Starts the program that reads files. If it cannot start, the first use fails.
    fn start_reader(&self) {
        if let (Ok(mut reader), Ok(started)) = (self.reader.lock(), BlobReader::start(&self.folder)) {
            *reader = Some(started);
        }
    }

    /// Returns the list of files, as `git` printed it.
    fn list(&self, listing: Option<git::Running>) -> Result<Vec<u8>, DiskError> {
        let listed = listing.map_or(Ok(None), |listing| listing.output(&self.folder))?;
        listed.ok_or_else(|| self.error("there is no such commit; a shallow clone has only few of them"))
    }

    /// Returns the contents of files, by their ids. Returns no further contents after more than `room` bytes.
    fn contents<'a>(
        &self,
        ids: impl Iterator<Item = &'a str>,
        room: usize,
    ) -> Result<BTreeMap<ArcStr, Content>, DiskError> {
        let ids: BTreeSet<&str> = ids.collect();
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let failed = |error: std::io::Error| self.error(error.to_string());
        // A panic in another thread leaves a reader whose answers may belong to other requests.
        let mut reader = self.reader.lock().map_err(|_| self.error("an earlier read failed"))?;
        let running = match reader.take() {
            Some(running) => running,
            None => BlobReader::start(&self.folder).map_err(failed)?,
        };
        running.request(&ids);
        let (mut contents, mut bytes) = (BTreeMap::new(), 0);
        for id in ids {
            let content = running.answer().map_err(failed)?;
            if let Content::Bytes(content) = &content {
                bytes += content.len();
            }
            contents.insert(id.into(), content);
            if bytes > room {
                // The reader ends, since it answers all requests.
                return Ok(contents);
            }
        }
        // After an error, the reader ends, since the next answers would belong to earlier requests.
        *reader = Some(running);
        Ok(contents)
    }
}

/// A running `git cat-file --batch`.
struct BlobReader {
    process: Child,
    requests: Sender<String>,
    answers: Receiver<std::io::Result<Content>>,
}

impl BlobReader {
    fn start(folder: &Path) -> std::io::Result<Self> {
        let mut git = git::command(folder);
        git.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = git.spawn()?;
        let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
        let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else {
            return Err(std::io::Error::other("`git` has no input or output"));
        };
        // `git` answers while it reads, so a single thread could block both programs.
        let (requests, requested) = mpsc::channel::<String>();
        std::thread::spawn(move || while requested.recv().is_ok_and(|ids| stdin.write_all(ids.as_bytes()).is_ok()) {});
        let (sender, answers) = mpsc::sync_channel(16);
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            while sender.send(next(&mut reader)).is_ok() {}
        });
        Ok(Self { process, requests, answers })
    }

    fn request(&self, ids: &BTreeSet<&str>) {
        // If the thread has ended, `git` has ended, and there is no answer.
        let _ = self.requests.send(ids.iter().flat_map(|id| [id, "\n"]).collect());
    }

    fn answer(&self) -> std::io::Result<Content> {
        // `git` never ends if an object of the repository is a pipe.
        let late = |_| std::io::Error::other("`git` did not answer in time");
        self.answers.recv_timeout(git::TIMEOUT).map_err(late)?
    }
}

impl Drop for BlobReader {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads one answer of `git cat-file --batch`: a line with id, type and size, then the content and a newline.
fn next(reader: &mut impl BufRead) -> std::io::Result<Content> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let size = line.split_ascii_whitespace().nth(2).and_then(|size| size.parse::<u64>().ok());
    let size =
        size.ok_or_else(|| std::io::Error::other("the repository does not contain all files of the revision"))?;
    let mut answer = reader.by_ref().take(size + 1);
    if size > File::MAX_LEN as u64 {
        std::io::copy(&mut answer, &mut std::io::sink())?;
        return Ok(Content::TooLarge);
    }
    let mut bytes = Vec::new();
    answer.read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= size {
        return Err(std::io::Error::other("`git` ended early"));
    }
    bytes.pop();
    Ok(Content::Bytes(bytes))
}

/// A loader for the files of a revision that are read on first access.
struct RevisionLoader {
    repository: Repository,
    blobs: BTreeMap<String, Blob>,
    /// Another state of the directory.
    present: Tree,
}

impl Loader for RevisionLoader {
    fn load(&self, path: &str) -> Result<File, LoadError> {
        let blob = self.blobs.get(path).ok_or(LoadError::Missing)?;
        match self.present.file(path) {
            Ok(file) if blob.is(file.text().as_bytes()) => Ok(file),
            _ => Ok(File::decode(path, self.bytes(path)?)?),
        }
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        let blob = self.blobs.get(path).ok_or(LoadError::Missing)?;
        if let Ok(bytes) = self.present.bytes(path)
            && blob.is(&bytes)
        {
            return Ok(bytes.to_vec());
        }
        let contents = self.repository.contents(std::iter::once(&*blob.id), File::MAX_LEN);
        match contents.ok().and_then(|mut contents| contents.remove(&blob.id)) {
            Some(Content::Bytes(bytes)) => Ok(bytes),
            Some(Content::TooLarge) => Err(DecodeError::TooLarge.into()),
            None => {
                journal::doubt();
                let why = format!("Git cannot read the file in `{}`", self.repository.revision);
                Err(LoadError::Unreadable(why))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::folder;
    use super::*;

    #[test]
    fn only_links_to_files_are_followed() {
        let blob = |id: &str, is_link: bool| Blob { id: id.into(), is_link, is_named: true };
        let blobs =
            [("d/file", blob("file", false)), ("in", blob("to file", true)), ("folder", blob("to folder", true))];
        let mut blobs: BTreeMap<String, Blob> = blobs.map(|(path, blob)| (path.to_owned(), blob)).into();
        let texts = [("to file", "d/file"), ("to folder", "d")];
        let texts = texts.map(|(id, text)| (id.into(), Content::Bytes(text.into()))).into_iter().collect();
        assert_eq!(follow_links(&mut blobs, &texts), ["in"]);
        assert!(!blobs["in"].is_link && blobs["folder"].is_link);
        assert!(blobs.keys().eq(["d/file", "folder", "in"]));
    }

    #[test]
    fn a_path_that_is_not_utf_8_is_not_read() {
        let (path, blob) = Blob::parse(b"100644 blob 1234\t\xff.yaml").unwrap();
        assert_eq!((path.as_str(), blob.is_named), ("\u{fffd}.yaml", false));
        assert!(Blob::parse(b"100644 blob 1234\ta.yaml").unwrap().1.is_named);
    }

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
        let present = [File::new("a.yaml", "a: 2"), File::new("c.yaml", "")].into_iter().collect();
        let read = |present: &Tree| {
            Revision::open(&folder.path().join("fleet"), "HEAD").unwrap().list().unwrap().read(present).unwrap()
        };
        let tree = read(&present);
        assert_eq!(tree.file("a.yaml").unwrap().text(), "a: 1");
        assert_eq!(tree.file("b.txt").unwrap().text(), "b");
        #[cfg(unix)]
        assert_eq!(tree.file("link.yaml").unwrap().text(), "a: 1");
        assert_eq!(tree.len(), if cfg!(unix) { 3 } else { 2 });
        let shared = read(&tree);
        let (one, other) = (tree.file("a.yaml").unwrap(), shared.file("a.yaml").unwrap());
        assert!(ArcStr::ptr_eq(one.shared_text(), other.shared_text()));
        let error = Revision::open(folder.path(), "--output=/tmp/x").unwrap().list().err().unwrap().to_string();
        assert!(error.contains("there is no such commit"), "{error}");
    }
}
