// Command helmvalues asks Helm's library for the values that a chart gets, and whether they match its schemas.
//
// It prints JSON: for each directory of cases/, the values, or null if Helm refuses to compute them, and whether they match.
package main

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"sigs.k8s.io/yaml"
)

type answer struct {
	Values any  `json:"values"`
	Valid  bool `json:"valid"`
}

func main() {
	log.SetFlags(0)
	folders, err := filepath.Glob("cases/*")
	check(err)
	answers := map[string]answer{}
	for _, folder := range folders {
		text, err := os.ReadFile(filepath.Join(folder, "values.yaml"))
		check(err)
		values := map[string]any{}
		check(yaml.Unmarshal(text, &values))
		chart, err := loader.Load(filepath.Join(folder, "chart"))
		check(err)
		answers[filepath.Base(folder)] = ask(func() (common.Values, error) {
			if err := chartutil.ProcessDependencies(chart, values); err != nil {
				return nil, err
			}
			return util.CoalesceValues(chart, values)
		}, func(values common.Values) error { return util.ValidateAgainstSchema(chart, values) })
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	check(encoder.Encode(answers))
}

func ask(values func() (common.Values, error), validate func(common.Values) error) answer {
	found, err := values()
	if err != nil {
		log.Print(err)
		return answer{}
	}
	err = validate(found)
	if err != nil {
		log.Print(err)
	}
	return answer{Values: found, Valid: err == nil}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
