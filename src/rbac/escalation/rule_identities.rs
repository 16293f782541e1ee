//! The identities that the holder of a single rule can assume, by `impersonate` or by a token.
//!
//! Source: `k8s.io/apiserver/pkg/endpoints/filters/impersonation.go`. The API server authorizes the name of a service
//! account as a `serviceaccounts` resource, never as a user. Users and groups are cluster-scoped.

use super::actor::Actor;
use super::method::Method;
use crate::rbac::model::request::Request;
use crate::rbac::model::rule::Rule;
use crate::rbac::model::subject::{Account, Subject};
use crate::yaml::Name;

/// The identities that the holder of a rule can assume in the scope of a binding: a namespace, or the whole cluster if
/// the scope is empty.
///
/// A group can only be assumed together with a user or an account.
pub fn identities(rule: &Rule, scope: &Name) -> Vec<(Actor, Method)> {
    let mut found = Vec::new();
    let any = |verb, resource| rule.allows(&Request::new(verb, "", resource));
    let named = |verb, resource, name| rule.allows(&Request::new(verb, "", resource).named(name));
    let token = "serviceaccounts/token";
    if scope.is_empty() {
        if any("impersonate", "users") {
            found.push((Actor::AnyUser, Method::Impersonate));
        }
        if any("impersonate", "groups") {
            found.push((Actor::AnyGroup, Method::Impersonate));
        }
    }
    if any("impersonate", "serviceaccounts") {
        found.push((Actor::every_account_of(scope), Method::Impersonate));
    }
    if any("create", token) {
        found.push((Actor::every_account_of(scope), Method::Token));
    }
    for name in &rule.names {
        if scope.is_empty() {
            let user = Subject::User(name.clone());
            if named("impersonate", "users", name) && user.account().is_none() {
                found.push((Actor::Subject(user), Method::Impersonate));
            }
            if named("impersonate", "groups", name) {
                found.push((Actor::Subject(Subject::Group(name.clone())), Method::Impersonate));
            }
        }
        let actor = || match &**scope {
            "" => Actor::AccountsNamed(name.clone()),
            _ => Actor::Account(Account::new(scope.clone(), name.clone())),
        };
        if named("create", token, name) {
            found.push((actor(), Method::Token));
        } else if named("impersonate", "serviceaccounts", name) {
            found.push((actor(), Method::Impersonate));
        }
    }
    found
}
