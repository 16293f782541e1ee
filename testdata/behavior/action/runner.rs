//! Runs the steps of action.yml as GitHub's runner would, in a folder of our own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fleetwright::text::File;
use fleetwright::yaml::{self, Node};

/// A checkout with the action's files around it.
pub(super) struct Runner {
    folder: tempfile::TempDir,
    action: Node,
    inputs: BTreeMap<String, String>,
    path: OsString,
    /// The repository of the action, which is empty on a runner that does not know it.
    repository: &'static str,
}

/// What a run left behind.
#[derive(Debug)]
pub(super) struct Run {
    /// The exit code of the step that failed, or 0.
    pub(super) code: i32,
    /// What the steps printed.
    pub(super) log: String,
    /// The job summary.
    pub(super) summary: String,
    /// The outputs of each step, as `step.name`.
    pub(super) outputs: BTreeMap<String, String>,
}

impl Runner {
    /// A runner that has the binary under test on its path.
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for name in ["workspace", "temp", "bin"] {
            fs::create_dir(folder.path().join(name)).expect("a new folder is empty");
        }
        let file = File::new("action.yml", include_str!("../../../action.yml"));
        let parsed = yaml::parse(&file);
        assert_eq!(parsed.findings, [], "action.yml is YAML");
        let action = parsed.documents[0].node.clone();
        let binary = Path::new(env!("CARGO_BIN_EXE_fleetwright")).parent().expect("the binary lies in a folder");
        let system = std::env::var_os("PATH").unwrap_or_default();
        let folders = [folder.path().join("bin"), binary.to_owned()].into_iter().chain(std::env::split_paths(&system));
        let path = std::env::join_paths(folders).expect("no folder of a path has a separator in its name");
        let inputs = BTreeMap::from([("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]);
        Self { folder, action, inputs, path, repository: "" }
    }

    /// The same runner with an input set.
    pub(super) fn input(mut self, name: &str, value: &str) -> Self {
        assert!(self.action.at_keys(&["inputs", name]).is_some(), "action.yml has no input `{name}`");
        self.inputs.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The same runner, on which the action comes from a repository.
    pub(super) fn of_repository(mut self, repository: &'static str) -> Self {
        self.repository = repository;
        self
    }

    /// Puts a program on the path, before all others.
    pub(super) fn program(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.folder.path().join("bin").join(name);
        fs::write(&path, script).expect("the folder is ours");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    }

    /// The checkout of the repository that is judged.
    pub(super) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// The runner's temporary folder.
    pub(super) fn temp(&self) -> PathBuf {
        self.folder.path().join("temp")
    }

    /// Every step of the action in order, until one fails.
    pub(super) fn steps(action: &Node) -> &[Node] {
        action.at_keys(&["runs", "steps"]).expect("a composite action has steps").items()
    }

    /// The parsed action.yml.
    pub(super) fn action(&self) -> &Node {
        &self.action
    }

    /// Runs the steps in order until one fails.
    pub(super) fn run(&self) -> Run {
        let mut run = Run { code: 0, log: String::new(), summary: String::new(), outputs: BTreeMap::new() };
        let summary = self.temp().join("summary.md");
        fs::write(&summary, "").expect("the folder is ours");
        for step in Self::steps(&self.action) {
            self.step(step, &summary, &mut run);
            if run.code != 0 {
                break;
            }
        }
        run.summary = fs::read_to_string(&summary).expect("the summary is text");
        run
    }

    fn step(&self, step: &Node, summary: &Path, run: &mut Run) {
        let id = step.get("id").and_then(Node::text).expect("each step has an id");
        let script = self.temp().join(format!("{id}.sh"));
        let output = self.temp().join(format!("{id}.output"));
        fs::write(&script, step.get("run").and_then(Node::text).expect("each step runs a script")).expect("ours");
        fs::write(&output, "").expect("the folder is ours");
        let mut command = Command::new("bash");
        // As GitHub documents `shell: bash`.
        command.args(["--noprofile", "--norc", "-e", "-o", "pipefail"]).arg(&script);
        command.current_dir(self.workspace()).env_clear().env("PATH", &self.path).env("HOME", self.temp());
        command.env("GITHUB_ACTION_PATH", env!("CARGO_MANIFEST_DIR")).env("RUNNER_TEMP", self.temp());
        command.env("RUNNER_OS", "Linux").env("RUNNER_ARCH", "X64");
        command.env("GITHUB_OUTPUT", &output).env("GITHUB_STEP_SUMMARY", summary);
        for entry in step.get("env").map(Node::entries).unwrap_or_default() {
            command.env(&*entry.key, self.evaluate(entry.node.text().expect("a variable is a scalar"), &run.outputs));
        }
        let done = command.output().expect("bash is installed");
        run.log.push_str(&String::from_utf8_lossy(&done.stdout));
        run.log.push_str(&String::from_utf8_lossy(&done.stderr));
        run.code = done.status.code().expect("no signal ends a step");
        let written = fs::read_to_string(&output).expect("outputs are text");
        for (name, value) in written.lines().filter_map(|line| line.split_once('=')) {
            run.outputs.insert(format!("{id}.{name}"), value.to_owned());
        }
    }

    /// The value of an expression of the three kinds that the action uses.
    fn evaluate(&self, text: &str, outputs: &BTreeMap<String, String>) -> String {
        let Some(expression) = text.strip_prefix("${{").and_then(|rest| rest.strip_suffix("}}")) else {
            return text.to_owned();
        };
        match expression.trim().split('.').collect::<Vec<_>>().as_slice() {
            ["inputs", name] => self.inputs.get(*name).cloned().unwrap_or_else(|| self.default_of(name)),
            ["steps", id, "outputs", name] => outputs.get(&format!("{id}.{name}")).cloned().unwrap_or_default(),
            ["github", "action_repository"] => self.repository.to_owned(),
            other => unreachable!("action.yml uses an expression that this runner does not know: {other:?}"),
        }
    }

    fn default_of(&self, name: &str) -> String {
        let default = self.action.at_keys(&["inputs", name, "default"]);
        default.and_then(Node::text).expect("every input has a default").to_owned()
    }
}
