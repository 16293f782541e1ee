// Command expansions asks envsubst what texts with variables expand to: those of texts.txt, and random ones.
//
// It prints JSON: for every text what it becomes, laxly and strictly, or the error.
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"math/rand"
	"os"
	"runtime/debug"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"github.com/fluxcd/pkg/envsubst/parse"
)

//go:embed texts.txt
var texts string

// The variables that all texts are expanded with.
var values = map[string]string{
	"A": "value", "EMPTY": "", "PATH_": "path/to/file.tar.gz", "N": "2", "ONE": "1", "NEG": "-3", "MIXED": "aBc DEF", "UNI": "éàß中İ😀",
	"GREEK": "ΑΣ ΟΔΟΣ", "STAR": "a*b?c[d]e", "SLASH": "a/b//c", "DOLLAR": "$x ${A} $$", "BRACE": "a}b{c", "REPEAT": "aaaa", "_": "under", "COLON": "a:b:c",
	"BACK": `a\b\\c`, "SPACE": "  two  ", "DOTS": "1.2.3", "CLASS": "abc123-]x",
}

type answer struct {
	Text   string `json:"text"`
	Lax    result `json:"lax"`
	Strict result `json:"strict"`
}

type result struct {
	Expanded *string `json:"expanded,omitempty"`
	Error    string  `json:"error,omitempty"`
}

func main() {
	log.SetFlags(0)
	random := flag.Int("random", 1500, "how many random texts")
	flag.Parse()
	output := struct {
		Versions map[string]string `json:"versions"`
		Values   map[string]string `json:"values"`
		Answers  []answer          `json:"answers"`
	}{Versions: versions(), Values: values}
	add := func(text string) {
		output.Answers = append(output.Answers, answer{text, expand(text, false), expand(text, true)})
	}
	for _, text := range strings.Split(strings.TrimSuffix(texts, "\n"), "\n") {
		add(text)
	}
	source := rand.New(rand.NewSource(1))
	for range *random {
		add(text(source))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(output); err != nil {
		log.Fatal(err)
	}
}

func expand(text string, strict bool) (answer result) {
	defer func() {
		if recover() != nil {
			answer = result{Error: "panic"}
		}
	}()
	expanded, err := envsubst.Eval(text, func(name string) (string, bool) {
		value, exists := values[name]
		return value, exists || !strict
	})
	if err == nil {
		return result{Expanded: &expanded}
	}
	for _, known := range []error{
		parse.ErrBadSubstitution, parse.ErrMissingClosingBrace, parse.ErrParseVariableName,
		parse.ErrParseFuncSubstitution, parse.ErrParseDefaultFunction,
	} {
		if errors.Is(err, known) {
			return result{Error: known.Error()}
		}
	}
	return result{Error: "not set"}
}

var fragments = []string{
	"${", "${", "${", "}", "}", "}", "$", "$$", "$${", "A", "A", "EMPTY", "NONE", "PATH_", "N", "NEG", "MIXED", "UNI", "STAR", "SLASH", "REPEAT",
	"CLASS", "DOTS", ":", ":-", ":=", ":?", ":+", "=", "-", "+", "?", "#", "##", "%", "%%", "/", "//", "/#", "/%", ",", ",,", "^", "^^", ",^",
	"1", "-1", "2", "*", "?", "[a-c]", "[^a]", "[", "]", "\\", "\\/", "\\\\", "/", "a", "b", ".", "text", " ", "\n", "é", "中", "😀", "'", "\"", "{", "_",
}

var names = []string{"A", "EMPTY", "NONE", "PATH_", "N", "NEG", "MIXED", "UNI", "GREEK", "STAR", "SLASH", "REPEAT", "CLASS", "DOTS", "DOLLAR", "BRACE", "COLON", "BACK", "SPACE", "_", "a1", ""}
var operators = []string{"", ":-", ":=", ":?", ":+", "=", "-", ":", ":1:", "#", "##", "%", "%%", "/", "//", "/#", "/%", ",", ",,", "^", "^^"}

func pick(source *rand.Rand, from []string) string { return from[source.Intn(len(from))] }

// text is either any sequence of fragments or mostly well formed.
func text(source *rand.Rand) string {
	var out strings.Builder
	if source.Intn(2) == 0 {
		for range source.Intn(9) {
			out.WriteString(pick(source, fragments))
		}
		return out.String()
	}
	for range source.Intn(3) {
		out.WriteString(pick(source, []string{"text ", "$", "$$", "", "a}b", "é"}))
		call(source, &out, 0)
	}
	return out.String() + pick(source, []string{"", "end", "$", "}"})
}

func call(source *rand.Rand, out *strings.Builder, depth int) {
	out.WriteString("${" + pick(source, []string{"", "", "", "", "", "#"}) + pick(source, names))
	operator := pick(source, operators)
	out.WriteString(operator)
	if operator != "" {
		argument(source, out, depth)
		if strings.HasPrefix(operator, "/") && source.Intn(5) > 0 {
			out.WriteString("/")
			argument(source, out, depth)
		}
	}
	out.WriteString("}")
}

func argument(source *rand.Rand, out *strings.Builder, depth int) {
	for range source.Intn(3) {
		if depth < 3 && source.Intn(4) == 0 {
			call(source, out, depth+1)
		} else {
			out.WriteString(pick(source, []string{
				"a", "1", "-2", "2", "*", "?", "*a", "a*", "[a-c]", "[^a]*", "*[", ".", "/", "\\/", "\\\\", "$$", "$", "é", "b c", ":", "value", "*.", "", "[]]", "[a", "\\", "\\*",
			}))
		}
	}
}

func versions() map[string]string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		log.Fatal("built without module information")
	}
	versions := map[string]string{"go": info.GoVersion}
	for _, module := range info.Deps {
		if strings.HasPrefix(module.Path, "github.com/fluxcd/pkg/envsubst") {
			versions[module.Path] = module.Version
		}
	}
	return versions
}

