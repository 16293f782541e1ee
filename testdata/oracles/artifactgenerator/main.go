// Command artifactgenerator asks what the copies of an ArtifactGenerator find and leave out.
//
// It prints JSON: the files and folders that each glob finds, and what each exclusion says of each path. What is asked
// stands in questions.json.
package main

import (
	_ "embed"
	"encoding/json"
	"io/fs"
	"log"
	"os"
	"runtime/debug"
	"strings"
	"testing/fstest"

	"github.com/bmatcuk/doublestar/v4"
)

//go:embed questions.json
var questions []byte

func main() {
	log.SetFlags(0)
	var ask struct{ Files, Globs, Paths, Exclusions []string }
	must(json.Unmarshal(questions, &ask))
	files := fstest.MapFS{}
	for _, path := range ask.Files {
		files[path] = &fstest.MapFile{}
	}
	output := struct {
		Versions   map[string]string `json:"versions"`
		Globs      [][]string        `json:"globs"`
		Exclusions []string          `json:"exclusions"`
	}{Versions: versions()}
	for _, glob := range ask.Globs {
		// The type hides the quicker Glob of the file system in memory.
		found, err := fs.Glob(struct{ fs.FS }{files}, glob)
		if err != nil {
			found = []string{"refused"}
		}
		output.Globs = append(output.Globs, append([]string{}, found...))
	}
	for _, pattern := range ask.Exclusions {
		output.Exclusions = append(output.Exclusions, says(pattern, ask.Paths))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	must(encoder.Encode(output))
}

// says has a letter for each path: `x` where it matches, `.` where it does not; `refused` when it is no pattern.
func says(pattern string, paths []string) string {
	if _, err := doublestar.Match(pattern, "."); err != nil {
		return "refused"
	}
	var answers strings.Builder
	for _, path := range paths {
		if doublestar.MatchUnvalidated(pattern, path) {
			answers.WriteByte('x')
		} else {
			answers.WriteByte('.')
		}
	}
	return answers.String()
}

func versions() map[string]string {
	info, _ := debug.ReadBuildInfo()
	versions := map[string]string{"go": info.GoVersion}
	for _, dependency := range info.Deps {
		versions[dependency.Path] = dependency.Version
	}
	return versions
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
