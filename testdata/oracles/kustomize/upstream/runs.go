package kusttest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
)

var (
	counting sync.Mutex
	counts   = map[string]int{}
)

// keep writes the files of a run and what came out of it below the folder that RUNS names: `in`, `dir` with the folder
// that is built, and `expected.yaml` or `expect-error`. `needs` says what the library was asked for that the command is
// not, and `unrestricted` that the load restriction was lifted.
func (th Harness) keep(path string, o krusty.Options, m resmap.ResMap, failure error) {
	runs := os.Getenv("RUNS")
	// A harness over the disk reads what other folders hold.
	if runs == "" || th.fSys.Exists("/usr") {
		return
	}
	name := strings.ReplaceAll(th.t.Name(), "/", ".")
	counting.Lock()
	counts[name]++
	folder := filepath.Join(runs, fmt.Sprintf("%s.%d", name, counts[name]))
	counting.Unlock()

	write := func(name string, content []byte) {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			th.t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			th.t.Fatal(err)
		}
	}
	err := th.fSys.Walk("/", func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		content, err := th.fSys.ReadFile(path)
		write(filepath.Join("in", path), content)
		return err
	})
	if err != nil {
		th.t.Fatal(err)
	}
	write("dir", []byte(strings.TrimPrefix(filepath.Clean("/"+path), "/")))
	if needs := asked(o); needs != "" {
		write("needs", []byte(needs))
	}
	if o.LoadRestrictions == types.LoadRestrictionsNone {
		write("unrestricted", nil)
	}
	if failure != nil {
		write("expect-error", []byte(failure.Error()))
		return
	}
	text, err := m.AsYaml()
	if err != nil {
		th.t.Fatal(err)
	}
	write("expected.yaml", text)
}

func asked(o krusty.Options) string {
	switch plugins := o.PluginConfig; {
	case plugins.HelmConfig.Enabled:
		return "it needs Helm"
	case plugins.FnpLoadingOptions.EnableExec:
		return "it runs a program"
	case plugins.PluginRestrictions != types.PluginRestrictionsBuiltinsOnly:
		return "it runs an external plugin or a container"
	case o.AddManagedbyLabel:
		return "it asks the library for the label that the command has no flag for"
	}
	return ""
}
