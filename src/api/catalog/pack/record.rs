//! One schema as bytes: a set of flags for the fields that it has, then these fields.

use serde_json::Value;

use super::bytes::{Reader, put};
use crate::api::schema::{Additional, Bound, Constraints, Layout, Link, Range, Rule, Schema, Type};

const TYPES: [Type; 7] =
    [Type::Object, Type::Array, Type::String, Type::Integer, Type::Number, Type::Boolean, Type::IntOrString];

/// Gives the numbers of strings and of linked schemas.
pub(super) trait Numbers {
    /// The number of a string, from 1.
    fn text(&mut self, text: &str) -> u64;
    /// The number of a linked schema.
    fn link(&mut self, link: &Link) -> u64;
}

/// Writes a schema.
pub(super) fn write(schema: &Schema, numbers: &mut dyn Numbers) -> Vec<u8> {
    let mut out = Output { bytes: Vec::new(), flags: 0, next: 0, numbers };
    out.flag(schema.nullable);
    out.flag(schema.preserves_unknown);
    out.flag(schema.embedded);
    let kind = schema.value_type.and_then(|kind| TYPES.iter().position(|known| *known == kind));
    out.number(kind.map(|kind| kind as u64));
    out.list(&schema.properties, |out, (name, link)| {
        out.text(name);
        out.link(link);
    });
    out.texts(&schema.required);
    out.flag(matches!(schema.additional, Additional::Any));
    out.optional_link(if let Additional::Each(link) = &schema.additional { Some(link) } else { None });
    out.optional_link(schema.items.as_ref());
    let (layout, keys): (u64, &[Box<str>]) = match &schema.layout {
        Layout::Default => (0, &[]),
        Layout::Atomic => (1, &[]),
        Layout::Granular => (2, &[]),
        Layout::Set => (3, &[]),
        Layout::Map(keys) => (4, keys),
    };
    out.number((layout > 0).then_some(layout));
    out.texts(keys);
    out.optional_text(schema.merge_key.as_deref());
    out.json(schema.default.as_deref());
    out.flag(schema.constraints.is_some());
    schema.constraints.iter().for_each(|constraints| constrain(&mut out, constraints));
    let mut record = Vec::new();
    put(&mut record, out.flags);
    record.append(&mut out.bytes);
    record
}

fn constrain(out: &mut Output<'_>, constraints: &Constraints) {
    out.list(&constraints.enum_values, |out, value| out.text(&value.to_string()));
    out.optional_text(constraints.pattern.as_deref());
    out.optional_text(constraints.format.as_deref());
    for limit in [constraints.minimum, constraints.maximum] {
        out.flag(limit.is_some_and(|limit| limit.exclusive));
        out.json(limit.map(|limit| Value::from(limit.value)).as_ref());
    }
    out.json(constraints.multiple_of.map(Value::from).as_ref());
    for range in [constraints.length, constraints.item_count, constraints.property_count] {
        out.number(range.min);
        out.number(range.max);
    }
    out.flag(constraints.unique_items);
    out.list(&constraints.rules, |out, rule| {
        out.text(&rule.rule);
        for text in [&rule.message, &rule.message_expression, &rule.reason, &rule.field_path] {
            let number = text.as_ref().map_or(0, |text| out.numbers.text(text));
            put(&mut out.bytes, number);
        }
        put(&mut out.bytes, rule.optional_old_self.into());
    });
    for links in [&constraints.all_of, &constraints.any_of, &constraints.one_of] {
        out.list(links, Output::link);
    }
    out.optional_link(constraints.not.as_ref());
}

struct Output<'a> {
    bytes: Vec<u8>,
    flags: u64,
    next: u32,
    numbers: &'a mut dyn Numbers,
}

impl Output<'_> {
    fn flag(&mut self, set: bool) {
        self.flags |= u64::from(set) << self.next;
        self.next += 1;
    }

    fn number(&mut self, number: Option<u64>) {
        self.flag(number.is_some());
        if let Some(number) = number {
            put(&mut self.bytes, number);
        }
    }

    fn text(&mut self, text: &str) {
        let number = self.numbers.text(text);
        put(&mut self.bytes, number);
    }

    fn optional_text(&mut self, text: Option<&str>) {
        let number = text.map(|text| self.numbers.text(text));
        self.number(number);
    }

    fn link(&mut self, link: &Link) {
        let number = self.numbers.link(link);
        put(&mut self.bytes, number);
    }

    fn optional_link(&mut self, link: Option<&Link>) {
        let number = link.map(|link| self.numbers.link(link));
        self.number(number);
    }

    fn json(&mut self, value: Option<&Value>) {
        self.optional_text(value.map(Value::to_string).as_deref());
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.number((!items.is_empty()).then_some(items.len() as u64));
        for item in items {
            each(self, item);
        }
    }

    fn texts(&mut self, texts: &[Box<str>]) {
        self.list(texts, |out, text| out.text(text));
    }
}

/// Reads a schema. `text` gives the string with a number, and `link` the link to the schema with a number.
pub(super) fn read(bytes: &[u8], text: &dyn Fn(u64) -> Box<str>, link: &dyn Fn(u64) -> Link) -> Schema {
    let mut reader = Reader::new(bytes);
    let flags = reader.number();
    let mut input = Input { reader, flags, text };
    let mut schema = Schema {
        nullable: input.flag(),
        preserves_unknown: input.flag(),
        embedded: input.flag(),
        value_type: input.number().and_then(|kind| TYPES.get(usize::try_from(kind).ok()?).copied()),
        properties: input.list(|input| {
            let name = input.text();
            (name, link(input.reader.number()))
        }),
        required: input.list(Input::text),
        ..Schema::default()
    };
    if input.flag() {
        schema.additional = Additional::Any;
    }
    if let Some(number) = input.number() {
        schema.additional = Additional::Each(link(number));
    }
    schema.items = input.number().map(link);
    let layout = input.number();
    let keys = input.list(Input::text);
    schema.layout = match layout {
        Some(1) => Layout::Atomic,
        Some(2) => Layout::Granular,
        Some(3) => Layout::Set,
        Some(4) => Layout::Map(keys),
        _ => Layout::Default,
    };
    schema.merge_key = input.optional_text();
    schema.default = input.json().map(Box::new);
    if input.flag() {
        schema.constraints = Some(Box::new(constraints(&mut input, link)));
    }
    schema
}

fn constraints(input: &mut Input<'_>, link: &dyn Fn(u64) -> Link) -> Constraints {
    Constraints {
        enum_values: input.list(|input| serde_json::from_str(&input.text()).unwrap_or_default()),
        pattern: input.optional_text(),
        format: input.optional_text(),
        minimum: input.bound(),
        maximum: input.bound(),
        multiple_of: input.json().and_then(|value| value.as_f64()),
        length: input.range(),
        item_count: input.range(),
        property_count: input.range(),
        unique_items: input.flag(),
        compiled: std::sync::OnceLock::new(),
        compiled_pattern: std::sync::OnceLock::new(),
        rules: input.list(|input| {
            let rule = input.text();
            let [message, message_expression, reason, field_path] = [(); 4].map(|()| {
                let number = input.reader.number();
                (number > 0).then(|| (input.text)(number))
            });
            let optional_old_self = input.reader.number() > 0;
            Rule { rule, message, message_expression, reason, field_path, optional_old_self, at: None }
        }),
        all_of: input.list(|input| link(input.reader.number())),
        any_of: input.list(|input| link(input.reader.number())),
        one_of: input.list(|input| link(input.reader.number())),
        not: input.number().map(link),
    }
}

struct Input<'a> {
    reader: Reader<'a>,
    flags: u64,
    text: &'a dyn Fn(u64) -> Box<str>,
}

impl Input<'_> {
    fn flag(&mut self) -> bool {
        let set = self.flags & 1 == 1;
        self.flags >>= 1;
        set
    }

    fn number(&mut self) -> Option<u64> {
        self.flag().then(|| self.reader.number())
    }

    fn text(&mut self) -> Box<str> {
        (self.text)(self.reader.number())
    }

    fn optional_text(&mut self) -> Option<Box<str>> {
        self.number().map(self.text)
    }

    fn json(&mut self) -> Option<Value> {
        serde_json::from_str(&self.optional_text()?).ok()
    }

    fn bound(&mut self) -> Option<Bound> {
        let exclusive = self.flag();
        let value = self.json()?.as_f64()?;
        Some(Bound { value, exclusive })
    }

    fn range(&mut self) -> Range {
        Range { min: self.number(), max: self.number() }
    }

    fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> T) -> Box<[T]> {
        if !self.flag() {
            return Box::default();
        }
        let count = self.reader.count();
        (0..count).map(|_| each(self)).collect()
    }
}
