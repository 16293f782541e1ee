//! Makes YAML in every style out of random bytes, and knows what it says.

/// What a document says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Want {
    /// A scalar's text, and whether it is plain.
    Scalar(String, bool),
    /// A sequence.
    Seq(Vec<Want>),
    /// A mapping; what merges bring stands last.
    Map(Vec<(String, Want)>),
}

/// Documents as text, and what they say.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) text: String,
    pub(crate) documents: Vec<Want>,
}

impl std::fmt::Debug for Made {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

const PLAIN: &[&str] = &[
    "abc",
    "1.10",
    "0755",
    "yes",
    "~",
    "null",
    "2001-01-01",
    "a b",
    "é",
    "http://x/y:1",
    "-x",
    "x#y",
    "a'b\"c",
    "1e3",
    ".5",
    "a:b",
    "?q",
    "a&b*c!",
    "x | y",
    "0x1F",
    "a  b",
    "=",
    "on",
    "${V}",
];
const WORDS: &[&str] = &["one", "two", "3", "é😀", "it's", "\"q\"", "a:", "#c", "-", "{x}", "tail\\"];
const LINES: &[&str] = &["one", "two words", "# no comment", "a: b", "- c", "\"q", "é", "---x", "tail\\"];

/// Makes documents out of bytes; the same bytes make the same documents.
pub(crate) fn documents(bytes: &[u8]) -> Made {
    let mut writer = Writer { out: String::new(), dice: bytes.iter(), anchors: Vec::new(), named: 0, flow: false };
    let mut documents = Vec::new();
    let bom = writer.roll(8) == 0;
    let count = 1 + writer.count(3);
    for at in 0..count {
        writer.anchors.clear();
        if at > 0 || writer.roll(3) == 0 {
            if at > 0 && writer.roll(4) == 0 {
                writer.out.push_str("...\n");
                if writer.roll(2) == 0 {
                    writer.out.push_str("%YAML 1.2\n");
                }
            }
            writer.out.push_str("---");
            writer.end_of_line();
        }
        writer.lines_between(0);
        let want = match writer.roll(5) {
            0 => writer.sequence(0, 0, true),
            1 => {
                let want = writer.flow_collection(0, 0);
                writer.end_of_line();
                want
            }
            _ => writer.mapping(0, 0, true),
        };
        documents.push(want);
    }
    let crlf = writer.roll(4) == 0;
    let mut text = writer.out;
    if crlf {
        text = text.replace('\n', "\r\n");
    }
    if bom {
        text.insert(0, '\u{FEFF}');
    }
    Made { text, documents }
}

struct Writer<'a> {
    out: String,
    dice: std::slice::Iter<'a, u8>,
    anchors: Vec<(String, Want)>,
    named: usize,
    flow: bool,
}

impl Writer<'_> {
    /// A number below `sides`; the last one when the bytes are used up: that is the simplest choice everywhere.
    fn roll(&mut self, sides: usize) -> usize {
        self.dice.next().map_or(sides - 1, |byte| usize::from(*byte) % sides)
    }

    /// A number below `most`; 0 when the bytes are used up.
    fn count(&mut self, most: usize) -> usize {
        self.dice.next().map_or(0, |byte| usize::from(*byte) % most)
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        let at = self.roll(from.len());
        from[at]
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        self.out.push_str(&text.to_string());
    }

    fn pad(&mut self, column: usize) {
        self.out.push_str(&" ".repeat(column));
    }

    /// Ends a line, perhaps with blanks or a comment.
    fn end_of_line(&mut self) {
        match self.roll(8) {
            0 => self.out.push_str(" # a: comment"),
            1 => self.out.push_str("  "),
            _ => {}
        }
        self.out.push('\n');
    }

    /// Perhaps a line that says nothing.
    fn lines_between(&mut self, column: usize) {
        match self.roll(10) {
            0 => self.out.push('\n'),
            1 => {
                let column = self.roll(column + 1);
                self.pad(column);
                self.out.push_str("# - between\n");
            }
            _ => {}
        }
    }

    /// Perhaps an anchor and a tag, each after a space; returns the anchor's name and whether a tag made it a string.
    fn properties(&mut self, string: bool) -> (Option<String>, bool) {
        let mut name = None;
        if self.roll(6) == 0 {
            self.named += 1;
            let anchor = format!("a{}", self.named);
            self.put(format_args!(" &{anchor}"));
            name = Some(anchor);
        }
        let tagged = string && self.roll(8) == 0;
        if tagged {
            self.out.push_str(" !!str");
        }
        (name, tagged)
    }

    fn remember(&mut self, name: Option<String>, want: &Want) {
        if let Some(name) = name {
            self.anchors.push((name, want.clone()));
        }
    }

    /// Writes what stands after `key:` or `-` of a collection at `column`, to the end of its last line.
    fn value(&mut self, column: usize, depth: usize, in_map: bool) -> Want {
        let deep = depth >= 4;
        match self.roll(16) {
            0 | 1 if !deep => self.nested(column, depth, in_map, Self::mapping),
            2 | 3 if !deep => self.nested(column, depth, in_map, Self::sequence),
            4 | 5 if !deep => {
                let (name, _) = self.properties(false);
                self.out.push(' ');
                let want = self.flow_collection(column + 1, depth + 1);
                self.remember(name, &want);
                self.end_of_line();
                want
            }
            6 | 7 => {
                let (name, _) = self.properties(true);
                let want = self.block_scalar(column);
                self.remember(name, &want);
                want
            }
            8 if !self.anchors.is_empty() => {
                let at = self.roll(self.anchors.len());
                let (name, want) = self.anchors[at].clone();
                self.put(format_args!(" *{name}"));
                self.end_of_line();
                want
            }
            9 => {
                let (name, tagged) = self.properties(true);
                let want = Want::Scalar(String::new(), !tagged);
                self.remember(name, &want);
                self.end_of_line();
                want
            }
            _ => {
                let (name, tagged) = self.properties(true);
                self.out.push(' ');
                let (text, plain) = self.scalar(Some(column + 1));
                let want = Want::Scalar(text, plain && !tagged);
                self.remember(name, &want);
                self.end_of_line();
                want
            }
        }
    }

    fn nested(
        &mut self,
        column: usize,
        depth: usize,
        in_map: bool,
        write: fn(&mut Self, usize, usize, bool) -> Want,
    ) -> Want {
        let (name, _) = self.properties(false);
        let sequence = write as usize == Self::sequence as fn(&mut Self, usize, usize, bool) -> Want as usize;
        let want = if !in_map && name.is_none() && self.roll(2) == 0 {
            let spaces = 1 + self.roll(3);
            self.pad(spaces);
            write(self, column + 1 + spaces, depth + 1, false)
        } else {
            self.end_of_line();
            self.lines_between(column);
            let step = if in_map && sequence { self.roll(4) } else { 1 + self.roll(4) };
            write(self, column + step, depth + 1, true)
        };
        self.remember(name, &want);
        want
    }

    /// Writes a block mapping; the first key is padded when it begins a line.
    fn mapping(&mut self, column: usize, depth: usize, first_padded: bool) -> Want {
        let mut entries: Vec<(String, Want)> = Vec::new();
        let mut merged: Option<Want> = None;
        for at in 0..=self.count(4) {
            if at > 0 {
                self.lines_between_safely(column);
            }
            if at > 0 || first_padded {
                self.pad(column);
            }
            let maps: Vec<_> = self.anchors.iter().filter(|(_, want)| matches!(want, Want::Map(_))).cloned().collect();
            if merged.is_none() && !maps.is_empty() && self.roll(3) == 0 {
                let at = self.roll(maps.len());
                self.put(format_args!("<<: *{}", maps[at].0));
                self.end_of_line();
                merged = Some(maps[at].1.clone());
                continue;
            }
            let explicit = self.roll(10) == 0;
            if explicit {
                self.out.push_str("? ");
            }
            let key = self.key(entries.len());
            if explicit {
                self.end_of_line();
                self.pad(column);
            } else if self.roll(6) == 0 {
                self.out.push(' ');
            }
            self.out.push(':');
            let value = self.value(column, depth, true);
            entries.push((key, value));
        }
        if let Some(Want::Map(brought)) = merged {
            for (key, value) in brought {
                if !entries.iter().any(|(own, _)| *own == key) {
                    entries.push((key, value));
                }
            }
        }
        Want::Map(entries)
    }

    /// Lines between entries, unless they could belong to a block scalar that keeps its empty lines.
    fn lines_between_safely(&mut self, column: usize) {
        if !self.flow && !self.out.contains('+') {
            self.lines_between(column);
        }
    }

    fn key(&mut self, number: usize) -> String {
        let (before, text) = match self.roll(6) {
            0 => ("'", format!("it's {number}")),
            1 => ("\"", format!("q\t{number}")),
            2 => ("", format!("{number}")),
            3 => ("", format!("a b-{number}")),
            _ => ("", format!("k{number}")),
        };
        if self.roll(12) == 0 {
            self.named += 1;
            let named = self.named;
            self.put(format_args!("&k{named} "));
        }
        match before {
            "'" => self.put(format_args!("'{}'", text.replace('\'', "''"))),
            "\"" => self.put(format_args!("\"{}\"", text.replace('\t', "\\t"))),
            _ => self.out.push_str(&text),
        }
        text
    }

    fn sequence(&mut self, column: usize, depth: usize, first_padded: bool) -> Want {
        let mut items = Vec::new();
        for at in 0..=self.count(4) {
            if at > 0 {
                self.lines_between_safely(column);
            }
            if at > 0 || first_padded {
                self.pad(column);
            }
            self.out.push('-');
            items.push(self.value(column, depth, false));
        }
        Want::Seq(items)
    }

    /// Writes a scalar on one or several lines, which are indented by `column` at least; on one line for `None`.
    fn scalar(&mut self, column: Option<usize>) -> (String, bool) {
        let in_flow = self.flow;
        match (self.roll(5), column) {
            (0, _) => {
                let text = self.quoted_words(column, "'");
                (text, false)
            }
            (1, _) => {
                let text = self.quoted_words(column, "\"");
                (text, false)
            }
            (2, Some(column)) => {
                let mut text = String::from("multi");
                self.out.push_str("multi");
                for _ in 0..=self.count(3) {
                    let breaks = 1 + self.roll(3) / 2;
                    self.break_line(column, breaks);
                    let word = ["more", "x-y", "1"][self.roll(3)];
                    self.out.push_str(word);
                    text.push_str(&if breaks == 1 { " ".into() } else { "\n".repeat(breaks - 1) });
                    text.push_str(word);
                }
                (text, true)
            }
            _ => {
                let mut text = self.pick(PLAIN);
                if in_flow && text.contains(['{', '}', '[', ']', ',', '?', ':']) {
                    text = "flow";
                }
                self.out.push_str(text);
                (text.into(), true)
            }
        }
    }

    fn break_line(&mut self, column: usize, breaks: usize) {
        self.out.push_str(&"\n".repeat(breaks));
        let more = self.roll(3);
        self.pad(column + more);
    }

    fn quoted_words(&mut self, column: Option<usize>, quote: &str) -> String {
        let mut text = String::new();
        self.out.push_str(quote);
        for at in 0..self.count(4) {
            if at > 0 {
                if let (0, Some(column)) = (self.roll(3), column) {
                    let breaks = 1 + self.roll(3) / 2;
                    self.break_line(column, breaks);
                    text.push_str(&if breaks == 1 { " ".into() } else { "\n".repeat(breaks - 1) });
                } else {
                    self.out.push(' ');
                    text.push(' ');
                }
            }
            let word = self.pick(WORDS);
            text.push_str(word);
            if quote == "'" {
                self.out.push_str(&word.replace('\'', "''"));
            } else {
                self.out.push_str(&word.replace('\\', "\\\\").replace('"', "\\\""));
            }
        }
        self.out.push_str(quote);
        text
    }

    /// Writes ` |` or ` >` and lines.
    fn block_scalar(&mut self, column: usize) -> Want {
        let folded = self.roll(2) == 0;
        let chomp = ["", "-", "+"][self.roll(3)];
        let step = 1 + self.roll(4);
        let leading = self.roll(4) == 0;
        let header = if folded { '>' } else { '|' };
        self.out.push(' ');
        self.out.push(header);
        if leading || self.roll(6) == 0 {
            self.out.push_str(&step.to_string());
        }
        self.out.push_str(chomp);
        self.end_of_line();
        let mut text = String::new();
        let mut fold = 0;
        for at in 0..=self.count(4) {
            // Folding leaves the breaks around indented lines alone: only literals have them here.
            let line = if at == 0 && leading && !folded { "  led" } else { self.pick(LINES) };
            let empty = if at > 0 { self.roll(3) / 2 } else { 0 };
            self.out.push_str(&"\n".repeat(empty));
            self.pad(column + step);
            self.out.push_str(line);
            self.out.push('\n');
            if at > 0 {
                let breaks = empty + 1;
                text.push_str(&if folded && breaks == 1 {
                    " ".into()
                } else {
                    "\n".repeat(breaks - usize::from(folded))
                });
            }
            fold += 1;
            text.push_str(line);
        }
        debug_assert!(fold > 0);
        let trailing = self.count(3);
        self.out.push_str(&"\n".repeat(trailing));
        match chomp {
            "-" => {}
            "+" => text.push_str(&"\n".repeat(1 + trailing)),
            _ => text.push('\n'),
        }
        Want::Scalar(text, false)
    }

    fn flow_collection(&mut self, column: usize, depth: usize) -> Want {
        let outer = std::mem::replace(&mut self.flow, true);
        let want = if self.roll(2) == 0 { self.flow_seq(column, depth) } else { self.flow_map(column, depth) };
        self.flow = outer;
        want
    }

    fn flow_space(&mut self, column: usize) {
        match self.roll(8) {
            0 => self.break_line(column.max(1), 1),
            1 => {
                self.out.push_str(" # in flow, [\n");
                self.pad(column.max(1));
            }
            2 => {}
            _ => self.out.push(' '),
        }
    }

    fn flow_value(&mut self, column: usize, depth: usize) -> Want {
        if self.roll(4) == 0 && depth < 4 {
            return self.flow_collection(column, depth + 1);
        }
        if self.roll(8) == 0 && !self.anchors.is_empty() {
            let at = self.roll(self.anchors.len());
            let (name, want) = self.anchors[at].clone();
            self.put(format_args!("*{name} "));
            return want;
        }
        let (text, plain) = self.scalar(Some(column.max(1)));
        Want::Scalar(text, plain)
    }

    fn flow_seq(&mut self, column: usize, depth: usize) -> Want {
        let mut items = Vec::new();
        self.out.push('[');
        for at in 0..self.count(4) {
            if at > 0 {
                self.out.push(',');
            }
            self.flow_space(column);
            items.push(self.flow_value(column, depth));
        }
        self.out.push(']');
        Want::Seq(items)
    }

    fn flow_map(&mut self, column: usize, depth: usize) -> Want {
        let mut entries = Vec::new();
        self.out.push('{');
        for at in 0..self.count(4) {
            if at > 0 {
                self.out.push(',');
            }
            self.flow_space(column);
            let key = self.key(at);
            if self.roll(6) == 0 {
                entries.push((key, Want::Scalar(String::new(), true)));
                continue;
            }
            self.out.push_str(": ");
            entries.push((key, self.flow_value(column, depth)));
        }
        self.out.push('}');
        Want::Map(entries)
    }
}
