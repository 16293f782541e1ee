//! Objects of twenty kinds, for comparing the validation of schemas.

use std::fmt::Write;

use fleetwright::text::{File, Tree};

/// The manifests by kind. `NAME` is the name of the object, which is different for each object.
const MANIFESTS: [&str; 20] = [
    "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: shop, labels: {app.kubernetes.io/name: NAME}}
spec:
  replicas: 2
  selector: {matchLabels: {app.kubernetes.io/name: NAME}}
  template:
    metadata: {labels: {app.kubernetes.io/name: NAME}}
    spec:
      serviceAccountName: NAME
      securityContext: {runAsNonRoot: true}
      containers:
        - name: app
          image: registry.example.com/shop/NAME:1.2.3
          args: [--listen=:8080, --log-level=info]
          env:
            - {name: DATABASE, value: postgres.shop.svc}
            - {name: PASSWORD, valueFrom: {secretKeyRef: {name: NAME, key: password}}}
          ports:
            - {name: http, containerPort: 8080, protocol: TCP}
          readinessProbe: {httpGet: {path: /ready, port: http}, periodSeconds: 10}
          resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}
          volumeMounts:
            - {name: config, mountPath: /etc/app}
      volumes:
        - {name: config, configMap: {name: NAME}}
",
    "\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: NAME, namespace: shop}
spec:
  serviceName: NAME
  replicas: 3
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      containers:
        - name: db
          image: registry.example.com/db:15.2
          ports:
            - {name: db, containerPort: 5432}
          volumeMounts:
            - {name: data, mountPath: /var/lib/db}
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}
",
    "\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: NAME, namespace: shop}
spec:
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      tolerations:
        - {operator: Exists}
      containers:
        - {name: agent, image: 'registry.example.com/agent:2.0', resources: {limits: {memory: 64Mi}}}
",
    "\
apiVersion: batch/v1
kind: Job
metadata: {name: NAME, namespace: shop}
spec:
  backoffLimit: 3
  template:
    spec:
      restartPolicy: Never
      containers:
        - {name: job, image: 'registry.example.com/job:2.0', command: [migrate, up]}
",
    "\
apiVersion: batch/v1
kind: CronJob
metadata: {name: NAME, namespace: shop}
spec:
  schedule: '*/5 * * * *'
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          containers:
            - {name: job, image: 'registry.example.com/job:2.0'}
",
    "\
apiVersion: v1
kind: Service
metadata: {name: NAME, namespace: shop}
spec:
  selector: {app: NAME}
  ports:
    - {name: http, port: 80, targetPort: http}
    - {name: metrics, port: 9090, targetPort: 9090}
",
    "\
apiVersion: v1
kind: ConfigMap
metadata: {name: NAME, namespace: shop}
data:
  level: info
  config.yaml: |
    listen: 8080
    name: NAME
",
    "\
apiVersion: v1
kind: ServiceAccount
metadata: {name: NAME, namespace: shop}
automountServiceAccountToken: false
",
    "\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: NAME, namespace: shop}
spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}
",
    "\
apiVersion: v1
kind: ResourceQuota
metadata: {name: NAME, namespace: shop}
spec: {hard: {limits.memory: 16Gi, pods: '20'}}
",
    "\
apiVersion: v1
kind: LimitRange
metadata: {name: NAME, namespace: shop}
spec:
  limits:
    - {type: Container, default: {memory: 128Mi}, defaultRequest: {cpu: 50m}}
",
    "\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: NAME, namespace: shop}
rules:
  - {apiGroups: [''], resources: [configmaps, secrets], verbs: [get, list, watch]}
  - {apiGroups: [apps], resources: [deployments], verbs: [get, patch]}
",
    "\
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: NAME, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: NAME}
subjects:
  - {kind: ServiceAccount, name: NAME, namespace: shop}
",
    "\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: NAME, namespace: shop}
spec:
  ingressClassName: nginx
  rules:
    - host: NAME.example.com
      http:
        paths:
          - {path: /, pathType: Prefix, backend: {service: {name: NAME, port: {name: http}}}}
",
    "\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: NAME, namespace: shop}
spec:
  podSelector: {matchLabels: {app: NAME}}
  policyTypes: [Ingress]
  ingress:
    - from:
        - namespaceSelector: {matchLabels: {name: ingress}}
      ports:
        - {protocol: TCP, port: 8080}
",
    "\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: NAME, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: NAME}
  minReplicas: 2
  maxReplicas: 5
  metrics:
    - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}
",
    "\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: NAME, namespace: shop}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: NAME}}}
",
    "\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: NAME, namespace: shop}
spec:
  interval: 1h
  retryInterval: 2m
  timeout: 5m
  path: ./apps/NAME
  prune: true
  wait: true
  serviceAccountName: shop
  dependsOn:
    - {name: infrastructure}
  sourceRef: {kind: GitRepository, name: NAME}
  postBuild:
    substituteFrom:
      - {kind: ConfigMap, name: NAME}
",
    "\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: NAME, namespace: shop}
spec: {interval: 5m, url: 'https://git.example.com/shop/NAME.git', ref: {branch: main}, secretRef: {name: NAME}}
",
    "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: NAME, namespace: shop}
spec:
  interval: 1h
  chart:
    spec: {chart: app, version: 1.x, sourceRef: {kind: HelmRepository, name: charts}}
  install: {remediation: {retries: 3}}
  upgrade: {remediation: {retries: 3}}
  values:
    replicas: 2
    image: {repository: registry.example.com/NAME, tag: 1.2.3}
",
];

/// `count` objects of twenty kinds, a file for each twenty. All objects match the schemas of their kinds.
pub(crate) fn kinds(count: usize) -> Tree {
    let mut tree = Tree::default();
    for first in (0..count).step_by(MANIFESTS.len()) {
        let mut text = String::new();
        for (at, manifest) in MANIFESTS.iter().enumerate().take(count - first) {
            let name = format!("app-{:06}", first + at);
            write!(text, "---\n{}", manifest.replace("NAME", &name)).expect("a String takes everything");
        }
        tree.insert(File::new(format!("objects-{first:06}.yaml"), text));
    }
    tree
}
