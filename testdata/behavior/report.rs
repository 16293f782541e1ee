//! Cases of report: the same findings in every format.

#![expect(clippy::unwrap_used, reason = "a case that cannot be read has failed")]

use std::fmt::Write as _;

use fleetwright::base::finding::{Finding, Fix, ObjectRef, Safety, Severity};
use fleetwright::report::{Coverage, FORMATS, Report, SummaryLine, access, build, changes, graph, json, trace};
use fleetwright::text::{Edit, File, Span};
use snapbox::data::DataFormat;
use snapbox::{Data, IntoData, assert_data_eq};

fn file(path: &str) -> File {
    let source = format!("{}/testdata/report/{path}", env!("CARGO_MANIFEST_DIR"));
    File::new(path, std::fs::read_to_string(source).unwrap())
}

fn place(file: &File, text: &str) -> Span {
    let start = file.text().find(text).unwrap();
    file.span(start..start + text.len())
}

/// Creates a finding of each severity with all fields; one of them is in a Secret.
fn report() -> Report {
    let (sync, secret) = (file("sync.yaml"), file("secret.yaml"));
    let object = ObjectRef {
        api_version: "kustomize.toolkit.fluxcd.io/v1".into(),
        kind: "Kustomization".into(),
        namespace: Some("backend".into()),
        name: "flux-backend".into(),
    };
    let mut account = Finding::error(
        "missing-service-account",
        place(&sync, "flux-backend"),
        "Kustomization `backend/flux-backend` has no `spec.serviceAccountName`",
    )
    .help("set it to a ServiceAccount of namespace `backend`; without it Flux applies with its own rights")
    .about(object.clone())
    .fixed_by(Some(Fix {
        edits: vec![
            Edit { span: sync.span(0..0), text: "# ".to_owned() },
            Edit { span: place(&sync, "interval: 12h"), text: "interval: 1h\n  serviceAccountName: flux".to_owned() },
        ],
        safety: Safety::Unsafe,
    }));
    account.clusters = ["a", "b", "c", "d", "e", "f", "g"].map(Into::into).to_vec();
    let target = Finding::warning(
        "target-namespace-mismatch",
        place(&sync, "spec:\n  interval: 12h"),
        "Kustomization `backend/flux-backend` has no `spec.targetNamespace`",
    )
    .related(place(&sync, "namespace: backend"), "its namespace")
    .related(place(&secret, "webhook"), "100% elsewhere, on\nanother line")
    .about(object);
    let twice = Finding::error("duplicate-key", file_end(&secret, "token"), "duplicate key `token` in this mapping")
        .related(place(&secret, "token"), "first defined here")
        .help("keep one of them; Flux and kustomize reject the file");
    let mut pedantic =
        Finding::warning("missing-timeout", File::new("empty.yaml", "").first_line(), "there is \x1b[1mnothing");
    pedantic.severity = Severity::Pedantic;
    // One in a copy of another repository, which another folder has a file of the same path in.
    let elsewhere = file("sync.yaml").in_root("../tenant=1/".into());
    let elsewhere = Finding::warning("missing-prune", place(&elsewhere, "flux-backend"), "it stands elsewhere")
        .related(place(&sync, "flux-backend"), "and here");
    let judged = Coverage {
        files: 3,
        objects: 2,
        excepted: 1,
        off: Vec::new(),
        known: 0,
        since: None,
        skipped: [("not a manifest".to_owned(), 4)].into(),
        not_done: [("replacements".to_owned(), 1)].into(),
    };
    Report::new(vec![elsewhere, account, target, twice, pedantic], judged, "fleet")
}

fn file_end(file: &File, text: &str) -> Span {
    let start = file.text().rfind(text).unwrap();
    file.span(start..start + text.len())
}

fn written(format: &str) -> String {
    let format = FORMATS.iter().find(|known| known.name == format).unwrap();
    let mut out = Vec::new();
    (format.write)(&report(), &mut out).unwrap();
    let mut written = String::from_utf8(out).unwrap();
    if format.summary == SummaryLine::Stdout {
        written.push_str(&report().summary.to_string());
        written.push('\n');
    }
    written
}

#[test]
fn text_shows_each_finding_with_its_source_line() {
    let plain = anstream::adapter::strip_str(&written("text")).to_string();
    assert!(!plain.contains("hunter"), "a Secret's value is shown");
    assert_data_eq!(plain.into_data().raw(), snapbox::file!["../report/all.text"].raw());
}

#[test]
fn github_output_has_one_command_per_finding() {
    assert_data_eq!(written("github").into_data().raw(), snapbox::file!["../report/all.github"].raw());
}

#[test]
fn every_other_format_shows_each_finding() {
    assert_data_eq!(written("concise").into_data().raw(), snapbox::file!["../report/all.concise"].raw());
    assert_data_eq!(written("markdown").into_data().raw(), snapbox::file!["../report/all.md"].raw());
    assert_data_eq!(Data::text(written("gitlab")).raw(), snapbox::file!["../report/all.gitlab.json": Text].raw());
    assert_data_eq!(Data::text(written("junit")).raw(), snapbox::file!["../report/all.junit.xml": Text].raw());
    assert_data_eq!(Data::text(written("sarif")).raw(), snapbox::file!["../report/all.sarif": Text].raw());
}

#[test]
fn json_output_matches_its_schema() {
    let json = written("json");
    let schema = jsonschema::draft202012::new(&json::schema()).unwrap();
    let document = serde_json::from_str(&json).unwrap();
    let errors: Vec<String> = schema.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_data_eq!(Data::text(json).raw(), snapbox::file!["../report/all.json": Text].raw());
}

/// Returns the name and the current schema of each JSON document.
fn schemas() -> [(&'static str, serde_json::Value); 6] {
    [
        ("report", json::schema()),
        ("build", build::schema()),
        ("trace", trace::schema()),
        ("graph", graph::schema()),
        ("access", access::schema()),
        ("diff", changes::schema()),
    ]
}

#[test]
fn the_published_schemas_are_current() {
    for (name, schema) in schemas() {
        let path = format!("{}/schemas/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
        let schema = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        assert_data_eq!(schema.into_data().raw(), Data::read_from(path.as_ref(), Some(DataFormat::Text)).raw());
    }
}

#[test]
fn every_property_of_a_schema_has_a_description() {
    fn check(value: &serde_json::Value, path: &str, missing: &mut Vec<String>) {
        let Some(object) = value.as_object() else { return };
        for (name, property) in object.get("properties").and_then(|it| it.as_object()).into_iter().flatten() {
            if property.get("description").is_none() {
                missing.push(format!("{path}.{name}"));
            }
        }
        object.iter().for_each(|(key, value)| check(value, &format!("{path}.{key}"), missing));
    }
    let mut missing = Vec::new();
    for (name, schema) in schemas() {
        check(&schema, name, &mut missing);
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// Creates a directory with a cluster that receives many objects and one with many fields.
fn many_objects(folder: &std::path::Path, value: &str) {
    let cluster = folder.join("clusters/home");
    std::fs::create_dir_all(cluster.join("flux-system")).unwrap();
    let sync = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
        metadata: {name: flux-system, namespace: flux-system}\nspec: {interval: 10m, path: ./clusters/home, prune: true, \
        sourceRef: {kind: GitRepository, name: flux-system}}\n---\napiVersion: source.toolkit.fluxcd.io/v1\n\
        kind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\n\
        spec: {interval: 1m, url: https://example.com/fleet.git, ref: {branch: main}}\n";
    std::fs::write(cluster.join("flux-system/gotk-sync.yaml"), sync).unwrap();
    let object =
        |name: &str| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: x}}\ndata:\n");
    let mut text = object("a-wide");
    for field in 0..1_000 {
        let _ = writeln!(text, "  field-{field}: {value}-{}", "x".repeat(100));
    }
    for number in 0..1_000 {
        let _ = writeln!(text, "{}  key: {value}", object(&format!("b-{number}")));
    }
    std::fs::write(cluster.join("objects.yaml"), text).unwrap();
}

#[test]
fn the_changes_of_many_objects_fit_into_a_comment() {
    let folder = tempfile::tempdir().unwrap();
    many_objects(&folder.path().join("before"), "one");
    many_objects(&folder.path().join("after"), "two");
    let mut diff = std::process::Command::new(env!("CARGO_BIN_EXE_fleetwright"));
    let done =
        diff.current_dir(folder.path()).args(["diff", "./before", "./after", "--format", "markdown"]).output().unwrap();
    let comment = String::from_utf8(done.stdout).unwrap();
    assert!(comment.chars().count() <= 65_536, "{}", comment.len());
    assert!(comment.contains("`ConfigMap x/a-wide` changed") && comment.contains("  - … and 980 more\n"), "{comment}");
    assert!(
        comment.contains("`ConfigMap x/b-100` changed") && comment.contains("`fleetwright diff` prints all of them")
    );
}
