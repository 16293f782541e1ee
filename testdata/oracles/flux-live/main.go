// Command flux-live runs Flux's kustomize-controller on a real API server, and records the final state of each case.
//
// `flux-live PROGRAMS STATE CASE...` prints one JSON object: for each case and each of its clusters, the final states of
// its Kustomizations. A case is a directory, or a Markdown file with a block for each file. The script `record` builds
// the programs and runs this command.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	log.SetFlags(log.Ltime)
	programs, state, cases := os.Args[1], os.Args[2], os.Args[3:]
	stack := start(programs, state)
	defer stack.stop()
	answers := map[string]map[string]*Answer{}
	for _, path := range cases {
		files, err := readCase(path)
		if err != nil {
			log.Fatal(path, ": ", err)
		}
		files.complete()
		clusters := map[string]*Answer{}
		for _, root := range rootsOf(files) {
			answer, err := stack.observe(files, root, isComplete(path))
			if err != nil {
				log.Printf("%s %s: %v", path, root.path, err)
				answer = &Answer{Failed: err.Error()}
			}
			clusters[root.path] = answer
			log.Printf("%s %s: %s", path, root.path, answer.summary())
		}
		if len(clusters) > 0 {
			answers[caseName(path)] = clusters
		}
	}
	print(answers)
}

// print prints the answers, one line for each case.
func print(answers map[string]map[string]*Answer) {
	separator := "{\n"
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		var line bytes.Buffer
		encoder := json.NewEncoder(&line)
		encoder.SetEscapeHTML(false)
		must(encoder.Encode(answers[name]))
		fmt.Printf("%s %q: %s", separator, name, bytes.TrimSpace(line.Bytes()))
		separator = ",\n"
	}
	fmt.Println("\n}")
}

// isComplete reports whether a case contains all namespaces that it needs. It does if it is a whole repository, or if
// the findings of its rule depend on namespaces.
func isComplete(path string) bool {
	switch filepath.Base(filepath.Dir(path)) {
	case "cases", "missing-namespace", "bootstrap-order":
		return true
	}
	return false
}

// caseName returns the name of a case in the directory of its group.
func caseName(path string) string {
	name := filepath.Base(path)
	return name[:len(name)-len(filepath.Ext(name))]
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
