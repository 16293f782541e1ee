//! Small repositories that would need unbounded memory, time or stack: each bound that is met is an error at its line.

use std::time::{Duration, Instant};

use super::hidden::git;
use super::{Answer, Repository, applier, config_map, many};

/// Runs a command and fails if it takes long. The bounds allow some seconds of a build without optimization.
pub(super) fn bounded(repository: &Repository, arguments: &[&str]) -> Answer {
    let start = Instant::now();
    let answer = repository.run(arguments);
    assert!(start.elapsed() < Duration::from_mins(2), "`{}` takes {:?}", answer.command, start.elapsed());
    assert!((0..=2).contains(&answer.code), "`{}` ends with {}", answer.command, answer.code);
    answer
}

/// Fails unless `lint` reports an error with these words.
pub(super) fn assert_refused(repository: &Repository, words: &str) {
    let answer = bounded(repository, &["lint", "--format", "concise"]);
    assert!(answer.code == 1 && answer.out.contains(words), "expected `{words}`:\n{}", answer.text());
}

#[test]
fn a_large_file_in_many_generators() {
    let entries: String = many(500, |at| format!("- {{name: g{at}, files: [big.txt]}}\n"));
    let repository = Repository::with_apps(&format!("configMapGenerator:\n{entries}"));
    repository.write("apps/big.txt", &"x".repeat(1 << 20));
    assert_refused(&repository, "the objects of this build are larger than 256 MiB");
}

#[test]
fn a_list_of_a_million_values() {
    let repository = Repository::new();
    let map = config_map("x", "{}");
    repository.write("clusters/a/x.yaml", &format!("{map}list: [{}]\n", "a,".repeat(1_000_100)));
    assert_refused(&repository, "the file has more than 1000000 values");
}

#[test]
fn values_of_all_files() {
    let repository = Repository::new();
    let text = format!("a: &a [{}]\nb: [{}]\n", "x,".repeat(958), "*a,".repeat(100));
    for at in 0..300 {
        repository.write(&format!("a/{at}.yaml"), &text);
    }
    assert_refused(&repository, "have more than 12000000 values; this file is not read");
}

pub(super) fn resource_set(template: &str) -> Repository {
    let repository = Repository::new();
    let lines = format!("    {}\n", template.trim_end().replace('\n', "\n    "));
    repository.write(
        "clusters/a/set.yaml",
        &format!(
            "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {{name: set, namespace: flux-system}}\n\
             spec:\n  inputs:\n  - name: x\n  resourcesTemplate: |\n{lines}"
        ),
    );
    repository
}

#[test]
fn values_of_a_resource_set_that_double() {
    for (start, step) in [("list \"x\"", "list $a $a"), ("dict \"x\" \"y\"", "dict \"a\" $a \"b\" $a")] {
        let template = format!("<<- $a := {start} >>\n{}", format!("<<- $a = {step} >>\n").repeat(40));
        for end in ["<< $a >>", "<< $a | toYaml >>", "<< deepEqual $a $a >>"] {
            assert_refused(&resource_set(&format!("{template}{end}\n")), "the output of the templates is too large");
        }
    }
    let nested = format!("<<- $a := list \"x\" >>\n{}<< $a >>\n", "<<- $a = list $a >>\n".repeat(200));
    assert_refused(&resource_set(&nested), "a value is nested too deeply");
}

#[test]
fn a_resource_set_that_is_nested_too_deeply_is_an_error() {
    let template = format!("{}{}{}", "<<if true>>".repeat(61), "x", "<<end>>".repeat(61));
    assert_refused(&resource_set(&template), "the template is nested more than 60 levels deep");
}

#[test]
fn an_artifact_with_too_many_files_is_an_error() {
    let repository = Repository::new();
    for at in 0..1_000 {
        repository.write(&format!("src/{at}.yaml"), "a: 1\n");
    }
    let copies: String = many(201, |at| format!("    - {{from: \"@f/src/**\", to: \"@artifact/{at}/\"}}\n"));
    repository.write(
        "clusters/a/generator.yaml",
        &format!(
            "apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {{name: g, namespace: \
             flux-system}}\nspec:\n  sources: [{{alias: f, kind: GitRepository, name: flux-system}}]\n  artifacts:\n  \
             - name: a\n    copy:\n{copies}"
        ),
    );
    repository.write(
        "clusters/a/of.yaml",
        &applier("of", "./0", "").replace("kind: GitRepository, name: flux-system", "kind: ExternalArtifact, name: a"),
    );
    assert_refused(&repository, "the artifact has more than 200000 files");
}

#[test]
fn long_names_get_no_suggestions() {
    let repository = Repository::with_apps("resources: []\n");
    for at in 0..40 {
        let name = |prefix: &str| format!("{prefix}{at}{}", "x".repeat(30_000));
        let rest = format!("  dependsOn: [{{name: {}}}]\n", name("b"));
        repository.write(&format!("clusters/a/k{at}.yaml"), &applier(&name("a"), "./apps", &rest));
    }
    let answer = bounded(&repository, &["lint"]);
    assert!(answer.code == 1 && answer.out.len() < 8 << 20, "{} bytes", answer.out.len());
}

#[test]
fn labels_of_many_objects() {
    let labels: String = many(400, |at| format!("- {{pairs: {{k{at}: v}}}}\n"));
    let repository = Repository::with_apps(&format!("resources: [o.yaml]\nlabels:\n{labels}"));
    let objects: String = many(2_500, |at| format!("---\n{}", config_map(&format!("x{at}"), "{}")));
    repository.write("apps/o.yaml", &objects);
    assert_refused(&repository, "the transformers of this build visit more than");
}

/// A repository of one build, with many small ConfigMaps.
fn many_objects(count: usize, name: impl Fn(usize) -> String, kustomization: &str) -> Repository {
    let repository = Repository::with_apps(&format!("resources: [o.yaml]\n{kustomization}"));
    repository.write("apps/o.yaml", &many(count, |at| format!("---\n{}", config_map(&name(at), "{a: x}"))));
    repository
}

#[test]
fn regular_expressions_of_long_names() {
    let patches: String = many(40, |at| format!("- {{target: {{name: \"{at}.*(a?){{1000}}b\"}}, patch: \"[]\"}}\n"));
    let repository =
        many_objects(200, |at| format!("{}{}", at % 10, "a".repeat(1_000)), &format!("patches:\n{patches}"));
    assert_refused(&repository, "the transformers of this build visit more than");
}

#[test]
fn operations_of_a_json_patch() {
    let operations: String = many(10_000, |_| "- {op: add, path: /list/0, value: x}\n".to_owned());
    let repository = Repository::with_apps("resources: [o.yaml]\npatches: [{path: p.yaml, target: {name: x}}]\n");
    repository.write("apps/o.yaml", &format!("{}list: []\n", config_map("x", "{}")));
    repository.write("apps/p.yaml", &operations);
    assert_refused(&repository, "values");
}

#[test]
fn texts_that_grow_with_each_object() {
    let long = "x".repeat(1 << 20);
    for transformer in [format!("namePrefix: {long}\n"), format!("nameSuffix: {long}\n")] {
        let repository = many_objects(200, |at| format!("o{at}"), &transformer);
        assert_refused(&repository, "the objects of this build are larger than 256 MiB");
    }
    let repository = Repository::with_apps(&format!("resources: [o.yaml]\nimages: [{{name: i, tagSuffix: {long}}}]\n"));
    let containers: String = many(400, |at| format!("{{name: c{at}, image: \"i:1\"}},"));
    repository.write(
        "apps/o.yaml",
        &format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: default}}\nspec: {{containers: [{containers}]}}\n"),
    );
    assert_refused(&repository, "the objects of this build are larger than 256 MiB");
}

#[test]
fn replacements_that_double() {
    let target = |from: &str, at: usize| {
        format!(
            "- source: {{kind: ConfigMap, name: o0, fieldPath: {from}}}\n  targets: [{{select: {{kind: ConfigMap}}, \
             fieldPaths: [data.k{at}], options: {{create: true}}}}]\n"
        )
    };
    let replacements: String = many(100, |at| target("data", at));
    let repository = many_objects(20, |at| format!("o{at}"), &format!("replacements:\n{replacements}"));
    let answer = bounded(&repository, &["lint", "--format", "concise"]);
    assert!(answer.code == 1 && answer.out.contains("failed-build"), "{}", answer.text());
}

#[test]
fn many_labels_of_one_entry() {
    for field in ["commonLabels", "commonAnnotations"] {
        let pairs: String = many(2_000, |at| format!("  k{at}: v\n"));
        let repository = many_objects(500, |at| format!("o{at}"), &format!("{field}:\n{pairs}"));
        assert_refused(&repository, "the transformers of this build visit more than");
    }
}

#[test]
fn patterns_of_variables() {
    let repository = Repository::new();
    let values: String = many(200, |at| format!("      V{at}: {}\n", "a".repeat(1_000)));
    repository
        .write("clusters/a/apps.yaml", &applier("apps", "./apps", &format!("  postBuild:\n    substitute:\n{values}")));
    let objects: String =
        many(200, |at| format!("---\n{}", config_map(&format!("o{at}"), &format!("{{a: \"${{V{at}##*a*b}}\"}}"))));
    repository.write("apps/o.yaml", &objects);
    assert_refused(&repository, "steps");
}

#[test]
fn wildcards_of_many_files() {
    let repository = Repository::with_apps("resources: []\n");
    let patterns: String = many(5_000, |at| format!("*a*b*c*{at}*\n"));
    repository.write(".sourceignore", &patterns);
    for at in 0..1_000 {
        repository.write(&format!("files/{}{at}.yaml", "abc".repeat(40)), "a: 1\n");
    }
    assert_refused(&repository, "ignore patterns with wildcards are too many for the files");
}

/// A fleet with a layout of one template.
fn layout(template: &str) -> Repository {
    let repository = Repository { folder: tempfile::tempdir().unwrap() };
    repository.write(
        "fleet.yaml",
        "apiVersion: fleetwright.dev/v1alpha1\nkind: Fleet\nname: acme\nlayout: ./layout\n\
         repository: {url: https://github.com/acme/fleet.git}\nenvironments: {production: {}}\n\
         clusters: [{name: prod, environment: production}]\n\
         tenants: [{name: apps, role: tenant, source: {url: https://github.com/acme/apps.git}, components: [{name: web}]}]\n",
    );
    repository.write("layout/layout.yaml", "description: x\n");
    repository.write("layout/clusters/x.yaml", template);
    repository
}

#[test]
fn a_template_that_doubles_a_value_ends_with_its_line() {
    // A list that contains a list twice is small until it is printed.
    let steps = [("ns.a ~ ns.a", 4), ("ns.a | replace('', ns.a)", 4), ("[ns.a, ns.a] | join", 4), ("[ns.a, ns.a]", 6)];
    for (step, line) in steps {
        let template = format!(
            "a: 1\n{{% set ns = namespace(a='xxxxxxxx') %}}\n{{% for i in range(60) %}}\n{{% set ns.a = {step} %}}\n\
             {{% endfor %}}\nb: {{{{ ns.a }}}}\n"
        );
        let repository = layout(&template);
        // A template before it, which is not at fault.
        repository.write("layout/clusters/a.yaml", "{% for i in range(300) %}\na{{ i }}: {{ i ~ i }}\n{% endfor %}\n");
        let mut command = repository.command(&["render", "--check"]);
        // Less memory than by default, so that the test is fast.
        let answer = super::answer(&["render", "--check"], &command.env("FLEETWRIGHT_MEMORY", "2").output().unwrap());
        assert_eq!(answer.code, 2, "`{step}`: {}", answer.text());
        // On a slow machine, the limit of time comes first, at any line of the loop.
        let words = format!("layout/clusters/x.yaml:{line}: this line of a template exhausts the memory");
        let is_late = answer.err.contains("layout/clusters/x.yaml:") && answer.err.contains("the memory or the time");
        assert!(answer.err.contains(&words) || is_late, "`{step}`: {}", answer.text());
    }
}

#[test]
fn templates_with_many_operators_do_not_overflow_the_stack() {
    for (many, count) in [("-", 18_000), ("not ", 18_000), ("(", 18_000)] {
        bounded(&layout(&format!("a: {{{{ {}1 }}}}\n", many.repeat(count))), &["render", "--check"]);
    }
    bounded(&layout(&format!("a: {{{{ a{} }}}}\n", "[0]".repeat(40_000))), &["render", "--check"]);
    bounded(
        &layout(&format!("{{% if 0 %}}{}{{% endif %}}a: 1\n", "{% elif 0 %}".repeat(7_600))),
        &["render", "--check"],
    );
    let answer = bounded(&layout(&"x".repeat(300 << 10)), &["render", "--check"]);
    assert!(answer.err.contains("the template is longer than 128 KiB"), "{}", answer.text());
}

#[test]
fn many_findings_are_counted() {
    let repository = Repository::new();
    let documents: String = many(3_000, |at| {
        format!(
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: s{at}, namespace: n{at}}}\nspec: {{nope{at}: {at}}}\n"
        )
    });
    repository.write("clusters/a/services.yaml", &documents);
    let answer = bounded(&repository, &["lint"]);
    assert!(answer.out.contains("further findings not shown; use `--format json`"), "{}", answer.err);
}

#[test]
fn a_line_with_many_findings() {
    let repository = Repository::new();
    let items: String =
        many(2_000, |at| format!("{{apiVersion: v1, kind: Service, metadata: {{name: x{at}}}, spec: {{nope: 1}}}},"));
    repository.write("clusters/a/list.yaml", &format!("{{apiVersion: v1, kind: List, items: [{items}]}}\n"));
    bounded(&repository, &["lint"]);
}

#[test]
fn regular_expressions_of_images() {
    let images: String = many(200, |at| format!("- {{name: \"(i?){{500}}{at}\", newTag: x}}\n"));
    let repository = Repository::with_apps(&format!("resources: [o.yaml]\nimages:\n{images}"));
    let containers: String = many(500, |at| format!("{{name: c{at}, image: \"i{at}:1\"}},"));
    repository.write(
        "apps/o.yaml",
        &format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: default}}\nspec: {{containers: [{containers}]}}\n"),
    );
    assert_refused(&repository, "the transformers of this build visit more than");
}

#[test]
fn deep_field_specs() {
    let specs: String = many(400, |at| format!("- {{path: {}/b{at}, create: true}}\n", ["a"; 100].join("/")));
    let repository = many_objects(100, |at| format!("o{at}"), "namePrefix: a-\nconfigurations: [c.yaml]\n");
    repository.write("apps/c.yaml", &format!("namePrefix:\n{specs}"));
    assert_refused(&repository, "the transformers of this build visit more than");
}

#[test]
fn a_long_prefix_of_a_transformer() {
    let repository = many_objects(200, |at| format!("o{at}"), "transformers: [t.yaml]\n");
    repository.write(
        "apps/t.yaml",
        &format!(
            "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {{name: t}}\nprefix: {}\n\
             fieldSpecs: [{{path: metadata/name}}]\n",
            "x".repeat(1 << 20)
        ),
    );
    assert_refused(&repository, "the objects of this build are larger than 256 MiB");
}

#[test]
fn lines_of_env_files() {
    let entries: String = many(20, |at| format!("- {{name: g{at}, envs: [e.env]}}\n"));
    let repository = Repository::with_apps(&format!("configMapGenerator:\n{entries}"));
    repository.write("apps/e.env", &many(100_000, |at| format!("K{at}=v\n")));
    assert_refused(&repository, "the objects of this build are larger than 256 MiB");
    repository.write("apps/kustomization.yaml", "configMapGenerator: [{name: g, envs: [e.env]}]\n");
    repository.write("apps/e.env", &"K=v\n".repeat(100_000));
    let answer = bounded(&repository, &["lint", "--format", "concise"]);
    assert!(answer.code == 1 && answer.out.contains("has the key `K` twice") && answer.out.lines().count() < 110);
}

#[test]
fn regular_expressions_of_a_resource_set() {
    for template in [
        "<< regexReplaceAll \"(a?){1000}(b?){1000}\" (repeat 100000 \"a\") \"\" >>",
        "<< range until 100000 >><< regexMatch \"((a?){100}){9}\" \"b\" >><< end >>",
        "<< regexFindAll \"a.*z|a\" (repeat 100000 \"a\") -1 >>",
    ] {
        assert_refused(&resource_set(template), "the regular expressions of the templates take too many steps");
    }
}

#[test]
fn a_precision_of_a_resource_set() {
    for verb in ["%.1000000000f", "%.70000f", "%1000000000d", "%.99999999999999999999f"] {
        let answer = bounded(&resource_set(&format!("<< printf \"{verb}\" 1.0 >>")), &["lint", "--verbose"]);
        assert!(answer.code < 2, "{}", answer.text());
    }
}

/// A definition of the kind `Foo`, whose `spec` has a schema.
fn definition(schema: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: foos.example.com}}\n\
         spec:\n  group: example.com\n  scope: Namespaced\n  names: {{kind: Foo, plural: foos, singular: foo}}\n  \
         versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema: \
         {{type: object, properties: {{spec: {schema}}}}}\n"
    )
}

#[test]
fn patterns_of_a_definition() {
    let repository = Repository::new();
    let pattern = "{type: object, additionalProperties: {type: string, pattern: '^((a?){100}){9}b$'}}";
    repository.write("clusters/a/definition.yaml", &definition(pattern));
    let values: String = many(100, |at| format!("k{at}: {},", "a".repeat(1_000)));
    let object = |at| {
        format!(
            "---\napiVersion: example.com/v1\nkind: Foo\nmetadata: {{name: f{at}, namespace: default}}\nspec: {{{values}}}\n"
        )
    };
    repository.write("clusters/a/objects.yaml", &many(100, object));
    assert_refused(&repository, "the patterns of the schema take too many steps");
}

#[test]
fn target_paths_of_a_release() {
    let repository = Repository::new();
    let paths: String = many(300, |at| {
        format!("  - {{kind: ConfigMap, name: v, valuesKey: k, targetPath: \"a{}.b{at}\"}}\n", "[65000]".repeat(20))
    });
    repository.write("clusters/a/v.yaml", &config_map("v", "{k: x}"));
    repository.write(
        "clusters/a/r.yaml",
        &format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: r, namespace: default}}\nspec:\n  \
             interval: 1m\n  chart: {{spec: {{chart: ./chart, sourceRef: {{kind: GitRepository, name: flux-system, \
             namespace: flux-system}}}}}}\n  valuesFrom:\n{paths}"
        ),
    );
    repository.write("chart/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
    repository.write("chart/values.yaml", &many(20_000, |at| format!("k{at}: v\n")));
    assert_refused(&repository, "visit too many values, so they are not checked");
}

#[test]
fn a_file_that_no_build_reads_is_reported_at_its_bound() {
    let repository = Repository::new();
    repository.write("other/list.yaml", &format!("a: [{}]\n", "a,".repeat(1_000_100)));
    repository.write("other/aliases.yaml", &format!("a: &a [{}]\nb: [{}]\n", "x,".repeat(958), "*a,".repeat(200)));
    repository.write("other/deep.yaml", &"- ".repeat(200));
    let answer = bounded(&repository, &["lint", "--format", "concise"]);
    for words in ["list.yaml:1:", "aliases.yaml:2:", "deep.yaml:1:"] {
        assert!(answer.out.contains(words), "expected `{words}`:\n{}", answer.text());
    }
}

#[test]
fn a_file_with_many_faults() {
    let repository = Repository::new();
    repository.write("clusters/a/x.yaml", &format!("{}m: {{{}}}\n", config_map("x", "{}"), "k: 1,".repeat(50_000)));
    assert_refused(&repository, "the file has more than 10000 faults; the rest is not read");
}

#[test]
fn a_diff_of_a_large_file() {
    let repository = Repository { folder: tempfile::tempdir().unwrap() };
    for (folder, value) in [("before", "1"), ("after", "2")] {
        repository.write(&format!("{folder}/clusters/a/apps.yaml"), &applier("a", "./clusters/a", ""));
        let object = |at| format!("---\n{}", config_map(&format!("x{at}"), &format!("{{a: \"{value}\"}}")));
        repository.write(&format!("{folder}/clusters/a/o.yaml"), &many(4_000, object));
    }
    let answer = bounded(&repository, &["diff", "./before", "./after"]);
    assert!(answer.code == 0 && answer.out.contains("objects: 4000 changed"), "{}", answer.text());
}

#[test]
fn a_layout_with_too_many_files() {
    let repository = layout("a: 1\n");
    let fleet = std::fs::read_to_string(repository.root().join("fleet.yaml")).unwrap();
    let head = fleet.split("clusters:").next().unwrap();
    let clusters: String = many(800, |at| format!("- {{name: c{at}, environment: production}}\n"));
    let tenants: String = many(700, |at| {
        let source = "{url: https://github.com/acme/apps.git}";
        format!("- {{name: t{at}, role: tenant, source: {source}, components: [{{name: w{at}}}]}}\n")
    });
    repository.write("fleet.yaml", &format!("{head}clusters:\n{clusters}tenants:\n{tenants}"));
    repository.write("layout/clusters/[cluster]/[tenant]/x.yaml", "a: {{ cluster.name }}\n");
    let answer = bounded(&repository, &["render", "--check"]);
    assert!(answer.code == 2 && answer.err.contains("the layout renders more than 500000 files"), "{}", answer.text());
}

#[test]
fn patterns_of_the_schema_of_a_chart() {
    let repository = Repository::new();
    let values: String = many(100, |at| format!("a{at}: {}!,", "a".repeat(5_000)));
    repository.write(
        "clusters/a/r.yaml",
        &format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: r, namespace: default}}\nspec:\n  \
             interval: 1m\n  chart: {{spec: {{chart: ./chart, sourceRef: {{kind: GitRepository, name: flux-system, \
             namespace: flux-system}}}}}}\n  values: {{{values}}}\n"
        ),
    );
    repository.write("chart/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
    repository.write("chart/values.yaml", "{}\n");
    for schema in [
        r#"{"additionalProperties": {"pattern": "^(a+)+$|((a?){100}){9}b"}}"#,
        r#"{"patternProperties": {"((a?){100}){9}b": {}}, "propertyNames": {"pattern": "((b?){100}){9}b"}}"#,
    ] {
        repository.write("chart/values.schema.json", schema);
        bounded(&repository, &["lint", "--verbose"]);
    }
}

#[test]
fn the_permissions_of_a_wide_role_are_limited() {
    let names = |letter: char| many(20_000, |at| format!("{letter}{at},"));
    let repository = Repository::new();
    let role = |verb: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {{name: r, namespace: n0}}\n\
             roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}}\n\
             subjects: [{{kind: ServiceAccount, name: a, namespace: n0}}]\n---\n\
             apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: r, namespace: n0}}\n\
             rules: [{{apiGroups: [{}], resources: [{}], verbs: [{verb}]}}]\n",
            names('g'),
            names('r')
        )
    };
    repository.write("clusters/a/role.yaml", &role("get"));
    let answer = repository.run(&["access", "n0"]);
    assert_eq!(answer.code, 0, "{}", answer.text());
    assert!(answer.text().contains("permissions of some roles are not listed"), "{}", answer.text());
    git(&repository, &["init", "-q"]);
    git(&repository, &["add", "-A"]);
    git(&repository, &["commit", "-q", "-m", "a"]);
    repository.write("clusters/a/role.yaml", &role("list"));
    let answer = repository.run(&["diff"]);
    assert_eq!(answer.code, 2, "{}", answer.text());
    assert!(answer.err.contains("the rights of service accounts on cluster a are not compared"), "{}", answer.text());
    for format in ["text", "markdown", "html"] {
        let answer = repository.run(&["diff", "--format", format]);
        assert!(answer.out.contains("are not compared, since they are too many"), "{format}: {}", answer.out);
    }
}

/// Links to a file multiply it, in a revision as in a directory.
#[test]
fn linked_files_of_a_revision() {
    let repository = Repository::new();
    repository.write("big/big.yaml", &format!("# {}\n", "x".repeat(8 << 20)));
    for at in 0..700 {
        std::os::unix::fs::symlink("big/big.yaml", repository.root().join(format!("l{at}.yaml"))).unwrap();
    }
    git(&repository, &["init", "-q"]);
    git(&repository, &["add", "-A"]);
    git(&repository, &["commit", "-q", "-m", "a"]);
    // Without a limit, the texts exceed the memory of the worker process.
    let answer = bounded(&repository, &["diff", "HEAD..HEAD"]);
    assert_eq!(answer.code, 2, "{}", answer.text());
    assert!(answer.err.contains("the files before it have more than 512 MiB"), "{}", answer.text());
    assert!(answer.out.contains("cannot be read in one of the states, and is not compared"), "{}", answer.text());
}

#[test]
fn the_tree_of_a_deep_graph_is_limited() {
    let repository = Repository::new();
    let depends = |at: usize| {
        let needs = many(at.min(20), |back| format!("{{name: k{}}},", at - back - 1));
        format!("{}---\n", applier(&format!("k{at}"), "./no", &format!("  dependsOn: [{needs}]\n")))
    };
    repository.write("clusters/a/k.yaml", &many(2_000, depends));
    let answer = repository.run(&["graph", "Kustomization/flux-system/k0"]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert!(answer.out.contains("the tree is too large"), "{}", answer.out.len());
    assert!(answer.out.len() < 10 << 20, "{}", answer.out.len());
}

/// Each schema has two references to the one before, so that the last one is expensive, but not too expensive alone.
#[test]
fn an_expensive_schema_that_many_releases_use() {
    let repository = Repository::new();
    let release = |at| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: r{at}, namespace: flux-system}}\n\
             spec: {{interval: 1h, values: {{at: {at}}}, chart: {{spec: {{chart: ./charts/web, sourceRef: {{kind: \
             GitRepository, name: flux-system}}}}}}}}\n---\n"
        )
    };
    let schema = |at: usize| {
        let before = format!("{{\"$ref\": \"#/$defs/d{}\"}}", at - 1);
        format!("\"d{at}\": {{\"allOf\": [{before}, {before}]}},")
    };
    let schemas = many(15, |at| schema(at + 1));
    repository.write("clusters/a/releases.yaml", &many(220, release));
    repository.write("charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n");
    repository.write(
        "charts/web/values.schema.json",
        &format!("{{\"$defs\": {{{schemas} \"d0\": {{\"type\": \"object\"}}}}, \"$ref\": \"#/$defs/d15\"}}"),
    );
    assert_refused(&repository, "takes too long for all releases");
}
