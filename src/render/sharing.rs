//! Rendering of templates for many scopes. Scopes in which a template reads equal values share its text.
//!
//! A template is a function of the values that it reads. So a text is also the text of each scope in which these values
//! are equal. Most templates of clusters read fields that all clusters of an environment share.

use arcstr::ArcStr;
use minijinja::Error;
use rayon::prelude::*;

use super::place::Scope;
use super::reading::Read;
use super::template::Templates;
use super::value::Values;
use crate::text::Index;

/// A template to render for a scope.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request<'a> {
    /// The name of the template.
    pub template: &'a str,
    /// The scope.
    pub scope: Scope,
    /// The other names in the directory of the output.
    pub siblings: Option<Names<'a>>,
}

/// The names in a directory. Equal names have equal ids.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names<'a> {
    /// The id.
    pub id: usize,
    /// The names.
    pub names: &'a [String],
}

/// Renders templates. Values are marks in the results.
pub(super) fn render(templates: &Templates, values: &Values, requests: &[Request<'_>]) -> Vec<Result<ArcStr, Error>> {
    let mut texts: Vec<Option<ArcStr>> = vec![None; requests.len()];
    let mut groups = split(requests.iter().map(|request| request.template).enumerate().collect());
    // The requests of a group have equal values of everything that an earlier text read. The template of a group reads the
    // same values until it reads another one, so each step adds a value, and the number of steps is limited.
    while !groups.is_empty() {
        let steps = groups.into_par_iter().map(|group| {
            let first = group.first().and_then(|at| requests.get(*at));
            let Some((text, reads)) = first.map(|request| one(templates, values, request)) else {
                return Step::default();
            };
            let keys = group.into_par_iter().map(|at| (at, key(values, requests.get(at), &reads)));
            let mut parts = split(keys.collect());
            let rest = parts.split_off(parts.len().min(1));
            // An error mentions its scope.
            Step { text: text.ok(), same: parts.pop().unwrap_or_default(), rest }
        });
        let steps: Vec<Step> = steps.collect();
        groups = Vec::new();
        for step in steps {
            for at in step.same {
                if let Some(text) = texts.get_mut(at) {
                    text.clone_from(&step.text);
                }
            }
            groups.extend(step.rest);
        }
    }
    let all = requests.par_iter().zip(texts);
    all.map(|(request, text)| text.map_or_else(|| one(templates, values, request).0, Ok)).collect()
}

/// The text of some requests of a group, and the groups of the other requests.
#[derive(Default)]
struct Step {
    /// The text; `None` if the template failed.
    text: Option<ArcStr>,
    same: Vec<usize>,
    rest: Vec<Vec<usize>>,
}

fn one(templates: &Templates, values: &Values, request: &Request<'_>) -> (Result<ArcStr, Error>, Vec<Read>) {
    let (context, reads) = values.context(request.scope, request.siblings.map(|siblings| siblings.names));
    let text = templates.render(request.template, context).map(ArcStr::from);
    (text, reads.all())
}

fn key(values: &Values, request: Option<&Request<'_>>, reads: &[Read]) -> Vec<Option<usize>> {
    let mut key = Vec::with_capacity(reads.len());
    for (request, read) in request.into_iter().flat_map(|request| reads.iter().map(move |read| (request, read))) {
        match read {
            Read::Siblings => key.push(request.siblings.map(|siblings| siblings.id)),
            read => values.identity(read, request.scope, &mut key),
        }
    }
    key
}

/// Groups indices by their keys, in the order of their first indices.
fn split<K: Eq + std::hash::Hash>(keys: Vec<(usize, K)>) -> Vec<Vec<usize>> {
    let mut known: Index<K, usize> = Index::default();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, key) in keys {
        let next = groups.len();
        let group = *known.entry_or(key, || next);
        match groups.get_mut(group) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups
}
