// Command builds asks the libraries of kustomize-controller what each Kustomization in testdata/flux applies.
//
// A case is a repository with a gotk-sync.yaml in its root: one Kustomization, and beside it what the cluster has, such
// as the ConfigMaps that it substitutes from. The answer goes to `expected.yaml`, or to `refused` where it is an error.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	securejoin "github.com/cyphar/filepath-securejoin"
	"github.com/fluxcd/pkg/kustomize"
	ssautil "github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
)

func main() {
	log.SetFlags(0)
	for _, root := range os.Args[1:] {
		if err := record(root); err != nil {
			log.Fatalf("%s: %v", root, err)
		}
	}
}

// record writes what one case builds to.
func record(root string) error {
	expected, refused := filepath.Join(root, "expected.yaml"), filepath.Join(root, "refused")
	_ = os.Remove(expected)
	_ = os.Remove(refused)
	applier, received, err := read(filepath.Join(root, "in", "gotk-sync.yaml"))
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "builds-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	work, err = filepath.EvalSymlinks(work)
	if err != nil {
		return err
	}
	if err := os.CopyFS(work, os.DirFS(filepath.Join(root, "in"))); err != nil {
		return err
	}
	built, err := build(work, applier, received)
	if err != nil {
		log.Printf("%s: %v", root, err)
		return os.WriteFile(refused, []byte("error\n"), 0o644)
	}
	return os.WriteFile(expected, built, 0o644)
}

// read returns the Kustomization of a file and the other objects in it.
func read(path string) (*unstructured.Unstructured, []ctrlclient.Object, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	var applier *unstructured.Unstructured
	var received []ctrlclient.Object
	reader := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := reader.Decode(&object.Object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, err
		}
		switch {
		case object.Object == nil:
		case object.GetKind() == "Kustomization":
			applier = object
		case object.GetKind() == "ConfigMap" || object.GetKind() == "Secret":
			received = append(received, object)
		}
	}
	if applier == nil {
		return nil, nil, fmt.Errorf("%s holds no Kustomization", path)
	}
	return applier, received, nil
}

// build goes the way of the controller: generate, build, substitute, read back, set the common metadata.
func build(work string, applier *unstructured.Unstructured, received []ctrlclient.Object) ([]byte, error) {
	spec, _, err := unstructured.NestedMap(applier.Object, "spec")
	if err != nil {
		return nil, err
	}
	path, _, _ := unstructured.NestedString(spec, "path")
	folder, err := securejoin.SecureJoin(work, path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(folder); err != nil {
		return nil, err
	}
	if _, err := kustomize.NewGenerator(work, *applier).WriteFile(folder); err != nil {
		return nil, err
	}
	resources, err := kustomize.SecureBuild(work, folder, false)
	if err != nil {
		return nil, err
	}
	client := fake.NewClientBuilder().WithObjects(received...).Build()
	_, substitutes := spec["postBuild"]
	for _, resource := range resources.Resources() {
		if resource.GetName() == "" || resource.GetKind() == "" || resource.GetApiVersion() == "" {
			return nil, fmt.Errorf("no object: %s", resource.String())
		}
		if !substitutes {
			continue
		}
		strategy, _, _ := unstructured.NestedString(spec, "postBuild", "substituteStrategy")
		changed, err := kustomize.SubstituteVariables(context.Background(), client, *applier, resource,
			kustomize.SubstituteWithStrict(true), kustomize.SubstituteWithAlways(strategy == "Always"))
		if err != nil {
			return nil, err
		}
		if changed != nil {
			if _, err := resources.Replace(resource); err != nil {
				return nil, err
			}
		}
	}
	text, err := resources.AsYaml()
	if err != nil {
		return nil, err
	}
	objects, err := ssautil.ReadObjects(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	labels, _, _ := unstructured.NestedStringMap(spec, "commonMetadata", "labels")
	annotations, _, _ := unstructured.NestedStringMap(spec, "commonMetadata", "annotations")
	ssautil.SetCommonMetadata(objects, labels, annotations)
	if len(objects) == 0 {
		return nil, nil
	}
	printed, err := ssautil.ObjectsToYAML(objects)
	return []byte(printed), err
}
