package main

import (
	"errors"
	"io/fs"
	"log"
	"net/url"
	"os"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// Object is an object as the API server reads it.
type Object map[string]any

var separator = regexp.MustCompile(`(?m)^---[ \t]*(#.*)?$`)

// read reads the objects of a file. A file that does not exist has none.
func read(file string) []Object {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	must(err)
	var found []Object
	for _, document := range separator.Split(string(text), -1) {
		object := Object{}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			log.Fatalf("%s: %v in:\n%s", file, err, document)
		}
		if len(object) > 0 {
			found = append(found, object)
		}
	}
	return found
}

func (object Object) text(field string) string {
	value, _ := object[field].(string)
	return value
}

func (object Object) metadata(field string) string {
	metadata, _ := object["metadata"].(map[string]any)
	value, _ := metadata[field].(string)
	return value
}

func (object Object) kind() string { return object.text("kind") }

// title identifies an object in the answers.
func (object Object) title() string {
	title := object.kind() + " " + object.metadata("namespace") + "/" + object.metadata("name")
	return strings.Replace(title, " /", " ", 1)
}

// path returns the URL path of an object. The second result is false if the API server does not serve its kind.
func (server *Server) path(object Object) (string, bool) {
	version := object.text("apiVersion")
	base := "/apis/" + version
	if !strings.Contains(version, "/") {
		base = "/api/" + version
	}
	var list struct {
		Resources []struct {
			Name, Kind string
			Namespaced bool
		}
	}
	server.get(base, &list)
	for _, resource := range list.Resources {
		if resource.Kind != object.kind() || strings.Contains(resource.Name, "/") {
			continue
		}
		name := resource.Name + "/" + url.PathEscape(object.metadata("name"))
		if resource.Namespaced {
			namespace := object.metadata("namespace")
			if namespace == "" {
				namespace = "default"
			}
			name = "namespaces/" + url.PathEscape(namespace) + "/" + name
		}
		return base + "/" + name, true
	}
	return "", false
}
