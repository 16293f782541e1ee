package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// controller is the user name of kustomize-controller. Flux's manifests grant its rights.
const controller = "system:serviceaccount:flux-system:kustomize-controller"

// Stack is an API server with etcd and controllers, on the loopback interface.
type Stack struct {
	programs, state string
	etcd            string
	processes       []*exec.Cmd
	config          *rest.Config
	dynamic         dynamic.Interface
	kubernetes      *kubernetes.Clientset
	mapper          *restmapper.DeferredDiscoveryRESTMapper
	webhook         *Webhook
	files           *FileServer
	baseline        map[string]string
}

// start starts the processes that all cases share, and installs Flux's CustomResourceDefinitions and roles.
func start(programs, state string) *Stack {
	must(os.RemoveAll(state))
	must(os.MkdirAll(state, 0o700))
	stack := &Stack{programs: programs, state: state}
	ports := freePorts(6)
	stack.etcd = fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	peer := fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	stack.run("etcd", "etcd", "--data-dir="+stack.at("etcd.data"), "--listen-client-urls="+stack.etcd,
		"--advertise-client-urls="+stack.etcd, "--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer,
		"--initial-cluster=default="+peer, "--logger=zap", "--quota-backend-bytes=4294967296",
		"--auto-compaction-mode=revision", "--auto-compaction-retention=5000")
	stack.credentials()
	server := fmt.Sprintf("https://127.0.0.1:%d", ports[2])
	stack.run("kube-apiserver", stack.program("kube-apiserver"), "--etcd-servers="+stack.etcd, "--cert-dir="+stack.at("tls"),
		fmt.Sprintf("--secure-port=%d", ports[2]), "--bind-address=127.0.0.1", "--endpoint-reconciler-type=none",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+stack.at("accounts.key"),
		"--service-account-signing-key-file="+stack.at("accounts.key"), "--token-auth-file="+stack.at("tokens"),
		"--authorization-mode=RBAC", "--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true",
		"--disable-admission-plugins=ServiceAccount", "--max-requests-inflight=0", "--enable-priority-and-fairness=false",
		"--profiling=false", "--audit-log-path="+stack.at("audit.log"), "--audit-policy-file="+stack.at("audit.yaml"))
	authority := stack.at("tls/apiserver.crt")
	stack.config = &rest.Config{Host: server, BearerToken: "admin", QPS: 500, Burst: 500, WarningHandler: rest.NoWarnings{},
		TLSClientConfig: rest.TLSClientConfig{CAFile: authority}}
	stack.kubeconfig("admin", server, authority)
	stack.kubeconfig("controller", server, authority)
	until(3*time.Minute, "the API server is ready", func() bool {
		if _, err := os.Stat(authority); err != nil {
			return false
		}
		client, err := kubernetes.NewForConfig(stack.config)
		if err != nil {
			return false
		}
		stack.kubernetes = client
		body, err := client.RESTClient().Get().AbsPath("/readyz").DoRaw(context.Background())
		return err == nil && string(body) == "ok"
	})
	stack.run("kube-controller-manager", stack.program("kube-controller-manager"), "--kubeconfig="+stack.at("admin.kubeconfig"),
		"--controllers=namespace-controller,clusterrole-aggregation-controller,serviceaccount-controller,garbage-collector-controller",
		"--leader-elect=false", fmt.Sprintf("--secure-port=%d", ports[3]), "--bind-address=127.0.0.1",
		"--kube-api-qps=200", "--kube-api-burst=200", "--concurrent-namespace-syncs=10")
	var err error
	stack.dynamic, err = dynamic.NewForConfig(stack.config)
	must(err)
	stack.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(stack.kubernetes.Discovery()))
	stack.files = serveFiles(ports[4])
	stack.install(os.Getenv("FLUX_MANIFESTS"), os.Getenv("OPERATOR_DEFINITIONS"))
	stack.webhook = serveWebhook(ports[5])
	stack.webhook.register(stack)
	until(time.Minute, "roles are aggregated", func() bool {
		role, err := stack.kubernetes.RbacV1().ClusterRoles().Get(context.Background(), "admin", getOptions)
		return err == nil && len(role.Rules) > 5
	})
	time.Sleep(2 * time.Second)
	stack.baseline, err = stack.dump()
	must(err)
	log.Printf("ready; etcd contains %d keys", len(stack.baseline))
	return stack
}

func (stack *Stack) at(name string) string { return filepath.Join(stack.state, name) }

func (stack *Stack) program(name string) string { return filepath.Join(stack.programs, name) }

// run starts a process and writes its output to a log file.
func (stack *Stack) run(name, program string, arguments ...string) *exec.Cmd {
	command := stack.process(name, nil, program, arguments...)
	stack.processes = append(stack.processes, command)
	return command
}

func (stack *Stack) process(name string, environment []string, program string, arguments ...string) *exec.Cmd {
	out, err := os.OpenFile(stack.at(name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	must(err)
	command := exec.Command(program, arguments...)
	command.Stdout, command.Stderr = out, out
	command.Env = append(os.Environ(), environment...)
	must(command.Start())
	return command
}

func (stack *Stack) stop() {
	for index := len(stack.processes) - 1; index >= 0; index-- {
		end(stack.processes[index])
	}
}

func end(command *exec.Cmd) {
	_ = command.Process.Kill()
	_ = command.Wait()
}

// credentials writes the key of service account tokens, the tokens of both users, and the audit policy. Only one run
// uses the credentials, on the loopback interface.
func (stack *Stack) credentials() {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(err)
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	must(os.WriteFile(stack.at("accounts.key"), pem.EncodeToMemory(block), 0o600))
	groups := `"system:serviceaccounts,system:serviceaccounts:flux-system,system:authenticated"`
	tokens := "admin,admin,admin,system:masters\ncontroller," + controller + ",controller," + groups + "\n"
	must(os.WriteFile(stack.at("tokens"), []byte(tokens), 0o600))
	policy := "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n" +
		"- {level: Metadata, verbs: [create, update, patch, delete], users: [\"" + controller + "\"]}\n- {level: None}\n"
	must(os.WriteFile(stack.at("audit.yaml"), []byte(policy), 0o600))
}

func (stack *Stack) kubeconfig(user, server, authority string) {
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: live, cluster: {server: "%s", certificate-authority: "%s"}}]
users: [{name: %s, user: {token: %s}}]
contexts: [{name: live, context: {cluster: live, user: %s}}]
current-context: live
`, server, authority, user, user, user)
	must(os.WriteFile(stack.at(user+".kubeconfig"), []byte(text), 0o600))
}

// control starts kustomize-controller with the arguments of a cluster.
func (stack *Stack) control(arguments []string) *exec.Cmd {
	_ = os.RemoveAll(stack.at("tmp"))
	must(os.MkdirAll(stack.at("tmp"), 0o700))
	environment := []string{"KUBECONFIG=" + stack.at("controller.kubeconfig"), "RUNTIME_NAMESPACE=flux-system",
		"SOURCE_CONTROLLER_LOCALHOST=" + stack.files.address, "TMPDIR=" + stack.at("tmp")}
	fixed := []string{"--metrics-addr=0", "--health-addr=0", "--concurrent=20", "--requeue-dependency=1s", "--http-retry=1",
		"--min-retry-delay=500ms", "--max-retry-delay=2s", "--interval-jitter-percentage=0", "--watch-all-namespaces=true",
		"--kube-api-qps=300", "--kube-api-burst=500", "--enable-leader-election=false"}
	return stack.process("kustomize-controller", environment, stack.program("kustomize-controller"), append(fixed, arguments...)...)
}

// mapping returns the REST mapping of a kind. It queries the API server again if the kind is unknown, since its
// CustomResourceDefinition may be new.
func (stack *Stack) mapping(kind groupVersionKind) (*meta.RESTMapping, error) {
	mapping, err := stack.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		stack.mapper.Reset()
		mapping, err = stack.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	return mapping, err
}

func freePorts(count int) []int {
	var ports []int
	var listeners []net.Listener
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		must(err)
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
		listeners = append(listeners, listener)
	}
	for _, listener := range listeners {
		listener.Close()
	}
	return ports
}

func until(limit time.Duration, what string, holds func() bool) {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if holds() {
			return
		}
	}
	log.Fatalf("timeout after %s: waiting until %s", limit, what)
}

// installOld installs the CustomResourceDefinitions of an older version of Flux if a case uses API versions that the
// version of `record` does not serve.
func (stack *Stack) installOld(files Files, version string) error {
	if version == "" {
		version = "2.6"
	}
	uses, usesKustomization := false, false
	for _, text := range files {
		uses = uses || oldVersions.MatchString(text)
		usesKustomization = usesKustomization || strings.Contains(text, "kustomize.toolkit.fluxcd.io/v1beta")
	}
	if !uses {
		return nil
	}
	dirs, err := filepath.Glob(filepath.Join(filepath.Dir(os.Getenv("FLUX_MANIFESTS")), "v"+version+".*"))
	if err != nil || len(dirs) == 0 {
		return err
	}
	definitions, err := filepath.Glob(filepath.Join(dirs[len(dirs)-1], "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range definitions {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, object := range objects(file, string(text)) {
			if object.GetKind() == "CustomResourceDefinition" && (usesKustomization || !strings.HasPrefix(object.GetName(), "kustomizations.")) {
				// The API server rejects a definition without the stored version, and keeps the newer definition.
				_ = stack.apply(object)
			}
		}
	}
	time.Sleep(time.Second)
	return nil
}

var oldVersions = regexp.MustCompile(`toolkit\.fluxcd\.io/v\d+(alpha|beta)`)

// install applies the CustomResourceDefinitions, roles and service accounts of Flux, and the CustomResourceDefinitions
// of Flux Operator.
func (stack *Stack) install(manifests, operator string) {
	found := Files{}
	for _, dir := range []string{manifests, operator} {
		files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
		must(err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			must(err)
			found[filepath.Base(file)] = string(text)
		}
	}
	must(stack.apply(named("v1", "Namespace", "", "flux-system")))
	for _, object := range found.all() {
		switch object.GetKind() {
		case "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "ServiceAccount":
			if object.GetKind() == "ServiceAccount" {
				object.SetNamespace("flux-system")
			}
			if object.GetKind() == "ClusterRoleBinding" {
				subjects, _, _ := nestedSlice(object.Object, "subjects")
				for _, subject := range subjects {
					subject.(map[string]any)["namespace"] = "flux-system"
				}
				object.Object["subjects"] = subjects
			}
			if strings.HasPrefix(object.GetKind(), "ClusterRole") {
				object.SetName(object.GetName() + "-flux-system")
				if reference, ok := object.Object["roleRef"].(map[string]any); ok && reference["name"] != "cluster-admin" {
					reference["name"] = reference["name"].(string) + "-flux-system"
				}
			}
			must(stack.apply(object))
		}
	}
}
