//! Repositories of any size, as people write them by hand.

use std::fmt::Write;
use std::ops::Range;

use fleetwright::text::{File, Tree};

/// `count` Deployments, a file each, under one kustomization with a namespace, a prefix, labels and a patch.
pub(crate) fn deployments(count: usize) -> Tree {
    let mut kustomization = String::from(
        "\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: shop
namePrefix: prod-
labels:
  - includeSelectors: true
    pairs: {team: shop}
patches:
  - target: {kind: Deployment}
    patch: |
      - op: add
        path: /spec/template/spec/priorityClassName
        value: high
resources:
",
    );
    let mut tree = Tree::default();
    for number in 0..count {
        line(&mut kustomization, &format!("  - app-{number:04}.yaml"));
        tree.insert(File::new(format!("app-{number:04}.yaml"), deployment(&format!("app-{number:04}"))));
    }
    tree.insert(File::new("kustomization.yaml", kustomization));
    tree
}

/// `count` bases with ten objects each and an overlay of each.
pub(crate) fn pairs(count: usize) -> Tree {
    let mut tree = Tree::default();
    for pair in 0..count {
        let mut base = String::from("resources:\n");
        for object in 0..10 {
            let name = format!("app-{object}");
            let text = if object < 5 { deployment(&name) } else { config_map(&name) };
            line(&mut base, &format!("  - {name}.yaml"));
            tree.insert(File::new(format!("base-{pair:03}/{name}.yaml"), text));
        }
        tree.insert(File::new(format!("base-{pair:03}/kustomization.yaml"), base));
        let overlay = format!(
            "\
resources:
  - ../base-{pair:03}
namespace: team-{pair:03}
nameSuffix: -v2
labels:
  - pairs: {{team: team-{pair:03}}}
patches:
  - patch: |
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: app-1
      spec:
        replicas: 3
"
        );
        tree.insert(File::new(format!("overlay-{pair:03}/kustomization.yaml"), overlay));
    }
    tree
}

/// `count` clusters that run the same thirty components. A cluster's folder holds what Flux starts with, a ConfigMap of
/// facts about the cluster, and two Kustomizations that lead to those of the components, which all clusters share.
pub(crate) fn clusters(count: usize) -> Tree {
    let mut tree = components();
    for (stack, range) in STACKS {
        let mut text = String::new();
        for component in range {
            text.push_str(&kustomization(component, "substituteFrom: [{kind: ConfigMap, name: runtime-info}]"));
        }
        tree.insert(File::new(format!("stacks/{stack}/components.yaml"), text));
    }
    for cluster in 0..count {
        let folder = start(&mut tree, cluster);
        tree.insert(File::new(format!("{folder}/runtime-info.yaml"), runtime_info(cluster)));
        let stacks: String = STACKS.into_iter().map(|(stack, _)| stack_of(stack)).collect();
        tree.insert(File::new(format!("{folder}/stacks.yaml"), stacks));
    }
    tree
}

/// `count` clusters that run the same thirty components, each with Kustomizations of its own, which hold its variables.
pub(crate) fn copies(count: usize) -> Tree {
    let mut tree = components();
    for cluster in 0..count {
        let folder = start(&mut tree, cluster);
        let variables = format!("substitute: {{CLUSTER_DOMAIN: c{cluster}.example.com}}");
        let text: String = (0..COMPONENTS).map(|component| kustomization(component, &variables)).collect();
        tree.insert(File::new(format!("{folder}/components.yaml"), text));
    }
    tree
}

/// A cluster with `count` Kustomizations. Each one reads a ConfigMap that the next one applies.
pub(crate) fn chain(count: usize) -> Tree {
    let mut tree = Tree::default();
    let folder = start(&mut tree, 0);
    let mut text = String::new();
    for number in 0..count {
        let reads = if number + 1 < count {
            format!("  postBuild: {{substituteFrom: [{{kind: ConfigMap, name: values-{}}}]}}\n", number + 1)
        } else {
            String::new()
        };
        write!(
            text,
            "\
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: part-{number}, namespace: flux-system}}
spec:
  interval: 1h
  path: ./parts/{number}
  prune: true
  sourceRef: {{kind: GitRepository, name: flux-system}}
{reads}"
        )
        .expect("a String takes everything");
        let values = format!(
            "\
apiVersion: v1
kind: ConfigMap
metadata: {{name: values-{number}, namespace: flux-system}}
data: {{VALUE: 'v${{VALUE:=0}}'}}
"
        );
        tree.insert(File::new(format!("parts/{number}/values.yaml"), values));
    }
    tree.insert(File::new(format!("{folder}/parts.yaml"), text));
    tree
}

fn components() -> Tree {
    let mut tree = Tree::default();
    for component in 0..COMPONENTS {
        let mut kustomization = String::from("resources:\n");
        for object in 0..10 {
            let name = format!("app-{object}");
            let text = match object {
                0..4 => deployment(&format!("{name}-{component:02}")),
                _ => config_map(&format!("{name}-{component:02}")),
            };
            line(&mut kustomization, &format!("  - {name}.yaml"));
            tree.insert(File::new(format!("components/{component:02}/{name}.yaml"), text));
        }
        line(&mut kustomization, "  - ingress.yaml");
        tree.insert(File::new(format!("components/{component:02}/ingress.yaml"), ingress(component)));
        tree.insert(File::new(format!("components/{component:02}/kustomization.yaml"), kustomization));
    }
    tree
}

/// Writes what Flux starts a cluster with, and returns the folder.
fn start(tree: &mut Tree, cluster: usize) -> String {
    let folder = format!("clusters/cluster-{cluster:04}");
    tree.insert(File::new(format!("{folder}/flux-system/gotk-sync.yaml"), sync(&folder)));
    folder
}

/// How many components each cluster runs.
const COMPONENTS: usize = 30;

/// The folders that the Kustomizations of the components lie in.
const STACKS: [(&str, Range<usize>); 2] = [("infrastructure", 0..10), ("applications", 10..COMPONENTS)];

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a String takes everything");
}

fn deployment(name: &str) -> String {
    format!(
        "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  labels: {{app: {name}}}
spec:
  replicas: 2
  selector:
    matchLabels: {{app: {name}}}
  template:
    metadata:
      labels: {{app: {name}}}
    spec:
      containers:
        - name: main
          image: registry.example.com/shop/{name}:1.4.2
          ports: [{{name: http, containerPort: 8080}}]
          env:
            - {{name: LOG_LEVEL, value: info}}
          resources:
            requests: {{cpu: 100m, memory: 128Mi}}
"
    )
}

fn config_map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  color: blue\n  greeting: hello\n")
}

fn ingress(component: usize) -> String {
    format!(
        "\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: app-{component:02}
spec:
  rules:
    - host: app-{component:02}.${{CLUSTER_DOMAIN}}
"
    )
}

fn sync(folder: &str) -> String {
    format!(
        "\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: flux-system, namespace: flux-system}}
spec:
  interval: 1m
  ref: {{branch: main}}
  url: https://git.example.com/acme/fleet.git
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: flux-system, namespace: flux-system}}
spec:
  interval: 10m
  path: ./{folder}
  prune: true
  sourceRef: {{kind: GitRepository, name: flux-system}}
"
    )
}

/// The namespace of a component and its Kustomization; `variables` is what it substitutes.
fn kustomization(component: usize, variables: &str) -> String {
    format!(
        "\
---
apiVersion: v1
kind: Namespace
metadata: {{name: component-{component:02}}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: component-{component:02}, namespace: flux-system}}
spec:
  interval: 1h
  path: ./components/{component:02}
  prune: true
  targetNamespace: component-{component:02}
  sourceRef: {{kind: GitRepository, name: flux-system}}
  postBuild:
    {variables}
"
    )
}

/// The Kustomization that brings those of a stack.
fn stack_of(stack: &str) -> String {
    format!(
        "\
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: {stack}, namespace: flux-system}}
spec:
  interval: 1h
  path: ./stacks/{stack}
  prune: true
  sourceRef: {{kind: GitRepository, name: flux-system}}
"
    )
}

fn runtime_info(cluster: usize) -> String {
    format!(
        "\
apiVersion: v1
kind: ConfigMap
metadata: {{name: runtime-info, namespace: flux-system}}
data:
  CLUSTER_NAME: cluster-{cluster:04}
  CLUSTER_DOMAIN: c{cluster}.example.com
  CLUSTER_REGION: eu-central-1
"
    )
}
