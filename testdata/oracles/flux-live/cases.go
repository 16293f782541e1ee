package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Files contains the text of each file of a repository, by path.
type Files map[string]string

// readCase reads the files of a case from a directory, or from the blocks of a Markdown file.
func readCase(name string) (Files, error) {
	files := Files{}
	if info, err := os.Stat(name); err != nil {
		return nil, err
	} else if info.IsDir() {
		err := filepath.WalkDir(name, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || entry.Name() == "expected.txt" {
				return err
			}
			text, err := os.ReadFile(file)
			relative, _ := filepath.Rel(name, file)
			files[relative] = string(text)
			return err
		})
		return files, err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	before, _, _ := strings.Cut(string(text), "```findings\n")
	for _, block := range strings.Split(before, "```yaml ")[1:] {
		file, body, _ := strings.Cut(block, "\n")
		body, _, _ = strings.Cut(body, "```")
		files[strings.TrimSpace(file)] = body
	}
	return files, nil
}

// complete adds the files of `flux bootstrap` that a kustomization.yaml lists and the case omits. They contain no
// objects.
func (files Files) complete() {
	for _, name := range files.paths() {
		for _, bootstrapped := range []string{"gotk-components.yaml", "gotk-sync.yaml"} {
			file := path.Join(path.Dir(name), bootstrapped)
			if path.Base(name) == "kustomization.yaml" && strings.Contains(files[name], "- "+bootstrapped) && !files.has(file) {
				files[file] = "# flux bootstrap writes this file.\n"
			}
		}
	}
}

// paths returns the sorted paths of the files.
func (files Files) paths() []string {
	paths := make([]string, 0, len(files))
	for name := range files {
		paths = append(paths, name)
	}
	sort.Strings(paths)
	return paths
}

// write writes the files to a directory.
func (files Files) write(dir string) error {
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// objects returns the objects of a file. It ignores a document that it cannot parse, and all documents after it.
func objects(name, text string) []*unstructured.Unstructured {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
	default:
		return nil
	}
	var found []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewBufferString(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			// The decoder does not always advance past an invalid document.
			return found
		}
		if object.Object == nil || object.GetKind() == "" {
			continue
		}
		if strings.HasSuffix(object.GetKind(), "List") && object.IsList() {
			_ = object.EachListItem(func(item runtimeObject) error {
				found = append(found, item.(*unstructured.Unstructured))
				return nil
			})
			continue
		}
		found = append(found, object)
	}
}

// all returns the objects of all files.
func (files Files) all() []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, name := range files.paths() {
		found = append(found, objects(name, files[name])...)
	}
	return found
}
