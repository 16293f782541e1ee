package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// controller is the user that applies objects: the service account of kustomize-controller.
const controller = `controller,system:serviceaccount:flux-system:kustomize-controller,controller,` +
	`"system:serviceaccounts,system:serviceaccounts:flux-system,system:authenticated"` + "\n"

// Server is an API server with etcd, on the loopback interface. It authorizes every request.
type Server struct {
	state, address string
	processes      []*exec.Cmd
	client         *http.Client
}

func start(program, state string) *Server {
	// The processes end with the thread that starts them.
	runtime.LockOSThread()
	must(os.RemoveAll(state))
	must(os.MkdirAll(state, 0o700))
	ports := freePorts(3)
	server := &Server{state: state, address: fmt.Sprintf("https://127.0.0.1:%d", ports[0])}
	// The certificate of the server is its own, and the connection is on the loopback interface.
	server.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	etcd, peer := fmt.Sprintf("http://127.0.0.1:%d", ports[1]), fmt.Sprintf("http://127.0.0.1:%d", ports[2])
	server.run("etcd", "--data-dir="+server.at("etcd.data"), "--listen-client-urls="+etcd, "--advertise-client-urls="+etcd,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer, "--logger=zap")
	server.credentials()
	server.run(program, "--etcd-servers="+etcd, "--cert-dir="+server.at("tls"), fmt.Sprintf("--secure-port=%d", ports[0]),
		"--bind-address=127.0.0.1", "--endpoint-reconciler-type=none",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+server.at("accounts.key"),
		"--service-account-signing-key-file="+server.at("accounts.key"), "--token-auth-file="+server.at("tokens"),
		"--authorization-mode=AlwaysAllow", "--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true",
		// A case need not contain the namespaces and service accounts of its objects.
		"--disable-admission-plugins=ServiceAccount,NamespaceLifecycle,PodSecurity", "--enable-priority-and-fairness=false",
		"--profiling=false", "--audit-log-path="+server.at("audit.log"), "--audit-policy-file="+server.at("audit.yaml"))
	// The server is ready before it serves CustomResourceDefinitions.
	for _, path := range []string{"/readyz", "/apis/apiextensions.k8s.io/v1", "/apis/admissionregistration.k8s.io/v1"} {
		until(3*time.Minute, "the API server serves "+path, func() bool { return server.answers(path) })
	}
	return server
}

// answers reports whether the server answers a request.
func (server *Server) answers(path string) bool {
	request, err := http.NewRequest(http.MethodGet, server.address+path, nil)
	must(err)
	request.Header.Set("Authorization", "Bearer controller")
	response, err := server.client.Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// install installs the CustomResourceDefinitions in directories.
func (server *Server) install(dirs []string) {
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
		must(err)
		for _, file := range files {
			if filepath.Base(file) == "kustomization.yaml" {
				continue
			}
			for _, object := range read(file) {
				if object.kind() != "CustomResourceDefinition" {
					continue
				}
				if answer := server.create(object); !answer.Accepted {
					log.Fatal("cannot install ", object.title(), ": ", answer.Message)
				}
			}
		}
	}
}

func (server *Server) at(name string) string { return filepath.Join(server.state, name) }

// run starts a process and writes its output to a log file.
func (server *Server) run(program string, arguments ...string) {
	out, err := os.Create(server.at(filepath.Base(program) + ".log"))
	must(err)
	command := exec.Command(program, arguments...)
	command.Stdout, command.Stderr = out, out
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(command.Start())
	server.processes = append(server.processes, command)
}

func (server *Server) stop() {
	for index := len(server.processes) - 1; index >= 0; index-- {
		_ = server.processes[index].Process.Kill()
		_ = server.processes[index].Wait()
	}
}

// credentials writes the key of service account tokens, the token of the controller, and the audit policy. Only one run
// uses them.
func (server *Server) credentials() {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(err)
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	must(os.WriteFile(server.at("accounts.key"), pem.EncodeToMemory(block), 0o600))
	must(os.WriteFile(server.at("tokens"), []byte(controller), 0o600))
	policy := "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\n" +
		"rules: [{level: Metadata, verbs: [patch]}, {level: None}]\n"
	must(os.WriteFile(server.at("audit.yaml"), []byte(policy), 0o600))
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
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	log.Fatalf("timeout after %s: waiting until %s", limit, what)
}
