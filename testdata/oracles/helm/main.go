// Command helm asks the library of helm-controller what values a HelmRelease gets.
//
// It prints JSON: for every file of releases/ the merged values, or null where the library refuses.
package main

import (
	"context"
	"embed"
	"encoding/json"
	"io/fs"
	"log"
	"os"
	"path"
	"runtime/debug"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/chartutil"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

//go:embed releases
var releases embed.FS

// configMaps answers what the library asks a cluster for.
type configMaps struct {
	client.Client
	held map[string]*corev1.ConfigMap
}

func (c configMaps) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	found, ok := c.held[key.Name]
	into, isConfigMap := object.(*corev1.ConfigMap)
	if !ok || !isConfigMap {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, key.Name)
	}
	found.DeepCopyInto(into)
	return nil
}

type release struct {
	Kind string `json:"kind"`
	Spec struct {
		Values     map[string]any         `json:"values"`
		ValuesFrom []meta.ValuesReference `json:"valuesFrom"`
	} `json:"spec"`
}

func main() {
	log.SetFlags(0)
	answers := map[string]any{}
	files, err := fs.Glob(releases, "releases/*.yaml")
	check(err)
	for _, file := range files {
		text, err := releases.ReadFile(file)
		check(err)
		held := configMaps{held: map[string]*corev1.ConfigMap{}}
		var asked release
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			var read release
			check(yaml.Unmarshal([]byte(document), &read))
			if read.Kind == "HelmRelease" {
				asked = read
				continue
			}
			object := &corev1.ConfigMap{}
			check(yaml.Unmarshal([]byte(document), object))
			held.held[object.Name] = object
		}
		values, err := chartutil.ChartValuesFromReferences(
			context.Background(), logr.Discard(), held, "n", asked.Spec.Values, asked.Spec.ValuesFrom...)
		answers[path.Base(file)] = values
		if err != nil {
			log.Printf("%s: %v", file, err)
			answers[path.Base(file)] = nil
		}
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	check(encoder.Encode(map[string]any{"versions": versions(), "values": answers}))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func versions() map[string]string {
	found := map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return found
	}
	for _, module := range info.Deps {
		if module.Path == "github.com/fluxcd/pkg/chartutil" || module.Path == "helm.sh/helm/v4" {
			found[module.Path] = module.Version
		}
	}
	return found
}
