// Command rbac asks the code of Kubernetes' API server about rights.
//
// `shipped` prints what a cluster has before anybody writes a manifest: the roles and bindings of Kubernetes and of
// Flux, and the kinds that they serve. `answers` prints what the authorizer, the aggregation of roles and the guards
// against escalation say to the questions in clusters/ and to random ones.
package main

import (
	"log"
	"os"
	"runtime/debug"
)

func main() {
	log.SetFlags(0)
	switch os.Args[1] {
	case "shipped":
		shipped(os.Args[2], os.Args[3], os.Args[4], os.Args[5])
	case "answers":
		answers()
	}
}

// versions are those of the modules that answer.
func versions() map[string]string {
	versions := map[string]string{}
	info, _ := debug.ReadBuildInfo()
	versions["go"] = info.GoVersion
	for _, dependency := range info.Deps {
		if dependency.Path == "k8s.io/kubernetes" {
			versions[dependency.Path] = dependency.Version
		}
	}
	return versions
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
