// Command substitutions asks kustomize-controller's library what objects are after substitution: those of
// objects.yaml, and random ones.
//
// It prints JSON: the variables, and for every object how it is printed afterwards, or null for an error.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand"
	"os"
	"runtime/debug"
	"sort"
	"strings"

	"github.com/fluxcd/pkg/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/provider"
)

//go:embed objects.yaml
var objects string

var values = map[string]any{
	"A": "value", "EMPTY": "", "NUMBER": "42", "OCTAL": "0644", "FLOAT": "1.50", "BIG": "9007199254740993", "YES": "yes", "TRUE": "true", "NULL": "null",
	"TILDE": "~", "DATE": "2001-01-01", "TIME": "1:20", "LINES": "one\ntwo\n", "COLON": "a: b", "HASH": "a # b", "MAP": "{a: 1, b: [x, yes]}", "LIST": "[1, two, {c: d}]",
	"QUOTED": `"quoted"`, "SINGLE": "'single'", "QUOTE": "it's", "DOUBLE": `say "hi"`, "BACKSLASH": `a\b`, "DASH": "- item", "STAR": "*alias", "AND": "&anchor x",
	"BANG": "!tag x", "PERCENT": "%x", "AT": "@x", "SPACES": "  two  ", "TAB": "a\tb", "TABS": "\tx", "LONG": strings.Repeat("word ", 30) + "end", "URL": "https://example.com/a?b=c#d",
	"EMOJI": "😀", "KEY": "key", "VERSION": "v1.2.3", "SEMVER": "1.2.3", "EXP": "1e3", "INF": ".inf", "DOLLARS": "${A} $$", "OPEN": "{", "CLOSE": "]",
	"BRACES": "{{ .x }}", "PIPE": "| x", "GREATER": ">", "COMMA": "a, b", "QUESTION": "? x", "CIDR": "10.0.0.0/8", "PORT": "8080", "HEX": "0x1F", "PLUS": "+1", "MERGE": "<<", "EQUAL": "=",
}

type answer struct {
	Object string  `json:"object"`
	Strict bool    `json:"strict"`
	Result *string `json:"result"`
}

func main() {
	log.SetFlags(0)
	random := flag.Int("random", 400, "how many random objects")
	flag.Parse()
	output := struct {
		Versions map[string]string `json:"versions"`
		Values   map[string]any    `json:"values"`
		Answers  []answer          `json:"answers"`
	}{Versions: versions(), Values: values}
	for _, object := range strings.Split(objects, "---\n") {
		for _, strict := range []bool{false, true} {
			output.Answers = append(output.Answers, answer{object, strict, substituted(object, strict)})
		}
	}
	source := rand.New(rand.NewSource(1))
	for range *random {
		object := "apiVersion: v1\nkind: Test\nmetadata:\n  name: test\nspec:" + value(source, 1)
		strict := source.Intn(8) == 0
		output.Answers = append(output.Answers, answer{object, strict, substituted(object, strict)})
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(output); err != nil {
		log.Fatal(err)
	}
}

var factory = provider.NewDefaultDepProvider().GetResourceFactory()

func substituted(object string, strict bool) (text *string) {
	defer func() {
		if recover() != nil {
			text = nil
		}
	}()
	resource, err := factory.FromBytes([]byte(object))
	if err != nil {
		return nil
	}
	applier := unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"postBuild": map[string]any{"substitute": values}},
	}}
	_, err = kustomize.SubstituteVariables(context.Background(), nil, applier, resource,
		kustomize.SubstituteWithDryRun(true), kustomize.SubstituteWithStrict(strict))
	if err != nil {
		return nil
	}
	printed, err := resource.AsYAML()
	if err != nil {
		return nil
	}
	answer := string(printed)
	return &answer
}

var names = []string{}

func init() {
	for name := range values {
		names = append(names, name)
	}
	names = append(names, "NONE")
	sort.Strings(names)
}

func pick(source *rand.Rand, from []string) string { return from[source.Intn(len(from))] }

func call(source *rand.Rand) string {
	name := pick(source, names)
	switch source.Intn(16) {
	case 0:
		return "${" + name + ":=default}"
	case 1:
		return "${" + name + ":-a b}"
	case 2:
		return "${" + name + "^^}"
	case 3:
		return "${" + name + ":=" + "${" + pick(source, names) + "}}"
	case 4:
		return pick(source, []string{"$${" + name + "}", "$" + name, "$$", "${#" + name + "}", "${" + name + ":0:1}", "${" + name + "//a/'}", "${" + name + "/e/}", "${" + name + ":=it's: so}"})
	default:
		return "${" + name + "}"
	}
}

func text(source *rand.Rand) string {
	var out strings.Builder
	for range source.Intn(4) {
		if source.Intn(3) > 0 {
			out.WriteString(call(source))
		} else {
			out.WriteString(pick(source, []string{"text", " ", " ", "-", ": ", "/", "\n", "\n", "  ", "#", " #", "'", "\"", "\\", "{", "[", ",", ".", "1", "é", "some longer text of several words to be folded", "\t", "\n  "}))
		}
	}
	return out.String()
}

// value is written after a colon or a dash.
func value(source *rand.Rand, depth int) string {
	indent := strings.Repeat("  ", depth)
	switch choice := source.Intn(12); {
	case depth < 5 && (choice < 4 || depth == 1):
		var out strings.Builder
		out.WriteString("\n")
		for i := range 1 + source.Intn(4) {
			key := fmt.Sprintf("k%d", i)
			if source.Intn(30) == 0 {
				key = fmt.Sprintf("%q", fmt.Sprintf("k%d%s", i, call(source)))
			}
			out.WriteString(indent + key + ":" + value(source, depth+1))
		}
		return out.String()
	case depth < 5 && choice < 6:
		var out strings.Builder
		out.WriteString("\n")
		for range 1 + source.Intn(3) {
			out.WriteString(indent + "-" + value(source, depth+1))
		}
		return out.String()
	case choice < 7:
		return " " + pick(source, []string{"1", "true", "null", "9007199254740993", "1.5", "{}", "[]", "0644", "yes", "2001-01-01", "plain"}) + "\n"
	default:
		quoted, _ := json.Marshal(text(source))
		unescaped := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(quoted))
		return " " + unescaped + "\n"
	}
}

func versions() map[string]string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		log.Fatal("built without module information")
	}
	versions := map[string]string{"go": info.GoVersion}
	for _, module := range info.Deps {
		if strings.HasPrefix(module.Path, "github.com/fluxcd/pkg/") || strings.Contains(module.Path, "yaml") {
			versions[module.Path] = module.Version
		}
	}
	return versions
}
