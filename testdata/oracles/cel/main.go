// Command cel evaluates each line of expressions.txt in the CEL environment of the API server.
//
// It prints JSON: for every expression the value, the error of the compiler or the error of the evaluation. The variables
// have the values of variables.json.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

//go:embed expressions.txt
var expressions string

//go:embed variables.json
var variables []byte

// newest is the minor version whose environment evaluates the expressions.
const newest = 36

var declared = []cel.EnvOption{
	cel.Variable("object", cel.DynType),
	cel.Variable("params", cel.DynType),
	cel.Variable("ints", cel.ListType(cel.IntType)),
	cel.Variable("words", cel.ListType(cel.StringType)),
	cel.Variable("labels", cel.MapType(cel.StringType, cel.StringType)),
	cel.Variable("authorizer", library.AuthorizerType),
}

type answer struct {
	Expression string `json:"expression"`
	// Value is the value in a notation that shows types.
	Value string `json:"value,omitempty"`
	// Refused is the first error of the compiler.
	Refused string `json:"refused,omitempty"`
	// Error is the error of the evaluation.
	Error string `json:"error,omitempty"`
	// Since is the oldest minor version that compiles the expression, if an older one does not.
	Since int `json:"since,omitempty"`
}

func main() {
	log.SetFlags(0)
	environments := map[int]*cel.Env{}
	for minor := 32; minor <= newest; minor++ {
		environments[minor] = extend(minor)
	}
	var output struct {
		Versions map[string]string `json:"versions"`
		Answers  []answer          `json:"answers"`
	}
	output.Versions = versions()
	var values map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(variables)))
	decoder.UseNumber()
	if err := decoder.Decode(&values); err != nil {
		log.Fatal(err)
	}
	for name, value := range values {
		values[name] = numbers(value)
	}
	for _, line := range strings.Split(strings.TrimSuffix(expressions, "\n"), "\n") {
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		output.Answers = append(output.Answers, evaluate(environments, line, values))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(output); err != nil {
		log.Fatal(err)
	}
}

func extend(minor int) *cel.Env {
	at := version.MajorMinor(1, uint(minor))
	set, err := environment.MustBaseEnvSet(at).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        declared,
	})
	if err != nil {
		log.Fatal(err)
	}
	return set.NewExpressionsEnv()
}

// numbers converts numbers as Kubernetes decodes JSON: integers if possible.
func numbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		if integer, err := value.Int64(); err == nil {
			return integer
		}
		float, _ := value.Float64()
		return float
	case map[string]any:
		for key, item := range value {
			value[key] = numbers(item)
		}
	case []any:
		for index, item := range value {
			value[index] = numbers(item)
		}
	}
	return value
}

func evaluate(environments map[int]*cel.Env, expression string, values map[string]any) (result answer) {
	result.Expression = expression
	// A validator of the library panics for a few invalid expressions. The API server reports an internal error.
	defer func() {
		if reason := recover(); reason != nil {
			result.Refused = fmt.Sprint("panic: ", reason)
		}
	}()
	environment := environments[newest]
	ast, issues := environment.Compile(expression)
	if issues.Err() != nil {
		result.Refused = first(issues)
		return result
	}
	for minor := newest; minor >= 32; minor-- {
		if _, issues := environments[minor].Compile(expression); issues.Err() != nil {
			result.Since = minor + 1
			break
		}
	}
	program, err := environment.Program(ast)
	if err != nil {
		result.Refused = err.Error()
		return result
	}
	value, _, err := program.Eval(values)
	if err != nil {
		result.Error = err.Error()
		return result
	}
	result.Value = render(value)
	return result
}

// first is the first error with its offset.
func first(issues *cel.Issues) string {
	one := issues.Errors()[0]
	return fmt.Sprintf("%d:%d: %s", one.Location.Line(), one.Location.Column(), one.Message)
}

// render writes a value so that its type shows.
func render(value ref.Val) string {
	switch value := value.(type) {
	case types.Null:
		return "null"
	case types.Bool:
		return strconv.FormatBool(bool(value))
	case types.Int:
		return strconv.FormatInt(int64(value), 10)
	case types.Uint:
		return strconv.FormatUint(uint64(value), 10) + "u"
	case types.Double:
		return "double " + strconv.FormatFloat(float64(value), 'e', -1, 64)
	case types.String:
		return quote(string(value))
	case types.Bytes:
		return fmt.Sprintf("bytes %x", []byte(value))
	case types.Duration:
		return fmt.Sprintf("duration %d", int64(value.Duration))
	case types.Timestamp:
		return fmt.Sprintf("timestamp %d.%09d", value.Unix(), value.Nanosecond())
	case *types.Optional:
		if value.HasValue() {
			return "optional(" + render(value.GetValue()) + ")"
		}
		return "optional()"
	case traits.Mapper:
		var pairs []string
		for iterator := value.Iterator(); iterator.HasNext() == types.True; {
			key := iterator.Next()
			pairs = append(pairs, render(key)+": "+render(value.Get(key)))
		}
		sort.Strings(pairs)
		return "{" + strings.Join(pairs, ", ") + "}"
	case traits.Lister:
		var items []string
		for iterator := value.Iterator(); iterator.HasNext() == types.True; {
			items = append(items, render(iterator.Next()))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case ref.Type:
		return "type " + value.TypeName()
	default:
		return value.Type().TypeName()
	}
}

// quote writes a text as JSON.
func quote(text string) string {
	var buffer strings.Builder
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		log.Fatal(err)
	}
	return strings.TrimSuffix(buffer.String(), "\n")
}

func versions() map[string]string {
	versions := map[string]string{}
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/google/cel-go" || module.Path == "k8s.io/apiserver" {
			versions[module.Path] = module.Version
		}
	}
	return versions
}
