// Command semver asks the SemVer library of Flux's controllers which versions are in which ranges.
//
// It prints JSON: which versions the library reads, how they compare, and which of them are in each range, or null where
// the library refuses the range. The questions are in questions.json.
package main

import (
	_ "embed"
	"encoding/json"
	"log"
	"os"
	"runtime/debug"
	"strings"

	"github.com/Masterminds/semver/v3"
)

//go:embed questions.json
var questions []byte

func main() {
	log.SetFlags(0)
	var ask struct{ Ranges, Versions []string }
	must(json.Unmarshal(questions, &ask))
	output := struct {
		Versions map[string]string `json:"versions"`
		// A letter for each version: `x` where it is read, `!` where it is refused.
		VersionsRead string `json:"versions_read"`
		// For each version that is read, a letter for each of them: how the first compares with the second.
		Order []string `json:"order"`
		// For each range, a letter for each version that is read: `x` where it is in the range, `.` where it is not.
		Ranges []*string `json:"ranges"`
	}{Versions: versions()}
	var read []*semver.Version
	for _, text := range ask.Versions {
		version, err := semver.NewVersion(text)
		if err != nil {
			output.VersionsRead += "!"
			continue
		}
		output.VersionsRead += "x"
		read = append(read, version)
	}
	for _, one := range read {
		letters := ""
		for _, other := range read {
			letters += string("<=>"[one.Compare(other)+1])
		}
		output.Order = append(output.Order, letters)
	}
	for _, text := range ask.Ranges {
		output.Ranges = append(output.Ranges, contained(text, read))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	must(encoder.Encode(output))
}

func contained(text string, versions []*semver.Version) *string {
	constraint, err := semver.NewConstraint(text)
	if err != nil {
		return nil
	}
	var letters strings.Builder
	for _, version := range versions {
		letter := byte('.')
		if constraint.Check(version) {
			letter = 'x'
		}
		letters.WriteByte(letter)
	}
	answer := letters.String()
	return &answer
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
