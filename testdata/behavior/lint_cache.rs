//! `lint --cache`: a run with a cache prints what a run without one prints, whatever happens to the files or the cache.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use super::support::testdata;

const BINARY: &str = env!("CARGO_BIN_EXE_fleetwright");

/// A temporary directory with a repository and a directory for caches.
struct Fixture {
    folder: tempfile::TempDir,
}

/// The exit code, the results and the messages of a run.
type Answer = (Option<i32>, String, String);

impl Fixture {
    fn new() -> Self {
        let fixture = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(fixture.root()).unwrap();
        fs::copy(testdata("fleets/quickstart/fleet.yaml"), fixture.root().join("fleet.yaml")).unwrap();
        assert_eq!(fixture.run(&["render"]).0, Some(0));
        fixture
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("fleet")
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn write(&self, path: &str, text: &str) {
        let full = self.root().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command.current_dir(self.root()).args(arguments).stdin(Stdio::null());
        command.env_remove("GITHUB_WORKSPACE").env_remove("GITHUB_STEP_SUMMARY");
        command
    }

    fn run(&self, arguments: &[&str]) -> Answer {
        answer(self.command(arguments).output().unwrap())
    }

    fn lint(&self, arguments: &[&str]) -> Answer {
        self.run(&[&["lint"], arguments].concat())
    }

    fn cached(&self, arguments: &[&str]) -> Answer {
        let cache = self.cache();
        self.run(&[&["lint", "--cache", cache.to_str().unwrap()], arguments].concat())
    }

    fn entries(&self) -> Vec<PathBuf> {
        super::support::entries(&self.cache())
    }

    /// The number of the file of the only entry. A run that stores its result replaces the file.
    fn entry_number(&self) -> u64 {
        let entries = self.entries();
        assert_eq!(entries.len(), 1, "{entries:?}");
        fs::metadata(&entries[0]).unwrap().ino()
    }
}

fn answer(output: std::process::Output) -> Answer {
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.code(), out, err)
}

/// A directory that changed less than 50 ms before a run may have changed during the run, so the result is not stored.
fn settle() {
    std::thread::sleep(Duration::from_millis(100));
}

/// A small generator of numbers, so that each run of the test makes the same edits.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in super::support::entries(folder) {
        if path.is_symlink() || path.is_file() {
            files.push(path);
        } else if path.is_dir() && !path.ends_with(".git") {
            files.extend(files_below(&path));
        }
    }
    files
}

fn folders_below(folder: &Path) -> Vec<PathBuf> {
    let inner = super::support::entries(folder).into_iter().filter(|path| path.is_dir() && !path.is_symlink());
    inner
        .filter(|path| !path.ends_with(".git"))
        .flat_map(|path| [vec![path.clone()], folders_below(&path)].concat())
        .collect()
}

/// Edits the repository, and returns what it did.
fn edit(root: &Path, numbers: &mut Numbers, original: &[(PathBuf, Vec<u8>)]) -> String {
    let files = files_below(root);
    let path = files[numbers.below(files.len())].clone();
    let other = files[numbers.below(files.len())].clone();
    let text = fs::read(&path).unwrap_or_default();
    let shown = path.strip_prefix(root).unwrap().display().to_string();
    let folders = folders_below(root);
    let folder = folders[numbers.below(folders.len())].clone();
    let kind = numbers.below(16);
    match kind {
        0 => fs::write(&path, [&text[..], b"\n# a comment\n"].concat()).unwrap_or_default(),
        1 => fs::write(&path, String::from_utf8_lossy(&text).replace("true", "false")).unwrap_or_default(),
        2 => fs::remove_file(&path).unwrap(),
        3 => fs::rename(&path, path.with_extension("renamed.yaml")).unwrap(),
        4 => fs::copy(&other, path.with_file_name("added.yaml")).map(drop).unwrap_or_default(),
        5 => fs::File::open(&path).and_then(|file| file.set_modified(SystemTime::now())).unwrap_or_default(),
        6 => fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap_or_default(),
        7 => {
            // The same size and the same time of modification.
            let modified = fs::metadata(&path).and_then(|metadata| metadata.modified());
            let mut changed = text.clone();
            if let (Some(at), Ok(modified)) = (changed.iter().position(|byte| *byte == b'm'), modified) {
                changed[at] = b'n';
                fs::write(&path, changed).unwrap();
                fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
            }
        }
        8 => {
            let _ = fs::remove_file(path.with_file_name("link.yaml"));
            symlink(&other, path.with_file_name("link.yaml")).unwrap();
        }
        9 => fs::write(root.join(".fleetwright.yaml"), CONFIGURATIONS[numbers.below(CONFIGURATIONS.len())]).unwrap(),
        10 => fs::write(root.join("notes.txt"), numbers.below(1000).to_string()).unwrap(),
        11 => fs::write(folder.join(IGNORE_FILES[numbers.below(2)]), PATTERNS[numbers.below(PATTERNS.len())]).unwrap(),
        12 => fs::rename(&folder, folder.with_extension("moved")).unwrap_or_default(),
        13 => {
            fs::rename(&folder, root.join("target")).unwrap_or_default();
            symlink(root.join("target"), &folder).unwrap_or_default();
        }
        14 => git(root, [&["add", "-A"][..], &["rm", "-rq", "--cached", "."]][numbers.below(2)]),
        _ => {
            for path in super::support::entries(root).into_iter().filter(|path| !path.ends_with(".git")) {
                fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path)).unwrap();
            }
            for (path, text) in original {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        }
    }
    let [other, folder] = [&other, &folder].map(|path| path.strip_prefix(root).unwrap().display());
    format!("edit {kind} of {shown} with {other} and {folder}")
}

const IGNORE_FILES: [&str; 2] = [".gitignore", ".sourceignore"];

const PATTERNS: [&str; 3] = ["*.yaml\n", "clusters/\n", "!*.yaml\n"];

/// Runs `git` in the repository. Git reports an error if no file matches.
fn git(root: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(root).args(arguments).env_remove("GIT_DIR").env_remove("GIT_INDEX_FILE");
    git.output().unwrap();
}

const CONFIGURATIONS: [&str; 3] = [
    "apiVersion: fleetwright.dev/v1alpha1\nkind: Config\nlint: {pedantic: true}\n",
    "apiVersion: fleetwright.dev/v1alpha1\nkind: Config\nlint: {skip: [tenants]}\n",
    "apiVersion: fleetwright.dev/v1alpha1\nkind: Config\nlint: {rules: {missing-prune: off}}\n",
];

#[test]
fn a_cached_run_equals_a_cold_run_after_any_edit() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let original: Vec<_> = files_below(&root).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    git(&root, &["init", "-q"]);
    let mut numbers = Numbers(7);
    let mut done = Vec::new();
    for round in 0..24 {
        // Sometimes, the run follows an edit at once.
        if round % 3 > 0 {
            settle();
        }
        // The configuration of `clusters` is above it.
        for arguments in [&["--format", "json"][..], &["--verbose", "--color", "always"], &["clusters"]] {
            let cold = fixture.lint(arguments);
            for turn in ["first", "second"] {
                assert_eq!(fixture.cached(arguments), cold, "{turn} run {arguments:?} after {done:#?}");
            }
        }
        for _ in 0..=numbers.below(2) {
            done.push(edit(&root, &mut numbers, &original));
        }
    }
}

#[test]
fn a_cached_comparison_equals_a_cold_one_after_any_edit_and_commit() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let commit = || {
        git(&root, &["add", "-A"]);
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        git(&root, &[&author[..], &["commit", "-q", "-m", "state"]].concat());
    };
    // A fault of the first commit, so that the earlier state is checked.
    fixture.write("clusters/staging/broken.yaml", "kind: [");
    let original: Vec<_> = files_below(&root).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    git(&root, &["init", "-q"]);
    commit();
    let mut numbers = Numbers(11);
    let mut done = Vec::new();
    let mut stored = 0;
    for round in 0..12 {
        settle();
        let arguments = ["--since", "HEAD", "--format", "json"];
        let cold = fixture.lint(&arguments);
        for turn in ["first", "second"] {
            assert_eq!(fixture.cached(&arguments), cold, "{turn} run after {done:#?}");
        }
        stored += fixture.entries().len();
        if round % 3 == 2 {
            commit();
            done.push("commit".to_owned());
        } else {
            done.push(edit(&root, &mut numbers, &original));
        }
    }
    assert!(stored > 0);
    // A missing revision fails, and a failure has no entry.
    assert_eq!(fixture.cached(&["--since", "missing"]).0, Some(2));
}

#[test]
fn an_unchanged_repository_is_not_linted_again() {
    let fixture = Fixture::new();
    settle();
    let cold = fixture.lint(&[]);
    assert_eq!(fixture.cached(&[]), cold);
    let number = fixture.entry_number();
    assert_eq!(fixture.cached(&[]), cold);
    assert_eq!(fixture.entry_number(), number, "the entry holds");
    fixture.write(
        "fleet.yaml",
        &format!("{}# a comment\n", fs::read_to_string(fixture.root().join("fleet.yaml")).unwrap()),
    );
    assert_eq!(fixture.cached(&[]), cold);
    assert_ne!(fixture.entry_number(), number, "the entry does not hold");
}

#[test]
fn files_of_a_configuration_and_of_copies_are_a_part_of_the_input() {
    let fixture = Fixture::new();
    let copy = fixture.folder.path().join("copy");
    fs::create_dir(&copy).unwrap();
    let source = "https://github.com/acme/apps.git=../copy";
    for text in ["kind: ConfigMap\n", "kind: ConfigMap\nkind: Secret\n"] {
        fs::write(copy.join("a.yaml"), text).unwrap();
        fs::write(fixture.folder.path().join("config.yaml"), CONFIGURATIONS[text.len() % 2]).unwrap();
        settle();
        let arguments = ["--source", source, "--config", "../config.yaml", "--verbose"];
        let cold = fixture.lint(&arguments);
        for _ in 0..2 {
            assert_eq!(fixture.cached(&arguments), cold);
        }
    }
}

#[test]
fn a_configuration_above_the_directory_and_a_baseline_are_a_part_of_the_input() {
    let fixture = Fixture::new();
    let unreached =
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: b}\n";
    fixture.write("clusters/other/apps.yaml", unreached);
    let arguments = ["clusters", "--baseline", "../known.json"];
    fixture.lint(&["clusters", "--baseline", "../known.json", "--write-baseline"]);
    let baseline = fixture.folder.path().join("known.json");
    let configuration = fixture.root().join(".fleetwright.yaml");
    let without = "apiVersion: fleetwright.dev/v1alpha1\nkind: Config\nlint: {rules: {unreachable-object: off}}\n";
    let mut outputs = Vec::new();
    for step in 0..4 {
        match step {
            0 => fs::create_dir(fixture.root().join(".git")).unwrap(),
            1 => fs::write(&configuration, without).unwrap(),
            2 => fs::remove_file(&configuration).unwrap(),
            _ => fs::write(&baseline, "{\"version\": 1, \"findings\": []}").unwrap(),
        }
        settle();
        let cold = fixture.lint(&arguments);
        for _ in 0..2 {
            assert_eq!(fixture.cached(&arguments), cold, "{step}");
        }
        outputs.push(cold);
    }
    assert!(outputs[0] != outputs[1] && outputs[0] == outputs[2] && outputs[2] != outputs[3], "{outputs:#?}");
}

#[test]
fn the_date_is_a_part_of_the_input() {
    let fixture = Fixture::new();
    settle();
    for (date, entries) in [("0", 1), ("86399", 1), ("86400", 2)] {
        let cache = fixture.cache();
        let mut command = fixture.command(&["lint", "--cache", cache.to_str().unwrap()]);
        assert!(command.env("SOURCE_DATE_EPOCH", date).output().unwrap().status.code().is_some());
        assert_eq!(fixture.entries().len(), entries, "{date}");
    }
}

#[test]
fn tracked_and_ignored_files_are_a_part_of_the_input() {
    let fixture = Fixture::new();
    let git = |arguments: &[&str]| git(&fixture.root(), arguments);
    fixture.write("bad.yaml", "kind: ConfigMap\nkind: Secret\n");
    let mut outputs = Vec::new();
    for step in 0..4 {
        match step {
            0 => git(&["init", "-q"]),
            1 => fixture.write(".gitignore", "bad.yaml\n"),
            2 => git(&["add", "-f", "bad.yaml"]),
            _ => git(&["rm", "-q", "--cached", "bad.yaml"]),
        }
        settle();
        let cold = fixture.lint(&["--verbose"]);
        for _ in 0..2 {
            assert_eq!(fixture.cached(&["--verbose"]), cold, "{step}");
        }
        outputs.push(cold.1);
    }
    assert!(outputs[0] != outputs[1] && outputs[1] != outputs[2] && outputs[2] != outputs[3], "{outputs:?}");
}

#[test]
fn a_damaged_cache_is_an_empty_cache() {
    let fixture = Fixture::new();
    settle();
    let cold = fixture.lint(&["--format", "json"]);
    let cached = || fixture.cached(&["--format", "json"]);
    assert_eq!(cached(), cold);
    let entry = fixture.entries().remove(0);
    let bytes = fs::read(&entry).unwrap();
    let outside = fixture.folder.path().join("outside");
    let damages: [&dyn Fn(); 7] = [
        &|| fs::write(&entry, "").unwrap(),
        &|| fs::write(&entry, bytes.get(..bytes.len() / 2).unwrap()).unwrap(),
        &|| fs::write(&entry, [&bytes[..], b"x"].concat()).unwrap(),
        &|| fs::write(&entry, vec![0xFF; 100_000]).unwrap(),
        &|| fs::set_permissions(&entry, fs::Permissions::from_mode(0o666)).unwrap(),
        &|| {
            fs::rename(&entry, &outside).unwrap();
            symlink(&outside, &entry).unwrap();
        },
        &|| {
            fs::remove_file(&entry).unwrap();
            assert!(Command::new("mkfifo").arg(&entry).status().unwrap().success());
        },
    ];
    for damage in damages {
        damage();
        let (code, out, err) = cached();
        assert_eq!((code, &out), (cold.0, &cold.1));
        assert!(err.starts_with("an entry of the cache `"), "{err}");
        assert_eq!(err.lines().count(), cold.2.lines().count() + 1, "{err}");
        assert_eq!(cached(), cold, "the run replaced the damaged entry");
    }
    fs::remove_file(&entry).unwrap();
    fs::create_dir(&entry).unwrap();
    assert_eq!(cached().1, cold.1);
    fs::remove_dir(&entry).unwrap();
    fs::set_permissions(fixture.cache(), fs::Permissions::from_mode(0o777)).unwrap();
    let (code, out, err) = cached();
    assert_eq!((code, out), (cold.0, cold.1));
    assert!(err.contains("is not used: other users can write to it"), "{err}");
    assert_eq!(fixture.entries(), Vec::<PathBuf>::new());
}

#[test]
fn two_runs_share_a_cache() {
    let fixture = Fixture::new();
    settle();
    let cold = fixture.lint(&["--format", "json"]);
    let cache = fixture.cache();
    for _ in 0..3 {
        let start = || {
            let mut command = fixture.command(&["lint", "--cache", cache.to_str().unwrap(), "--format", "json"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let running: Vec<_> = (0..4).map(|_| start()).collect();
        for run in running {
            assert_eq!(answer(run.wait_with_output().unwrap()), cold);
        }
        fixture
            .write("fleet.yaml", &(fs::read_to_string(fixture.root().join("fleet.yaml")).unwrap() + "# a comment\n"));
        settle();
    }
    assert_eq!(fixture.entries().len(), 1, "no run leaves a staged file");
}

#[test]
fn a_cache_is_private_and_outside_of_the_repository() {
    let fixture = Fixture::new();
    let root = fixture.root();
    fs::create_dir(root.join("clusters/inner")).unwrap();
    // Without a Git repository, such as in an archive, the current directory has the author of its directories.
    assert_eq!(fixture.run(&["lint", "--cache", "caches", "clusters"]).0, Some(2));
    fs::create_dir(root.join(".git")).unwrap();
    symlink(&root, fixture.folder.path().join("link")).unwrap();
    for (cache, dir) in [("caches", "."), ("../link/caches", "."), (".", "."), ("caches", "clusters")] {
        let (code, out, err) = fixture.run(&["lint", "--cache", cache, dir]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{cache} {dir}");
        assert!(err.contains("whose author could write its entries") && err.contains(".git/fleetwright"), "{err}");
        assert!(!root.join("caches").exists());
    }
    settle();
    let cold = fixture.lint(&[]);
    for _ in 0..2 {
        assert_eq!(fixture.run(&["lint", "--cache", ".git/fleetwright"]), cold);
    }
    let folder = root.join(".git/fleetwright");
    let entries = super::support::entries(&folder);
    assert_eq!(entries.len(), 1);
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&entries[0])), (0o700, 0o600));
    // The author of the repository must not choose the directory.
    let elsewhere = fixture.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, root.join("away")).unwrap();
    let (code, _, err) = fixture.run(&["lint", "--cache", "away"]);
    assert!(code == cold.0 && err.contains("leads out of its repository"), "{err}");
    assert!(super::support::entries(&elsewhere).is_empty());
}

#[test]
fn a_cache_has_no_secret_values() {
    let fixture = Fixture::new();
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {password: canary-value, other: 5}\n";
    fs::remove_dir_all(fixture.root()).unwrap();
    fixture.write("secret.yaml", secret);
    settle();
    for format in ["text", "json", "sarif", "github"] {
        let (_, out, _) = fixture.cached(&["--format", format]);
        assert!(out.contains("plaintext-secret"), "{out}");
    }
    assert_eq!(fixture.entries().len(), 4);
    for entry in fixture.entries() {
        assert!(!String::from_utf8_lossy(&fs::read(entry).unwrap()).contains("canary-value"));
    }
}

#[test]
fn files_of_outputs_are_written_again() {
    let fixture = Fixture::new();
    settle();
    let report = fixture.folder.path().join("report.json");
    let format = format!("json={}", report.display());
    let arguments = ["--format", "text", "--format", format.as_str()];
    let cold = fixture.lint(&arguments);
    let expected = fs::read(&report).unwrap();
    for _ in 0..3 {
        fs::remove_file(&report).unwrap();
        assert_eq!(fixture.cached(&arguments), cold);
        assert_eq!(fs::read(&report).unwrap(), expected);
    }
}

#[test]
fn fixes_and_recorded_baselines_have_no_entry() {
    let fixture = Fixture::new();
    settle();
    for arguments in [&["--fix"][..], &["--diff"], &["--baseline", "../known.json", "--write-baseline"]] {
        fixture.cached(arguments);
        assert_eq!(fixture.entries(), Vec::<PathBuf>::new(), "{arguments:?}");
    }
    assert!(fixture.folder.path().join("known.json").exists());
}
