package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"strings"
	"time"

	admission "k8s.io/api/admission/v1"
	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Webhook completes objects before the API server validates them. It shortens the timeouts of Kustomizations, and adds
// fields that the API server requires, a case omits, and no rule reads.
type Webhook struct {
	url       string
	authority []byte
}

func serveWebhook(port int) *Webhook {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "127.0.0.1"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(err)
	listener, err := tls.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port), &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}})
	must(err)
	go func() { must(http.Serve(listener, http.HandlerFunc(answer))) }()
	return &Webhook{url: fmt.Sprintf("https://127.0.0.1:%d/", port),
		authority: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})}
}

func (webhook *Webhook) register(stack *Stack) {
	none, fail, scope := registration.SideEffectClassNone, registration.Fail, registration.AllScopes
	rule := func(group string, resources ...string) registration.RuleWithOperations {
		return registration.RuleWithOperations{Operations: []registration.OperationType{registration.Create, registration.Update},
			Rule: registration.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: resources, Scope: &scope}}
	}
	configuration := &registration.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "completion"},
		Webhooks: []registration.MutatingWebhook{{
			Name: "completion.fleetwright.dev", SideEffects: &none, FailurePolicy: &fail, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: registration.WebhookClientConfig{URL: &webhook.url, CABundle: webhook.authority},
			Rules: []registration.RuleWithOperations{rule("kustomize.toolkit.fluxcd.io", "*"), rule("source.toolkit.fluxcd.io", "*"),
				rule("helm.toolkit.fluxcd.io", "*"), rule("image.toolkit.fluxcd.io", "*"),
				rule("apiextensions.k8s.io", "customresourcedefinitions"),
				rule("apps", "deployments", "statefulsets", "daemonsets"), rule("batch", "jobs", "cronjobs"), rule("", "pods")},
		}},
	}
	_, err := stack.kubernetes.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(context.Background(), configuration, metav1.CreateOptions{})
	must(err)
}

func answer(writer http.ResponseWriter, request *http.Request) {
	var review admission.AdmissionReview
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	var object map[string]any
	_ = json.Unmarshal(review.Request.Object.Raw, &object)
	before, _ := json.Marshal(object["spec"])
	spec, ok := object["spec"].(map[string]any)
	if !ok {
		spec = map[string]any{}
	}
	complete(review.Request.Kind.Kind, review.Request.Name, spec)
	after, _ := json.Marshal(spec)
	response := &admission.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	if string(before) != string(after) {
		kind := admission.PatchTypeJSONPatch
		response.PatchType = &kind
		response.Patch, _ = json.Marshal([]map[string]any{{"op": "add", "path": "/spec", "value": spec}})
	}
	review.Response, review.Request = response, nil
	writer.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(writer).Encode(review)
}

func complete(kind, name string, spec map[string]any) {
	labels := map[string]any{"completed": "true"}
	switch kind {
	case "Kustomization":
		spec["timeout"], spec["retryInterval"] = "4s", "2s"
		add(spec, "interval", "10m")
		add(spec, "prune", false)
	case "GitRepository", "OCIRepository", "HelmRepository", "Bucket", "ImageRepository", "ImageUpdateAutomation":
		add(spec, "interval", "10m")
	case "HelmRelease":
		add(spec, "interval", "10m")
		if spec["chart"] == nil && spec["chartRef"] == nil {
			spec["chartRef"] = map[string]any{"kind": "OCIRepository", "name": "completed"}
		}
	case "CustomResourceDefinition":
		completeDefinition(name, spec)
	case "Pod":
		completePod(spec, "Always")
	case "Deployment", "StatefulSet", "DaemonSet":
		template := child(spec, "template")
		completePod(child(template, "spec"), "Always")
		if spec["selector"] == nil {
			spec["selector"] = map[string]any{"matchLabels": labels}
			merged := child(child(template, "metadata"), "labels")
			merged["completed"] = "true"
		}
		if kind == "StatefulSet" && spec["serviceName"] == nil {
			spec["serviceName"] = "none"
		}
	case "Job":
		completePod(child(child(spec, "template"), "spec"), "Never")
	case "CronJob":
		if spec["schedule"] == nil {
			spec["schedule"] = "@daily"
		}
		completePod(child(child(child(child(spec, "jobTemplate"), "spec"), "template"), "spec"), "Never")
	}
}

// completeDefinition adds missing fields of a CustomResourceDefinition: the names, the scope, and a version that accepts
// every object.
func completeDefinition(name string, spec map[string]any) {
	plural, group, _ := strings.Cut(name, ".")
	add(spec, "group", group)
	add(spec, "scope", "Namespaced")
	singular := strings.TrimSuffix(plural, "s")
	names := child(spec, "names")
	add(names, "plural", plural)
	if singular != "" {
		add(names, "kind", strings.ToUpper(singular[:1])+singular[1:])
	}
	versions, _ := spec["versions"].([]any)
	if len(versions) == 0 {
		versions = []any{map[string]any{"name": "v1"}}
		spec["versions"] = versions
	}
	for index, item := range versions {
		if version, ok := item.(map[string]any); ok {
			add(version, "served", true)
			add(version, "storage", index == 0)
			add(version, "schema", map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}})
		}
	}
}

// add sets a field if it is missing.
func add(object map[string]any, key string, value any) {
	if object[key] == nil {
		object[key] = value
	}
}

func completePod(spec map[string]any, restart string) {
	if _, ok := spec["restartPolicy"].(string); !ok {
		spec["restartPolicy"] = restart
	}
	containers, _ := spec["containers"].([]any)
	if len(containers) == 0 {
		spec["containers"] = []any{map[string]any{"name": "main", "image": "example.com/image:1"}}
	}
	for _, list := range []string{"containers", "initContainers"} {
		containers, _ := spec[list].([]any)
		for index, item := range containers {
			container, ok := item.(map[string]any)
			if !ok {
				continue
			}
			if container["image"] == nil {
				container["image"] = "example.com/image:1"
			}
			if container["name"] == nil {
				container["name"] = fmt.Sprintf("%s-%d", "container", index)
			}
		}
	}
}

// child returns the mapping at a key. It adds the mapping if it is missing.
func child(parent map[string]any, key string) map[string]any {
	found, ok := parent[key].(map[string]any)
	if !ok {
		found = map[string]any{}
		parent[key] = found
	}
	return found
}
