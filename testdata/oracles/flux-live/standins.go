package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/fluxcd/pkg/sourceignore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type groupVersionKind = schema.GroupVersionKind

var (
	getOptions  = metav1.GetOptions{}
	nestedSlice = unstructured.NestedSlice
)

// FileServer serves artifacts in place of source-controller.
type FileServer struct {
	address string
	lock    sync.Mutex
	files   map[string][]byte
}

func serveFiles(port int) *FileServer {
	server := &FileServer{address: fmt.Sprintf("127.0.0.1:%d", port), files: map[string][]byte{}}
	listener, err := net.Listen("tcp", server.address)
	must(err)
	go func() {
		must(http.Serve(listener, http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
			server.lock.Lock()
			body, ok := server.files[request.URL.Path]
			server.lock.Unlock()
			if !ok {
				http.NotFound(writer, request)
				return
			}
			_, _ = writer.Write(body)
		})))
	}()
	return server
}

// put archives the files that a source does not ignore, serves the archive, and returns its digest.
func (server *FileServer) put(name string, files Files, ignore string) string {
	patterns := sourceignore.VCSPatterns(nil)
	if ignore == "" {
		patterns = append(patterns, sourceignore.DefaultPatterns(nil)...)
	}
	for _, file := range files.paths() {
		if path.Base(file) == ".sourceignore" {
			var domain []string
			if dir := path.Dir(file); dir != "." {
				domain = strings.Split(dir, "/")
			}
			patterns = append(patterns, sourceignore.ReadPatterns(strings.NewReader(files[file]), domain)...)
		}
	}
	patterns = append(patterns, sourceignore.ReadPatterns(strings.NewReader(ignore), nil)...)
	matcher := sourceignore.NewMatcher(patterns)
	var archive bytes.Buffer
	compressed := gzip.NewWriter(&archive)
	writer := tar.NewWriter(compressed)
	for _, file := range files.paths() {
		if ignored(matcher, file) || file == ".fleetwright.yaml" {
			continue
		}
		must(writer.WriteHeader(&tar.Header{Name: file, Mode: 0o644, Size: int64(len(files[file])), Typeflag: tar.TypeReg}))
		_, err := writer.Write([]byte(files[file]))
		must(err)
	}
	must(writer.Close())
	must(compressed.Close())
	server.lock.Lock()
	server.files["/"+name] = archive.Bytes()
	server.lock.Unlock()
	return fmt.Sprintf("sha256:%x", sha256.Sum256(archive.Bytes()))
}

func ignored(matcher interface {
	Match(path []string, isDir bool) bool
}, file string) bool {
	parts := strings.Split(file, "/")
	for count := 1; count < len(parts); count++ {
		if matcher.Match(parts[:count], true) {
			return true
		}
	}
	return matcher.Match(parts, false)
}

// Standins sets the status of objects in place of the controllers that do not run, such as source-controller,
// helm-controller, the controllers of workloads, and the kubelet. A HelmRelease of a well-known chart also installs the
// CustomResourceDefinitions of the chart.
type Standins struct {
	stack    *Stack
	files    Files
	url      string
	revision string
	// late lists the kinds whose CustomResourceDefinitions a chart installs, by the name of the chart.
	late map[string][]groupVersionKind
}

// charts lists the API groups of the CustomResourceDefinitions that well-known charts install.
var charts = map[string][]string{
	"cert-manager":          {"cert-manager.io", "acme.cert-manager.io"},
	"kyverno":               {"kyverno.io"},
	"kube-prometheus-stack": {"monitoring.coreos.com"},
	"external-secrets":      {"external-secrets.io"},
}

// standinKinds lists the kinds whose status Standins sets: sources, other kinds of Flux, and workloads.
var standinKinds = []groupVersionKind{
	{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "GitRepository"},
	{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "OCIRepository"},
	{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "Bucket"},
	{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "HelmRepository"},
	{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "HelmChart"},
	{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"},
	{Group: "image.toolkit.fluxcd.io", Version: "v1", Kind: "ImageRepository"},
	{Group: "image.toolkit.fluxcd.io", Version: "v1", Kind: "ImagePolicy"},
	{Group: "image.toolkit.fluxcd.io", Version: "v1", Kind: "ImageUpdateAutomation"},
	{Group: "notification.toolkit.fluxcd.io", Version: "v1", Kind: "Receiver"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "apps", Version: "v1", Kind: "StatefulSet"},
	{Group: "apps", Version: "v1", Kind: "DaemonSet"},
	{Group: "batch", Version: "v1", Kind: "Job"},
	{Group: "", Version: "v1", Kind: "Pod"},
}

func (standins *Standins) run(ctx context.Context) {
	for ctx.Err() == nil {
		for _, kind := range standinKinds {
			mapping, err := standins.stack.mapping(kind)
			if err != nil {
				continue
			}
			list, err := standins.stack.dynamic.Resource(mapping.Resource).List(ctx, metav1.ListOptions{})
			if err != nil {
				continue
			}
			for index := range list.Items {
				object := &list.Items[index]
				status := standins.status(ctx, object)
				if status == nil {
					continue
				}
				object.Object["status"] = status
				_, _ = standins.stack.dynamic.Resource(mapping.Resource).Namespace(object.GetNamespace()).
					UpdateStatus(ctx, object, metav1.UpdateOptions{})
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// status returns the new status of an object, or nil if the status does not change.
func (standins *Standins) status(ctx context.Context, object *unstructured.Unstructured) map[string]any {
	generation := object.GetGeneration()
	observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	switch kind := object.GetKind(); kind {
	case "GitRepository", "OCIRepository", "Bucket":
		revision, _, _ := unstructured.NestedString(object.Object, "status", "artifact", "revision")
		known := standins.serves(object)
		if observed == generation && (!known || revision == standins.revision) {
			return nil
		}
		if !known {
			return map[string]any{"observedGeneration": generation, "conditions": []any{condition(object, "Ready", false, "Unknown", "the case contains no copy of the source")}}
		}
		ignore, _, _ := unstructured.NestedString(object.Object, "spec", "ignore")
		name := fmt.Sprintf("%s/%s/%s/%d.tar.gz", strings.ToLower(kind), object.GetNamespace(), object.GetName(), generation)
		name = standins.revision + "/" + name
		digest := standins.stack.files.put(name, standins.files, ignore)
		return map[string]any{
			"observedGeneration": generation,
			"conditions":         []any{condition(object, "Ready", true, "Succeeded", "stored artifact")},
			"artifact": map[string]any{"url": "http://source-controller.flux-system.svc/" + name, "path": name,
				"revision": standins.revision, "digest": digest, "lastUpdateTime": time.Now().UTC().Format(time.RFC3339)},
		}
	case "HelmRelease":
		if observed == generation {
			return nil
		}
		chart, _, _ := unstructured.NestedString(object.Object, "spec", "chart", "spec", "chart")
		for _, late := range standins.late[path.Base(chart)] {
			_ = standins.stack.define(late, standins.files)
		}
		return map[string]any{"observedGeneration": generation, "conditions": []any{condition(object, "Ready", true, "InstallSucceeded", "installed")}}
	case "Deployment", "StatefulSet", "DaemonSet":
		pod, _, _ := unstructured.NestedMap(object.Object, "spec", "template", "spec")
		if observed == generation || !standins.runs(ctx, object.GetNamespace(), pod) {
			return nil
		}
		replicas, ok, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
		if !ok {
			replicas = 1
		}
		return map[string]any{
			"observedGeneration": generation, "replicas": replicas, "updatedReplicas": replicas, "readyReplicas": replicas,
			"availableReplicas": replicas, "currentReplicas": replicas, "desiredNumberScheduled": int64(1),
			"currentNumberScheduled": int64(1), "numberMisscheduled": int64(0), "numberReady": int64(1),
			"updatedNumberScheduled": int64(1), "numberAvailable": int64(1),
			"conditions": []any{condition(object, "Available", true, "MinimumReplicasAvailable", "runs"),
				condition(object, "Progressing", true, "NewReplicaSetAvailable", "runs")},
		}
	case "Job":
		pod, _, _ := unstructured.NestedMap(object.Object, "spec", "template", "spec")
		if _, ok, _ := unstructured.NestedString(object.Object, "status", "completionTime"); ok || !standins.runs(ctx, object.GetNamespace(), pod) {
			return nil
		}
		now := time.Now().UTC().Format(time.RFC3339)
		return map[string]any{"startTime": now, "completionTime": now, "succeeded": int64(1), "uncountedTerminatedPods": map[string]any{},
			"conditions": []any{condition(object, "SuccessCriteriaMet", true, "CompletionsReached", "done"), condition(object, "Complete", true, "CompletionsReached", "done")}}
	case "Pod":
		pod, _, _ := unstructured.NestedMap(object.Object, "spec")
		if phase, _, _ := unstructured.NestedString(object.Object, "status", "phase"); phase == "Running" || !standins.runs(ctx, object.GetNamespace(), pod) {
			return nil
		}
		return map[string]any{"phase": "Running", "conditions": []any{condition(object, "Ready", true, "Runs", "runs")}}
	default:
		if observed == generation {
			return nil
		}
		return map[string]any{"observedGeneration": generation, "conditions": []any{condition(object, "Ready", true, "Succeeded", "")}}
	}
}

// serves reports whether a source is the repository of the case.
func (standins *Standins) serves(object *unstructured.Unstructured) bool {
	url, _, _ := unstructured.NestedString(object.Object, "spec", "url")
	if object.GetKind() == "Bucket" {
		url, _, _ = unstructured.NestedString(object.Object, "spec", "endpoint")
	}
	return repository(url) == repository(standins.url)
}

// repository removes the parts of a URL that do not identify a repository: the scheme, the user, and the suffix `.git`.
func repository(url string) string {
	url = strings.TrimSuffix(strings.TrimSuffix(url, "/"), ".git")
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	if _, rest, ok := strings.Cut(url, "@"); ok {
		url = rest
	}
	return url
}

func condition(object *unstructured.Unstructured, kind string, holds bool, reason, message string) map[string]any {
	status := "False"
	if holds {
		status = "True"
	}
	found := map[string]any{"type": kind, "status": status, "reason": reason, "message": message,
		"lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
	if strings.Contains(object.GetAPIVersion(), "toolkit.fluxcd.io/") {
		found["observedGeneration"] = object.GetGeneration()
	}
	return found
}

// runs reports whether the kubelet could start a pod: whether the Secrets and ConfigMaps that the pod references exist.
func (standins *Standins) runs(ctx context.Context, namespace string, pod map[string]any) bool {
	for _, reference := range needs(pod) {
		var err error
		switch reference[0] {
		case "secret":
			_, err = standins.stack.kubernetes.CoreV1().Secrets(namespace).Get(ctx, reference[1], getOptions)
		case "configMap":
			_, err = standins.stack.kubernetes.CoreV1().ConfigMaps(namespace).Get(ctx, reference[1], getOptions)
		}
		if err != nil {
			return false
		}
	}
	return true
}

// needs returns the Secrets and ConfigMaps that a pod references and that are not optional.
func needs(value any) [][2]string {
	var found [][2]string
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			found = append(found, needs(item)...)
		}
	case map[string]any:
		for key, item := range value {
			found = append(found, needs(item)...)
			reference, ok := item.(map[string]any)
			if !ok || reference["optional"] == true {
				continue
			}
			name, _ := reference["name"].(string)
			if name == "" {
				name, _ = reference["secretName"].(string)
			}
			switch key {
			case "secretRef", "secretKeyRef", "secret":
				found = append(found, [2]string{"secret", name})
			case "configMapRef", "configMapKeyRef", "configMap":
				found = append(found, [2]string{"configMap", name})
			}
		}
	}
	return found
}

// prepare creates CustomResourceDefinitions for the kinds that the case uses but does not define. If a chart of the case
// installs the definition of a kind, `status` creates it later.
func (standins *Standins) prepare() error {
	standins.late = map[string][]groupVersionKind{}
	defined, charted := map[string]bool{}, map[string]bool{}
	for _, object := range standins.files.all() {
		if object.GetKind() == "CustomResourceDefinition" {
			group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
			kind, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
			defined[group+"/"+kind] = true
		}
		if chart, ok, _ := unstructured.NestedString(object.Object, "spec", "chart", "spec", "chart"); ok {
			charted[path.Base(chart)] = true
		}
	}
	for _, object := range standins.files.all() {
		kind := object.GroupVersionKind()
		if defined[kind.Group+"/"+kind.Kind] || kind.Group == "" || !strings.Contains(kind.Group, ".") || kind.Version == "" ||
			strings.HasSuffix(kind.Group, "kustomize.config.k8s.io") || strings.HasSuffix(kind.Group, ".fluxcd.io") ||
			strings.HasSuffix(kind.Group, "fluxcd.controlplane.io") || strings.HasSuffix(kind.Group, "authorization.k8s.io") {
			continue
		}
		if _, err := standins.stack.mapper.RESTMapping(kind.GroupKind(), kind.Version); err == nil {
			continue
		}
		defined[kind.Group+"/"+kind.Kind] = true
		late := false
		for chart, groups := range charts {
			for _, group := range groups {
				if group == kind.Group && charted[chart] {
					standins.late[chart] = append(standins.late[chart], kind)
					late = true
				}
			}
		}
		if !late {
			if err := standins.stack.define(kind, standins.files); err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
		}
	}
	return nil
}

// provide creates the namespaces that the objects of a case use and the case does not contain.
func (standins *Standins) provide() {
	declared, used := map[string]bool{}, map[string]bool{}
	for _, object := range standins.files.all() {
		if object.GetKind() == "Namespace" {
			declared[object.GetName()] = true
		}
		used[object.GetNamespace()] = true
		target, _, _ := unstructured.NestedString(object.Object, "spec", "targetNamespace")
		used[target] = true
	}
	for name := range used {
		if name != "" && !declared[name] && !strings.ContainsAny(name, "${<") {
			_ = standins.stack.apply(named("v1", "Namespace", "", name))
		}
	}
}

// define creates a CustomResourceDefinition that accepts every object of a kind. The kind is namespaced if an object has
// a namespace, or if a Kustomization may set one. A kind whose name starts with `Cluster` is cluster-scoped.
func (stack *Stack) define(kind groupVersionKind, files Files) error {
	scope := "Cluster"
	for _, object := range files.all() {
		if object.GroupVersionKind().GroupKind() == kind.GroupKind() && object.GetNamespace() != "" {
			scope = "Namespaced"
		}
	}
	for name, text := range files {
		if strings.Contains(text, "targetNamespace:") || strings.HasPrefix(path.Base(name), "kustomization.y") && strings.Contains(text, "namespace:") {
			scope = "Namespaced"
		}
	}
	if strings.HasPrefix(kind.Kind, "Cluster") {
		scope = "Cluster"
	}
	plural := strings.ToLower(kind.Kind) + "s"
	if strings.HasSuffix(kind.Kind, "y") {
		plural = strings.ToLower(strings.TrimSuffix(kind.Kind, "y")) + "ies"
	}
	return stack.apply(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural + "." + kind.Group,
			"annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, for tests"}},
		"spec": map[string]any{
			"group": kind.Group, "scope": scope,
			"names": map[string]any{"kind": kind.Kind, "plural": plural},
			"versions": []any{map[string]any{"name": kind.Version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
		},
	}})
}

func named(version, kind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAPIVersion(version)
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// apply applies an object with server-side apply, as a user does with kubectl.
func (stack *Stack) apply(object *unstructured.Unstructured) error {
	mapping, err := stack.mapping(object.GroupVersionKind())
	if err != nil {
		return err
	}
	object = object.DeepCopy()
	unstructured.RemoveNestedField(object.Object, "status")
	_, err = stack.dynamic.Resource(mapping.Resource).Namespace(object.GetNamespace()).
		Apply(context.Background(), object.GetName(), object, metav1.ApplyOptions{FieldManager: "bootstrap", Force: true})
	return err
}
