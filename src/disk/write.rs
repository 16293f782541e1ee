//! Writes trees to directories. After an interruption, each file is either old or new, and the lock lists both.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use arcstr::ArcStr;
use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};
use rayon::slice::ParallelSlice as _;

use super::STAGE;
use super::error::DiskError;
use super::place;

/// The changes to a directory. Paths use `/` and are relative to the directory.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// The files to write, with their text.
    pub write: BTreeMap<String, ArcStr>,
    /// The files to remove. If a file is missing already, only its empty directories are removed.
    pub remove: BTreeSet<String>,
    /// The lock: the file that lists the generated files.
    pub lock: LockFile,
}

/// The file that lists the generated files, and its contents.
#[derive(Debug, Clone, Default)]
pub struct LockFile {
    /// The path.
    pub path: String,
    /// The text while files change: a list of the old and the new files.
    pub during: String,
    /// The text after all changes.
    pub after: String,
}

impl Changes {
    /// Returns whether a file to remove is in the place of a directory of a file to write, or below a file to write.
    fn blocks(&self, path: &str) -> bool {
        let below = format!("{path}/");
        let is_folder =
            self.write.range(below.clone()..).next().is_some_and(|(written, _)| written.starts_with(&below));
        is_folder
            || path.match_indices('/').any(|(end, _)| path.get(..end).is_some_and(|up| self.write.contains_key(up)))
    }
}

/// Writes changes to a directory, which is created if it does not exist.
///
/// Checks all permissions before the first file changes.
pub fn write(root: &Path, changes: &Changes) -> Result<(), DiskError> {
    place::refuse_leaving_link(root)?;
    fs::create_dir_all(root).map_err(DiskError::refused("create the directory", root))?;
    let root = fs::canonicalize(root).map_err(DiskError::refused("read", root))?;
    let written = write_in_steps(&root, changes, &|_| Ok(()));
    let cleaned = clean(&root);
    written.and(cleaned)
}

/// Removes the temporary files of an interrupted run.
pub fn clean(root: &Path) -> Result<(), DiskError> {
    place::refuse_leaving_link(root)?;
    let stage = root.join(STAGE);
    match fs::symlink_metadata(&stage) {
        Err(_) => Ok(()),
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(&stage).map_err(DiskError::refused("remove", &stage)),
        Ok(_) => fs::remove_file(&stage).map_err(DiskError::refused("remove", &stage)),
    }
}

/// Writes a new file and its directories. Fails if the file exists.
pub fn create(path: &Path, text: &str) -> Result<(), DiskError> {
    place::refuse_leaving_link(path)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(DiskError::refused("create the directory", folder))?;
    }
    let refused = DiskError::refused("write", path);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path).map_err(&refused)?;
    file.write_all(text.as_bytes()).map_err(&refused)
}

/// Writes a file that the user names, in one step: the file has its old or its new content. Its directory must exist.
///
/// A link that leads out of a repository is refused, since its author may have made the file that the user names a link.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
    place::refuse_leaving_output(path)?;
    let refused = DiskError::refused("write", path);
    // A device or a pipe, such as `/dev/stderr`, cannot be replaced.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return open_special(path).and_then(|mut file| file.write_all(bytes)).map_err(&refused);
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.exists() {
        return Err(DiskError::Missing(folder.display().to_string()));
    }
    let mut staged = tempfile::NamedTempFile::new_in(folder).map_err(&refused)?;
    staged.write_all(bytes).map_err(&refused)?;
    let mode = fs::metadata(&target).map(|metadata| metadata.permissions()).ok();
    #[cfg(unix)]
    let mode = mode.unwrap_or_else(|| std::os::unix::fs::PermissionsExt::from_mode(0o644)).into();
    if let Some(mode) = mode {
        fs::set_permissions(staged.path(), mode).map_err(&refused)?;
    }
    staged.persist(&target).map_err(|error| refused(error.error))?;
    Ok(())
}

/// Opens a device or a pipe. A pipe without a reader is an error, since its opening would wait for a reader.
fn open_special(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    {
        use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
        let file = options.custom_flags(flags).open(path)?;
        // The writes wait for the reader.
        fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path)
}

/// Writes files to a directory that the user names, which is created if it does not exist.
pub fn write_files(folder: &Path, files: &BTreeMap<String, String>) -> Result<(), DiskError> {
    fs::create_dir_all(folder).map_err(DiskError::refused("create the directory", folder))?;
    files.iter().try_for_each(|(name, text)| replace(&folder.join(name), text.as_bytes()))
}

/// Appends to a file that the user names, which is created if it does not exist.
pub fn append(path: &Path, text: &str) -> Result<(), DiskError> {
    let file = fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(DiskError::refused("write", path))
}

/// Rewrites existing files of a directory, each in one step. Checks all paths before the first file changes.
pub fn rewrite(root: &Path, files: &BTreeMap<String, String>) -> Result<(), DiskError> {
    let root = fs::canonicalize(root).map_err(DiskError::refused("read", root))?;
    let mut targets = Vec::with_capacity(files.len());
    for (path, text) in files {
        targets.push((place::target(&root, path, &BTreeSet::new(), &mut BTreeSet::new())?, text));
    }
    targets.iter().try_for_each(|(target, text)| replace(target, text.as_bytes()))
}

/// The kind of the next step, before which a test can interrupt the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Stage,
    Lock,
    Rename,
    Remove,
    RemoveFolder,
    Unstage,
}

/// A function that is called before each step. If the function returns an error, the work ends, as after a kill.
type BeforeStep<'a> = &'a (dyn Fn(Step) -> Result<(), DiskError> + Sync);

/// The number of files that one thread writes to a directory of the stage, and then renames. In a larger directory, new
/// files take longer, and threads wait for each other.
const AT_ONCE: usize = 256;

fn write_in_steps(root: &Path, changes: &Changes, before: BeforeStep<'_>) -> Result<(), DiskError> {
    let (mut targets, mut checked) = (BTreeMap::new(), BTreeSet::new());
    for path in changes.write.keys().chain(&changes.remove).chain([&changes.lock.path]) {
        targets.insert(path.as_str(), place::target(root, path, &changes.remove, &mut checked)?);
    }
    clean(root)?;
    let parents: BTreeSet<&Path> = targets.values().filter_map(|target| target.parent()).collect();
    let mut folders: BTreeSet<PathBuf> =
        parents.into_iter().map(|parent| existing_folder(root, parent).to_owned()).collect();
    folders
        .extend(place::emptied(root, &changes.remove).iter().filter_map(|folder| folder.parent().map(Path::to_owned)));
    for folder in &folders {
        // The unnamed file shows that the directory is writable, and leaves no trace.
        tempfile::tempfile_in(folder).map_err(DiskError::refused("write to the directory", folder))?;
    }

    before(Step::Stage)?;
    let stage = root.join(STAGE);
    fs::create_dir(&stage).map_err(DiskError::refused("create the directory", &stage))?;
    let lock = targets.get(changes.lock.path.as_str()).expect("inserted above").clone();
    let (during, after) = (staged(&stage, &changes.lock.during)?, staged(&stage, &changes.lock.after)?);
    let file = |(path, text)| (targets.get(String::as_str(path)).expect("inserted above").as_path(), text);
    let files: Vec<(&Path, &ArcStr)> = changes.write.iter().map(file).collect();
    let stage_some = |(number, some): (usize, &[(&Path, &ArcStr)])| -> Result<Vec<PathBuf>, DiskError> {
        let folder = stage.join(number.to_string());
        fs::create_dir(&folder).map_err(DiskError::refused("create the directory", &folder))?;
        let stage_one = |(_, text): &(&Path, &ArcStr)| before(Step::Stage).and_then(|()| staged(&folder, text));
        some.iter().map(stage_one).collect()
    };
    let staged: Result<Vec<Vec<PathBuf>>, DiskError> = files.par_chunks(AT_ONCE).enumerate().map(stage_some).collect();
    let staged = staged?;

    let changes_files = !files.is_empty() || !changes.remove.is_empty();
    if changes_files {
        before(Step::Lock)?;
        rename(&during, &lock)?;
    }
    let (early, late): (Vec<&str>, Vec<&str>) =
        changes.remove.iter().map(String::as_str).partition(|path| changes.blocks(path));
    for path in early {
        before(Step::Remove)?;
        remove(root, targets.get(path).expect("inserted above"), before)?;
    }
    let rename_some = |(staged, some): (&Vec<PathBuf>, &[(&Path, &ArcStr)])| -> Result<(), DiskError> {
        let mut created: Option<&Path> = None;
        for (staged, (target, _)) in staged.iter().zip(some) {
            before(Step::Rename)?;
            let folder = target.parent();
            if let Some(folder) = folder.filter(|_| folder != created) {
                fs::create_dir_all(folder).map_err(DiskError::refused("create the directory", folder))?;
                place::confirm(root, target)?;
                created = Some(folder);
            }
            rename(staged, target)?;
        }
        Ok(())
    };
    staged.par_iter().zip(files.par_chunks(AT_ONCE)).try_for_each(rename_some)?;
    for path in late {
        before(Step::Remove)?;
        remove(root, targets.get(path).expect("inserted above"), before)?;
    }
    before(Step::Lock)?;
    rename(&after, &lock)?;
    before(Step::Unstage)
}

/// Returns the nearest existing directory in the path of a directory.
fn existing_folder<'a>(root: &'a Path, folder: &'a Path) -> &'a Path {
    folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(root)
}

/// Writes a text to a new file in the stage, with a name that is unique even with concurrent runs.
fn staged(stage: &Path, text: &str) -> Result<PathBuf, DiskError> {
    let refused = DiskError::refused("write to the directory", stage);
    let mut builder = tempfile::Builder::new();
    builder.prefix("").disable_cleanup(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The umask of the user applies to this mode, as to every new file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(stage).map_err(&refused)?;
    file.write_all(text.as_bytes()).map_err(&refused)?;
    Ok(file.path().to_owned())
}

fn rename(from: &Path, to: &Path) -> Result<(), DiskError> {
    if let Ok(metadata) = fs::symlink_metadata(to)
        && metadata.is_file()
    {
        // The file keeps its mode, since Git shows a changed mode.
        fs::set_permissions(from, metadata.permissions()).map_err(DiskError::refused("write", to))?;
    }
    fs::rename(from, to).map_err(DiskError::refused("write", to))
}

/// Removes a file and the directories that become empty.
fn remove(root: &Path, target: &Path, before: BeforeStep<'_>) -> Result<(), DiskError> {
    place::confirm(root, target)?;
    match fs::remove_file(target) {
        Err(error) if !matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Err(DiskError::refused("remove", target)(error));
        }
        _ => {}
    }
    for folder in target.ancestors().skip(1).take_while(|folder| *folder != root && folder.starts_with(root)) {
        let empty = match fs::read_dir(folder) {
            Ok(mut entries) => entries.next().is_none(),
            // An earlier run may have removed this directory, but not its empty parent.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(_) => false,
        };
        if !empty || fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_symlink()) {
            break;
        }
        before(Step::RemoveFolder)?;
        fs::remove_dir(folder).map_err(DiskError::refused("remove", folder))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const LOCK: &str = ".lock";

    fn changes() -> Changes {
        let file = |path: &str, text: &str| (path.to_owned(), text.into());
        Changes {
            write: [file("a.yaml", "new"), file("new/deep/b.yaml", "new")].into(),
            remove: ["old/deep/c.yaml".to_owned()].into(),
            lock: LockFile { path: LOCK.into(), during: "both".into(), after: "new".into() },
        }
    }

    fn before() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("old/deep")).unwrap();
        for path in ["a.yaml", "old/deep/c.yaml", "other.yaml", LOCK] {
            fs::write(folder.path().join(path), "old").unwrap();
        }
        folder
    }

    fn text(root: &Path, path: &str) -> Option<String> {
        fs::read_to_string(root.join(path)).ok()
    }

    fn is_done(root: &Path) -> bool {
        let names: BTreeSet<_> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names == ["a.yaml", "new", "other.yaml", LOCK].map(Into::into).into()
            && text(root, "a.yaml").as_deref() == Some("new")
            && text(root, "new/deep/b.yaml").as_deref() == Some("new")
            && text(root, LOCK).as_deref() == Some("new")
            && text(root, "other.yaml").as_deref() == Some("old")
    }

    #[test]
    fn changes_are_written_and_empty_directories_are_removed() {
        let folder = before();
        write(folder.path(), &changes()).unwrap();
        assert!(is_done(folder.path()));
    }

    #[test]
    fn an_interrupted_run_leaves_old_or_new_files_and_the_next_run_completes() {
        let mut steps = 0;
        for kill_at in 0.. {
            let folder = before();
            let root = folder.path().canonicalize().unwrap();
            let step = AtomicUsize::new(0);
            let killed = write_in_steps(&root, &changes(), &|_| {
                let step = step.fetch_add(1, Ordering::Relaxed) + 1;
                if step > kill_at { Err(DiskError::Missing("killed".into())) } else { Ok(()) }
            });
            let a = text(&root, "a.yaml").unwrap();
            let lock = text(&root, LOCK).unwrap();
            let pruned = text(&root, "old/deep/c.yaml").is_none();
            assert!(a == "old" || a == "new");
            assert!(text(&root, "new/deep/b.yaml").is_none_or(|text| text == "new"));
            // The lock must list every file that may exist: the old lock is valid with old files only.
            assert!(lock != "old" || (a == "old" && !pruned), "at step {kill_at}");
            assert!(lock != "new" || (a == "new" && pruned), "at step {kill_at}");
            write(&root, &changes()).unwrap();
            assert!(is_done(&root), "at step {kill_at}");
            if killed.is_ok() {
                break;
            }
            steps += 1;
        }
        assert!(steps > 8, "only {steps} steps were interrupted");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_is_not_written_through() {
        let outside = tempfile::tempdir().unwrap();
        let folder = before();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("new")).unwrap();
        let error = write(folder.path(), &changes()).unwrap_err();
        assert!(matches!(&error, DiskError::LinkLeavesRoot { link, .. } if link.ends_with("new")), "{error}");
        assert_eq!(text(folder.path(), "a.yaml").as_deref(), Some("old"));
        assert!(fs::read_dir(outside.path()).unwrap().next().is_none());
    }

    #[test]
    fn an_obstacle_is_reported_before_any_write() {
        let folder = before();
        fs::write(folder.path().join("new"), "").unwrap();
        let error = write(folder.path(), &changes()).unwrap_err();
        assert!(matches!(&error, DiskError::Blocked { obstacle: "a file", .. }), "{error}");
        assert_eq!(text(folder.path(), "a.yaml").as_deref(), Some("old"));
        assert_eq!(text(folder.path(), LOCK).as_deref(), Some("old"));
    }

    #[test]
    fn a_file_and_a_directory_can_replace_each_other() {
        let folder = before();
        let file = |path: &str| (path.to_owned(), "new".into());
        let changes = Changes {
            write: [file("a.yaml/b.yaml"), file("old")].into(),
            remove: ["a.yaml".to_owned(), "old/deep/c.yaml".to_owned()].into(),
            lock: changes().lock,
        };
        write(folder.path(), &changes).unwrap();
        assert_eq!(text(folder.path(), "a.yaml/b.yaml").as_deref(), Some("new"));
        assert_eq!(text(folder.path(), "old").as_deref(), Some("new"));
    }

    #[test]
    fn paths_that_lead_out_or_into_git_are_rejected() {
        for path in ["../a", "/a", "a/../../b", ".git/config", "x/.GIT/hooks/a", ""] {
            let changes = Changes { write: [(path.to_owned(), "".into())].into(), ..changes() };
            let error = write(before().path(), &changes).unwrap_err();
            assert!(matches!(error, DiskError::Forbidden(_)), "{path}: {error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn new_files_get_the_default_mode_and_old_files_keep_theirs() {
        use std::os::unix::fs::PermissionsExt;
        let folder = before();
        let default_mode = folder.path().join("default_mode");
        fs::write(&default_mode, "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let default_mode = mode(&default_mode);
        fs::set_permissions(folder.path().join("a.yaml"), fs::Permissions::from_mode(0o640)).unwrap();
        write(folder.path(), &changes()).unwrap();
        assert_eq!(mode(&folder.path().join("new/deep/b.yaml")), default_mode);
        assert_eq!(mode(&folder.path().join("a.yaml")), 0o640);
    }

    #[test]
    fn create_never_replaces_a_file() {
        let folder = before();
        assert!(create(&folder.path().join("a.yaml"), "new").is_err());
        create(&folder.path().join("x/y.yaml"), "new").unwrap();
        assert_eq!(text(folder.path(), "x/y.yaml").as_deref(), Some("new"));
    }
}
