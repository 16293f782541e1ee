//! Who makes the objects that no manifest makes.

use std::collections::BTreeMap;

use fleetwright::config;
use fleetwright::flux::{ApplierKind, Produced, Producers};
use fleetwright::kube::Object;
use fleetwright::text::File;
use fleetwright::yaml::{Style, Value, parse};

/// A cluster with what an applier brings to it.
struct Cluster {
    objects: BTreeMap<(String, String, String), Object>,
    producers: Producers,
}

fn cluster(applier: ApplierKind, text: &str) -> Cluster {
    let mut cluster = Cluster { objects: BTreeMap::new(), producers: Producers::default() };
    for document in parse(&File::new("a.yaml", text)).documents {
        let object = Object::new(document.node).unwrap();
        cluster.producers.take(&object, applier);
        let namespace = object.namespace().unwrap_or_default().to_owned();
        cluster.objects.insert((object.kind().into(), namespace, object.name().into()), object);
    }
    cluster
}

impl Cluster {
    fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<Produced> {
        let known = |kind: &str, namespace: &str, name: &str| {
            self.objects.get(&(kind.into(), namespace.into(), name.into())).cloned()
        };
        self.producers.find(kind, namespace, name, &known)
    }

    /// The keys and values of what is found, `?` for what nobody knows; `…` where there may be more.
    fn data(&self, kind: &str, namespace: &str, name: &str) -> Option<String> {
        let found = self.find(kind, namespace, name)?;
        assert_eq!((found.object.namespace(), found.object.name()), (Some(namespace), name));
        let data = found.object.node.get("data").map(|data| data.entries().to_vec()).unwrap_or_default();
        let mut said: Vec<String> = data
            .iter()
            .map(|entry| match &entry.node.value {
                Value::Scalar(_, Style::Unknown) => format!("{}=?", entry.key),
                _ => format!("{}={}", entry.key, entry.node.text().unwrap_or_default()),
            })
            .collect();
        said.extend(found.open.then(|| "…".to_owned()));
        Some(said.join(" "))
    }
}

#[test]
fn kyverno_clones_into_the_namespaces_that_its_rule_matches() {
    let cluster = cluster(
        ApplierKind::Kustomization,
        r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: info, namespace: flux-system, labels: {toolkit.fluxcd.io/runtime: "true"}}
data: {CLUSTER: staging}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other, namespace: flux-system}
data: {a: b}
---
apiVersion: v1
kind: Namespace
metadata: {name: web, labels: {tenant: apps}}
---
apiVersion: v1
kind: Namespace
metadata: {name: db}
---
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: sync}
spec:
  rules:
    - name: configmaps
      match: {any: [{resources: {kinds: [v1/Namespace]}}]}
      exclude: {any: [{resources: {kinds: [Namespace], names: [kube-*]}}]}
      generate:
        namespace: "{{request.object.metadata.name}}"
        cloneList:
          namespace: flux-system
          kinds: [v1/ConfigMap]
          selector: {matchLabels: {toolkit.fluxcd.io/runtime: "true"}}
    - name: secrets
      match: {any: [{resources: {kinds: [v1/Namespace], selector: {matchLabels: {tenant: apps}}}}]}
      generate:
        {kind: Secret, name: registry, namespace: "{{request.object.metadata.name}}", clone: {namespace: flux-system, name: registry}}
    - name: defaults
      match: {resources: {kinds: [Namespace]}}
      generate:
        kind: ConfigMap
        name: defaults
        namespace: "{{request.object.metadata.name}}"
        data: {kind: ConfigMap, data: {level: info, of: "{{request.object.metadata.name}}"}}
"#,
    );
    let configmap = |namespace, name| cluster.data("ConfigMap", namespace, name);
    assert_eq!(configmap("web", "info").as_deref(), Some("CLUSTER=staging"));
    assert_eq!(configmap("db", "info").as_deref(), Some("CLUSTER=staging"));
    assert_eq!(configmap("kube-system", "info"), None);
    assert_eq!(configmap("web", "other"), None);
    assert_eq!(configmap("web", "defaults").as_deref(), Some("level=info of=?"));
    assert_eq!(configmap("web", "missing"), None);
    assert_eq!(cluster.data("Secret", "web", "registry").as_deref(), Some("…"));
    assert_eq!(cluster.data("Secret", "db", "registry"), None);
    let by = cluster.find("ConfigMap", "web", "info").unwrap().by.unwrap();
    assert_eq!(by.to_string(), "ClusterPolicy `sync`");
}

#[test]
fn reflector_and_resource_sets_copy() {
    let cluster = cluster(
        ApplierKind::ResourceSet,
        r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: info
  namespace: flux-system
  annotations:
    reflector.v1.k8s.emberstack.com/reflection-allowed: "true"
    reflector.v1.k8s.emberstack.com/reflection-allowed-namespaces: "team-.*,web"
    reflector.v1.k8s.emberstack.com/reflection-auto-enabled: "true"
data: {A: "1"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: mirror, namespace: x, annotations: {reflector.v1.k8s.emberstack.com/reflects: flux-system/info}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: copied, namespace: y, annotations: {fluxcd.controlplane.io/copyFrom: x/mirror}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: address, namespace: y, annotations: {fluxcd.controlplane.io/convertKubeConfigFrom: y/kubeconfig}}
data: {cluster: z}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: circle, namespace: y, annotations: {fluxcd.controlplane.io/copyFrom: y/circle}}
"#,
    );
    let configmap = |namespace, name| cluster.data("ConfigMap", namespace, name);
    assert_eq!(configmap("team-a", "info").as_deref(), Some("A=1"));
    assert_eq!(configmap("web", "info").as_deref(), Some("A=1"));
    assert_eq!(configmap("web2", "info"), None);
    assert_eq!(configmap("x", "mirror").as_deref(), Some("A=1"));
    assert_eq!(configmap("y", "copied").as_deref(), Some("A=1"));
    assert_eq!(configmap("y", "address").as_deref(), Some("cluster=z address=? ca.crt=?"));
    assert_eq!(configmap("y", "circle"), None);
}

#[test]
fn replicator_copies_and_fills() {
    let cluster = cluster(
        ApplierKind::Kustomization,
        r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: info, namespace: a, annotations: {replicator.v1.mittwald.de/replicate-to: "web, team-[0-9]+"}}
data: {A: "1"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: labelled, namespace: a, annotations: {replicator.v1.mittwald.de/replicate-to-matching: "tier in (web)"}}
data: {B: "2"}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {tier: web}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: filled, namespace: b, annotations: {replicator.v1.mittwald.de/replicate-from: a/info}}
data: {C: "3"}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: pull, namespace: a, annotations: {replicator.v1.mittwald.de/replicate-to: ".*"}}
spec: {data: [{secretKey: token}]}
"#,
    );
    let configmap = |namespace, name| cluster.data("ConfigMap", namespace, name);
    assert_eq!(configmap("web", "info").as_deref(), Some("A=1"));
    assert_eq!(configmap("team-1", "info").as_deref(), Some("A=1"));
    assert_eq!(configmap("web-2", "info"), None);
    assert_eq!(configmap("shop", "labelled").as_deref(), Some("B=2"));
    assert_eq!(configmap("web", "labelled"), None);
    assert_eq!(configmap("b", "filled").as_deref(), Some("C=3 …"));
    assert_eq!(cluster.data("Secret", "web", "pull").as_deref(), Some("token=?"));
}

#[test]
fn operators_make_secrets_whose_keys_may_be_known() {
    let cluster = cluster(
        ApplierKind::Kustomization,
        r#"
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: a, namespace: n}
spec: {target: {name: b}, data: [{secretKey: user}, {secretKey: password}]}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: c, namespace: n}
spec: {dataFrom: [{extract: {key: x}}]}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: d, namespace: n}
spec: {target: {template: {data: {url: "{{ .x }}"}}}, dataFrom: [{extract: {key: x}}]}
---
apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata: {name: e, namespace: n}
spec: {encryptedData: {token: AgB}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: f, namespace: n}
spec: {secretName: f-tls}
---
apiVersion: trust.cert-manager.io/v1alpha1
kind: Bundle
metadata: {name: bundle}
spec: {target: {configMap: {key: ca.pem}}}
"#,
    );
    let secret = |name| cluster.data("Secret", "n", name);
    assert_eq!(secret("a"), None);
    assert_eq!(secret("b").as_deref(), Some("user=? password=?"));
    assert_eq!(secret("c").as_deref(), Some("…"));
    assert_eq!(secret("d").as_deref(), Some("url=?"));
    assert_eq!(secret("e").as_deref(), Some("token=?"));
    assert_eq!(secret("f-tls").as_deref(), Some("tls.crt=? tls.key=? ca.crt=?"));
    assert_eq!(cluster.data("ConfigMap", "any", "bundle").as_deref(), Some("ca.pem=?"));
    assert_eq!(cluster.data("ConfigMap", "any", "kube-root-ca.crt").as_deref(), Some("ca.crt=?"));
}

#[test]
fn the_configuration_declares_what_is_made_elsewhere() {
    let text = "apiVersion: fleetwright.dev/v1alpha1\nkind: Config\nexternal:\n\
        \x20 - {kind: ConfigMap, namespace: n, name: a, data: {REGION: eu}, keys: [ACCOUNT]}\n\
        \x20 - {kind: Secret, namespace: n, name: b, clusters: [staging]}\n";
    let (settings, findings) = config::read(&File::new(config::PATH, text));
    assert_eq!(findings, []);
    let of =
        |name: &str| Cluster { objects: BTreeMap::new(), producers: Producers::declared(name, &settings.external) };
    assert_eq!(of("staging").data("ConfigMap", "n", "a").as_deref(), Some("REGION=eu ACCOUNT=?"));
    assert_eq!(of("staging").data("Secret", "n", "b").as_deref(), Some("…"));
    assert_eq!(of("prod").data("Secret", "n", "b"), None);
    let found = of("prod").find("ConfigMap", "n", "a").unwrap();
    assert_eq!(found.object.node.at_keys(&["data", "REGION"]).unwrap().span().position().line, 4);
}
