// Command flux-live runs Flux's kustomize-controller against a real API server, and records what it does with the
// cases.
//
// `flux-live PROGRAMS STATE CASE...` prints one JSON object: for each case and each of its clusters, the state in which
// its Kustomizations end. A case is a directory, or a Markdown file with a block for each file. `record` builds the
// programs and calls it.
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

// print writes the answers with one line for each case.
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

// isComplete tells whether a case has all namespaces that it needs: it is a whole repository, or of a rule about them.
func isComplete(path string) bool {
	switch filepath.Base(filepath.Dir(path)) {
	case "cases", "missing-namespace", "bootstrap-order":
		return true
	}
	return false
}

// caseName is the name of a case within the directory of its rule.
func caseName(path string) string {
	name := filepath.Base(path)
	return name[:len(name)-len(filepath.Ext(name))]
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
