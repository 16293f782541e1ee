// Command selectors asks the libraries of Kubernetes and kustomize which labels a label selector selects.
//
// It prints JSON: for each selector, a letter for each set of labels, `x` where it is selected and `.` where it is not, or
// null where the library refuses the selector. Selectors of manifests are read by Kubernetes, texts by kustomize. The
// questions are in questions.json.
package main

import (
	_ "embed"
	"encoding/json"
	"log"
	"os"
	"runtime/debug"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"
)

//go:embed questions.json
var questions []byte

func main() {
	log.SetFlags(0)
	var ask struct {
		Labels    []map[string]string
		Manifests []string
		Texts     []string
	}
	must(json.Unmarshal(questions, &ask))
	output := struct {
		Versions  map[string]string `json:"versions"`
		Manifests []*string         `json:"manifests"`
		Texts     []*string         `json:"texts"`
	}{Versions: versions()}
	for _, text := range ask.Manifests {
		output.Manifests = append(output.Manifests, answer(ask.Labels, func(set map[string]string) (bool, error) {
			var read *metav1.LabelSelector
			// As the API server reads it: a number is not a string.
			asJSON, err := yaml.YAMLToJSON([]byte(text))
			must(err)
			if err := json.Unmarshal(asJSON, &read); err != nil {
				return false, err
			}
			selector, err := metav1.LabelSelectorAsSelector(read)
			if err != nil {
				return false, err
			}
			return selector.Matches(labels.Set(set)), nil
		}))
	}
	for _, text := range ask.Texts {
		output.Texts = append(output.Texts, answer(ask.Labels, func(set map[string]string) (bool, error) {
			object := kyaml.MustParse("{apiVersion: v1, kind: A, metadata: {name: a}}")
			must(object.SetLabels(set))
			return object.MatchesLabelSelector(text)
		}))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	must(encoder.Encode(output))
}

func answer(sets []map[string]string, selects func(map[string]string) (bool, error)) *string {
	letters := ""
	for _, set := range sets {
		selected, err := selects(set)
		switch {
		case err != nil:
			return nil
		case selected:
			letters += "x"
		default:
			letters += "."
		}
	}
	return &letters
}

func versions() map[string]string {
	info, _ := debug.ReadBuildInfo()
	versions := map[string]string{"go": info.GoVersion}
	for _, dependency := range info.Deps {
		switch dependency.Path {
		case "k8s.io/apimachinery", "sigs.k8s.io/kustomize/kyaml", "sigs.k8s.io/yaml":
			versions[dependency.Path] = dependency.Version
		}
	}
	return versions
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
