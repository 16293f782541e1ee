package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/registry/rbac/validation"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
	"sigs.k8s.io/yaml"
)

// questions are the first document of a file in clusters/.
type questions struct {
	// Who asks, as `namespace/name` of a service account.
	Accounts []string
	// What is asked, as `verb resource[.group][/subresource] [name] [-n namespace]`, or `verb /path`.
	Requests []string
}

// cluster is a file of clusters/: who asks what, of which objects.
type cluster struct {
	questions
	roles               []*rbacv1.Role
	roleBindings        []*rbacv1.RoleBinding
	clusterRoles        []*rbacv1.ClusterRole
	clusterRoleBindings []*rbacv1.ClusterRoleBinding
	// Objects that each account tries to create, and to put in the place of one of the same name.
	attempts []runtime.Object
}

// try is the annotation of objects that are attempts.
const try = "oracle/try"

type answered struct {
	// Letters for each account: `x` where a request is allowed, `.` where it is not.
	Requests map[string]string `json:"requests"`
	// Letters for each account: `x` where the guard against escalation lets an attempt through.
	Attempts map[string]string `json:"attempts,omitempty"`
}

func answers() {
	paths, err := filepath.Glob("clusters/*.yaml")
	must(err)
	output := struct {
		Versions map[string]string   `json:"versions"`
		Clusters map[string]answered `json:"clusters"`
		// Rules, a request and whether they allow it.
		Allows []string `json:"allows"`
		// Rules of an owner, rules that somebody wants and whether the first cover the second.
		Covers []string `json:"covers"`
	}{Versions: versions(), Clusters: map[string]answered{}}
	for _, path := range paths {
		output.Clusters[strings.TrimSuffix(filepath.Base(path), ".yaml")] = answer(read(path))
	}
	output.Allows, output.Covers = random()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	must(encoder.Encode(output))
	_, err = text.WriteTo(os.Stdout)
	must(err)
}

func read(path string) *cluster {
	all := &cluster{}
	for number, document := range documents(path) {
		if number == 0 {
			must(yaml.Unmarshal(document, &all.questions))
			continue
		}
		var meta metav1.PartialObjectMetadata
		must(yaml.Unmarshal(document, &meta))
		_, attempt := meta.Annotations[try]
		switch meta.Kind {
		case "Role":
			take(document, attempt, &all.roles, &all.attempts)
		case "RoleBinding":
			take(document, attempt, &all.roleBindings, &all.attempts)
		case "ClusterRole":
			take(document, attempt, &all.clusterRoles, &all.attempts)
		case "ClusterRoleBinding":
			take(document, attempt, &all.clusterRoleBindings, &all.attempts)
		}
	}
	all.addShipped()
	all.clusterRoles = aggregated(all.clusterRoles)
	return all
}

func take[T any, P interface {
	*T
	runtime.Object
}](document []byte, attempt bool, into *[]P, attempts *[]runtime.Object) {
	one := P(new(T))
	must(yaml.Unmarshal(document, one))
	if attempt {
		*attempts = append(*attempts, one)
	} else {
		*into = append(*into, one)
	}
}

// addShipped adds what the other command prints, unless the cluster has an object of that name.
func (all *cluster) addShipped() {
	text, err := os.ReadFile("../../../src/rbac/model/shipped.json.new")
	if err != nil {
		text, err = os.ReadFile("../../../src/rbac/model/shipped.json")
	}
	must(err)
	var facts struct {
		Roles    []role
		Bindings []binding
	}
	must(json.Unmarshal(text, &facts))
	for _, one := range facts.Roles {
		made := rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: one.Name, Labels: one.Labels}}
		for _, rule := range one.Rules {
			made.Rules = append(made.Rules, rule.policy())
		}
		if one.Aggregate != nil {
			made.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: one.Aggregate}
		}
		if one.Namespace == "" && !has(all.clusterRoles, one.Name) {
			all.clusterRoles = append(all.clusterRoles, &made)
		}
	}
	for _, one := range facts.Bindings {
		made := rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: one.Name}}
		made.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: one.Kind, Name: one.Role}
		for _, subject := range one.Subjects {
			made.Subjects = append(made.Subjects, rbacv1.Subject{Kind: subject.Kind, Namespace: subject.Namespace, Name: subject.Name})
		}
		if one.Namespace == "" {
			all.clusterRoleBindings = append(all.clusterRoleBindings, &made)
		}
	}
}

func has(roles []*rbacv1.ClusterRole, name string) bool {
	for _, one := range roles {
		if one.Name == name {
			return true
		}
	}
	return false
}

func (one rule) policy() rbacv1.PolicyRule {
	return rbacv1.PolicyRule{
		Verbs: one.Verbs, APIGroups: one.Groups, Resources: one.Resources, ResourceNames: one.Names,
		NonResourceURLs: one.URLs,
	}
}

// aggregated lets Kubernetes' controller fill the roles that gather others.
func aggregated(roles []*rbacv1.ClusterRole) []*rbacv1.ClusterRole {
	objects := []runtime.Object{}
	for _, one := range roles {
		objects = append(objects, one.DeepCopy())
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	client := fake.NewClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Rbac().V1().ClusterRoles()
	controller := clusterroleaggregation.NewClusterRoleAggregation(informer, client.RbacV1())
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	go controller.Run(ctx, 1)
	// Roles gather from roles that gather: it is done when no rule changed for a while. That nothing is written cannot
	// be waited for, since a role that gathers nothing and has rules of its own is written again and again.
	var list *rbacv1.ClusterRoleList
	for before, quiet := "", 0; quiet < 20; quiet++ {
		time.Sleep(50 * time.Millisecond)
		var err error
		list, err = client.RbacV1().ClusterRoles().List(ctx, metav1.ListOptions{})
		must(err)
		sort.Slice(list.Items, func(a, b int) bool { return list.Items[a].Name < list.Items[b].Name })
		texts := []string{}
		for _, one := range list.Items {
			texts = append(texts, fmt.Sprint(one.Rules))
		}
		if now := strings.Join(texts, "\n"); now != before {
			before, quiet = now, 0
		}
	}
	found := []*rbacv1.ClusterRole{}
	for i := range list.Items {
		found = append(found, &list.Items[i])
	}
	return found
}

func answer(all *cluster) answered {
	resolver, store := validation.NewTestRuleResolver(
		all.roles, all.roleBindings, all.clusterRoles, all.clusterRoleBindings,
	)
	judge := rbac.New(store, store, store, store)
	said := answered{Requests: map[string]string{}, Attempts: map[string]string{}}
	for _, account := range all.Accounts {
		namespace, name, _ := strings.Cut(account, "/")
		var requests, attempts strings.Builder
		for _, text := range all.Requests {
			attributes := asked(text)
			attributes.User = userOf(namespace, name)
			decision, _, _ := judge.Authorize(context.Background(), attributes)
			requests.WriteByte(letter(decision == authorizer.DecisionAllow))
		}
		for _, object := range all.attempts {
			attempts.WriteByte(letter(lets(userOf(namespace, name), object, judge, resolver)))
		}
		said.Requests[account] = requests.String()
		if len(all.attempts) > 0 {
			said.Attempts[account] = attempts.String()
		}
	}
	return said
}

// userOf is a service account as the API server knows it, impersonated or not.
func userOf(namespace, name string) user.Info {
	return &user.DefaultInfo{
		Name:   serviceaccount.MakeUsername(namespace, name),
		Groups: append(serviceaccount.MakeGroupNames(namespace), user.AllAuthenticated),
	}
}

func letter(yes bool) byte {
	if yes {
		return 'x'
	}
	return '.'
}

func asked(text string) authorizer.AttributesRecord {
	words := strings.Fields(text)
	record := authorizer.AttributesRecord{Verb: words[0], APIVersion: "v1"}
	if strings.HasPrefix(words[1], "/") {
		record.Path = words[1]
		return record
	}
	record.ResourceRequest = true
	what, subresource, _ := strings.Cut(words[1], "/")
	record.Subresource = subresource
	record.Resource, record.APIGroup, _ = strings.Cut(what, ".")
	for at := 2; at < len(words); at++ {
		if words[at] == "-n" {
			at++
			record.Namespace = words[at]
		} else {
			record.Name = words[at]
		}
	}
	if record.Verb == "" {
		panic(fmt.Sprintf("no verb in %q", text))
	}
	return record
}
