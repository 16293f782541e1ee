// Command regexp asks Go's package regexp what each line of patterns.txt matches in each line of texts.txt.
//
// It prints JSON: for every pattern the first match in each text, or null where Go refuses the pattern. A line of
// texts.txt is a string of Go without its quotes.
package main

import (
	_ "embed"
	"encoding/json"
	"log"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

//go:embed patterns.txt
var patterns string

//go:embed texts.txt
var texts string

type answer struct {
	Pattern string    `json:"pattern"`
	Matches []*string `json:"matches"`
}

func main() {
	log.SetFlags(0)
	var output struct {
		Versions map[string]string `json:"versions"`
		Texts    []string          `json:"texts"`
		Answers  []answer          `json:"answers"`
	}
	output.Versions = map[string]string{"go": runtime.Version()}
	for _, line := range lines(texts) {
		text, err := strconv.Unquote(`"` + line + `"`)
		if err != nil {
			log.Fatalf("%q: %v", line, err)
		}
		output.Texts = append(output.Texts, text)
	}
	for _, pattern := range lines(patterns) {
		output.Answers = append(output.Answers, answer{Pattern: pattern, Matches: matches(pattern, output.Texts)})
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(output); err != nil {
		log.Fatal(err)
	}
}

// matches returns nil for a pattern that does not compile.
func matches(pattern string, texts []string) []*string {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return nil
	}
	found := make([]*string, len(texts))
	for index, text := range texts {
		if at := compiled.FindStringIndex(text); at != nil {
			match := text[at[0]:at[1]]
			found[index] = &match
		}
	}
	return found
}

func lines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
