package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
	"sigs.k8s.io/yaml"
)

type role struct {
	By        string                 `json:"by"`
	Namespace string                 `json:"namespace,omitempty"`
	Name      string                 `json:"name"`
	Labels    map[string]string      `json:"labels,omitempty"`
	Aggregate []metav1.LabelSelector `json:"aggregate,omitempty"`
	Rules     []rule                 `json:"rules"`
}

type rule struct {
	Verbs     []string `json:"verbs"`
	Groups    []string `json:"groups,omitempty"`
	Resources []string `json:"resources,omitempty"`
	Names     []string `json:"names,omitempty"`
	URLs      []string `json:"urls,omitempty"`
}

type binding struct {
	By        string    `json:"by"`
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	Kind      string    `json:"kind"`
	Role      string    `json:"role"`
	Subjects  []subject `json:"subjects,omitempty"`
}

type subject struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

type kind struct {
	By         string `json:"by"`
	Group      string `json:"group"`
	Kind       string `json:"kind"`
	Plural     string `json:"plural"`
	Namespaced bool   `json:"namespaced"`
}

// The words for who ships something.
const (
	byKubernetes = "kubernetes"
	byFlux       = "flux"
	byOperator   = "flux-operator"
)

func shipped(kubernetes, manifests, flux, operator string) {
	roles, bindings := bootstrapped()
	for _, file := range []struct{ by, path string }{
		{byFlux, filepath.Join(manifests, "config/data/flux/v"+flux, "rbac.yaml")},
		{byOperator, filepath.Join(manifests, "config/default/rbac.yaml")},
	} {
		moreRoles, moreBindings := written(file.by, file.path)
		roles, bindings = append(roles, moreRoles...), append(bindings, moreBindings...)
	}
	kinds := served(kubernetes)
	kinds = append(kinds, defined(byFlux, filepath.Join(manifests, "config/data/flux/v"+flux, "*.yaml"))...)
	kinds = append(kinds, defined(byOperator, filepath.Join(manifests, "config/crd/bases/*.yaml"))...)
	versions := versions()
	versions["flux"], versions["flux-operator"] = flux, operator
	fmt.Print("{\n")
	fmt.Printf("\"versions\": %s,\n", line(versions))
	list("roles", roles)
	fmt.Print(",\n")
	list("bindings", bindings)
	fmt.Print(",\n")
	list("kinds", kinds)
	fmt.Print("\n}\n")
}

// list prints one item a line, so that a diff tells what changed.
func list[T any](name string, items []T) {
	lines := []string{}
	for _, item := range items {
		lines = append(lines, line(item))
	}
	fmt.Printf("%q: [\n%s\n]", name, strings.Join(lines, ",\n"))
}

func line(item any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	must(encoder.Encode(item))
	return strings.TrimSpace(out.String())
}

// bootstrapped is what the API server itself brings up.
func bootstrapped() ([]role, []binding) {
	var roles []role
	var bindings []binding
	for _, all := range [][]rbacv1.ClusterRole{bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()} {
		for _, one := range all {
			roles = append(roles, clusterRole(byKubernetes, one))
		}
	}
	for _, all := range [][]rbacv1.ClusterRoleBinding{
		bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings(),
	} {
		for _, one := range all {
			bindings = append(bindings, bound(byKubernetes, "", one.Name, one.RoleRef, one.Subjects))
		}
	}
	namespaced := bootstrappolicy.NamespaceRoles()
	for _, namespace := range sorted(namespaced) {
		for _, one := range namespaced[namespace] {
			roles = append(roles, role{
				By: byKubernetes, Namespace: namespace, Name: one.Name, Labels: labels(one.Labels), Rules: rules(one.Rules),
			})
		}
	}
	ofNamespaces := bootstrappolicy.NamespaceRoleBindings()
	for _, namespace := range sorted(ofNamespaces) {
		for _, one := range ofNamespaces[namespace] {
			bindings = append(bindings, bound(byKubernetes, namespace, one.Name, one.RoleRef, one.Subjects))
		}
	}
	return roles, bindings
}

// written reads roles and bindings of a manifest.
func written(by, path string) ([]role, []binding) {
	var roles []role
	var bindings []binding
	for _, document := range documents(path) {
		var meta metav1.TypeMeta
		must(yaml.Unmarshal(document, &meta))
		switch meta.Kind {
		case "ClusterRole":
			var one rbacv1.ClusterRole
			must(yaml.Unmarshal(document, &one))
			roles = append(roles, clusterRole(by, one))
		case "ClusterRoleBinding":
			var one rbacv1.ClusterRoleBinding
			must(yaml.Unmarshal(document, &one))
			bindings = append(bindings, bound(by, "", one.Name, one.RoleRef, one.Subjects))
		}
	}
	return roles, bindings
}

func clusterRole(by string, one rbacv1.ClusterRole) role {
	made := role{By: by, Name: one.Name, Labels: labels(one.Labels), Rules: rules(one.Rules)}
	if one.AggregationRule != nil {
		made.Aggregate = one.AggregationRule.ClusterRoleSelectors
	}
	return made
}

// labels are those that aggregation looks at; what else a role is labelled with decides nothing.
func labels(all map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range all {
		if strings.HasPrefix(key, "rbac.authorization.k8s.io/") {
			kept[key] = value
		}
	}
	return kept
}

func rules(all []rbacv1.PolicyRule) []rule {
	made := []rule{}
	for _, one := range all {
		made = append(made, rule{one.Verbs, one.APIGroups, one.Resources, one.ResourceNames, one.NonResourceURLs})
	}
	return made
}

func bound(by, namespace, name string, ref rbacv1.RoleRef, subjects []rbacv1.Subject) binding {
	made := binding{By: by, Namespace: namespace, Name: name, Kind: ref.Kind, Role: ref.Name}
	for _, one := range subjects {
		made.Subjects = append(made.Subjects, subject{one.Kind, one.Namespace, one.Name})
	}
	return made
}

// served are the kinds of the API server, as its source records its discovery.
func served(kubernetes string) []kind {
	text, err := os.ReadFile(filepath.Join(kubernetes, "api/discovery/aggregated_v2.json"))
	must(err)
	var groups struct {
		Items []struct {
			Metadata metav1.ObjectMeta
			Versions []struct {
				Resources []struct {
					Resource     string
					ResponseKind metav1.GroupVersionKind
					Scope        string
				}
			}
		}
	}
	must(json.Unmarshal(text, &groups))
	seen := map[string]bool{}
	var kinds []kind
	take := func(group, name, plural string, namespaced bool) {
		if one := (kind{byKubernetes, group, name, plural, namespaced}); !seen[group+"/"+name] {
			seen[group+"/"+name] = true
			kinds = append(kinds, one)
		}
	}
	for _, group := range groups.Items {
		for _, version := range group.Versions {
			for _, one := range version.Resources {
				take(group.Metadata.Name, one.ResponseKind.Kind, one.Resource, one.Scope == "Namespaced")
			}
		}
	}
	core, err := os.ReadFile(filepath.Join(kubernetes, "api/discovery/api__v1.json"))
	must(err)
	var list metav1.APIResourceList
	must(json.Unmarshal(core, &list))
	for _, one := range list.APIResources {
		if !strings.Contains(one.Name, "/") {
			take("", one.Kind, one.Name, one.Namespaced)
		}
	}
	sort.Slice(kinds, func(a, b int) bool {
		return kinds[a].Group+"/"+kinds[a].Kind < kinds[b].Group+"/"+kinds[b].Kind
	})
	return kinds
}

// defined are the kinds of the definitions in manifests.
func defined(by, pattern string) []kind {
	paths, err := filepath.Glob(pattern)
	must(err)
	var kinds []kind
	for _, path := range paths {
		for _, document := range documents(path) {
			var one struct {
				Kind string
				Spec struct {
					Group string
					Names struct{ Kind, Plural string }
					Scope string
				}
			}
			must(yaml.Unmarshal(document, &one))
			if one.Kind == "CustomResourceDefinition" {
				names := one.Spec.Names
				kinds = append(kinds, kind{by, one.Spec.Group, names.Kind, names.Plural, one.Spec.Scope == "Namespaced"})
			}
		}
	}
	return kinds
}

func documents(path string) [][]byte {
	text, err := os.ReadFile(path)
	must(err)
	return bytes.Split(text, []byte("\n---\n"))
}

func sorted[T any](all map[string]T) []string {
	keys := []string{}
	for key := range all {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
