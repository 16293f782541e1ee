//! `ResourceSet`s: the places of their nodes, their templates and their bounds.

use super::support::expansion;

const SET: &str = r#"apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSet
metadata: {name: apps, namespace: flux-system}
spec:
  inputs:
    - tenant: team1
      replicas: 2
      extra: {a: b}
  resources:
    - apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web-<< inputs.tenant >>
        namespace: << inputs.tenant >>
      spec:
        replicas: << inputs.replicas | int >>
        paused: true
        extra: << inputs.extra | toYaml | nindent 4 >>
  resourcesTemplate: |
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: << inputs.tenant >>-settings
    data:
      fixed: here
      tenant: "<< inputs.tenant >>"
"#;

#[test]
fn a_node_stands_in_the_template_or_in_the_input_that_gave_its_value() {
    let expansion = expansion("set.yaml", SET);
    assert_eq!(expansion.findings, []);
    let place = |object: usize, keys: &[&str]| {
        let span = expansion.objects[object].node.at_keys(keys).unwrap().span().clone();
        (span.position().line, span.text().to_owned())
    };
    let line = |line: u32, text: &str| (line, text.to_owned());
    // Partly of the template, so at the template.
    assert_eq!(place(0, &["metadata", "name"]), line(13, "web-<< inputs.tenant >>"));
    // Wholly an input.
    assert_eq!(place(0, &["metadata", "namespace"]), line(6, "team1"));
    assert_eq!(place(0, &["spec", "replicas"]), line(7, "2"));
    assert_eq!(place(0, &["spec", "paused"]), line(17, "true"));
    assert_eq!(place(0, &["spec", "extra", "a"]).0, 8);
    assert_eq!(place(1, &["data", "fixed"]), line(25, "here"));
    assert_eq!(place(1, &["data", "tenant"]), line(6, "team1"));
    assert_eq!(place(1, &["metadata", "name"]).0, 23);
    assert_eq!(
        expansion.objects[1].node.at_keys(&["data"]).unwrap().entry("fixed").unwrap().key_span().text(),
        "fixed"
    );
}

#[test]
fn what_only_a_cluster_knows_is_said() {
    let set = |text: &str| {
        let head =
            "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: a, namespace: b}\nspec:\n";
        let provider = "---\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSetInputProvider\n\
            metadata: {name: static, namespace: b}\nspec: {type: Static, defaultValues: {x: y}}\n---\n\
            apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSetInputProvider\n\
            metadata: {name: live, namespace: b}\nspec: {type: GitHubBranch, url: https://example.com}\n";
        expansion("set.yaml", &format!("{head}{text}{provider}"))
    };
    let reason = |text: &str| set(text).not_expanded.unwrap();
    assert_eq!(
        reason("  inputsFrom: [{name: live}]\n"),
        "ResourceSetInputProvider `b/live` queries a live system (`GitHubBranch`)"
    );
    assert_eq!(reason("  inputsFrom: [{name: other}]\n"), "the cluster does not receive the input provider `b/other`");
    let resource = |name: &str, value: &str| {
        format!(
            "  inputsFrom: [{{name: static}}]\n  resources:\n    - {{apiVersion: v1, kind: ConfigMap, \
             metadata: {{name: \"{name}\"}}, data: {{k: \"{value}\"}}}}\n"
        )
    };
    assert_eq!(
        reason(&resource("<< inputs.id >>", "")),
        "`metadata.name` of an object is `<< inputs.id >>`, which is known only on the cluster"
    );
    let known = set(&resource("<< inputs.x >>", "id << inputs.id >>"));
    let value = known.objects[0].node.at_keys(&["data", "k"]).unwrap();
    assert!(matches!(value.value, fleetwright::yaml::Value::Scalar(_, fleetwright::yaml::Style::Unknown)));
    assert_eq!(reason(&resource("a", "<< if inputs.id >>x<< end >>")).split(' ').next(), Some("a"));
}

#[test]
fn a_fault_stands_at_its_line_with_the_input_that_shows_it() {
    let text = SET.replace("inputs.replicas | int", "inputs.replica | int");
    let expansion = expansion("set.yaml", &text);
    let [finding] = &*expansion.findings else { panic!("{:?}", expansion.findings) };
    assert_eq!(finding.message, "ResourceSet `flux-system/apps` cannot be expanded: `replica` is not set");
    assert_eq!(finding.at.span.position().line, 16);
    assert_eq!(finding.related[0].span.position().line, 6);
}

#[test]
fn a_template_that_costs_too_much_is_not_expanded() {
    let run = |template: &str| {
        let text = format!(
            "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {{name: a, namespace: b}}\n\
             spec:\n  resourcesTemplate: |\n    {template}\n"
        );
        let expanded = expansion("set.yaml", &text);
        let finding = expanded.findings.first().map(|finding| finding.message.clone());
        expanded.not_expanded.or(finding).unwrap()
    };
    let loop_of_loops = "<< range until 5000 >><< range until 5000 >>x<< end >><< end >>";
    for template in [
        loop_of_loops,
        "<< repeat 99999999999 \"x\" >>",
        "<< until 99999999999 >>",
        "<< indent 99999999999 \"x\" >>",
        "<< define \"r\" >><< template \"r\" >><< end >><< template \"r\" >>",
        "<< $d := dict >><< $_ := set $d \"d\" $d >><< $d >>",
        "<< $d := dict >><< $_ := set $d \"d\" $d >><< $d | toJson >>",
        "<< $d := dict >><< $_ := set $d \"d\" $d >><< $d | toYaml >>",
        &format!("<< {}1{} >>", "(".repeat(5000), ")".repeat(5000)),
        &format!("{}{}", "<< if 1 >>".repeat(5000), "<< end >>".repeat(5000)),
        "<< $x := \"x\" >><< range until 60 >><< $x = printf \"%s%s\" $x $x >><< end >>",
    ] {
        let reason = run(template);
        assert!(reason.contains("too") || reason.contains("nest"), "{template}: {reason}");
    }
}
