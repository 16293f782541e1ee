// Command scalars asks the readers that Kubernetes and kustomize use what each line of scalars.txt means.
//
// It prints JSON: for every scalar what it is as a value and as a mapping's key, or null where the reader refuses it.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"strings"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"
)

//go:embed scalars.txt
var scalars string

type answer struct {
	Scalar     string `json:"scalar"`
	Kubernetes reader `json:"kubernetes"`
	Kustomize  reader `json:"kustomize"`
}

// reader holds JSON: the mapping that `v: SCALAR` and `SCALAR: v` become, as text, so that numbers keep their form.
type reader struct {
	Value *string `json:"value"`
	Key   *string `json:"key"`
}

type readFunc func(document string) (string, error)

func main() {
	log.SetFlags(0)
	output := struct {
		Versions map[string]string `json:"versions"`
		Answers  []answer          `json:"answers"`
	}{Versions: versions()}
	for _, scalar := range strings.Split(strings.TrimSuffix(scalars, "\n"), "\n") {
		output.Answers = append(output.Answers, answer{
			Scalar:     scalar,
			Kubernetes: ask(kubernetes, scalar),
			Kustomize:  ask(kustomize, scalar),
		})
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(output); err != nil {
		log.Fatal(err)
	}
}

func ask(read readFunc, scalar string) reader {
	return reader{
		Value: answerOf(read, fmt.Sprintf("v: %s\n", scalar)),
		Key:   answerOf(read, fmt.Sprintf("? %s\n: v\n", scalar)),
	}
}

// answerOf returns nil for a refusal, by an error or by a panic.
func answerOf(read readFunc, document string) (text *string) {
	defer func() {
		if recover() != nil {
			text = nil
		}
	}()
	answer, err := read(document)
	if err != nil {
		return nil
	}
	answer = strings.TrimSpace(answer)
	return &answer
}

func kubernetes(document string) (string, error) {
	bytes, err := yaml.YAMLToJSON([]byte(document))
	return string(bytes), err
}

func kustomize(document string) (string, error) {
	node, err := kyaml.Parse(document)
	if err != nil {
		return "", err
	}
	bytes, err := node.MarshalJSON()
	return string(bytes), err
}

func versions() map[string]string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		log.Fatal("built without module information")
	}
	versions := map[string]string{"go": info.GoVersion}
	for _, module := range info.Deps {
		if strings.Contains(module.Path, "yaml") {
			versions[module.Path] = module.Version
		}
	}
	return versions
}
