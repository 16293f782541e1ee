//! All references of a Flux object to other objects.

use super::copied_data::{CopiedData, copied_data};
use super::dependency::{Dependency, dependencies};
use super::health_check::health_checks;
use super::image_repository::image_repository_of;
use super::notification::{event_sources, provider_of, secrets_of};
use super::reference::Reference;
use super::source_reference::{input_sources, source_of};
use super::values_reference::values_of;
use crate::kube::Object;

/// The relation of an object to an object that it references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The object reads its artifact or chart from the other object, which is a source.
    BuildsFrom,
    /// The object lists the other object in `dependsOn`.
    DependsOn,
    /// The object reads the other object, or waits for its health.
    Reads,
}

/// The references of an object, with their relations.
pub fn references(object: &Object) -> Vec<(Relation, Reference<'_>)> {
    let sources = source_of(object).into_iter().chain(input_sources(object));
    let dependencies = dependencies(object).map(|Dependency { node, target, .. }| Reference { node, target });
    let values = values_of(object).map(|values| Reference { node: values.node, target: values.target });
    let copied = copied_data(object).filter_map(|data| match data {
        CopiedData::From(reference) => Some(reference),
        CopiedData::Invalid(_) => None,
    });
    let notification = provider_of(object).into_iter().chain(event_sources(object)).chain(secrets_of(object));
    let read = values.chain(health_checks(object)).chain(image_repository_of(object)).chain(notification).chain(copied);
    let with = |relation: Relation| move |reference| (relation, reference);
    let built = sources.map(with(Relation::BuildsFrom));
    built.chain(dependencies.map(with(Relation::DependsOn))).chain(read.map(with(Relation::Reads))).collect()
}
