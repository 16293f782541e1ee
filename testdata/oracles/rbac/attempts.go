package main

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/apis/rbac"
	rbacconversion "k8s.io/kubernetes/pkg/apis/rbac/v1"
	guardedclusterrole "k8s.io/kubernetes/pkg/registry/rbac/clusterrole/policybased"
	guardedclusterrolebinding "k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding/policybased"
	guardedrole "k8s.io/kubernetes/pkg/registry/rbac/role/policybased"
	guardedrolebinding "k8s.io/kubernetes/pkg/registry/rbac/rolebinding/policybased"
	"k8s.io/kubernetes/pkg/registry/rbac/validation"
)

// accepting is a storage that takes everything: what is refused is refused by the guard before it.
type accepting struct{ rest.StandardStorage }

func (accepting) Create(
	_ context.Context, object runtime.Object, _ rest.ValidateObjectFunc, _ *metav1.CreateOptions,
) (runtime.Object, error) {
	return object, nil
}

// lets tells whether the guard against escalation lets somebody create a role or a binding. Whether he may create any is
// the authorizer's to say.
func lets(
	who user.Info, object runtime.Object, judge authorizer.Authorizer, resolver validation.AuthorizationRuleResolver,
) bool {
	ctx := request.WithUser(context.Background(), who)
	info := &request.RequestInfo{
		IsResourceRequest: true, Verb: "create", APIGroup: rbacv1.GroupName, APIVersion: "v1",
	}
	var storage rest.Creater
	var internal runtime.Object
	switch one := object.(type) {
	case *rbacv1.Role:
		info.Resource, info.Namespace, info.Name = "roles", one.Namespace, one.Name
		storage = guardedrole.NewStorage(accepting{}, judge, resolver)
		made := &rbac.Role{}
		must(rbacconversion.Convert_v1_Role_To_rbac_Role(one, made, nil))
		internal = made
	case *rbacv1.ClusterRole:
		info.Resource, info.Name = "clusterroles", one.Name
		storage = guardedclusterrole.NewStorage(accepting{}, judge, resolver)
		made := &rbac.ClusterRole{}
		must(rbacconversion.Convert_v1_ClusterRole_To_rbac_ClusterRole(one, made, nil))
		internal = made
	case *rbacv1.RoleBinding:
		info.Resource, info.Namespace, info.Name = "rolebindings", one.Namespace, one.Name
		storage = guardedrolebinding.NewStorage(accepting{}, judge, resolver)
		rbacconversion.SetObjectDefaults_RoleBinding(one)
		made := &rbac.RoleBinding{}
		must(rbacconversion.Convert_v1_RoleBinding_To_rbac_RoleBinding(one, made, nil))
		internal = made
	case *rbacv1.ClusterRoleBinding:
		info.Resource, info.Name = "clusterrolebindings", one.Name
		storage = guardedclusterrolebinding.NewStorage(accepting{}, judge, resolver)
		rbacconversion.SetObjectDefaults_ClusterRoleBinding(one)
		made := &rbac.ClusterRoleBinding{}
		must(rbacconversion.Convert_v1_ClusterRoleBinding_To_rbac_ClusterRoleBinding(one, made, nil))
		internal = made
	}
	ctx = request.WithNamespace(ctx, info.Namespace)
	ctx = request.WithRequestInfo(ctx, info)
	_, err := storage.Create(ctx, internal, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	return err == nil
}
