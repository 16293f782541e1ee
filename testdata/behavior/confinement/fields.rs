//! The fields of manifests that take a path, each with a target that would be printed if it were read.

use super::checkout::{CANARY, Checkout};

/// A field that takes a path.
pub(super) struct Field {
    /// Its name, which is also the name of its directory below `apps`.
    pub(super) name: &'static str,
    /// What it names in the tree of targets: a file or a directory.
    pub(super) target: &'static str,
    /// The files of the tree of targets, with `CANARY` where the canary of this field stands.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// The files of its directory, with `PATH` where the path stands.
    pub(super) own: &'static [(&'static str, &'static str)],
    /// Whether some command prints the target where it may be read.
    pub(super) is_shown: bool,
}

const CARRIER: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: carrier}\ndata: {field: value}\n";
const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: object}\ndata: {text: CANARY}\n";
const PATCH: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: carrier}\ndata: {text: CANARY}\n";

/// Every field that takes a path of a file or of a directory.
pub(super) const FIELDS: &[Field] = &[
    Field {
        name: "resources-file",
        target: "file/object.yaml",
        files: &[("file/object.yaml", OBJECT)],
        own: &[("kustomization.yaml", "resources: [PATH]\n")],
        is_shown: true,
    },
    Field {
        name: "resources-directory",
        target: "resources",
        files: &[("resources/kustomization.yaml", "resources: [o.yaml]\n"), ("resources/o.yaml", OBJECT)],
        own: &[("kustomization.yaml", "resources: [PATH]\n")],
        is_shown: true,
    },
    Field {
        name: "bases",
        target: "bases",
        files: &[("bases/kustomization.yaml", "resources: [o.yaml]\n"), ("bases/o.yaml", OBJECT)],
        own: &[("kustomization.yaml", "bases: [PATH]\n")],
        is_shown: true,
    },
    Field {
        name: "components",
        target: "component",
        files: &[
            (
                "component/kustomization.yaml",
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [o.yaml]\n",
            ),
            ("component/o.yaml", OBJECT),
        ],
        own: &[("kustomization.yaml", "components: [PATH]\n")],
        is_shown: true,
    },
    Field {
        name: "files",
        target: "file/text",
        files: &[("file/text", "CANARY\n")],
        own: &[("kustomization.yaml", "configMapGenerator: [{name: made, files: [\"key=PATH\"]}]\n")],
        is_shown: true,
    },
    Field {
        name: "files-without-a-key",
        target: "file/without-a-key",
        files: &[("file/without-a-key", "CANARY\n")],
        own: &[("kustomization.yaml", "configMapGenerator: [{name: made, files: [\"PATH\"]}]\n")],
        is_shown: true,
    },
    Field {
        name: "secret-files",
        target: "file/secret",
        files: &[("file/secret", "CANARY\n")],
        own: &[("kustomization.yaml", "secretGenerator: [{name: made, files: [\"key=PATH\"]}]\n")],
        is_shown: true,
    },
    Field {
        name: "envs",
        target: "file/envs",
        files: &[("file/envs", "KEY=CANARY\n")],
        own: &[("kustomization.yaml", "configMapGenerator: [{name: made, envs: [\"PATH\"]}]\n")],
        is_shown: true,
    },
    Field {
        name: "env",
        target: "file/env",
        files: &[("file/env", "KEY=CANARY\n")],
        own: &[("kustomization.yaml", "configMapGenerator: [{name: made, env: \"PATH\"}]\n")],
        is_shown: true,
    },
    Field {
        name: "patches",
        target: "file/patch.yaml",
        files: &[("file/patch.yaml", PATCH)],
        own: &[
            ("kustomization.yaml", "resources: [carrier.yaml]\npatches: [{path: \"PATH\"}]\n"),
            ("carrier.yaml", CARRIER),
        ],
        is_shown: true,
    },
    Field {
        name: "patches-strategic-merge",
        target: "file/merge.yaml",
        files: &[("file/merge.yaml", PATCH)],
        own: &[
            ("kustomization.yaml", "resources: [carrier.yaml]\npatchesStrategicMerge: [\"PATH\"]\n"),
            ("carrier.yaml", CARRIER),
        ],
        is_shown: true,
    },
    Field {
        name: "patches-json",
        target: "file/json.yaml",
        files: &[("file/json.yaml", "- {op: add, path: /data/text, value: CANARY}\n")],
        own: &[
            (
                "kustomization.yaml",
                "resources: [carrier.yaml]\npatchesJson6902: [{path: \"PATH\", target: {version: v1, kind: ConfigMap, name: \
                 carrier}}]\n",
            ),
            ("carrier.yaml", CARRIER),
        ],
        is_shown: true,
    },
    Field {
        name: "replacements",
        target: "file/replacements.yaml",
        files: &[("file/replacements.yaml", "- {source: {kind: ConfigMap, name: CANARY}, targets: []}\n")],
        own: &[
            ("kustomization.yaml", "resources: [carrier.yaml]\nreplacements: [{path: \"PATH\"}]\n"),
            ("carrier.yaml", CARRIER),
        ],
        is_shown: true,
    },
    Field {
        name: "generators",
        target: "file/generator.yaml",
        files: &[(
            "file/generator.yaml",
            "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: made}\nliterals: [\"key=CANARY\"]\n",
        )],
        own: &[("kustomization.yaml", "generators: [\"PATH\"]\n")],
        is_shown: true,
    },
    Field {
        name: "generators-in-line",
        target: "file/generated",
        files: &[("file/generated", "CANARY\n")],
        own: &[(
            "kustomization.yaml",
            "generators:\n- |-\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n  metadata: {name: made}\n  files: \
             [\"key=PATH\"]\n",
        )],
        is_shown: true,
    },
    Field {
        name: "transformers",
        target: "file/transformer.yaml",
        files: &[(
            "file/transformer.yaml",
            "apiVersion: builtin\nkind: AnnotationsTransformer\nmetadata: {name: t}\nannotations: {text: CANARY}\n\
             fieldSpecs: [{path: metadata/annotations, create: true}]\n",
        )],
        own: &[
            ("kustomization.yaml", "resources: [carrier.yaml]\ntransformers: [\"PATH\"]\n"),
            ("carrier.yaml", CARRIER),
        ],
        is_shown: true,
    },
    Field {
        name: "transformers-in-line",
        target: "file/transformed.yaml",
        files: &[("file/transformed.yaml", PATCH)],
        own: &[
            (
                "kustomization.yaml",
                "resources: [carrier.yaml]\ntransformers:\n- |-\n  apiVersion: builtin\n  kind: \
                 PatchTransformer\n  metadata: {name: t}\n  path: \"PATH\"\n",
            ),
            ("carrier.yaml", CARRIER),
        ],
        is_shown: true,
    },
    Field {
        name: "validators",
        target: "file/validator.yaml",
        files: &[("file/validator.yaml", "apiVersion: example.com/v1\nkind: CANARY\nmetadata: {name: CANARY}\n")],
        own: &[
            ("kustomization.yaml", "resources: [carrier.yaml]\nvalidators: [\"PATH\"]\n"),
            ("carrier.yaml", CARRIER),
        ],
        is_shown: true,
    },
    Field {
        name: "configurations",
        target: "file/configuration.yaml",
        files: &[("file/configuration.yaml", "namePrefix: [{path: metadata/annotations, CANARY: true}]\nCANARY: 1\n")],
        own: &[
            ("kustomization.yaml", "resources: [carrier.yaml]\nconfigurations: [\"PATH\"]\n"),
            ("carrier.yaml", CARRIER),
        ],
        is_shown: true,
    },
    Field {
        name: "crds",
        target: "file/crd.yaml",
        files: &[("file/crd.yaml", "CANARY: [\n")],
        own: &[("kustomization.yaml", "resources: [carrier.yaml]\ncrds: [\"PATH\"]\n"), ("carrier.yaml", CARRIER)],
        is_shown: true,
    },
    Field {
        name: "openapi",
        target: "file/openapi.json",
        files: &[("file/openapi.json", "{\"CANARY\": [\n")],
        own: &[
            ("kustomization.yaml", "resources: [carrier.yaml]\nopenapi: {path: \"PATH\"}\n"),
            ("carrier.yaml", CARRIER),
        ],
        is_shown: true,
    },
    Field {
        name: "helm-values",
        target: "file/values.yaml",
        files: &[("file/values.yaml", "CANARY: CANARY\n")],
        own: &[(
            "kustomization.yaml",
            "helmCharts: [{name: c, repo: https://example.com, version: 1.0.0, releaseName: c, valuesFile: \"PATH\", \
             additionalValuesFiles: [\"PATH\"]}]\n",
        )],
        is_shown: false,
    },
    Field {
        name: "helm-home",
        target: "charts",
        files: &[
            ("charts/c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\ndescription: CANARY\n"),
            ("charts/c/values.yaml", "text: CANARY\n"),
            ("charts/c/templates/o.yaml", OBJECT),
        ],
        own: &[("kustomization.yaml", "helmGlobals: {chartHome: \"PATH\"}\nhelmCharts: [{name: c, releaseName: c}]\n")],
        is_shown: false,
    },
    Field {
        name: "spec-path",
        target: "path",
        files: &[("path/o.yaml", OBJECT)],
        own: &[(
            "applied.yaml",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: of-path, namespace: \
             flux-system}\nspec: {path: \"apps/spec-path/PATH\", prune: true, targetNamespace: own, sourceRef: {kind: \
             GitRepository, name: flux-system}}\n",
        )],
        is_shown: true,
    },
    Field {
        name: "spec-components",
        target: "parts",
        files: &[
            (
                "parts/kustomization.yaml",
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [o.yaml]\n",
            ),
            ("parts/o.yaml", OBJECT),
        ],
        own: &[
            (
                "applied.yaml",
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: of-parts, namespace: \
                 flux-system}\nspec: {path: ./apps/spec-components/below, components: [\"../PATH\"], prune: true, \
                 sourceRef: {kind: GitRepository, name: flux-system}}\n",
            ),
            ("below/o.yaml", CARRIER),
        ],
        is_shown: true,
    },
    Field {
        name: "include",
        target: "included",
        files: &[("included/o.yaml", OBJECT)],
        own: &[(
            "applied.yaml",
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: whole, namespace: \
             flux-system}\nspec: {url: https://example.com/fleet.git, ref: {branch: main}, include: [{repository: {name: \
             flux-system}, fromPath: \"apps/include/PATH\", toPath: in}]}\n---\napiVersion: \
             kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: of-include, namespace: \
             flux-system}\nspec: {path: ./in, prune: true, targetNamespace: in, sourceRef: {kind: GitRepository, name: \
             whole}}\n",
        )],
        is_shown: true,
    },
    Field {
        name: "artifact-copy",
        target: "copied",
        files: &[("copied/o.yaml", OBJECT)],
        own: &[(
            "applied.yaml",
            "apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: g, namespace: \
             flux-system}\nspec: {sources: [{alias: own, kind: GitRepository, name: flux-system}], artifacts: [{name: \
             generated, copy: [{from: \"@own/apps/artifact-copy/PATH/**\", to: \"@artifact/\"}]}]}\n---\napiVersion: \
             kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: of-artifact, namespace: \
             flux-system}\nspec: {path: ./, prune: true, targetNamespace: art, sourceRef: {kind: ExternalArtifact, name: \
             generated}}\n",
        )],
        is_shown: true,
    },
    Field {
        name: "chart",
        target: "chart",
        files: &[
            ("chart/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
            ("chart/values.schema.json", "{\"required\": [\"CANARY\"]}"),
        ],
        own: &[(
            "applied.yaml",
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: of-chart, namespace: \
             flux-system}\nspec: {interval: 1h, chart: {spec: {chart: \"apps/chart/PATH\", sourceRef: {kind: \
             GitRepository, name: flux-system}}}}\n",
        )],
        is_shown: true,
    },
    Field {
        name: "helm-chart",
        target: "chart-of-kind",
        files: &[
            ("chart-of-kind/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
            ("chart-of-kind/values.schema.json", "{\"required\": [\"CANARY\"]}"),
        ],
        own: &[(
            "applied.yaml",
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmChart\nmetadata: {name: own, namespace: \
             flux-system}\nspec: {interval: 1h, chart: \"apps/helm-chart/PATH\", sourceRef: {kind: GitRepository, name: \
             flux-system}}\n---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: \
             of-helm-chart, namespace: flux-system}\nspec: {interval: 1h, chartRef: {kind: HelmChart, name: own}}\n",
        )],
        is_shown: true,
    },
    Field {
        name: "values-files",
        target: "chart-values.yaml",
        files: &[("chart-values.yaml", "text: CANARY\n")],
        own: &[
            ("kustomization.yaml", "resources: [applied.yaml]\n"),
            ("Chart.yaml", "apiVersion: v2\nname: v\nversion: 1.0.0\n"),
            ("values.schema.json", "{\"properties\": {\"text\": {\"type\": \"integer\"}}}"),
            (
                "applied.yaml",
                "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: of-values-files, namespace: \
                 flux-system}\nspec: {interval: 1h, chart: {spec: {chart: apps/values-files, sourceRef: {kind: \
                 GitRepository, name: flux-system}, valuesFiles: [\"apps/values-files/PATH\"]}}}\n",
            ),
        ],
        is_shown: true,
    },
    Field {
        name: "chart-dependency",
        target: "subchart",
        files: &[
            ("subchart/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
            ("subchart/values.schema.json", "{\"required\": [\"CANARY\"]}"),
        ],
        own: &[
            ("kustomization.yaml", "resources: [applied.yaml]\n"),
            (
                "Chart.yaml",
                "apiVersion: v2\nname: p\nversion: 1.0.0\ndependencies: [{name: c, version: 1.0.0, repository: \
                 \"file://PATH\"}]\n",
            ),
            (
                "applied.yaml",
                "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: of-chart-dependency, \
                 namespace: flux-system}\nspec: {interval: 1h, chart: {spec: {chart: apps/chart-dependency, sourceRef: \
                 {kind: GitRepository, name: flux-system}}}}\n",
            ),
        ],
        is_shown: true,
    },
];

/// The object of a field's target.
pub(super) fn object(name: &str) -> String {
    OBJECT.replace("CANARY", &canary(name))
}

fn canary(name: &str) -> String {
    format!("{CANARY}-{name}-end")
}

impl Field {
    /// The text that only its target has.
    pub(super) fn canary(&self) -> String {
        canary(self.name)
    }

    /// The files of its target, by their paths in the tree of targets.
    pub(super) fn targets(&self) -> impl Iterator<Item = (&str, String)> {
        self.files.iter().map(|(path, text)| (*path, text.replace("CANARY", &self.canary())))
    }

    /// Writes the files that name the target by a path.
    pub(super) fn write(&self, checkout: &Checkout, path: &str) {
        for (name, text) in self.own {
            checkout.write(&format!("apps/{}/{name}", self.name), &text.replace("PATH", path));
        }
    }
}

/// The cluster that every directory below `apps` is applied on.
pub(super) fn write_cluster(checkout: &Checkout) {
    let sync = |name: &str, path: &str| {
        format!(
            "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: \
             flux-system}}\nspec: {{path: {path}, prune: true, interval: 1h, sourceRef: {{kind: GitRepository, name: \
             flux-system}}}}\n"
        )
    };
    let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: \
                  flux-system}\nspec: {interval: 1h, url: https://example.com/fleet.git, ref: {branch: main}}\n";
    let root = format!("{source}{}", sync("flux-system", "./clusters/one"));
    checkout.write("clusters/one/flux-system/gotk-sync.yaml", &root);
    let apps: String = FIELDS.iter().map(|field| sync(field.name, &format!("./apps/{}", field.name))).collect();
    checkout.write("clusters/one/apps.yaml", &apps);
}
