// Command resourceset asks Go's templates, with the functions that Flux Operator gives them, what ResourceSets become.
//
// It prints JSON: for every line of templates.txt what it prints with the inputs of inputs.yaml, and for every file of
// sets/ the objects that its ResourceSet makes with the providers in the same file, or null where it is refused.
package main

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"hash/adler32"
	"io/fs"
	"log"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"text/template"

	"github.com/fluxcd/pkg/ssa/utils"
	sprig "github.com/go-task/slim-sprig/v3"
	"github.com/gosimple/slug"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

//go:embed templates.txt
var templates string

//go:embed inputs.yaml
var inputs []byte

//go:embed sets
var sets embed.FS

type values = map[string]any

type line struct {
	Template string  `json:"template"`
	Output   *string `json:"output"`
}

type record struct {
	Versions  map[string]string           `json:"versions"`
	Templates []line                      `json:"templates"`
	Sets      map[string][]map[string]any `json:"sets"`
}

func main() {
	log.SetFlags(0)
	slug.MaxLength = 63
	slug.EnableSmartTruncate = true
	answers := record{Versions: versions(), Sets: map[string][]map[string]any{}}
	for text := range strings.SplitSeq(strings.TrimSuffix(templates, "\n"), "\n") {
		// `\n` in a line is a line break of the template.
		answer := line{Template: text}
		if output, err := expand(strings.ReplaceAll(text, `\n`, "\n"), decode(inputs)); err == nil {
			answer.Output = &output
		}
		answers.Templates = append(answers.Templates, answer)
	}
	files, err := fs.Glob(sets, "sets/*.yaml")
	check(err)
	for _, file := range files {
		text, err := sets.ReadFile(file)
		check(err)
		objects, err := objectsOf(string(text))
		if err != nil {
			log.Printf("%s: %v", file, err)
			objects = nil
		}
		answers.Sets[path.Base(file)] = objects
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	check(encoder.Encode(answers))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// decode reads values as the API server hands them on: whole numbers are int64.
func decode(text []byte) values {
	asJSON, err := yaml.YAMLToJSON(text)
	check(err)
	var read values
	check(kjson.Unmarshal(asJSON, &read))
	return read
}

func expand(text string, with values) (string, error) {
	toYAML := func(value any) string {
		text, err := yaml.Marshal(value)
		if err != nil {
			return ""
		}
		return string(text)
	}
	functions := sprig.HermeticTxtFuncMap()
	functions["inputs"] = func() any { return with }
	functions["slugify"] = slug.Make
	functions["toYaml"] = toYAML
	functions["mustToYaml"] = func(value any) (string, error) { return toYAML(value), nil }
	parsed, err := template.New("").Delims("<<", ">>").Funcs(functions).Option("missingkey=error").Parse(text)
	if err != nil {
		return "", err
	}
	var output strings.Builder
	err = parsed.Execute(&output, nil)
	return output.String(), err
}

// objectsOf expands the ResourceSet of a file.
func objectsOf(text string) ([]map[string]any, error) {
	var set values
	providers := map[string]values{}
	for document := range strings.SplitSeq(text, "\n---\n") {
		object := decode([]byte(document))
		if object["kind"] == "ResourceSet" {
			set = object
		} else {
			providers[at[string](object, "metadata", "name")] = object
		}
	}
	with, err := combined(set, providers)
	if err != nil {
		return nil, err
	}
	if len(at[[]any](set, "spec", "inputsFrom")) > 0 && len(with) == 0 {
		return []map[string]any{}, nil
	}
	steps := []values{at[values](set, "spec")}
	for _, step := range at[[]any](set, "spec", "steps") {
		steps = append(steps, step.(values))
	}
	made := []map[string]any{}
	for _, step := range steps {
		built := builder{with: with, known: map[string]bool{}}
		if err := built.step(step); err != nil {
			return nil, err
		}
		for _, object := range built.objects {
			made = append(made, object.Object)
		}
	}
	metadata := at[values](set, "spec", "commonMetadata")
	objects := make([]*unstructured.Unstructured, 0, len(made))
	for _, object := range made {
		objects = append(objects, &unstructured.Unstructured{Object: object})
	}
	utils.SetCommonMetadata(objects, texts(metadata, "labels"), texts(metadata, "annotations"))
	return made, nil
}

type builder struct {
	with    []values
	objects []*unstructured.Unstructured
	known   map[string]bool
}

func (b *builder) step(step values) error {
	items := at[[]any](step, "resources")
	for _, item := range items {
		asJSON, err := json.Marshal(item)
		check(err)
		text, err := yaml.JSONToYAML(asJSON)
		check(err)
		if len(b.with) == 0 {
			object, err := one(string(text), nil)
			if err != nil {
				return err
			}
			b.keep(object)
		}
		for _, with := range b.with {
			object, err := one(string(text), with)
			if err != nil {
				return err
			}
			b.add(object)
		}
	}
	text := at[string](step, "resourcesTemplate")
	if text == "" {
		return nil
	}
	all := b.with
	if len(all) == 0 {
		all = []values{nil}
	}
	for _, with := range all {
		output, err := expand(text, with)
		if err != nil {
			return err
		}
		objects, err := utils.ReadObjects(strings.NewReader(output))
		if err != nil {
			return err
		}
		for _, object := range objects {
			b.add(object)
		}
	}
	return nil
}

func one(text string, with values) (*unstructured.Unstructured, error) {
	output, err := expand(text, with)
	if err != nil {
		return nil, err
	}
	return utils.ReadObject(strings.NewReader(output))
}

func identity(object *unstructured.Unstructured) string {
	kind := object.GroupVersionKind()
	return fmt.Sprint(kind.Group, "|", kind.Kind, "|", object.GetNamespace(), "|", object.GetName())
}

func (b *builder) keep(object *unstructured.Unstructured) {
	b.known[identity(object)] = true
	b.objects = append(b.objects, object)
}

func (b *builder) add(object *unstructured.Unstructured) {
	disabled := object.GetAnnotations()["fluxcd.controlplane.io/reconcile"] == "disabled"
	if !disabled && !b.known[identity(object)] {
		b.keep(object)
	}
}

// combined gives the input sets of a ResourceSet: its own, then those of its providers by name.
func combined(set values, providers map[string]values) ([]values, error) {
	type source struct {
		name string
		sets []values
	}
	own := source{name: at[string](set, "metadata", "name")}
	for _, item := range at[[]any](set, "spec", "inputs") {
		own.sets = append(own.sets, provided(item.(values), set))
	}
	sources := []source{own}
	chosen := map[string]bool{}
	for _, item := range at[[]any](set, "spec", "inputsFrom") {
		if name := at[string](item.(values), "name"); name != "" {
			chosen[name] = true
			continue
		}
		for name, provider := range providers {
			matches := true
			for key, value := range at[values](item.(values), "selector", "matchLabels") {
				matches = matches && at[values](provider, "metadata", "labels")[key] == value
			}
			if matches {
				chosen[name] = true
			}
		}
	}
	names := []string{}
	for name := range chosen {
		names = append(names, name)
	}
	slices.SortFunc(names, cmp.Compare)
	for _, name := range names {
		provider, found := providers[name]
		if !found {
			return nil, fmt.Errorf("no provider %s", name)
		}
		with := at[values](provider, "spec", "defaultValues")
		sources = append(sources, source{name, []values{provided(with, provider)}})
	}
	if at[string](set, "spec", "inputStrategy", "name") != "Permute" {
		flat := []values{}
		for _, source := range sources {
			flat = append(flat, source.sets...)
		}
		return flat, nil
	}
	permutations := []values{{"id": ""}}
	any := false
	for _, source := range sources {
		if len(source.sets) == 0 {
			continue
		}
		any = true
		// Names of the cases have letters, digits and dashes only.
		name := strings.ReplaceAll(source.name, "-", "_")
		next := []values{}
		for _, before := range permutations {
			for number, with := range source.sets {
				more := values{}
				for key, value := range before {
					more[key] = value
				}
				more[name] = with
				more["id"] = strings.TrimPrefix(fmt.Sprintf("%s/%s=%d", before["id"], name, number), "/")
				next = append(next, more)
			}
		}
		permutations = next
	}
	if !any {
		return nil, nil
	}
	for _, permutation := range permutations {
		permutation["id"] = fmt.Sprint(adler32.Checksum([]byte(permutation["id"].(string))))
	}
	return permutations, nil
}

func provided(with, by values) values {
	if with == nil {
		with = values{}
	}
	with["provider"] = values{
		"apiVersion": by["apiVersion"],
		"kind":       by["kind"],
		"name":       at[string](by, "metadata", "name"),
		"namespace":  at[string](by, "metadata", "namespace"),
	}
	return with
}

// at gives what stands below some keys, or nothing.
func at[T any](in values, keys ...string) T {
	var none T
	var found any = in
	for _, key := range keys {
		mapping, ok := found.(values)
		if !ok {
			return none
		}
		found = mapping[key]
	}
	typed, _ := found.(T)
	return typed
}

func texts(in values, key string) map[string]string {
	all := map[string]string{}
	for name, value := range at[values](in, key) {
		all[name] = fmt.Sprint(value)
	}
	return all
}

func versions() map[string]string {
	found := map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return found
	}
	found["go"] = info.GoVersion
	for _, module := range info.Deps {
		switch module.Path {
		case "github.com/fluxcd/pkg/ssa", "github.com/go-task/slim-sprig/v3", "github.com/gosimple/slug", "sigs.k8s.io/yaml":
			found[module.Path] = module.Version
		}
	}
	return found
}
