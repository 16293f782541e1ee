package main

import (
	"fmt"
	"math/rand"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	rbaccover "k8s.io/component-helpers/auth/rbac/validation"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
)

// How many random questions there are of each kind.
const many = 400

var (
	verbs     = []string{"get", "list", "create", "patch", "*"}
	groups    = []string{"", "apps", "batch", "*"}
	resources = []string{"pods", "pods/log", "deployments", "deployments/scale", "*/scale", "*/log", "*"}
	names     = []string{"a", "b"}
	urls      = []string{"/healthz", "/healthz/*", "/metrics", "/h*", "*"}
)

// random makes up rules and asks whether they allow a request, and whether they cover other rules. Rules are written as
// `verbs|groups|resources|names|urls`, with `,` between the items, and `;` between rules.
func random() (allows, covers []string) {
	dice := rand.New(rand.NewSource(1))
	for range many {
		rules := made(dice, 1+dice.Intn(3))
		text := "get " + one(dice, urls[:3])
		if dice.Intn(4) > 0 {
			resource, subresource, found := strings.Cut(one(dice, resources[:4]), "/")
			text = one(dice, verbs[:4]) + " " + resource
			if group := one(dice, groups[:3]); group != "" {
				text += "." + group
			}
			if found {
				text += "/" + subresource
			}
			if dice.Intn(2) == 0 {
				text += " " + one(dice, []string{"a", "b", "c"})
			}
		}
		yes := rbac.RulesAllow(asked(text), rules...)
		allows = append(allows, fmt.Sprintf("%s => %s: %c", spelled(rules), text, letter(yes)))
	}
	for range many {
		owner, wanted := made(dice, 1+dice.Intn(4)), made(dice, 1+dice.Intn(2))
		yes, _ := rbaccover.Covers(owner, wanted)
		covers = append(covers, fmt.Sprintf("%s => %s: %c", spelled(owner), spelled(wanted), letter(yes)))
	}
	return allows, covers
}

func made(dice *rand.Rand, count int) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for range count {
		rule := rbacv1.PolicyRule{Verbs: some(dice, verbs)}
		if dice.Intn(6) == 0 {
			rule.NonResourceURLs = some(dice, urls)
		} else {
			rule.APIGroups, rule.Resources = some(dice, groups), some(dice, resources)
			if dice.Intn(4) == 0 {
				rule.ResourceNames = some(dice, names)
			}
		}
		rules = append(rules, rule)
	}
	return rules
}

func one(dice *rand.Rand, from []string) string { return from[dice.Intn(len(from))] }

func some(dice *rand.Rand, from []string) []string {
	var chosen []string
	for _, at := range dice.Perm(len(from))[:1+dice.Intn(3)%len(from)] {
		chosen = append(chosen, from[at])
	}
	return chosen
}

func spelled(rules []rbacv1.PolicyRule) string {
	var texts []string
	for _, rule := range rules {
		var lists []string
		for _, list := range [][]string{rule.Verbs, rule.APIGroups, rule.Resources, rule.ResourceNames, rule.NonResourceURLs} {
			lists = append(lists, strings.Join(list, ","))
		}
		texts = append(texts, strings.Join(lists, "|"))
	}
	return strings.Join(texts, ";")
}
