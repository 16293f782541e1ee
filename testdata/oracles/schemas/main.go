// Command schemas applies objects to a real API server, as Flux's kustomize-controller does, and records its answers.
//
// `schemas KUBE-APISERVER STATE CASE...` prints one JSON object. A case is a directory: the objects of `setup.yaml` are
// created, and each object of `objects.yaml` is then applied in a dry run. The script `record` runs this command.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
)

// Answers contains the answers of a case, in the order of the documents of its files.
type Answers struct {
	Setup   []*Answer `json:"setup,omitempty"`
	Objects []*Answer `json:"objects"`
}

func main() {
	log.SetFlags(log.Ltime)
	program, state, cases := os.Args[1], os.Args[2], os.Args[3:]
	server := start(program, state)
	defer server.stop()
	server.install(filepath.SplitList(os.Getenv("DEFINITIONS")))
	separator := "{\n"
	for _, dir := range cases {
		answers := server.ask(read(filepath.Join(dir, "setup.yaml")), read(filepath.Join(dir, "objects.yaml")))
		fmt.Printf("%s%q: {", separator, filepath.Base(dir))
		if len(answers.Setup) > 0 {
			fmt.Printf("\n \"setup\": %s,", lines(answers.Setup))
		}
		fmt.Printf("\n \"objects\": %s\n}", lines(answers.Objects))
		separator = ",\n"
		log.Printf("%s: %d objects", dir, len(answers.Objects))
	}
	fmt.Println("\n}")
}

// ask creates the objects of the setup, applies the objects in a dry run, and deletes the setup.
func (server *Server) ask(setup, objects []Object) Answers {
	var answers Answers
	var created []Object
	policies := false
	for _, object := range setup {
		answer := server.create(object)
		answers.Setup = append(answers.Setup, answer)
		if answer.Accepted {
			created = append(created, object)
			policies = policies || object.kind() == "ValidatingAdmissionPolicy"
		}
	}
	if policies {
		server.awaitPolicies(created)
	}
	for _, object := range objects {
		answers.Objects = append(answers.Objects, server.apply(object))
	}
	for index := len(created) - 1; index >= 0; index-- {
		server.delete(created[index])
	}
	if policies {
		server.awaitNoPolicies()
	}
	return answers
}

// lines prints one answer a line.
func lines(answers []*Answer) string {
	var text bytes.Buffer
	separator := "[\n  "
	for _, answer := range answers {
		text.WriteString(separator)
		var line bytes.Buffer
		encoder := json.NewEncoder(&line)
		encoder.SetEscapeHTML(false)
		must(encoder.Encode(answer))
		text.Write(bytes.TrimSpace(line.Bytes()))
		separator = ",\n  "
	}
	if len(answers) == 0 {
		return "[]"
	}
	return text.String() + "\n ]"
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
