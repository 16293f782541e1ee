//! Substitution in the whole text, as in Flux: the object is printed, expanded and parsed again.

use std::ops::Range;

use arcstr::ArcStr;

use super::canonical::{canonical, is_rounded};
use super::fault::{self, narrowed};
use super::origin;
use super::values::{Values, string};
use crate::base::finding::Finding;
use crate::flux::variables::envsubst::expand::{Expansion, Lookup, Piece};
use crate::flux::variables::envsubst::fault::{Fault, FaultKind};
use crate::flux::variables::envsubst::template::Template;
use crate::kube::Object;
use crate::kustomize::FAILED_BUILD;
use crate::text::{File, Span};
use crate::yaml::go::{Part, Segment};
use crate::yaml::{DUPLICATE_KEY, Entry, Name, Node, Origin, Style, Value, go, parse};

/// The message about a text that Flux prints in a form that Flux cannot parse.
const LOST: &str = "Flux prints a multi-line text that starts with a tab in a form that it cannot parse";

/// The maximum number of reported undefined variables.
const MAX_FAULTS: usize = 20;

/// Returns the object after substitution, or the findings of a failure.
pub(super) fn substitute(object: &Object, values: &Values<'_>) -> Result<Node, Vec<Finding>> {
    let (printed, segments) = go::print_mapped(&object.node);
    let map = PrintedMap { segments: &segments, object: &object.node };
    let fail = |fault: &Fault| fault::finding(fault, &printed, map.place(fault.range.start), values);
    let template = Template::parse(&printed).map_err(|fault| vec![fail(&fault)])?;
    let expansion = match template.expand_within(|name| values.lookup(name), &values.steps) {
        Ok(expansion) => expansion,
        Err(first) => return Err(all_faults(&template, first, values).iter().map(fail).collect()),
    };
    let broken = |piece: &&Piece| {
        let value = piece.variable.as_ref().and_then(|_| expansion.text.get(piece.output.clone()));
        value.is_some_and(|value| value.contains(['\u{85}', '\u{2028}', '\u{2029}']))
    };
    let file = File::new(object.span().file().path(), &*expansion.text);
    let parsed = parse(&file);
    let reading = Reparse { map, expansion: &expansion, printed: &printed, values };
    if let Some(piece) = expansion.pieces.iter().find(broken) {
        let message = "the value contains a line break of YAML 1.1 only";
        return Err(vec![reading.broken(message, &file.span(piece.output.clone()))]);
    }
    // Flux silently uses the last of duplicate keys.
    let broken = parsed.findings.iter().find(|finding| finding.rule != DUPLICATE_KEY);
    if let Some(broken) = broken {
        return Err(vec![reading.broken(&broken.message, &broken.at.span)]);
    }
    match parsed.documents.first() {
        Some(document) if document.node.is_map() => reading.node(&document.node, Some(&object.node)),
        _ => Err("the object is empty".to_string()),
    }
    .map_err(|message| vec![reading.broken(&message, &file.span(0..0))])
}

/// The fault that stops Flux, and the other undefined variables.
fn all_faults(template: &Template<'_>, first: Fault, values: &Values<'_>) -> Vec<Fault> {
    let mut faults = vec![first];
    let mut reported: Vec<String> = Vec::new();
    while let Some(last) = faults.last().filter(|fault| fault.kind == FaultKind::NotSet) {
        let Some(name) = template.name_at(last.range.start) else { break };
        reported.push(name.to_string());
        let lookup = |name: &str| match values.lookup(name) {
            Lookup::NotSet if reported.iter().any(|other| other == name) => Lookup::Known(""),
            known => known,
        };
        match template.expand_within(lookup, &values.steps) {
            Err(next) if next.kind == FaultKind::NotSet && faults.len() < MAX_FAULTS => faults.push(next),
            _ => break,
        }
    }
    faults
}

/// The printed text, with the nodes of its ranges.
#[derive(Clone, Copy)]
struct PrintedMap<'a> {
    segments: &'a [Segment<'a>],
    object: &'a Node,
}

impl<'a> PrintedMap<'a> {
    /// The segment at an offset of the printed text, or the segment before the offset.
    fn part(&self, at: usize) -> Option<&'a Segment<'a>> {
        let after = self.segments.partition_point(|segment| segment.range.start <= at);
        self.segments.get(after.checked_sub(1)?)
    }

    /// The node that a finding at an offset refers to.
    fn place(&self, at: usize) -> &'a Node {
        match self.part(at).map(|segment| segment.part) {
            Some(Part::Leaf(node) | Part::Dash(node)) => node,
            Some(Part::Key(entry)) => &entry.node,
            None => self.object,
        }
    }
}

/// The conversion of the expanded text to nodes with origins.
struct Reparse<'a> {
    map: PrintedMap<'a>,
    expansion: &'a Expansion,
    printed: &'a str,
    values: &'a Values<'a>,
}

impl<'a> Reparse<'a> {
    /// The node of an expanded text; `original` is the node that was printed at the same position.
    ///
    /// The result for an unchanged collection is the original collection.
    fn node(&self, parsed: &Node, original: Option<&'a Node>) -> Result<Node, String> {
        let range = parsed.span().range();
        let (value, same) = match &parsed.value {
            Value::Scalar(text, style) => return self.scalar(text, *style, parsed.span(), original),
            Value::Seq(items) => {
                let old = original.filter(|original| original.is_seq());
                let read = |item: &Node| self.node(item, self.item(item.span().range().start));
                let items: Vec<Node> = items.iter().map(read).collect::<Result<_, _>>()?;
                let mut pairs = items.iter().zip(old.map_or(&[][..], Node::items));
                let same = old.is_some_and(|old| old.items().len() == items.len()) && pairs.all(|(a, b)| is_same(a, b));
                (Value::Seq(items.into()), old.map(|old| (old, same)))
            }
            Value::Map(entries) => {
                let old = original.filter(|original| original.is_map());
                let mut same = old.is_some_and(|old| old.entries().len() == entries.len());
                let mut new = Vec::with_capacity(entries.len());
                for entry in entries.iter() {
                    let (entry, key) = self.entry(entry)?;
                    let is_own =
                        |key: &Entry| old.is_some_and(|old| old.entries().as_ptr_range().contains(&&raw const *key));
                    same &=
                        key.is_some_and(|key| is_own(key) && key.key == entry.key && is_same(&entry.node, &key.node));
                    new.push(entry);
                }
                (Value::Map(new.into()), old.map(|old| (old, same)))
            }
        };
        Ok(match same {
            Some((original, true)) => original.clone(),
            Some((original, false)) => Node { value, origin: original.origin.clone() },
            None => Node { value, origin: self.made(&range) },
        })
    }

    /// The entry of an expanded text, and the entry that was printed at the same position.
    fn entry(&self, parsed: &Entry) -> Result<(Entry, Option<&'a Entry>), String> {
        let Some(key) = self.key(&parsed.key_span().range()) else {
            // A variable has created the entry.
            let node = self.node(&parsed.node, None)?;
            let place = node.origin.written().clone();
            return Ok((Entry::new(parsed.json_key(), &place, node), None));
        };
        let node = self.node(&parsed.node, Some(&key.node))?;
        if !key.key.contains('$') || *parsed.key == *key.key {
            return Ok((key.with_node(node), Some(key)));
        }
        // The place of a key must be in the file of its value.
        let place = key.key_span();
        let place = if place.file() == node.origin.written().file() { place } else { node.origin.written().clone() };
        // A key has no origin of its own, so the variable in it is part of the value's origin.
        let variable = self.variables(&parsed.key_span().range()).next().filter(|_| node.text().is_some());
        let origin = variable.map(|variable| origin::by(&node.origin, self.name(variable), Vec::new()));
        let node = Node { origin: origin.unwrap_or_else(|| node.origin.clone()), value: node.value };
        Ok((Entry::new(parsed.json_key(), &place, node), Some(key)))
    }

    /// The entry whose key was printed at a range.
    fn key(&self, range: &Range<usize>) -> Option<&'a Entry> {
        let (at, _) = self.source(range.start)?;
        let segment = self.map.part(at)?;
        match segment.part {
            Part::Key(entry) if at < segment.range.end => Some(entry),
            _ => None,
        }
    }

    /// The item whose dash was printed directly before an offset.
    fn item(&self, start: usize) -> Option<&'a Node> {
        let (at, _) = self.source(start)?;
        let mut before = self.map.segments.partition_point(|segment| segment.range.start < at);
        // `$$` becomes the second `$`, so the item's first token may begin before the offset.
        let inside = |segment: &Segment<'_>| at < segment.range.end;
        if before.checked_sub(1).and_then(|last| self.map.segments.get(last)).is_some_and(inside) {
            before -= 1;
        }
        match self.map.segments.get(before.checked_sub(1)?)?.part {
            Part::Dash(node) => Some(node),
            Part::Key(_) | Part::Leaf(_) => None,
        }
    }

    fn scalar(&self, text: &str, style: Style, at: &Span, original: Option<&'a Node>) -> Result<Node, String> {
        let range = at.range();
        let original = original.filter(|node| matches!(node.value, Value::Scalar(..)));
        let own = original.and_then(string);
        if let (Some(original), Some(own)) = (original, &own)
            && !own.contains('$')
            && !is_rounded(original)
        {
            if go::is_lost_as_block(own) {
                return Err(LOST.to_string());
            }
            return Ok(original.clone());
        }
        if go::is_lost_as_block(text) {
            return Err(LOST.to_string());
        }
        let read = text;
        let (text, style) =
            canonical(text, style, at).ok_or_else(|| format!("JSON cannot represent the number `{text}`"))?;
        let value = |style| Value::Scalar(text.clone(), style);
        let Some(original) = original else {
            let unknown = self.variables(&range).any(|piece| piece.unknown);
            let style = if unknown { Style::Unknown } else { style };
            return Ok(Node { value: value(style), origin: self.made(&range) });
        };
        // The pieces of the scalar's own text apply if this text expands to the same value.
        let own = own.and_then(|own| Template::parse(&own).ok()?.expand(|name| self.values.lookup(name)).ok());
        if let Some(own) = own.filter(|own| own.text == *read) {
            let style = if own.pieces.iter().any(|piece| piece.unknown) { Style::Unknown } else { style };
            return Ok(Node { value: value(style), origin: origin::of(&original.origin, &own, &text, self.values) });
        }
        let unknown = self.variables(&range).any(|piece| piece.unknown);
        let style = if unknown { Style::Unknown } else { style };
        let first = self.variables(&range).next();
        let origin = first.map_or_else(
            || original.origin.clone(),
            |first| origin::by(&original.origin, self.name(first), Vec::new()),
        );
        Ok(Node { value: value(style), origin })
    }

    /// The origin of a value that a variable has created.
    fn made(&self, range: &Range<usize>) -> Origin {
        let place = self.source(range.start).map_or(self.map.object, |(at, _)| self.map.place(at));
        let covering =
            self.expansion.pieces.iter().rfind(|piece| piece.variable.is_some() && piece.output.start <= range.start);
        let piece = self.variables(range).next().or(covering);
        piece.map_or_else(|| place.origin.clone(), |piece| origin::by(&place.origin, self.name(piece), Vec::new()))
    }

    fn name(&self, piece: &Piece) -> Name {
        self.values.name(piece.variable.as_deref().unwrap_or_default())
    }

    /// The offset in the printed text that corresponds to an offset in the expanded text, and the variable, if any.
    fn source(&self, at: usize) -> Option<(usize, Option<&'a Piece>)> {
        let pieces = &self.expansion.pieces;
        let piece = pieces.get(pieces.partition_point(|piece| piece.output.end <= at)).or_else(|| pieces.last())?;
        match piece.variable {
            Some(_) => Some((piece.source.start, Some(piece))),
            None => Some((piece.source.start + (at.saturating_sub(piece.output.start)), None)),
        }
    }

    /// The variables in a range of the expanded text, including variables with an empty value.
    fn variables(&self, range: &Range<usize>) -> impl Iterator<Item = &'a Piece> {
        let (start, end) = (range.start, range.end);
        let pieces = &self.expansion.pieces;
        let first = pieces.partition_point(|piece| piece.output.end < start);
        let rest = pieces.get(first..).unwrap_or_default().iter();
        rest.take_while(move |piece| piece.output.start <= end).filter(move |piece| {
            let touches = piece.output.end > start || piece.output.is_empty();
            piece.variable.is_some() && touches && (piece.output.start < end || piece.output.is_empty())
        })
    }

    fn broken(&self, message: &str, at: &Span) -> Finding {
        let start = at.range().start;
        // The variable that causes the fault is on the line, or before the line.
        let after = self.expansion.pieces.partition_point(|piece| piece.output.start <= start);
        let end_of_line =
            at.file().text().get(start..).and_then(|rest| rest.find('\n')).map_or(start, |len| start + len);
        let pieces = &self.expansion.pieces;
        let on_line = pieces.iter().skip(after).take_while(|piece| piece.output.start < end_of_line);
        let before = pieces.iter().take(after).rev();
        let piece = before.clone().take(2).chain(on_line).chain(before).find(|piece| piece.variable.is_some());
        let Some(piece) = piece else {
            let place = self.map.object.span().clone();
            let message = format!("Flux cannot parse the object that it has printed: {message}");
            return Finding::error(FAILED_BUILD, place, message);
        };
        let expression = self.printed.get(piece.source.clone()).unwrap_or_default();
        let place = narrowed(self.map.place(piece.source.start), expression);
        let name = piece.variable.as_deref().unwrap_or_default();
        let message = format!("with the value of `{name}`, the object is not valid YAML: {message}");
        let help = "quote the value for YAML, or change it; Flux substitutes values in the printed text";
        let finding = Finding::error(FAILED_BUILD, place, message).help(help);
        match self.values.variables.values.get(name) {
            Some(variable) => finding.related(variable.place.clone(), "the value"),
            None => finding,
        }
    }
}

/// Returns whether a node is the shared original.
fn is_same(new: &Node, old: &Node) -> bool {
    match (&new.value, &old.value) {
        (Value::Scalar(a, style_a), Value::Scalar(b, style_b)) => ArcStr::ptr_eq(a, b) && style_a == style_b,
        (Value::Seq(a), Value::Seq(b)) => a.is_same(b) || (a.is_empty() && b.is_empty()),
        (Value::Map(a), Value::Map(b)) => a.is_same(b) || (a.is_empty() && b.is_empty()),
        _ => false,
    }
}
