package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/fluxcd/pkg/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

type runtimeObject = runtime.Object

// Root is a cluster of a case: the directory that it syncs, the objects that a user applies to bootstrap it, and the
// arguments of its kustomize-controller.
type Root struct {
	path      string
	bootstrap []*unstructured.Unstructured
	arguments []string
	url       string
	// version is the minor version of Flux, such as 2.7, if the case sets one.
	version string
}

// rootsOf returns the clusters of a case. A cluster syncs the directory of a FluxInstance with a sync, or a directory
// with a Kustomization that applies this directory. Each other directory below `clusters/` is a cluster too, as
// `flux bootstrap` would sync it. Without any of these, the whole tree is one cluster.
func rootsOf(files Files) []*Root {
	roots := map[string]*Root{}
	flux := false
	for _, name := range files.paths() {
		for _, object := range objects(name, files[name]) {
			flux = flux || strings.Contains(object.GetAPIVersion(), "toolkit.fluxcd.io/")
			if object.GetKind() != "FluxInstance" {
				continue
			}
			if at, ok, _ := unstructured.NestedString(object.Object, "spec", "sync", "path"); ok {
				roots[clean(at)] = instance(files, clean(at), object)
			}
		}
	}
	if !flux && len(roots) == 0 {
		return nil
	}
	for _, name := range files.paths() {
		for _, object := range objects(name, files[name]) {
			at, ok := pathOf(object)
			if !ok || roots[at] != nil || !below(name, at) || at == "." && path.Base(name) != "gotk-sync.yaml" {
				continue
			}
			roots[at] = bootstrapped(files, at, object)
		}
	}
	for _, at := range files.directories() {
		if roots[at] == nil && files.has(path.Join(at, "kustomization.yaml")) {
			for _, object := range build(files, at) {
				if to, ok := pathOf(object); ok && to == at {
					roots[at] = bootstrapped(files, at, object)
				}
			}
		}
	}
	for _, name := range files.paths() {
		parts := strings.Split(name, "/")
		if len(parts) < 3 || parts[0] != "clusters" {
			continue
		}
		at := path.Join(parts[:2]...)
		if !within(roots, at) {
			roots[at] = invented(files, at)
		}
	}
	if len(roots) == 0 {
		roots["."] = invented(files, ".")
	}
	found := make([]*Root, 0, len(roots))
	for _, root := range roots {
		root.age(files)
		found = append(found, root)
	}
	sort.Slice(found, func(a, b int) bool { return found[a].path < found[b].path })
	return found
}

var stated = regexp.MustCompile(`(?:app.kubernetes.io/version: "?v|\bversion: "?[v=~^]?)2\.(\d+)\b`)

// age sets the version of a cluster, and the default arguments of that version. It searches the directory of the cluster
// first, and then all other files.
func (root *Root) age(files Files) {
	for _, inside := range []bool{true, false} {
		for _, name := range files.paths() {
			isFlux := strings.Contains(files[name], "kind: FluxInstance") || path.Base(name) == "gotk-components.yaml"
			if match := stated.FindStringSubmatch(files[name]); match != nil && isFlux && root.version == "" && below(name, root.path) == inside {
				root.version = "2." + match[1]
			}
		}
	}
	if minor, err := strconv.Atoi(strings.TrimPrefix(root.version, "2.")); err == nil && minor < 9 && !strings.Contains(strings.Join(root.arguments, " "), "StrictPostBuildSubstitutions") {
		root.arguments = append(root.arguments, "--feature-gates=StrictPostBuildSubstitutions=false")
	}
}

// within reports whether a root is the directory itself, below it or above it.
func within(roots map[string]*Root, at string) bool {
	for other := range roots {
		if below(other, at) || below(at, other) {
			return true
		}
	}
	return false
}

func clean(at string) string { return strings.TrimPrefix(path.Clean("/"+at), "/") + dotIfRoot(at) }

func dotIfRoot(at string) string {
	if path.Clean("/"+at) == "/" {
		return "."
	}
	return ""
}

func below(name, at string) bool {
	return at == "." || name == at || strings.HasPrefix(name, at+"/")
}

// pathOf returns the directory of its source that a Flux Kustomization applies.
func pathOf(object *unstructured.Unstructured) (string, bool) {
	if object.GetKind() != "Kustomization" || !strings.HasPrefix(object.GetAPIVersion(), "kustomize.toolkit.fluxcd.io/") {
		return "", false
	}
	at, ok, _ := unstructured.NestedString(object.Object, "spec", "path")
	return clean(at), ok
}

func (files Files) has(name string) bool {
	_, ok := files[name]
	return ok
}

func (files Files) directories() []string {
	seen := map[string]bool{}
	for name := range files {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			seen[dir] = true
		}
	}
	found := make([]string, 0, len(seen))
	for dir := range seen {
		found = append(found, dir)
	}
	sort.Strings(found)
	return found
}

// build builds a directory as kustomize-controller does. It returns nil if the build fails.
func build(files Files, at string) []*unstructured.Unstructured {
	dir, err := os.MkdirTemp("", "build")
	must(err)
	defer os.RemoveAll(dir)
	must(files.write(dir))
	full := filepath.Join(dir, at)
	generator := kustomize.NewGenerator(dir, unstructured.Unstructured{Object: map[string]any{}})
	if _, err := generator.WriteFile(full); err != nil {
		return nil
	}
	built, err := kustomize.SecureBuild(dir, full, false)
	if err != nil {
		return nil
	}
	text, err := built.AsYaml()
	if err != nil {
		return nil
	}
	return objects("build.yaml", string(text))
}

// bootstrapped returns a cluster that `flux bootstrap` created: its Kustomization, the source, and the arguments of the
// patched components.
func bootstrapped(files Files, at string, sync *unstructured.Unstructured) *Root {
	root := &Root{path: at}
	source, _, _ := unstructured.NestedStringMap(sync.Object, "spec", "sourceRef")
	if source["namespace"] == "" {
		source["namespace"] = sync.GetNamespace()
	}
	candidates := build(files, at)
	if folder := path.Join(at, "flux-system"); files.has(path.Join(folder, "kustomization.yaml")) {
		candidates = append(build(files, folder), candidates...)
	}
	for _, name := range files.paths() {
		if below(name, at) {
			candidates = append(candidates, objects(name, files[name])...)
		}
	}
	candidates = append(candidates, files.all()...)
	root.arguments = arguments(candidates)
	same := func(object *unstructured.Unstructured, kind, name, namespace string) bool {
		return object.GetKind() == kind && object.GetName() == name && object.GetNamespace() == namespace &&
			strings.Contains(object.GetAPIVersion(), "toolkit.fluxcd.io/")
	}
	for _, object := range candidates {
		if same(object, source["kind"], source["name"], source["namespace"]) {
			root.bootstrap = append(root.bootstrap, object)
			root.url, _, _ = unstructured.NestedString(object.Object, "spec", "url")
			break
		}
	}
	for _, object := range candidates {
		if same(object, "Kustomization", sync.GetName(), sync.GetNamespace()) {
			if to, ok := pathOf(object); ok && to == at {
				sync = object
				break
			}
		}
	}
	root.bootstrap = append(root.bootstrap, sync)
	return root
}

// invented returns a cluster as `flux bootstrap` would create it, and adds the file that `flux bootstrap` commits.
func invented(files Files, at string) *Root {
	url := "https://git.example.com/acme/fleet.git"
	for _, object := range append(build(files, at), files.all()...) {
		if object.GetKind() == "GitRepository" && object.GetName() == "flux-system" {
			if found, ok, _ := unstructured.NestedString(object.Object, "spec", "url"); ok {
				url = found
			}
		}
	}
	root := &Root{path: at, url: url, bootstrap: syncObjects("GitRepository", "flux-system", "flux-system", url, at, ""),
		arguments: arguments(build(files, path.Join(at, "flux-system")))}
	if file := path.Join(at, "flux-system", "gotk-sync.yaml"); at != "." && !files.has(file) {
		files[file] = text(root.bootstrap[0].Object) + "---\n" + text(root.bootstrap[1].Object)
	}
	return root
}

// instance returns a cluster that Flux Operator bootstraps: the sync objects and the arguments of the controller, after
// the patches of the FluxInstance.
func instance(files Files, at string, object *unstructured.Unstructured) *Root {
	kind, _, _ := unstructured.NestedString(object.Object, "spec", "sync", "kind")
	url, _, _ := unstructured.NestedString(object.Object, "spec", "sync", "url")
	name, ok, _ := unstructured.NestedString(object.Object, "spec", "sync", "name")
	namespace := object.GetNamespace()
	if namespace == "" {
		namespace = "flux-system"
	}
	if !ok {
		name = namespace
	}
	multitenant, _, _ := unstructured.NestedBool(object.Object, "spec", "cluster", "multitenant")
	var flags []any
	account := ""
	if multitenant {
		account = "kustomize-controller"
		accounts, _, _ := unstructured.NestedString(object.Object, "spec", "cluster", "tenantDefaultServiceAccount")
		if accounts == "" {
			accounts = "default"
		}
		flags = []any{"--no-cross-namespace-refs=true", "--no-remote-bases=true", "--default-service-account=" + accounts}
	}
	sync := syncObjects(kind, name, namespace, url, at, account)
	deployment := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "kustomize-controller", "namespace": namespace},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
			"name": "manager", "args": append([]any{"--events-addr=", "--watch-all-namespaces=true", "--log-level=info"}, flags...)}}}}},
	}}
	patches, _, _ := unstructured.NestedSlice(object.Object, "spec", "kustomize", "patches")
	built := Files{"kustomization.yaml": text(map[string]any{"resources": []any{"all.yaml"}, "patches": patches})}
	for _, object := range append(sync, deployment) {
		built["all.yaml"] += "---\n" + text(object.Object)
	}
	root := &Root{path: at, url: url, bootstrap: sync, arguments: arguments([]*unstructured.Unstructured{deployment})}
	// The patches for other controllers do not select an object here. This is not an error.
	if patched := build(built, "."); len(patched) > 0 {
		root.bootstrap, root.arguments = nil, arguments(patched)
		for _, object := range patched {
			if object.GetKind() != "Deployment" {
				root.bootstrap = append(root.bootstrap, object)
			}
		}
	}
	return root
}

func text(value any) string {
	text, err := yaml.Marshal(value)
	must(err)
	return string(text)
}

func syncObjects(kind, name, namespace, url, at, account string) []*unstructured.Unstructured {
	metadata := map[string]any{"name": name, "namespace": namespace}
	spec := map[string]any{"interval": "1m", "url": url}
	if kind == "Bucket" {
		spec = map[string]any{"interval": "1m", "endpoint": url, "bucketName": "fleet"}
	}
	apply := map[string]any{"interval": "10m", "path": "./" + at, "prune": true,
		"sourceRef": map[string]any{"kind": kind, "name": name}}
	if account != "" {
		apply["serviceAccountName"] = account
	}
	return []*unstructured.Unstructured{
		{Object: map[string]any{"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": kind, "metadata": metadata, "spec": spec}},
		{Object: map[string]any{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": metadata, "spec": apply}},
	}
}

// arguments returns the arguments of kustomize-controller that affect the record.
func arguments(objects []*unstructured.Unstructured) []string {
	var found []string
	for _, object := range objects {
		if object.GetKind() != "Deployment" || object.GetName() != "kustomize-controller" {
			continue
		}
		containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
		for _, container := range containers {
			values, _, _ := unstructured.NestedStringSlice(container.(map[string]any), "args")
			for _, value := range values {
				name, _, _ := strings.Cut(strings.TrimLeft(value, "-"), "=")
				switch name {
				case "no-cross-namespace-refs", "no-remote-bases", "default-service-account", "feature-gates",
					"watch-label-selector", "default-kubeconfig-service-account", "default-decryption-service-account":
					found = append(found, value)
				}
			}
		}
		return found
	}
	return found
}
