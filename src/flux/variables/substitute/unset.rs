//! The variables that an object reads and nothing defines, and whose they are.

use super::owner::{Ownership, Passage};
use super::values::string;
use crate::base::finding::{ObjectRef, did_you_mean};
use crate::flux::model::variables::Variables;
use crate::flux::variables::envsubst::template::{Template, Use};
use crate::flux::variables::variable_name::is_name;
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::{By, Name, Node, Origin, Value};

/// So many are told of one object.
const MAX_UNSET: usize = 100;

/// A variable that an object reads and nothing defines, or those that a text of it means for another program.
#[derive(Debug, Clone)]
pub(crate) struct Unset {
    /// Who means it.
    pub(crate) whose: Whose,
    /// The variable with its place; several in a text that means another program.
    pub(crate) uses: Vec<(Name, Span)>,
    /// The object that reads it.
    pub(crate) object: ObjectRef,
    /// The generator that makes this object.
    pub(crate) generator: Option<Span>,
    /// Whether a strict Flux fails: nothing defines it for certain, and no default is given.
    pub(crate) fails: bool,
}

/// Who means a `${…}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Flux.
    Flux,
    /// Another program, for which the text is: what it is, in a word.
    Other(&'static str),
}

/// The variables that an object reads, of those with these names, and that nothing defines or that the object means for
/// another program.
pub(crate) fn unset(object: &Object, names: &[Name], variables: &Variables) -> Vec<Unset> {
    // The empty name stands for what is no variable.
    if names.iter().all(|name| name.is_empty()) {
        return Vec::new();
    }
    let misses = names.iter().any(|name| !name.is_empty() && !variables.values.contains_key(name));
    let mut search = Search { object, variables, misses, path: Vec::new(), found: Vec::new() };
    search.node(&object.node);
    search.found.truncate(MAX_UNSET);
    search.found
}

struct Search<'a> {
    object: &'a Object,
    variables: &'a Variables,
    /// Whether it reads any that nothing defines.
    misses: bool,
    /// The keys that lead to what is looked at.
    path: Vec<&'a str>,
    found: Vec<Unset>,
}

impl<'a> Search<'a> {
    fn node(&mut self, node: &'a Node) {
        match &node.value {
            Value::Map(entries) => {
                for entry in entries.iter() {
                    if entry.key.contains('$') {
                        self.text(&entry.key, &|_| entry.key_span());
                    }
                    self.path.push(&entry.key);
                    self.node(&entry.node);
                    self.path.pop();
                }
            }
            Value::Seq(items) => items.iter().for_each(|item| self.node(item)),
            Value::Scalar(text, _) if text.contains('$') => {
                if let Some(text) = string(node) {
                    self.text(&text, &|said| place(node, said));
                }
            }
            Value::Scalar(..) => {}
        }
    }

    fn text(&mut self, text: &str, place: &dyn Fn(&str) -> Span) {
        // One line sets nothing before it reads it.
        let may_set = text.contains('\n');
        if !self.misses && !may_set {
            return;
        }
        // What cannot be read is told otherwise.
        let Ok(template) = Template::parse(text) else { return };
        let mut uses = template.uses();
        let is_known = |name: &str| self.variables.values.contains_key(name);
        if !may_set {
            uses.retain(|one| !is_known(one.name));
        }
        if uses.is_empty() {
            return;
        }
        let passage = Passage::new(self.object, &self.path, text);
        let span = |one: &Use<'_>| place(text.get(one.range.clone()).unwrap_or_default());
        let mut seen: Vec<&str> = Vec::new();
        let (mut own, mut own_fails) = (Vec::new(), false);
        for one in &uses {
            if seen.contains(&one.name) {
                continue;
            }
            if is_known(one.name) {
                if passage.shadows(one.name) {
                    own.push((Name::from(one.name), span(one)));
                }
                seen.push(one.name);
                continue;
            }
            let fails = uses.iter().any(|other| other.name == one.name && !other.has_default);
            let certain = !self.variables.open || !is_name(one.name);
            match passage.ownership(one.name) {
                Ownership::Sure => {
                    own.push((Name::from(one.name), span(one)));
                    own_fails |= fails && certain;
                }
                Ownership::Likely if fails && certain && self.looks_foreign(one.name) => {
                    own.push((Name::from(one.name), span(one)));
                    own_fails = true;
                }
                _ if fails && certain => {
                    let first = uses.iter().find(|other| other.name == one.name && !other.has_default).unwrap_or(one);
                    let uses = vec![(Name::from(one.name), span(first))];
                    self.push(Whose::Flux, uses, fails);
                }
                _ => {}
            }
            seen.push(one.name);
        }
        if !own.is_empty() {
            self.push(Whose::Other(passage.noun()), own, own_fails);
        }
    }

    fn push(&mut self, whose: Whose, uses: Vec<(Name, Span)>, fails: bool) {
        let (object, generator) = (self.object.reference(), generator(self.object));
        self.found.push(Unset { whose, uses, object, generator, fails });
    }

    /// Tells whether a name is unlike those of the variables that there are: a near one is a slip of the pen, and who has
    /// small letters in names of variables means them.
    fn looks_foreign(&self, name: &str) -> bool {
        let known = || self.variables.values.keys().map(|name| &**name);
        let has_small = |name: &str| name.bytes().any(|byte| byte.is_ascii_lowercase());
        let is_near = name.len() > 3 && did_you_mean(name, known()).is_some();
        !(is_near || (has_small(name) && known().any(has_small)))
    }
}

/// The generator of a ConfigMap or Secret.
fn generator(object: &Object) -> Option<Span> {
    let mut origin = object.node.get("kind").map(|kind| &kind.origin);
    while let Some(Origin::Via(step)) = origin {
        if let By::Generator(span) = &step.by {
            return matches!(object.kind(), "ConfigMap" | "Secret").then(|| span.clone());
        }
        origin = step.was.as_ref();
    }
    None
}

/// The place of a `${…}` of a scalar: in the last file that decided the value and has it, else that of the scalar.
fn place(node: &Node, said: &str) -> Span {
    let spans = [node.span(), node.origin.written()];
    let found = spans.into_iter().find_map(|span| {
        let text = span.text();
        // Of `$${x}` nothing is read.
        let mut starts = text.match_indices(said).map(|(start, _)| start);
        let start = starts.find(|start| !text.get(..*start).is_some_and(|before| before.ends_with('$')))?;
        let start = span.range().start + start;
        Some(span.file().span(start..start + said.len()))
    });
    found.filter(|_| !said.is_empty()).unwrap_or_else(|| node.span().clone())
}
