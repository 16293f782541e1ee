package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// dump returns the keys and values of etcd, except for keys that the API server changes itself.
func (stack *Stack) dump() (map[string]string, error) {
	var answer struct {
		Kvs []struct{ Key, Value []byte }
	}
	if err := stack.ask("range", map[string]any{"key": []byte("/registry/"), "range_end": []byte("/registry0")}, &answer); err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, pair := range answer.Kvs {
		key := string(pair.Key)
		if !volatile(key) {
			found[key] = string(pair.Value)
		}
	}
	return found, nil
}

func volatile(key string) bool {
	for _, part := range []string{"leases/", "masterleases/", "ranges/", "apiregistration.k8s.io/", "peerserverleases/",
		"flowschemas/", "prioritylevelconfigurations/", "storageversions/"} {
		if strings.HasPrefix(key, "/registry/"+part) {
			return true
		}
	}
	return false
}

// reset restores the contents of etcd from before the first case. The API server watches etcd, so it observes each
// change.
func (stack *Stack) reset() error {
	now, err := stack.dump()
	if err != nil {
		return err
	}
	for key := range now {
		if _, ok := stack.baseline[key]; !ok {
			if err := stack.ask("deleterange", map[string]any{"key": []byte(key)}, nil); err != nil {
				return err
			}
		}
	}
	for key, value := range stack.baseline {
		if now[key] != value {
			if err := stack.ask("put", map[string]any{"key": []byte(key), "value": []byte(value)}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask calls the JSON API of etcd.
func (stack *Stack) ask(method string, question map[string]any, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	response, err := http.Post(stack.etcd+"/v3/kv/"+method, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd: %s: %s", method, response.Status)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}
