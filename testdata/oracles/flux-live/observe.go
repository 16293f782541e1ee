package main

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"sort"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Answer is the final state of a cluster.
type Answer struct {
	// Failed is the reason why the bootstrap of the cluster failed.
	Failed string `json:"failed,omitempty"`
	// Version is the minor version of Flux that the case sets. If it is empty, the version of `record` applies.
	Version        string            `json:"version,omitempty"`
	Arguments      []string          `json:"arguments,omitempty"`
	Kustomizations map[string]*State `json:"kustomizations,omitempty"`
	// Lost lists the objects of two inventories that are deleted together with one of the two Kustomizations.
	Lost []string `json:"lost,omitempty"`
	// Kept and Stuck list the objects that exist after the repository became empty. Those in Stuck are being deleted,
	// but their deletion does not complete.
	Kept  []string `json:"kept,omitempty"`
	Stuck []string `json:"stuck,omitempty"`
}

// State is the final state of a Kustomization.
type State struct {
	Path      string   `json:"path,omitempty"`
	Ready     string   `json:"ready"`
	Reason    string   `json:"reason,omitempty"`
	Message   string   `json:"message,omitempty"`
	Inventory []string `json:"inventory,omitempty"`
}

// waits reports whether a Kustomization is not ready.
func (answer *Answer) waits() bool {
	for _, state := range answer.Kustomizations {
		if state.Ready != "True" {
			return true
		}
	}
	return false
}

func (answer *Answer) summary() string {
	ready := 0
	for _, state := range answer.Kustomizations {
		if state.Ready == "True" {
			ready++
		}
	}
	return fmt.Sprintf("%d of %d ready, %d lost, %d kept, %d stuck", ready, len(answer.Kustomizations), len(answer.Lost), len(answer.Kept), len(answer.Stuck))
}

var kustomizations = schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"}

// observe bootstraps a cluster and waits until its state no longer changes. Then it empties the repository and waits
// again.
func (stack *Stack) observe(files Files, root *Root, complete bool) (*Answer, error) {
	if err := stack.reset(); err != nil {
		return nil, err
	}
	time.Sleep(300 * time.Millisecond)
	stack.mapper.Reset()
	ctx, cancel := context.WithCancel(context.Background())
	standins := &Standins{stack: stack, files: files, url: root.url, revision: "main@sha1:1111111111111111111111111111111111111111"}
	if err := standins.prepare(); err != nil {
		cancel()
		return nil, err
	}
	if err := stack.installOld(files, root.version); err != nil {
		cancel()
		return nil, err
	}
	if !complete {
		standins.provide()
	}
	answer := &Answer{Version: root.version, Arguments: root.arguments}
	for _, object := range root.bootstrap {
		if namespace := object.GetNamespace(); namespace != "" && namespace != "flux-system" {
			_ = stack.apply(named("v1", "Namespace", "", namespace))
		}
		if err := stack.retried(object); err != nil {
			cancel()
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	done := make(chan struct{})
	go func() { standins.run(ctx); close(done) }()
	process := stack.control(root.arguments)
	defer func() {
		end(process)
		cancel()
		<-done
	}()
	objects := stack.settle(ctx, answer)
	answer.Lost = stack.lose(ctx, objects)
	if answer.waits() {
		// The workers of the controller may still wait for objects that never become ready.
		end(process)
		process = stack.control(root.arguments)
	}
	// The repository becomes empty, except for the objects of the bootstrap.
	kept := Files{path.Join(root.path, "all.yaml"): text(map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "empty", "namespace": "flux-system"}})}
	bootstrap := map[string]bool{}
	for _, object := range root.bootstrap {
		kept[path.Join(root.path, "all.yaml")] += "---\n" + text(object.Object)
		bootstrap[identity(object.GroupVersionKind().Group, object.GetKind(), object.GetNamespace(), object.GetName())] = true
	}
	standins.files, standins.revision = kept, "main@sha1:2222222222222222222222222222222222222222"
	for name := range objects {
		if bootstrap[name] {
			delete(objects, name)
		}
	}
	answer.Kept, answer.Stuck = stack.remain(ctx, objects, 12*time.Second)
	return answer, nil
}

// retried applies an object. It retries errors, since the API server may not serve a restored
// CustomResourceDefinition yet.
func (stack *Stack) retried(object *unstructured.Unstructured) error {
	var err error
	for range 20 {
		if err = stack.apply(object); err == nil {
			return nil
		}
		time.Sleep(250 * time.Millisecond)
		stack.mapper.Reset()
	}
	return err
}

// Entry is an object of an inventory, with its API version and the Kustomizations that apply it.
type Entry struct {
	kind            groupVersionKind
	namespace, name string
	owners          []string
}

// settle waits until the states of all Kustomizations no longer change, and returns the objects of their inventories.
func (stack *Stack) settle(ctx context.Context, answer *Answer) map[string]*Entry {
	answer.Kustomizations = map[string]*State{}
	started := time.Now()
	changed := started
	last := ""
	entries := map[string]*Entry{}
	for time.Since(started) < 100*time.Second {
		time.Sleep(250 * time.Millisecond)
		list, err := stack.dynamic.Resource(kustomizations).List(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		states := map[string]*State{}
		ready, waits, first := len(list.Items) > 0, false, false
		clear(entries)
		for index := range list.Items {
			object := &list.Items[index]
			name := object.GetNamespace() + "/" + object.GetName()
			state := answer.Kustomizations[name]
			if state == nil {
				state = &State{Ready: "Unknown"}
			}
			if suspended, _, _ := unstructured.NestedBool(object.Object, "spec", "suspend"); suspended {
				state = &State{Ready: "Suspended"}
			}
			conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
			for _, item := range conditions {
				condition := item.(map[string]any)
				observed, _ := condition["observedGeneration"].(int64)
				if condition["type"] != "Ready" || condition["status"] == "Unknown" || observed != object.GetGeneration() {
					waits = waits || condition["type"] == "Ready"
					continue
				}
				reason, _ := condition["reason"].(string)
				message, _ := condition["message"].(string)
				state = &State{Ready: condition["status"].(string), Reason: reason, Message: stack.normal(message)}
			}
			state.Path, _, _ = unstructured.NestedString(object.Object, "spec", "path")
			state.Inventory = inventory(object, name, entries)
			states[name] = state
			ready = ready && state.Ready != "Unknown" && state.Ready != "False" && !waits
			first = first || state.Ready == "Unknown"
			waits = waits || state.Reason == "HealthCheckFailed" || state.Reason == "DependencyNotReady"
		}
		answer.Kustomizations = states
		now := summary(states)
		if now != last {
			last, changed = now, time.Now()
		}
		quiet := 4 * time.Second
		if first {
			// kustomize-controller waits at least 30 seconds for health checks.
			quiet = 36 * time.Second
		} else if waits {
			quiet = 9 * time.Second
		} else if ready {
			quiet = 1500 * time.Millisecond
		}
		if time.Since(changed) > quiet && len(states) > 0 {
			break
		}
	}
	return entries
}

func summary(states map[string]*State) string {
	names := make([]string, 0, len(states))
	for name, state := range states {
		names = append(names, fmt.Sprint(name, state.Ready, state.Reason, state.Message, state.Inventory))
	}
	sort.Strings(names)
	return strings.Join(names, "\n")
}

// inventory returns the objects in the inventory of a Kustomization, and adds them to the entries of all Kustomizations.
func inventory(object *unstructured.Unstructured, owner string, all map[string]*Entry) []string {
	var found []string
	entries, _, _ := unstructured.NestedSlice(object.Object, "status", "inventory", "entries")
	for _, item := range entries {
		fields := item.(map[string]any)
		id, _ := fields["id"].(string)
		version, _ := fields["v"].(string)
		// The id consists of namespace, name, group and kind. Two underscores in a name represent a colon.
		parts := strings.Split(id, "_")
		count := len(parts)
		if count < 4 {
			continue
		}
		namespace, group, kind := parts[0], parts[count-2], parts[count-1]
		name := strings.ReplaceAll(strings.Join(parts[1:count-2], "_"), "__", ":")
		full := identity(group, kind, namespace, name)
		if all[full] == nil {
			all[full] = &Entry{kind: groupVersionKind{Group: group, Version: version, Kind: kind}, namespace: namespace, name: name}
		}
		all[full].owners = append(all[full].owners, owner)
		found = append(found, full)
	}
	sort.Strings(found)
	return found
}

func identity(group, kind, namespace, name string) string {
	if group != "" {
		kind += "." + group
	}
	if namespace != "" {
		name = namespace + "/" + name
	}
	return kind + " " + name
}

var variable = []struct {
	pattern     *regexp.Regexp
	replacement string
}{
	{regexp.MustCompile(`/[^ '"]*/tmp/kustomization-\d+`), ""},
	{regexp.MustCompile(`(127\.0\.0\.1|localhost):\d+`), "localhost"},
	{regexp.MustCompile(`\b\d+(\.\d+)?(ns|µs|ms|s)\b`), "T"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`[0-9a-f]{40}`), "SHA"},
	{regexp.MustCompile(`\s+`), " "},
}

// normal removes the parts of a message that differ between runs, such as ports and durations.
func (stack *Stack) normal(message string) string {
	for _, item := range variable {
		message = item.pattern.ReplaceAllString(message, item.replacement)
	}
	if before, list, ok := strings.Cut(message, "timeout waiting for: ["); ok {
		parts := strings.Split(strings.TrimSuffix(list, "]"), ", ")
		sort.Strings(parts)
		message = before + "timeout waiting for: [" + strings.Join(parts, ", ") + "]"
	}
	// A health check that times out returns one of two errors, at random.
	if before, _, ok := strings.Cut(message, "client rate limiter Wait"); ok {
		message = before + "timeout"
	}
	if runes := []rune(message); len(runes) > 400 {
		message = string(runes[:400]) + "…"
	}
	return message
}

// lose deletes one owner of each object that is in two inventories, and returns the objects that are deleted with it.
func (stack *Stack) lose(ctx context.Context, entries map[string]*Entry) []string {
	names := make([]string, 0, len(entries))
	for name := range entries {
		names = append(names, name)
	}
	sort.Strings(names)
	var lost []string
	gone := map[string]bool{}
	for _, name := range names {
		entry := entries[name]
		if len(entry.owners) < 2 || entry.kind.Group == kustomizations.Group {
			continue
		}
		object, err := stack.read(ctx, entry)
		if err != nil {
			continue
		}
		labels := object.GetLabels()
		owner := labels["kustomize.toolkit.fluxcd.io/namespace"] + "/" + labels["kustomize.toolkit.fluxcd.io/name"]
		other := false
		for _, name := range entry.owners {
			other = other || name != owner && !gone[name]
		}
		if !other {
			continue
		}
		if !gone[owner] {
			gone[owner] = true
			namespace, name, _ := strings.Cut(owner, "/")
			_ = stack.dynamic.Resource(kustomizations).Namespace(namespace).Delete(ctx, name, metav1.DeleteOptions{})
			for range 40 {
				if _, err := stack.dynamic.Resource(kustomizations).Namespace(namespace).Get(ctx, name, getOptions); errors.IsNotFound(err) {
					break
				}
				time.Sleep(200 * time.Millisecond)
			}
		}
		if object, err := stack.read(ctx, entry); errors.IsNotFound(err) || err == nil && object.GetDeletionTimestamp() != nil {
			lost = append(lost, name)
		}
	}
	return lost
}

func (stack *Stack) read(ctx context.Context, entry *Entry) (*unstructured.Unstructured, error) {
	mapping, err := stack.mapping(entry.kind)
	if err != nil {
		return nil, err
	}
	return stack.dynamic.Resource(mapping.Resource).Namespace(entry.namespace).Get(ctx, entry.name, getOptions)
}

// remain waits until all objects are deleted or no further object is deleted, and returns the remaining objects.
func (stack *Stack) remain(ctx context.Context, entries map[string]*Entry, limit time.Duration) (kept, stuck []string) {
	left, changed := len(entries), time.Now()
	for started := time.Now(); time.Since(started) < limit; time.Sleep(300 * time.Millisecond) {
		kept, stuck = nil, nil
		for name, entry := range entries {
			object, err := stack.read(ctx, entry)
			switch {
			case err != nil:
			case object.GetDeletionTimestamp() != nil && entry.kind.Kind == "Namespace":
				// Its deletion waits for its contents, which have entries of their own.
			case object.GetDeletionTimestamp() != nil:
				stuck = append(stuck, name)
			default:
				kept = append(kept, name)
			}
		}
		if now := len(kept) + len(stuck); now != left {
			left, changed = now, time.Now()
		}
		if left == 0 || time.Since(changed) > 5*time.Second {
			break
		}
	}
	sort.Strings(kept)
	sort.Strings(stuck)
	return kept, stuck
}
