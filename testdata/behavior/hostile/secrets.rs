//! No secret value is printed: not as it is, not in Base64, and not in a message that quotes it.

use data_encoding::BASE64;
use proptest::prelude::*;

use super::{Repository, applier, config_map, many};

/// Every command that prints parts of a repository, in every format.
const PRINTERS: &[&[&str]] = &[
    &["lint", "--pedantic", "--verbose"],
    &["lint", "--pedantic", "--format", "json"],
    &["lint", "--pedantic", "--format", "concise"],
    &["lint", "--pedantic", "--format", "github"],
    &["lint", "--pedantic", "--format", "gitlab"],
    &["lint", "--pedantic", "--format", "junit"],
    &["lint", "--pedantic", "--format", "markdown"],
    &["lint", "--pedantic", "--format", "sarif"],
    &["build"],
    &["build", "--format", "json"],
    &["graph"],
    &["graph", "--format", "json"],
    &["trace", "Secret/default/of-file"],
    &["trace", "Secret/default/of-file", "--format", "json"],
    &["trace", "ConfigMap/default/target"],
    &["access", "default"],
    &["access", "default", "--format", "json"],
    &["lint", "--pedantic", "--color", "always"],
    &["lint", "--pedantic", "--only", "plaintext-secret"],
    &["lint", "clusters/a/lost.yaml"],
    &["lint", "--pedantic", "--fix=all", "--diff"],
    &["upgrade", "--flux-version", "2.8", "--verbose"],
    &["upgrade", "--flux-version", "2.8", "--format", "json"],
    &["graph", "--format", "mermaid"],
    &["graph", "--format", "dot"],
    &["graph", "Secret/default/of-file"],
    &["build", "--kustomization", "flux-system/apps"],
    &["kustomize", "broken"],
    &["schema", "list"],
    &["diff", "../empty", "."],
    &["diff", "../empty", ".", "--format", "json"],
    &["diff", "../empty", ".", "--format", "markdown"],
    &["diff", "../empty", ".", "--format", "html"],
    &["diff", ".", "../empty"],
    &["trace", "Secret/default/nothing"],
    &["trace", "Secret/default/of-file", "stringData.nothing"],
];

/// Plants each canary in another place, together with a fault that could quote it.
fn plant(canaries: &[String; 10]) -> Repository {
    let [file, literal, env, line, input, applied, replaced, provider, values, lost] = canaries;
    let repository = Repository::with_apps(
        "namespace: default\nresources: [secret.yaml, target.yaml, applied.yaml]\n\
         replacements:\n- source: {kind: Secret, name: of-file, fieldPath: stringData.key}\n  targets:\n  \
         - {select: {kind: ConfigMap, name: target}, fieldPaths: [data.copy]}\n  \
         - {select: {kind: ConfigMap, name: target}, fieldPaths: ['metadata.labels.copy'], options: {create: true}}\n",
    );
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    let secret = |name: &str, data: &str| {
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, namespace: default}}\n{data}")
    };
    repository.write(
        "apps/secret.yaml",
        &secret("of-file", &format!("stringData: {{key: {}, more: {}}}\n", quoted(file), quoted(replaced))),
    );
    repository.write("apps/target.yaml", &config_map("target", "{copy: x}"));
    let json = format!("{{\"kind\":\"Secret\",\"data\":{{\"a\":\"{}\"}}}}", BASE64.encode(applied.as_bytes()));
    repository.write(
        "apps/applied.yaml",
        &format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: applied\n  annotations:\n    \
             kubectl.kubernetes.io/last-applied-configuration: {}\nunknown: 1\n",
            quoted(&json)
        ),
    );
    // A generator with a literal and a line that are not valid, and a key that occurs twice.
    repository.write("clusters/a/broken.yaml", &applier("broken", "./broken", ""));
    repository.write(
        "broken/kustomization.yaml",
        &format!("secretGenerator:\n- name: a\n  literals: [{}]\n  envs: [a.env, b.env]\n", quoted(literal)),
    );
    repository.write("broken/a.env", &format!("A={env}\n{line}\nB=1\n"));
    repository.write("broken/b.env", &format!("A={env}\nB=2\n"));
    let set = |name: &str, inputs: &str| {
        format!(
            "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {{name: {name}, namespace: default}}\n\
             spec:\n{inputs}  resourcesTemplate: |\n    apiVersion: v1\n    kind: Secret\n    metadata:\n      name: \
             {name}\n      namespace: default\n    unknown: 1\n    stringData:\n      key: << inputs.key | quote >>\n"
        )
    };
    repository.write("clusters/a/set.yaml", &set("set", &format!("  inputs:\n  - key: {}\n", quoted(input))));
    let from = "  inputsFrom:\n  - {kind: ResourceSetInputProvider, name: provider}\n";
    repository.write("clusters/a/provided.yaml", &set("provided", from));
    repository.write(
        "clusters/a/provider.yaml",
        &format!(
            "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSetInputProvider\nmetadata: {{name: provider, \
             namespace: default}}\nspec: {{type: Static, defaultValues: {{key: {}}}}}\n",
            quoted(provider)
        ),
    );
    repository.write(
        "clusters/a/release.yaml",
        &format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: a, namespace: default}}\nspec: \
             {{interval: 1m, nope: 1, values: {{password: {}}}}}\n",
            quoted(values)
        ),
    );
    // A Secret in YAML that is not valid.
    repository.write("clusters/a/lost.yaml", &secret("lost", &format!("stringData:\n\tkey: {}\n", quoted(lost))));
    repository
}

/// Fails if an output contains one of the canaries, in any notation.
fn assert_hidden(repository: &Repository, canaries: &[String; 10], commands: &[&[&str]]) {
    for arguments in commands {
        let answer = repository.run(arguments);
        let text = answer.text();
        assert!(text.len() > 3, "`{}` prints nothing", answer.command);
        let fails = ["diff", "schema", "nothing"].iter().any(|word| answer.command.contains(word));
        assert!((0..=1).contains(&answer.code) || fails, "`{}` ends with {}:\n{text}", answer.command, answer.code);
        for (at, canary) in canaries.iter().enumerate() {
            let json = serde_json::to_string(canary).unwrap();
            let encoded = BASE64.encode(canary.as_bytes());
            for notation in [canary, json.trim_matches('"'), encoded.as_str()] {
                assert!(!text.contains(notation), "`{}` prints canary {at}, {notation}:\n{text}", answer.command);
            }
        }
    }
}

#[test]
fn no_command_prints_a_secret_value() {
    let canaries = std::array::from_fn(|at| format!("canary{at}-Hunter2"));
    assert_hidden(&plant(&canaries), &canaries, PRINTERS);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    /// A value with `<<` may be a template, which is no secret.
    fn values_of_any_characters_are_hidden(values in proptest::array::uniform10("[A-Za-z0-9+/=!%&>*._-]{8,40}")) {
        let mut canaries = values;
        for (at, canary) in canaries.iter_mut().enumerate() {
            *canary = format!("c{at}{canary}z");
        }
        let commands: Vec<&[&str]> = PRINTERS.iter().copied().step_by(3).collect();
        assert_hidden(&plant(&canaries), &canaries, &commands);
    }
}

#[test]
fn mistakes_print_no_secret_value() {
    let secret =
        |field: &str| format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s, namespace: default}}\n{field}\n");
    let source = |url: &str| {
        format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: s, namespace: flux-system}}\n\
             spec: {{interval: 1m, nope: 1, url: {url}}}\n"
        )
    };
    let generator = |field: &str| format!("secretGenerator:\n- name: s\n  {field}\n");
    let cases = [
        ("apps/s.yaml", secret("string_data: {p: CANARYq7Zr9xYkLm}")),
        ("apps/s.yaml", secret("spec: {data: {p: CANARYq7Zr9xYkLm}}")),
        ("apps/s.yaml", secret("stringData: {p: *CANARYq7Zr9xYkLm}")),
        ("apps/s.yaml", secret("immutable: CANARYq7Zr9xYkLm")),
        ("apps/kustomization.yaml", generator("files: [p=CANARYq7Zr9xYkLm]")),
        ("apps/kustomization.yaml", generator("envs: [CANARYq7Zr9xYkLm]")),
        ("apps/kustomization.yaml", generator("literals: p=CANARYq7Zr9xYkLm")),
        ("clusters/a/s.yaml", source("https://user:pa/CANARYq7Zr9xYkLm@git.example.com/a")),
        ("clusters/a/s.yaml", source("user:CANARYq7Zr9xYkLm@git.example.com/a/b.git")),
        ("clusters/a/s.yaml", source("user:CANARYq7Zr9xYkLm@git.example.com:a/b")),
        (
            ".fleetwright.yaml",
            "apiVersion: fleetwright.dev/v1alpha1\nkind: Config\nsources:\n- {url: \
             'https://user:CANARYq7Zr9xYkLm@git.example.com/a/b.git', path: nope}\n"
                .to_owned(),
        ),
    ];
    for (path, text) in cases {
        let repository = Repository::with_apps("resources: [s.yaml]\n");
        repository.write("apps/s.yaml", &config_map("s", "{}"));
        repository.write(path, &text);
        for format in ["text", "json", "sarif", "github"] {
            let answer = repository.run(&["lint", "--verbose", "--pedantic", "--format", format]);
            assert!(!answer.text().contains("CANARY"), "{text}\n{}", answer.text());
        }
    }
}

#[test]
fn credentials_outside_of_secrets_are_hidden() {
    let object = |version: &str, kind: &str, fields: &str| {
        format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: s, namespace: default}}\nnope: 1\n{fields}\n")
    };
    let nested = format!("{}{{password: CANARYq7Zr9xYkLm}}{}", "{a: ".repeat(100), "}".repeat(100));
    let source = "source.toolkit.fluxcd.io/v1";
    let cases = [
        object(
            "bitnami.com/v1alpha1",
            "SealedSecret",
            "spec: {template: {data: {p: CANARYq7Zr9xYkLm}}, encryptedData: {q: x}}",
        ),
        object("v1", "secret", "stringData: {p: CANARYq7Zr9xYkLm}"),
        object("v1", "Secrets", "data: {p: CANARYq7Zr9xYkLm}"),
        object("v1", "ConfigMap", "data: {u: 'Authorization: Bearer CANARYq7Zr9xYkLm'}"),
        object("v1", "ConfigMap", "data: {u: 'curl -u bob:CANARYq7Zr9xYkLm https://a.example'}"),
        object("x.io/v1", "Probe", "spec: {headers: [{name: Authorization, value: Bearer CANARYq7Zr9xYkLm}]}"),
        object("x.io/v1", "Deep", &format!("spec: {nested}")),
        object(source, "Bucket", "spec: {interval: 1h, bucketName: b, endpoint: 'bob:CANARYq7Zr9xYkLm@minio:9000'}"),
        object(
            source,
            "HelmRepository",
            "spec: {interval: 1h, url: 'https://a.example/b?X-Amz-Signature=CANARYq7Zr9xYkLm'}",
        ),
        object(source, "HelmRepository", "spec: {interval: 1h, url: 'https://a.example/b?sig=CANARYq7Zr9xYkLm'}"),
    ];
    for text in cases {
        let repository = Repository::new();
        repository.write("clusters/a/s.yaml", &text);
        for command in [&["lint", "--pedantic"][..], &["lint", "--format", "json"], &["build"], &["graph"]] {
            let answer = repository.run(command);
            assert!(!answer.text().contains("CANARY"), "{text}\n{}", answer.text());
        }
    }
}

#[test]
fn a_file_with_a_report_has_no_secret_value() {
    let canaries = std::array::from_fn(|at| format!("canary{at}-Hunter2"));
    let repository = plant(&canaries);
    for format in ["text", "json", "concise", "github", "gitlab", "junit", "markdown", "sarif"] {
        let answer = repository.run(&["lint", "--pedantic", "--format", &format!("{format}=report")]);
        assert_eq!(answer.code, 1, "{}", answer.text());
        let report = std::fs::read_to_string(repository.root().join("report")).unwrap();
        assert!(!report.contains("-Hunter2"), "{format}: {report}");
        std::fs::remove_file(repository.root().join("report")).unwrap();
    }
    assert_eq!(repository.run(&["lint", "--pedantic", "--baseline", "baseline.json", "--write-baseline"]).code, 0);
    let baseline = std::fs::read_to_string(repository.root().join("baseline.json")).unwrap();
    assert!(!baseline.contains("-Hunter2"), "{baseline}");
}

#[test]
fn a_render_prints_no_secret_value() {
    let repository = Repository { folder: tempfile::tempdir().unwrap() };
    let fleet = std::fs::read_to_string(crate::support::testdata("fleets/quickstart").join("fleet.yaml")).unwrap();
    repository.write("fleet.yaml", &fleet);
    assert_eq!(repository.run(&["render"]).code, 0);
    let edited = repository.rendered();
    let text = std::fs::read_to_string(&edited).unwrap();
    let secret =
        "---\napiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: apps}\nstringData: {key: canary-Hunter2}\n";
    std::fs::write(&edited, format!("{text}{secret}")).unwrap();
    for arguments in
        [&["render", "--check"][..], &["render"], &["render", "--check", "--summary"], &["render", "--explain-values"]]
    {
        let answer = repository.run(arguments);
        assert!(!answer.text().contains("Hunter2"), "`{}`: {}", answer.command, answer.text());
    }
}

/// The same text in a public field is the text of a private field.
#[test]
fn an_invalid_fleet_prints_no_private_value() {
    let repository = Repository { folder: tempfile::tempdir().unwrap() };
    let fleet = std::fs::read_to_string(crate::support::testdata("fleets/quickstart").join("fleet.yaml")).unwrap();
    let private =
        "runtimeInfo: {DB_PASSWORD: CANARYq7Zr9xYkLm, CLUSTER_DOMAIN: a.example}\n    values: {q: CANARYq7Zr9xYkLm}";
    let fleet = fleet.replace("runtimeInfo: {CLUSTER_DOMAIN: staging.acme.example}", private);
    repository.write("fleet.yaml", &format!("{fleet}\nlayout: ./own\n"));
    repository
        .write("own/layout.yaml", "extends: d1\nvalues: {cluster: {properties: {q: {type: integer, enum: [3]}}}}\n");
    repository.write("own/x.yaml", "{{ cluster.values.q|nope }} CANARYq7Zr9xYkLm\n");
    for arguments in [&["render"][..], &["render", "--check"], &["render", "--explain-values"]] {
        let answer = repository.run(arguments);
        assert_eq!(answer.code, 2, "{}", answer.text());
        assert!(!answer.text().contains("CANARY"), "`{}`: {}", answer.command, answer.text());
    }
}

#[test]
fn a_value_that_the_command_line_asks_for_is_printed() {
    let canaries = std::array::from_fn(|at| format!("canary{at}-Hunter2"));
    let shown = plant(&canaries).run(&["build", "--show-secrets"]);
    assert!(shown.out.contains(&canaries[0]), "{}", shown.text());
}

#[test]
fn a_secret_that_is_syntax_does_not_destroy_a_report() {
    let repository = Repository::new();
    let values = ["</testcase>", "<failure message=", "\"fingerprint\":", "amp;lt;abc", "nabcdef", "\\\"abcdef"];
    let values: Vec<String> = values.iter().map(|value| serde_json::to_string(value).unwrap()).collect();
    let data: String = many(values.len(), |at| format!("  k{at}: {}\n", values[at]));
    let text = format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s, namespace: default}}\nstringData:\n{data}");
    repository.write("clusters/a/secret.yaml", &text);
    let quoting = ["<abc", "&lt;abc", "\nabcdef", "\"abcdef"].map(|name| serde_json::to_string(name).unwrap());
    let fields: String = many(quoting.len(), |at| format!("  {}: 1\n", quoting[at]));
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: default}\nspec:\n";
    repository.write("clusters/a/service.yaml", &format!("{service}{fields}"));
    for format in ["json", "gitlab", "sarif", "junit"] {
        let answer =
            repository.run(&["lint", "--pedantic", "--format", format, "--format", &format!("{format}=report")]);
        let file = std::fs::read_to_string(repository.root().join("report")).unwrap();
        for report in [&answer.out, &file] {
            match format {
                "junit" => {
                    assert_eq!(report.matches("</testcase>").count(), report.matches("<testcase ").count(), "{report}");
                }
                _ => assert!(serde_json::from_str::<serde_json::Value>(report).is_ok(), "{report}"),
            }
        }
    }
}

/// Values of arguments and assignments, in texts of other formats, have no keys of their own.
#[test]
fn values_of_arguments_are_masked() {
    let repository = Repository::new();
    let pod = |value: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: default}}\nspec:\n  containers:\n  - name: c\n    \
             image: x:1\n    args: [\"--password={value}1\", --api-key, {value}2]\n    command:\n    - --db-password\n    \
             - {value}3\n    - export TOKEN={value}4; run --secret-key {value}5\n---\n{}  app.ini: |\n    user = bob\n    \
             password = {value}6\n    x\n",
            config_map("m", "").trim_end().to_owned() + "\n"
        )
    };
    repository.write("clusters/a/pod.yaml", &pod("Canary"));
    super::hidden::git(&repository, &["init", "-q"]);
    super::hidden::git(&repository, &["add", "-A"]);
    super::hidden::git(&repository, &["commit", "-q", "-m", "a"]);
    repository.write("clusters/a/pod.yaml", &pod("Canary-X"));
    for command in [&["diff"][..], &["diff", "--format", "html"], &["build"], &["trace", "Pod/default/p"]] {
        let answer = repository.run(command);
        assert!(answer.out.contains("password"), "{}", answer.text());
        assert!(!answer.text().contains("Canary"), "{}", answer.text());
    }
}
