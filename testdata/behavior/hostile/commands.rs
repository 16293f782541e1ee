//! No text of a repository becomes a command of a workflow, a control character of a terminal, or a line of its own.

use super::{Repository, applier};

/// Line breaks and control characters of all readers, with a workflow command and a manifest behind each.
const NASTY: &str = "x\\n::error::forged\\r::error::forged\\u0085kind: Forged\\u2028::error::forged\\u2029##[error]forged\
    \\u009b2J\\e[2J\\u202e";

const PRINTERS: &[&[&str]] = &[
    &["lint", "--verbose"],
    &["lint", "--pedantic", "--format", "github"],
    &["lint", "--format", "concise"],
    &["build"],
    &["graph"],
    &["trace", "ConfigMap/flux-system/a"],
    &["access", "flux-system"],
    &["access", "nothing"],
];

fn nasty() -> Repository {
    let repository = Repository::new();
    let named = |kind: &str, name: &str, spec: &str| {
        format!("apiVersion: {kind}\nmetadata: {{name: \"{name}\", namespace: flux-system}}\n{spec}---\n")
    };
    let objects = [
        named("v1\nkind: ConfigMap", "a", &format!("data: {{\"{NASTY}\": \"{NASTY}\"}}\n")),
        named("v1\nkind: ConfigMap", NASTY, ""),
        named("v1\nkind: Service", NASTY, &format!("spec: {{\"{NASTY}\": 1}}\n")),
        named(
            "source.toolkit.fluxcd.io/v1\nkind: GitRepository",
            NASTY,
            &format!("spec: {{interval: 1m, url: \"https://example.com/{NASTY}.git\"}}\n"),
        ),
        named(
            "fluxcd.controlplane.io/v1\nkind: ResourceSet",
            "set",
            &format!("spec: {{resourcesTemplate: \"<< {NASTY} >>\"}}\n"),
        ),
    ];
    repository.write("clusters/a/objects.yaml", &objects.concat());
    let from = applier("other", "./x", "").replace("name: flux-system}\n", &format!("name: \"{NASTY}\"}}\n"));
    repository.write("clusters/a/other.yaml", &from.replace("{name: other", &format!("{{name: \"o{NASTY}\"")));
    repository
}

#[test]
fn no_line_of_output_is_forged() {
    let repository = nasty();
    for arguments in PRINTERS {
        let answer = repository.run(arguments);
        let is_github = arguments.contains(&"github");
        for (stream, text) in [("stdout", &answer.out), ("stderr", &answer.err)] {
            // .NET, which reads the log, ends lines at `\r` too; YAML 1.1 also at the other three.
            for line in text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
                let context = format!("`{}` prints on {stream}: {line:?}", answer.command);
                let is_ours = is_github
                    && stream == "stdout"
                    && ["::error file=", "::warning file=", "::notice file="]
                        .iter()
                        .any(|start| line.starts_with(start));
                // The values of manifests are data, which no output may change.
                let is_data = answer.command == "build" && stream == "stdout" && !line.starts_with('#');
                assert!(is_ours || is_data || !line.trim_start().starts_with("::"), "{context}");
                assert!(is_ours || is_data || !line.contains("##["), "{context}");
                assert!(!line.trim_start().starts_with("kind: Forged"), "{context}");
            }
            let control = |c: char| c.is_control() && c != '\n' && c != '\t';
            assert!(!text.contains(control), "`{}` prints a control character on {stream}", answer.command);
        }
    }
}
