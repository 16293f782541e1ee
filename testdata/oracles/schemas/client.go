package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

// Answer is the answer of the API server to one object.
type Answer struct {
	Object   string  `json:"object"`
	Accepted bool    `json:"accepted,omitempty"`
	Reason   string  `json:"reason,omitempty"`
	Message  string  `json:"message,omitempty"`
	Causes   []Cause `json:"causes,omitempty"`
	// Warnings contains the texts of `Warning` headers, such as those of policies that warn.
	Warnings []string `json:"warnings,omitempty"`
	// Annotations contains the annotations of the audit event that policies add.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Cause is one fault of an object.
type Cause struct {
	Reason  string `json:"reason,omitempty"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message,omitempty"`
}

// status is the body of a rejection.
type status struct {
	Reason, Message string
	Details         struct{ Causes []Cause }
}

const (
	applyOptions = "?fieldManager=kustomize-controller&force=true"
	markerPath   = "/api/v1/namespaces/default/configmaps/policies-are-active"
)

// apply applies an object in a dry run, as kustomize-controller does.
func (server *Server) apply(object Object) *Answer {
	return server.send(object, applyOptions+"&dryRun=All")
}

// create applies an object, and waits until the API server serves the kind that it defines.
func (server *Server) create(object Object) *Answer {
	answer := server.send(object, applyOptions)
	if answer.Accepted && object.kind() == "CustomResourceDefinition" {
		until(time.Minute, "the API server serves "+object.title(), func() bool { return server.serves(object) })
	}
	return answer
}

// serves reports whether the API server serves the versions of a CustomResourceDefinition.
func (server *Server) serves(definition Object) bool {
	spec := definition["spec"].(map[string]any)
	names := spec["names"].(map[string]any)
	for _, version := range spec["versions"].([]any) {
		version := version.(map[string]any)
		if version["served"] != true {
			continue
		}
		group := fmt.Sprintf("%v/%v", spec["group"], version["name"])
		path, found := server.path(Object{"apiVersion": group, "kind": names["kind"], "metadata": map[string]any{"name": "any"}})
		if !found {
			return false
		}
		code, body, _ := server.request(http.MethodGet, path, nil)
		if code != http.StatusNotFound || bytes.Contains(body, []byte("could not find the requested resource")) {
			return false
		}
	}
	return true
}

// send sends an object as a server-side apply.
func (server *Server) send(object Object, options string) *Answer {
	answer := &Answer{Object: object.title()}
	path, found := server.path(object)
	if !found {
		answer.Reason, answer.Message = "NotFound", "the API server does not serve this kind"
		return answer
	}
	body, err := json.Marshal(object)
	must(err)
	code, text, header := server.request(http.MethodPatch, path+options, body)
	for _, warning := range header.Values("Warning") {
		answer.Warnings = append(answer.Warnings, strings.TrimSuffix(strings.TrimPrefix(warning, `299 - "`), `"`))
	}
	answer.Annotations = server.annotations(header.Get("Audit-Id"))
	if code < 300 {
		answer.Accepted = true
		return answer
	}
	var rejection status
	if err := json.Unmarshal(text, &rejection); err != nil {
		rejection.Message = string(text)
	}
	answer.Reason, answer.Message, answer.Causes = rejection.Reason, rejection.Message, rejection.Details.Causes
	return answer
}

// delete deletes an object and waits until it is gone.
func (server *Server) delete(object Object) {
	path, found := server.path(object)
	if !found || object.kind() == "Namespace" {
		return
	}
	server.request(http.MethodDelete, path+"?gracePeriodSeconds=0", nil)
	until(time.Minute, object.title()+" is gone", func() bool {
		code, _, _ := server.request(http.MethodGet, path, nil)
		return code == http.StatusNotFound
	})
}

// awaitPolicies creates the policy that rejects the marker, after all others, and waits until it does.
func (server *Server) awaitPolicies(created []Object) {
	if hasOwnParameters(created) {
		// The admission plugin finds a new kind of parameters only after it reads the kinds again, every 30 seconds.
		time.Sleep(35 * time.Second)
	}
	for _, object := range marker() {
		if answer := server.send(object, applyOptions); !answer.Accepted {
			log.Fatal(answer.Message)
		}
	}
	until(time.Minute, "policies are active", func() bool { return !server.acceptsMarker() })
}

func (server *Server) awaitNoPolicies() {
	for _, object := range marker() {
		server.delete(object)
	}
	until(time.Minute, "policies are gone", server.acceptsMarker)
}

func (server *Server) acceptsMarker() bool {
	body := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"policies-are-active"}}`)
	code, _, _ := server.request(http.MethodPatch, markerPath+applyOptions+"&dryRun=All", body)
	return code < 300
}

func hasOwnParameters(created []Object) bool {
	defines, parametrized := false, false
	for _, object := range created {
		spec, _ := object["spec"].(map[string]any)
		defines = defines || object.kind() == "CustomResourceDefinition"
		parametrized = parametrized || spec["paramKind"] != nil
	}
	return defines && parametrized
}

// marker returns a policy that rejects one ConfigMap, with its binding.
func marker() []Object {
	rule := map[string]any{"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"configmaps"},
		"resourceNames": []any{"policies-are-active"}, "operations": []any{"*"}}
	metadata := map[string]any{"name": "policies-are-active.example.com"}
	version := "admissionregistration.k8s.io/v1"
	return []Object{
		{"apiVersion": version, "kind": "ValidatingAdmissionPolicy", "metadata": metadata, "spec": map[string]any{
			"matchConstraints": map[string]any{"resourceRules": []any{rule}},
			"validations":      []any{map[string]any{"expression": "false"}}}},
		{"apiVersion": version, "kind": "ValidatingAdmissionPolicyBinding", "metadata": metadata, "spec": map[string]any{
			"policyName": metadata["name"], "validationActions": []any{"Deny"}}},
	}
}

func (server *Server) get(path string, answer any) {
	code, body, _ := server.request(http.MethodGet, path, nil)
	if code == http.StatusOK {
		must(json.Unmarshal(body, answer))
	}
}

func (server *Server) request(method, path string, body []byte) (int, []byte, http.Header) {
	request, err := http.NewRequest(method, server.address+path, bytes.NewReader(body))
	must(err)
	request.Header.Set("Authorization", "Bearer controller")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/apply-patch+yaml")
	}
	response, err := server.client.Do(request)
	must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(err)
	return response.StatusCode, text, response.Header
}

// annotations returns the annotations of policies of a request's audit event.
func (server *Server) annotations(id string) map[string]string {
	for range 20 {
		text, err := os.ReadFile(server.at("audit.log"))
		must(err)
		_, after, found := strings.Cut(string(text), id)
		if !found {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		after, _, _ = strings.Cut(after, "\n")
		var event struct{ Annotations map[string]string }
		line := text[strings.LastIndex(string(text[:len(text)-len(after)-1]), "\n")+1:]
		_ = json.NewDecoder(bytes.NewReader(line)).Decode(&event)
		for name := range event.Annotations {
			if strings.HasPrefix(name, "authorization.k8s.io/") || strings.HasPrefix(name, "apiserver.latency") {
				delete(event.Annotations, name)
			}
		}
		return event.Annotations
	}
	return nil
}
