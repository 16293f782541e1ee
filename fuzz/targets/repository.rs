//! Targets for whole repositories. The input is Markdown: each block ```` ```yaml PATH ```` is a file, as in the cases
//! of the linter.

use fleetwright::base::finding::Finding;
use fleetwright::cel::Budget;
use fleetwright::fleet::load;
use fleetwright::flux::{expand, is_input_provider, is_resource_set};
use fleetwright::kube::Object;
use fleetwright::lint::{Options, run};
use fleetwright::policy::{Given, LANGUAGES, Request, plural_of};
use fleetwright::render::{Lock, plan, render as render_fleet};
use fleetwright::text::{File, Tree, folder_of};
use fleetwright::{kustomize as kustomize_engine, yaml};

/// The largest input, in bytes. Larger inputs find nothing that smaller ones do not, and are slow.
const MAX_INPUT: usize = 64 << 10;

/// Checks a repository with all rules: the findings are in its files, and the same with one thread and with many.
pub(crate) fn lint(data: &[u8]) {
    let Some(tree) = tree(data) else { return };
    let options = options();
    let findings = run(&tree, &options).findings;
    check_positions(&findings);
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let again = one_thread.install(|| run(&tree, &options).findings);
    assert_eq!(format!("{findings:?}"), format!("{again:?}"));
}

/// Builds each directory with a kustomization: the parser reads the output, which is the same twice.
pub(crate) fn kustomize(data: &[u8]) {
    let Some(tree) = tree(data) else { return };
    let is_definition = |path: &str| path.rsplit('/').next().is_some_and(|name| name == "kustomization.yaml");
    for path in tree.entries().map(|(path, _)| path).filter(|path| is_definition(path)) {
        let build = kustomize_engine::build(&tree, folder_of(path));
        check_positions(&build.findings);
        if build.findings.is_empty() {
            let nodes: Vec<yaml::Node> = build.objects.iter().map(|object| object.node.clone()).collect();
            let (text, _) = super::yaml::check_stable(&nodes);
            let again = kustomize_engine::build(&tree, folder_of(path));
            let nodes: Vec<yaml::Node> = again.objects.iter().map(|object| object.node.clone()).collect();
            assert_eq!(text, super::yaml::check_stable(&nodes).0);
        }
    }
}

/// Applies the documents of `patch.yaml` to the objects of `objects.yaml`, as patches of each kind.
pub(crate) fn patches(data: &[u8]) {
    let Some(mut tree) = tree(data) else { return };
    let texts = [
        "resources: [objects.yaml]\npatches: [{path: patch.yaml}]\n",
        "resources: [objects.yaml]\npatches: [{path: patch.yaml, target: {kind: '.*'}, options: {allowNameChange: true}}]\n",
        "resources: [objects.yaml]\nreplacements: [{path: patch.yaml}]\n",
    ];
    for text in texts {
        tree.insert(File::new("kustomization.yaml", text));
        let build = kustomize_engine::build(&tree, "");
        check_positions(&build.findings);
        if build.findings.is_empty() {
            let nodes: Vec<yaml::Node> = build.objects.iter().map(|object| object.node.clone()).collect();
            super::yaml::check_stable(&nodes);
        }
    }
}

/// Decides each object with the policies beside it: the answer is the same twice, and its positions are in the files.
pub(crate) fn policies(data: &[u8]) {
    let Some(tree) = tree(data) else { return };
    let objects = objects(&tree);
    let all: Vec<&Object> = objects.iter().collect();
    for language in LANGUAGES {
        let (policies, findings) = language.read(&all);
        check_positions(&findings);
        for object in &all {
            let (resource, namespace) = (plural_of(object.kind()), object.namespace());
            let request = Request {
                object,
                resource: &resource,
                namespace,
                namespace_object: None,
                user: Some("system:serviceaccount:apps:flux"),
                operation: "CREATE",
            };
            let decide = || policies.decide(&request, &Given(&all), &mut Budget::of_request(1));
            let decision = decide();
            assert_eq!(decision, decide());
            for violation in &decision.violations {
                let span = &violation.expression;
                assert!(span.file().text().get(span.range()).is_some(), "{violation:?}");
            }
        }
    }
}

/// Expands each ResourceSet with the providers beside it.
pub(crate) fn resource_set(data: &[u8]) {
    let Some(tree) = tree(data) else { return };
    let objects = objects(&tree);
    let providers: Vec<Object> = objects.iter().filter(|object| is_input_provider(object)).cloned().collect();
    for set in objects.iter().filter(|object| is_resource_set(object)) {
        let expansion = expand(set, &providers);
        check_positions(&expansion.findings);
        let nodes: Vec<yaml::Node> = expansion.objects.iter().map(|object| object.node.clone()).collect();
        super::yaml::check_print(&nodes);
    }
}

/// Renders `fleet.yaml`: a second render changes nothing, and the linter reads the result.
pub(crate) fn render(data: &[u8]) {
    let Some(mut tree) = tree(data) else { return };
    let loaded = load(&tree, "fleet.yaml");
    check_positions(&loaded.findings);
    let (Some(fleet), Some(layout)) = (&loaded.fleet, &loaded.layout) else {
        assert!(!loaded.findings.is_empty(), "a fleet.yaml without a fleet has a finding");
        return;
    };
    let rendered = render_fleet(fleet, layout);
    check_positions(&rendered.findings);
    let first = plan(&rendered, &tree, &Lock::default());
    if first.is_blocked() {
        return;
    }
    for change in first.changes() {
        match &change.new {
            Some(file) => tree.insert(file.clone()),
            None => tree.remove(&change.path),
        }
    }
    let second = plan(&render_fleet(fleet, layout), &tree, &first.lock_after);
    assert_eq!(second.changes().count(), 0, "{:?}", second.changes().map(|change| &change.path).collect::<Vec<_>>());
    check_positions(&run(&tree, &Options::default()).findings);
}

/// The options of a run with all findings.
pub(super) fn options() -> Options {
    Options { pedantic: true, ..Options::default() }
}

/// The objects in the files of a tree.
fn objects(tree: &Tree) -> Vec<Object> {
    let documents = tree.files().flat_map(|file| yaml::parse(file).documents);
    documents.filter_map(|document| Object::new(document.node)).collect()
}

/// Reads the files of an input.
pub(super) fn tree(data: &[u8]) -> Option<Tree> {
    let text = std::str::from_utf8(data).ok().filter(|text| text.len() <= MAX_INPUT)?;
    let mut tree = Tree::default();
    for block in text.split("```yaml ").skip(1) {
        let (path, body) = block.split_once('\n')?;
        let (text, _) = body.split_once("```").unwrap_or((body, ""));
        let path = fleetwright::text::normalize(path.trim()).filter(|path| !path.is_empty())?;
        tree.insert(File::decode(path, text.as_bytes().to_vec()).ok()?);
    }
    Some(tree)
}

/// Checks that each position of a finding can be shown.
fn check_positions(findings: &[Finding]) {
    for finding in findings {
        for label in [&finding.at].into_iter().chain(&finding.related) {
            let range = label.span.range();
            assert!(label.span.file().text().get(range.clone()).is_some(), "{range:?} of {finding:?}");
        }
    }
}
