// Command printer asks what kustomize prints for documents: those of documents.yaml, and random ones.
//
// It goes the way of a resource that kustomize writes: read by kyaml, turned into JSON, and that into YAML.
package main

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand"
	"os"
	"runtime/debug"
	"strings"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"
)

//go:embed documents.yaml
var documents string

type answer struct {
	Document string `json:"document"`
	// Printed is null where the program fails.
	Printed *string `json:"printed"`
}

func main() {
	log.SetFlags(0)
	random := flag.Int("random", 400, "how many random documents")
	flag.Parse()
	output := struct {
		Versions map[string]string `json:"versions"`
		Answers  []answer          `json:"answers"`
	}{Versions: versions()}
	for _, document := range strings.Split(documents, "---\n") {
		output.Answers = append(output.Answers, answer{document, printed(document)})
	}
	source := rand.New(rand.NewSource(1))
	for range *random {
		document := mapping(source, 0) + "\n"
		output.Answers = append(output.Answers, answer{document, printed(document)})
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(output); err != nil {
		log.Fatal(err)
	}
}

func printed(document string) (text *string) {
	defer func() {
		if recover() != nil {
			text = nil
		}
	}()
	node, err := kyaml.Parse(document)
	if err != nil {
		return nil
	}
	asJSON, err := node.MarshalJSON()
	if err != nil {
		return nil
	}
	asYAML, err := yaml.JSONToYAML(asJSON)
	if err != nil {
		return nil
	}
	answer := string(asYAML)
	return &answer
}

// What strings are made of: everything that some rule of quoting, folding or reading looks at.
var fragments = []string{
	"a", "b", "word", "Word", "longer-word", "a.b/c", "0", "1", "12", "007", "1.5", "-", "--", "---", "...", ".", "..", "_",
	" ", " ", " ", " ", " ", "  ", "\n", "\n", "\n\n", "\t", ":", ": ", " :", "#", " #", "?", "? ", ",", "[", "]", "{", "}", "&", "*",
	"!", "|", ">", "'", "\"", "%", "@", "`", "~", "=", "<<", "<", "\\", "\r", "\r\n", "$", "${VAR}", "${x:=y}", "yes", "no", "true", "null",
	"on", "y", "n", "0x1F", "1e3", "1_0", "2001-01-01", "T10:00:00Z", "1:20", ":30", "+", "é", "ß", "中", "\u00a0", "\u0085", "\u2028", "\u2029", "\ufeff",
	"\U0001F600", "\u0000", "\u0007", "\u001b", "\u007f", "\u0080", "\ufffd", "\ufffe",
	"some text of several words that is long enough to be folded when it stands twice",
	"https://example.com/a/long/path?with=query&and=more",
}

var plain = []string{
	"0", "1", "-1", "+1", "007", "08", "0x1F", "0o17", "0b101", "0b-1", "-0b11", "1_000", "1.0", "1.10", "-0.0", "0.0001", "0.00001", "0.000001",
	"0.0000001", "123456.5", "1234567.5", "1e3", "1e5", "1e6", "1e20", "1e21", "1e22", "1.5e300", "9223372036854775807", "9223372036854775808",
	"18446744073709551615", "18446744073709551616", "-9223372036854775808", "-9223372036854775809", "1e19", "-1e19", "12345678901234567890123",
	".5", "5.", "true", "False", "TRUE", "null", "~", "Null", "yes", "No", "on", "y", "2001-01-01", "2001-1-2", "1:20", "1:20:30.5", "=", "a b", "1e400", "0.1", "3.14159265358979", "100000", "1000000.5",
	".inf", "-.INF", ".nan",
}

func text(source *rand.Rand) string {
	var out strings.Builder
	count := source.Intn(5)
	if source.Intn(4) == 0 {
		count = source.Intn(30)
	}
	for range count {
		// Mostly plain letters, so that rare characters stand alone often enough.
		if source.Intn(3) == 0 {
			out.WriteString([]string{"some ", "text", "in-between ", "x"}[source.Intn(4)])
		} else {
			out.WriteString(fragments[source.Intn(len(fragments))])
		}
	}
	return out.String()
}

func quoted(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			out.WriteByte('\\')
			out.WriteRune(c)
		case c >= ' ' && c <= '~':
			out.WriteRune(c)
		case c <= 0xFFFF:
			fmt.Fprintf(&out, "\\u%04X", c)
		default:
			fmt.Fprintf(&out, "\\U%08X", c)
		}
	}
	out.WriteByte('"')
	return out.String()
}

func value(source *rand.Rand, depth int) string {
	switch choice := source.Intn(10); {
	case depth < 5 && choice < 2:
		return mapping(source, depth+1)
	case depth < 5 && choice < 3:
		items := []string{}
		for range source.Intn(4) {
			items = append(items, value(source, depth+1))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case choice < 5:
		return plain[source.Intn(len(plain)-3*min(1, source.Intn(40)))]
	default:
		return quoted(text(source))
	}
}

func mapping(source *rand.Rand, depth int) string {
	entries, seen := []string{}, map[string]bool{}
	for range source.Intn(6) {
		key := text(source)
		if source.Intn(3) == 0 {
			key = []string{"a", "b", "a2", "a10", "a010", "A", "B", "a-b", "a.b", "a_b", "key", "1", "10", "9", "a2b", "é", "é2", "é10"}[source.Intn(18)]
		}
		if !seen[key] {
			seen[key] = true
			entries = append(entries, quoted(key)+": "+value(source, depth))
		}
	}
	return "{" + strings.Join(entries, ", ") + "}"
}

func versions() map[string]string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		log.Fatal("built without module information")
	}
	versions := map[string]string{"go": info.GoVersion}
	for _, module := range info.Deps {
		if strings.Contains(module.Path, "yaml") {
			versions[module.Path] = module.Version
		}
	}
	return versions
}
