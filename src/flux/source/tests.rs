//! Tests of artifacts in small repositories.

use std::fmt::Write as _;

use super::artifact::Resolution;
use super::reference::{Lookup, SourceRef};
use super::sources::{Copy, Sources};
use crate::address::Location;
use crate::kube::Object;
use crate::kustomize::Files;
use crate::text::{File, Tree};
use crate::yaml::parse;

/// The objects of a cluster, all in namespace `flux`.
struct Cluster(Vec<Object>);

impl Cluster {
    fn of(text: &str) -> Self {
        let parsed = parse(&File::new("cluster.yaml", text));
        assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
        Self(parsed.documents.iter().map(|document| Object { node: document.node.clone() }).collect())
    }
}

impl Lookup for Cluster {
    fn source(&self, reference: &SourceRef) -> Option<Object> {
        let is_it = |object: &&Object| object.kind() == &*reference.kind && object.name() == &*reference.name;
        self.0.iter().find(is_it).cloned()
    }

    fn generators(&self, _: &str) -> Vec<Object> {
        self.0.iter().filter(|object| object.kind() == "ArtifactGenerator").cloned().collect()
    }
}

fn tree(files: &[(&str, &str)]) -> Tree {
    files.iter().map(|(path, text)| File::new(*path, *text)).collect()
}

fn files(files: &[(&str, &str)]) -> Files {
    Files::read(&tree(files), |_| true)
}

fn reference(kind: &str, name: &str) -> SourceRef {
    SourceRef { kind: kind.into(), namespace: "flux".into(), name: name.into() }
}

fn paths(resolution: &Resolution) -> Vec<String> {
    let Resolution::Artifact(artifact) = resolution else { panic!("{resolution:?}") };
    artifact.files().tree().entries().map(|(path, _)| path.to_owned()).collect()
}

/// The findings of a failed source, with their lines.
fn said(resolution: &Resolution) -> Vec<String> {
    let Resolution::Failed(findings) = resolution else { panic!("{resolution:?}") };
    findings.iter().map(|finding| format!("{}: {}", finding.at.span.position().line, finding.message)).collect()
}

const GIT: &str = "
kind: GitRepository
metadata: {name: fleet, namespace: flux}
spec: {url: 'https://git.example/acme/fleet.git', ref: {branch: main}}
";

/// A generator `made` that copies from the GitRepository `fleet`, with the given artifacts.
fn generator(artifacts: &str) -> Cluster {
    let head = "---\nkind: ArtifactGenerator\nmetadata: {name: made, namespace: flux}\nspec:\n  sources:\n  \
                - {alias: repo, kind: GitRepository, name: fleet}\n";
    Cluster::of(&format!("{GIT}{head}{artifacts}"))
}

fn made(repository: &[(&str, &str)], cluster: &Cluster, name: &str) -> Resolution {
    let mut sources = Sources::new(files(repository), Vec::new());
    sources.add_own(&cluster.0[0], "");
    sources.resolve(&reference("ExternalArtifact", name), cluster)
}

const REPOSITORY: &[(&str, &str)] = &[
    ("a.yaml", "a: 1"),
    ("logo.png", ""),
    ("apps/base/x/k.yaml", "x: 1"),
    ("apps/base/y/k.yaml", "y: 1"),
    ("apps/base/readme.md", ""),
    ("apps/prod/k.yaml", "p: 1"),
];

#[test]
fn a_repository_is_its_own_source_and_not_that_of_another_branch() {
    let mut sources = Sources::new(files(REPOSITORY), Vec::new());
    let cluster = Cluster::of(&format!(
        "{GIT}---\nkind: GitRepository\nmetadata: {{name: same}}\nspec: {{url: 'ssh://git@git.example/acme/fleet', ref: {{name: refs/heads/main}}}}\n\
         ---\nkind: GitRepository\nmetadata: {{name: other}}\nspec: {{url: 'https://git.example/acme/fleet', ref: {{tag: v1}}}}\n"
    ));
    sources.add_own(&cluster.0[0], "");
    let resolve = |name: &str| sources.resolve(&reference("GitRepository", name), &cluster);
    assert_eq!(paths(&resolve("fleet")).len(), REPOSITORY.len() - 1);
    let id = |resolution: Resolution| match resolution {
        Resolution::Artifact(artifact) => artifact.id.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(id(resolve("fleet")), id(resolve("same")));
    assert!(matches!(resolve("other"), Resolution::NoCopy(url) if &*url == "https://git.example/acme/fleet#v1"));
    assert!(matches!(resolve("none"), Resolution::Missing));
}

/// A cluster whose sources all have directory `apps/base` of the repository as content.
struct ToCome(Cluster);

impl Lookup for ToCome {
    fn source(&self, reference: &SourceRef) -> Option<Object> {
        self.0.source(reference)
    }

    fn generators(&self, _: &str) -> Vec<Object> {
        Vec::new()
    }

    fn own(&self, _: &SourceRef) -> Option<String> {
        Some("apps/base".into())
    }
}

#[test]
fn a_root_without_an_object_fetches_the_repository() {
    let sources = Sources::new(files(REPOSITORY), Vec::new());
    let text = "kind: GitRepository\nmetadata: {name: flux, namespace: flux}\nspec: {interval: 1m}\n";
    let source = reference("GitRepository", "flux");
    assert!(matches!(sources.resolve(&source, &Cluster::of(text)), Resolution::Unknown(_)));
    assert_eq!(paths(&sources.resolve(&source, &ToCome(Cluster::of(text)))), ["readme.md", "x/k.yaml", "y/k.yaml"]);
}

#[test]
fn a_copy_of_the_exact_reference_precedes_a_copy_of_any() {
    let copy = |option: &str, name: &str| Copy::new(&Location::parse(option).unwrap(), tree(&[(name, "a: 1")]));
    let copies = vec![
        copy("https://git.example/acme/fleet#main=x", "main.yaml"),
        copy("git@git.example:acme/fleet=y", "any.yaml"),
        copy("https://git.example/acme/fleet#v2=z", "v2.yaml"),
    ];
    let sources = Sources::new(Files::default(), copies);
    let resolve = |cluster: &Cluster| paths(&sources.resolve(&reference("GitRepository", "fleet"), cluster));
    assert_eq!(resolve(&Cluster::of(GIT)), ["main.yaml"]);
    assert_eq!(resolve(&Cluster::of(&GIT.replace("branch: main", "tag: v1"))), ["any.yaml"]);
    assert_eq!(resolve(&Cluster::of(&GIT.replace("branch: main", "branch: main, tag: v2"))), ["v2.yaml"]);
}

#[test]
fn files_of_submodules_are_fetched_only_if_enabled() {
    let repository = [
        (".gitmodules", "[submodule \"lib\"]\n\tpath = vendor/lib\n\turl = x\n"),
        ("a.yaml", ""),
        ("vendor/lib/b.yaml", ""),
    ];
    let resolve = |spec: &str| {
        let cluster = Cluster::of(&GIT.replace("}}", &format!("}}{spec}}}")));
        let mut sources = Sources::new(files(&repository), Vec::new());
        sources.add_own(&cluster.0[0], "");
        paths(&sources.resolve(&reference("GitRepository", "fleet"), &cluster))
    };
    assert_eq!(resolve(""), ["a.yaml"]);
    assert_eq!(resolve(", recurseSubmodules: true"), ["a.yaml", "vendor/lib/b.yaml"]);
}

#[test]
fn a_directory_of_the_repository_can_be_the_content_of_an_artifact() {
    let cluster = Cluster::of("kind: OCIRepository\nmetadata: {name: apps}\nspec: {url: oci://registry.example/apps}");
    let location = Location::parse("oci://registry.example/apps#latest=./apps/base").unwrap();
    let sources = Sources::new(files(REPOSITORY), vec![Copy::inside(&location, "apps/base")]);
    let resolution = sources.resolve(&reference("OCIRepository", "apps"), &cluster);
    assert_eq!(paths(&resolution), ["readme.md", "x/k.yaml", "y/k.yaml"]);
    let Resolution::Artifact(artifact) = resolution else { unreachable!("it has paths") };
    assert_eq!(artifact.files().get("x/k.yaml").unwrap().file.path(), "apps/base/x/k.yaml");
}

#[test]
fn invalid_sparse_checkouts_and_includes_are_reported_at_their_lines() {
    let fails = |spec: &str| {
        let cluster = Cluster::of(&format!("{}\n{spec}", GIT.replace("spec: {", "spec: {\n").replace("}}", "},")));
        let mut sources = Sources::new(files(REPOSITORY), Vec::new());
        sources.add_own(&cluster.0[0], "");
        said(&sources.resolve(&reference("GitRepository", "fleet"), &cluster))
    };
    assert_eq!(
        fails("sparseCheckout: [apps,\n nothing]}"),
        ["8: the repository has no `nothing`, so this source has no artifact"]
    );
    assert_eq!(
        fails("include: [{repository: {name: fleet}}]}"),
        ["7: these sources form a cycle: `GitRepository/flux/fleet` → `GitRepository/flux/fleet`"]
    );
    assert_eq!(
        fails("include: [{repository: {name: other}}]}\n---\nkind: GitRepository\nmetadata: {name: fleet2}"),
        ["7: the source `GitRepository/flux/other`, which this source references, is not defined on the cluster"]
    );
}

#[test]
fn an_included_artifact_is_moved_to_a_free_path_and_ignored_like_the_rest() {
    let text = "
kind: GitRepository
metadata: {name: fleet, namespace: flux}
spec: {url: 'https://git.example/acme/fleet', ref: {branch: main}, ignore: '*.md', include: [{repository: {name: lib}, fromPath: ../base, toPath: ../../TO}]}
---
kind: GitRepository
metadata: {name: lib, namespace: flux}
spec: {url: 'https://git.example/acme/lib', ref: {branch: main}}
";
    let library = tree(&[("base/a.yaml", "a: 1"), ("base/b.md", ""), ("base/c.png", ""), ("other.yaml", "")]);
    let copies = vec![
        Copy::new(&Location::parse("https://git.example/acme/fleet=f").unwrap(), tree(REPOSITORY)),
        Copy::new(&Location::parse("https://git.example/acme/lib=l").unwrap(), library),
    ];
    let sources = Sources::new(Files::default(), copies);
    let resolve =
        |to: &str| sources.resolve(&reference("GitRepository", "fleet"), &Cluster::of(&text.replace("TO", to)));
    let expected =
        ["a.yaml", "apps/base/x/k.yaml", "apps/base/y/k.yaml", "apps/prod/k.yaml", "lib/x/a.yaml", "logo.png"];
    assert_eq!(paths(&resolve("lib/x")), expected);
    assert_eq!(said(&resolve("apps")), ["4: an artifact cannot be included at `apps`, because the directory exists"]);
    assert_eq!(said(&resolve(".")), ["4: an artifact cannot be included at `.`, because the directory exists"]);
    assert_eq!(
        said(&resolve("a.yaml/x")),
        ["4: an artifact cannot be included at `a.yaml/x`, because `a.yaml` is a file"]
    );
}

#[test]
fn copies_behave_like_cp() {
    let cases: &[(&str, &[&str])] = &[
        ("{from: '@repo/apps/base/**', to: '@artifact/'}", &["readme.md", "x/k.yaml", "y/k.yaml"]),
        (
            "{from: '@repo/apps/base/*', to: '@artifact/'}",
            &["apps/base/readme.md", "apps/base/x/k.yaml", "apps/base/y/k.yaml"],
        ),
        (
            "{from: '@repo/apps/base/', to: '@artifact/to/'}",
            &["to/base/readme.md", "to/base/x/k.yaml", "to/base/y/k.yaml"],
        ),
        ("{from: '@repo/apps/base/x', to: '@artifact/x'}", &["x/x/k.yaml"]),
        (
            "{from: '@repo/', to: '@artifact/all', exclude: ['*.md', 'apps/base/y']}",
            &["all/a.yaml", "all/apps/base/x/k.yaml", "all/apps/prod/k.yaml"],
        ),
        (
            "{from: '@repo/**', to: '@artifact/', exclude: [base/**]}",
            &["a.yaml", "apps/base/readme.md", "apps/base/x/k.yaml", "apps/base/y/k.yaml", "apps/prod/k.yaml"],
        ),
        ("{from: '@repo/apps/**', to: '@artifact/', exclude: [base/**]}", &["prod/k.yaml"]),
        ("{from: '@repo/a.yaml', to: '@artifact/b/c.yaml'}", &["b/c.yaml"]),
        ("{from: '@repo/a.yaml', to: '@artifact/b/'}", &["b/a.yaml"]),
        ("{from: '@repo/apps/./base/../prod/k.yaml', to: '@artifact/b/../k'}", &["k"]),
        (
            "{from: '@repo/apps/prod', to: '@artifact/'}\n    - {from: '@repo/a.yaml', to: '@artifact/prod'}",
            &["prod/a.yaml", "prod/k.yaml"],
        ),
        (
            "{from: '@repo/a.yaml', to: '@artifact/pic.png'}\n    - {from: '@repo/a.yaml', to: '@artifact/.github/x.yaml'}",
            &[],
        ),
    ];
    for (copies, expected) in cases {
        let cluster = generator(&format!("  artifacts:\n  - name: apps\n    copy:\n    - {copies}\n"));
        assert_eq!(paths(&made(REPOSITORY, &cluster, "apps")), *expected, "{copies}");
    }
}

#[test]
fn copies_that_the_controller_rejects_are_reported_at_their_lines() {
    let cases = [
        ("{from: '@repo/../x', to: '@artifact/'}", "14: `../x` leaves the source `repo`"),
        ("{from: '@repo//etc/passwd', to: '@artifact/'}", "14: `/etc/passwd` leaves the source `repo`"),
        ("{from: '@repo/../*', to: '@artifact/'}", "14: no file of source `repo` matches `../*`"),
        ("{from: '@repo/a.yaml', to: '@artifact/../../x'}", "14: `@artifact/../../x` leaves the artifact"),
        ("{from: '@repo/apps/**', to: '@artifact//x'}", "14: `@artifact//x` leaves the artifact"),
        ("{from: '@repo/apps', to: '@artifact/..'}", ""),
        ("{from: '@repo/logo.png', to: '@artifact/'}", "14: the artifact of source `repo` has no `logo.png`"),
        ("{from: '@repo/**/k.yaml', to: '@artifact/'}", "14: no file of source `repo` matches `**/k.yaml`"),
        ("{from: '@other/a', to: '@artifact/'}", "14: no source has the alias `other`"),
        ("{from: repo/a, to: '@artifact/'}", "14: `repo/a` is not a path in a source"),
        ("{from: '@repo/a.yaml', to: '@repo/'}", "14: `@repo/` is not a path in the artifact"),
        (
            "{from: '@repo/a*', to: '@artifact/', exclude: ['a*']}",
            "14: `exclude` matches every file of source `repo` that matches `a*`",
        ),
        ("{from: '@repo/[a', to: '@artifact/'}", "14: `[a` is not a valid glob"),
        ("{from: '@repo/', to: '@artifact/', exclude: ['{a']}", "14: `{a` is not a valid glob"),
        (
            "{from: '@repo/apps', to: '@artifact/', strategy: Extract}",
            "14: `apps` is a directory; only archives can be extracted",
        ),
        (
            "{from: '@repo/a.yaml', to: '@artifact/x'}\n    - {from: '@repo/apps', to: '@artifact/x'}",
            "15: `x` is a file of the artifact, not a directory",
        ),
        (
            "{from: '@repo/apps/prod', to: '@artifact/'}\n    - {from: '@repo/*', to: '@artifact/prod/k.yaml'}",
            "15: `prod/k.yaml` is a file of the artifact, not a directory",
        ),
    ];
    for (copies, expected) in cases {
        let cluster = generator(&format!("  artifacts:\n  - name: apps\n    copy:\n    - {copies}\n"));
        let resolution = made(REPOSITORY, &cluster, "apps");
        if expected.is_empty() {
            // The copy has the name of the copied directory, so the target is `../apps`, which is not in the artifact.
            assert_eq!(said(&resolution), ["14: `@artifact/..` leaves the artifact"]);
        } else {
            assert_eq!(said(&resolution), [expected], "{copies}");
        }
    }
}

#[test]
fn artifacts_after_a_failed_one_are_not_created() {
    let cluster = generator(
        "  artifacts:\n  - {name: first, copy: [{from: '@repo/a.yaml', to: '@artifact/'}]}\n  \
         - {name: second, copy: [{from: '@repo/none', to: '@artifact/'}]}\n  \
         - {name: third, copy: [{from: '@repo/a.yaml', to: '@artifact/'}]}\n",
    );
    assert_eq!(paths(&made(REPOSITORY, &cluster, "first")), ["a.yaml"]);
    for name in ["second", "third"] {
        assert_eq!(said(&made(REPOSITORY, &cluster, name)), ["13: the artifact of source `repo` has no `none`"]);
    }
    assert!(matches!(made(REPOSITORY, &cluster, "fourth"), Resolution::Missing));
}

#[test]
fn a_pattern_creates_artifacts_from_directories() {
    let cluster = generator(
        "  pathPattern: '@repo/apps/{Env}/{app}'\n  artifacts:\n  - name: '{app}-{Env}'\n    \
         copy: [{from: '@repo/apps/{Env}/{app}/**', to: '@artifact/{Env}/'}]\n",
    );
    let repository = [("apps/Base/X/k.yaml", ""), ("apps/Base/y/z/k.yaml", ""), ("apps/prod/k.yaml", "")];
    assert_eq!(paths(&made(&repository, &cluster, "x-base")), ["Base/k.yaml"]);
    assert_eq!(paths(&made(&repository, &cluster, "y-base")), ["Base/z/k.yaml"]);
    assert!(matches!(made(&repository, &cluster, "k.yaml-prod"), Resolution::Missing));
    let twice = [("apps/Base/X/k.yaml", ""), ("apps/base/x/k.yaml", "")];
    let message = "13: `apps/Base/X` and `apps/base/x` both define the artifact `x-base`";
    assert_eq!(said(&made(&twice, &cluster, "x-base")), [message]);
    let strange = [("apps/a b/x/k.yaml", "")];
    let message = "11: the capture `a b` of directory `apps/a b/x` is not a valid label value";
    assert_eq!(said(&made(&strange, &cluster, "x-a")), [message]);
}

#[test]
fn merged_files_keep_the_positions_of_their_values() {
    let repository = [("base.yaml", "a: 1\nb: {c: 2, d: [1]}\n"), ("over.yaml", "b: {c: 3, d: [2]}\n---\nb: {e: 5}\n")];
    let cluster = generator(
        "  artifacts:\n  - name: values\n    copy:\n    - {from: '@repo/base.yaml', to: '@artifact/v.yaml'}\n    \
         - {from: '@repo/over.yaml', to: '@artifact/v.yaml', strategy: Merge}\n",
    );
    let Resolution::Artifact(artifact) = made(&repository, &cluster, "values") else { panic!("it is made") };
    let parsed = artifact.files().get("v.yaml").unwrap();
    assert_eq!(parsed.file.text(), "a: 1\nb:\n  c: 3\n  d:\n  - 2\n  e: 5\n");
    assert_eq!(artifact.files().tree().file("v.yaml").unwrap().text(), parsed.file.text());
    let node = parsed.documents[0].node.at_keys(&["b", "c"]).unwrap();
    assert_eq!((node.span().file().path(), node.origin.written().file().path()), ("over.yaml", "base.yaml"));
}

#[test]
fn generators_with_unknown_artifacts_give_a_reason() {
    let one = "  artifacts:\n  - {name: apps, copy: [{from: '@repo/a.yaml', to: '@artifact/', strategy: Extract}]}\n";
    assert_eq!(said(&made(REPOSITORY, &generator(one), "apps")), ["12: `a.yaml` is not an archive"]);
    let archive = one.replace("a.yaml", "x.tgz");
    let resolution = made(&[("x.tgz", "")], &generator(&archive), "apps");
    assert!(matches!(&resolution, Resolution::Unknown(why) if why.contains("extracts archives")), "{resolution:?}");
    for (field, why) in
        [("strategy: Mirror", "strategy `Mirror`"), ("strategy: Merge, mode: '0644'", "unknown field `mode`")]
    {
        let resolution = made(REPOSITORY, &generator(&one.replace("strategy: Extract", field)), "apps");
        assert!(matches!(&resolution, Resolution::Unknown(reason) if reason.contains(why)), "{resolution:?}");
    }
    let same = one.replace("name: apps", "name: repo");
    let message = "12: artifact `repo` has the name of the source alias `repo`";
    assert_eq!(said(&made(REPOSITORY, &generator(&same), "repo")), [message]);
    let twice = "  artifacts:\n  - {name: apps, copy: []}\n  - {name: apps, copy: []}\n";
    assert_eq!(said(&made(REPOSITORY, &generator(twice), "apps")), ["13: duplicate artifact `apps`"]);
    let named = "  artifacts:\n  - {name: Apps, copy: []}\n";
    assert_eq!(said(&made(REPOSITORY, &generator(named), "Apps")), ["12: `Apps` is not a valid object name"]);
}

/// A generator `gN` that creates `aN` from two copies of `a(N-1)`.
fn doubling(number: usize, before: &str) -> String {
    format!(
        "---\nkind: ArtifactGenerator\nmetadata: {{name: g{number}, namespace: flux}}\nspec:\n  sources: \
         [{{alias: repo, {before}}}]\n  artifacts:\n  - name: a{number}\n    copy:\n    \
         - {{from: '@repo/', to: '@artifact/x/'}}\n    - {{from: '@repo/', to: '@artifact/y/'}}\n"
    )
}

#[test]
fn artifacts_of_artifacts_are_bounded_in_depth_and_size() {
    let before = |number: usize| match number {
        0 => "kind: GitRepository, name: fleet".to_owned(),
        _ => format!("kind: ExternalArtifact, name: a{}", number - 1),
    };
    let chain = |length: usize| (0..length).map(|number| doubling(number, &before(number))).collect::<String>();
    let resolve = |length: usize| {
        let cluster = Cluster::of(&format!("{GIT}{}", chain(length)));
        made(REPOSITORY, &cluster, &format!("a{}", length - 1))
    };
    assert_eq!(paths(&resolve(3)).len(), (REPOSITORY.len() - 1) * 8);
    let deep = resolve(30);
    assert!(said(&deep)[0].contains("more than 16 levels deep"), "{deep:?}");
    let circle = Cluster::of(&format!("{GIT}{}", doubling(0, "kind: ExternalArtifact, name: a0")));
    assert!(said(&made(REPOSITORY, &circle, "a0"))[0].contains("form a cycle"));
}

#[test]
fn sources_that_share_parts_are_resolved_once() {
    // Each source includes the next source twenty times: without sharing, the number of resolutions is 20 to the power
    // of 12.
    let mut text = String::new();
    for number in 0..12 {
        let include = format!("{{repository: {{name: r{}}}, toPath: PATH}}", number + 1);
        let includes: Vec<String> = (0..20).map(|at| include.replace("PATH", &format!("p{at}"))).collect();
        let includes = if number < 11 { includes.join(", ") } else { String::new() };
        let _ = write!(
            text,
            "---\nkind: GitRepository\nmetadata: {{name: r{number}}}\nspec: {{url: 'https://git.example/r', \
             sparseCheckout: [none.yaml], include: [{includes}]}}\n"
        );
    }
    let copy = Copy::new(&Location::parse("https://git.example/r=r").unwrap(), tree(&[("none.yaml", "")]));
    let sources = Sources::new(Files::default(), vec![copy]);
    let cluster = Cluster::of(&text);
    let resolution = sources.resolve(&reference("GitRepository", "r9"), &cluster);
    assert_eq!(paths(&resolution).len(), 1 + 20 + 400);
}
