//! The values of secrets, which are masked in all output.
//!
//! A mask by position is not sufficient: a replacement, a template or a generator may copy a secret into a name, a path
//! or a message, and a message may quote a line of a file that is secret only because a generator reads the file.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use arcstr::ArcStr;
use data_encoding::BASE64;
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelExtend, ParallelIterator};

use super::credentials::credentials;
use super::nodes::{is_secret, is_value_of_secret};
use super::notation::unescaped;
use super::quick_check::may_hold_secrets;
use super::redactor::Redactor;
use super::{merged, nodes};
use crate::flux::Repo;
use crate::kube::is_encrypted_value;
use crate::kustomize::is_yaml;
use crate::lint::{Part, RULES};
use crate::text::{File, Index, Tree, folder_of, join};
use crate::yaml::{Node, Parsed, Value, parse};

/// The minimum length of a masked value in bytes. A shorter value occurs in unrelated texts.
const MIN_LEN: usize = 6;

/// The maximum length of a value after a key that cannot be a secret, in bytes.
const MAX_SETTING: usize = 3;

/// The length in bytes of a part of a long value. Each part is masked.
const PART: usize = 256;

/// The maximum total length of all values in bytes. The search for longer values needs too much memory.
const MAX_TOTAL: usize = 2 << 20;

/// The part of a file that a generator reads, in bytes, in which values are searched.
const MAX_SOURCE: usize = 256 * 1024;

/// Words that say nothing about a secret.
const PUBLIC: [&str; 4] = ["Opaque", "default", "enabled", "disabled"];

/// Words in the fields of the formats that the pages of the rules do not contain.
const FIELDS: [&str; 12] = [
    "artifact",
    "category",
    "column",
    "driver",
    "failure",
    "fingerprint",
    "fingerprints",
    "locations",
    "properties",
    "region",
    "testcase",
    "testsuite",
];

/// The words of some texts that are also words of the output itself, in lower case. A mask of such a word would change
/// the id of a rule or a field.
fn own_words<'a>(texts: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let is_lower = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    let words_of_texts: BTreeSet<&str> = texts.flat_map(words).filter(is_lower).collect();
    if words_of_texts.is_empty() {
        return words_of_texts;
    }
    let own = RULES.iter().flat_map(|rule| [rule.id, rule.summary, rule.docs]).flat_map(words).chain(FIELDS);
    own.filter_map(|word| words_of_texts.get(word).copied()).collect()
}

/// The words of a text: its parts of letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The error for secret values that are too long to be masked.
#[derive(Debug)]
pub struct TooManySecrets;

/// The secret values of a repository.
#[derive(Debug, Default)]
pub struct SecretValues(BTreeSet<ArcStr>);

impl SecretValues {
    /// Collects the values of the files and, if the repository was built, of the Secrets that its clusters receive.
    pub fn of(tree: &Tree, repo: Option<&Repo>) -> Self {
        let may_hold = |text: &str| may_hold_secrets(text) || credentials(text).next().is_some();
        let may_define = |file: &&File| is_yaml(file.path()) && may_hold(file.text());
        let files: Vec<&File> = tree.files().filter(may_define).collect();
        let parsed = |file: &File| match repo.and_then(|repo| repo.parsed(file)) {
            Some(parsed) => parsed.clone(),
            None => Arc::new(parse(file)),
        };
        let of_files = files.into_par_iter().flat_map_iter(|file| of_file(&parsed(file), tree).0);
        let mut found: BTreeSet<ArcStr> = of_files.collect();
        let sets = repo.into_iter().flat_map(|repo| &repo.clusters).flat_map(|cluster| &cluster.applied_sets);
        let mut seen: Index<usize, ()> = Index::default();
        let parts =
            sets.flat_map(|set| Part::of(&set.objects)).filter(|part| seen.insert(part.address(), ()).is_none());
        let of_part = |part: Part<'_>| {
            let mut found = BTreeSet::new();
            part.objects().for_each(|(_, object)| collect_object(&object.node, &mut found));
            found
        };
        found.par_extend(parts.collect::<Vec<_>>().into_par_iter().flat_map_iter(of_part));
        for built in repo.into_iter().flat_map(|repo| &repo.objects) {
            collect_object(&built.object.node, &mut found);
        }
        Self::without_own_words(found).without_names(tree)
    }

    /// Collects the values of the Secrets in objects.
    pub fn of_objects<'a>(objects: impl Iterator<Item = &'a Node>) -> Self {
        let mut found = BTreeSet::new();
        objects.for_each(|object| collect_object(object, &mut found));
        Self::without_own_words(found)
    }

    /// Adds the values of another tree.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The redactor of the values; `None` without values.
    pub fn redactor(&self) -> Option<Arc<Redactor>> {
        Redactor::new(self.0.iter().map(|value| &**value)).map(Arc::new)
    }

    fn without_own_words(mut found: BTreeSet<ArcStr>) -> Self {
        let names: Vec<ArcStr> = found.iter().filter(|value| is_name(value)).cloned().collect();
        let own = own_words(names.iter().map(AsRef::as_ref));
        found.retain(|value| !(is_name(value) && words(value).all(|word| own.contains(word))));
        Self(found)
    }

    /// Returns whether the values are too long to be masked.
    pub fn exceeds_limit(&self) -> bool {
        self.0.iter().map(ArcStr::len).sum::<usize>() > MAX_TOTAL
    }

    /// Removes values that are also names, keys or parts of paths. For example, the name of a user of a database is often
    /// the name of the database.
    fn without_names(mut self, tree: &Tree) -> Self {
        if self.0.is_empty() || self.exceeds_limit() {
            return self;
        }
        let parts = tree.entries().flat_map(|(path, _)| path.split(['/', '.']));
        let pairs: Vec<(ArcStr, [ArcStr; 2])> =
            self.0.iter().filter_map(|value| Some((value.clone(), pair(value)?))).collect();
        let mut values: BTreeSet<ArcStr> =
            self.0.iter().filter(|value| is_name(value) || is_kind(value)).cloned().collect();
        values.extend(pairs.iter().flat_map(|(_, parts)| parts).cloned());
        let mut names: BTreeSet<ArcStr> =
            parts.filter_map(|part| self.0.get(part).or_else(|| values.get(part)).cloned()).collect();
        let values: Vec<&ArcStr> = values.iter().collect();
        if let Ok(search) = AhoCorasick::builder().match_kind(MatchKind::Standard).build(values.iter().map(|it| &***it))
        {
            // A mask of a part of a path would make the path useless, and every tool shows paths.
            let in_paths = tree.entries().flat_map(|(path, _)| search.find_overlapping_iter(path));
            names.extend(
                in_paths.filter_map(|found| values.get(found.pattern().as_usize()).map(|value| (*value).clone())),
            );
            let files: Vec<&File> = tree.files().filter(|file| is_yaml(file.path())).collect();
            let found = files.par_iter().flat_map_iter(|file| {
                let matches = search.find_overlapping_iter(file.text());
                let names = matches.filter(|found| is_public(file.text(), found.start(), found.end()));
                names.filter_map(|found| values.get(found.pattern().as_usize()).map(|value| (*value).clone()))
            });
            names.extend(found.collect::<BTreeSet<_>>());
        }
        // Messages contain references of a namespace and a name.
        let is_reference = |parts: &[ArcStr; 2]| parts.iter().all(|part| names.contains(part));
        let references: Vec<ArcStr> =
            pairs.into_iter().filter(|(_, parts)| is_reference(parts)).map(|(value, _)| value).collect();
        names.extend(references);
        self.0.retain(|value| !names.contains(value));
        self
    }

    fn add_text(&mut self, text: &str) {
        collect(text, &mut self.0);
    }
}

/// Returns whether a value may be the name of an object.
fn is_name(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'_'))
}

/// The namespace and the name, if a value may be a reference such as `shop/web`.
fn pair(value: &str) -> Option<[ArcStr; 2]> {
    let (namespace, name) = value.split_once('/').filter(|(namespace, name)| is_name(namespace) && is_name(name))?;
    (!namespace.is_empty() && !name.is_empty()).then(|| [namespace.into(), name.into()])
}

/// Returns whether a value may be the kind of an object. A generator may read a file of objects.
fn is_kind(value: &str) -> bool {
    value.starts_with(|first: char| first.is_ascii_uppercase())
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns whether a place in a file is a key, or the value of a name.
fn is_public(text: &str, start: usize, end: usize) -> bool {
    let before = text.get(..start).unwrap_or_default().trim_end_matches(['"', '\'']);
    let after = text.get(end..).unwrap_or_default().trim_start_matches(['"', '\'']);
    let is_end = after.is_empty() || after.starts_with(['\n', '\r', ',', '}', ' ']);
    let is_named = ["name: ", "namespace: ", "kind: "].iter().any(|key| before.ends_with(key));
    let is_key = after.starts_with(':') && (before.is_empty() || before.ends_with(['\n', ' ', '{', ',']));
    (is_named && is_end) || is_key
}

/// Collects the values of the scalars at some positions, which are sorted. The notation of a value may differ from the
/// value, and an alias has the value of its anchor.
fn collect_at(node: &Node, ranges: &[Range<usize>], found: &mut BTreeSet<ArcStr>) {
    let range = node.span().range();
    match &node.value {
        Value::Scalar(text, _) => {
            let after = ranges.partition_point(|masked| masked.start <= range.start);
            if after.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|masked| range.end <= masked.end) {
                collect(text, found);
            }
        }
        Value::Seq(items) => items.iter().for_each(|item| collect_at(item, ranges, found)),
        Value::Map(entries) => entries.iter().for_each(|entry| collect_at(&entry.node, ranges, found)),
    }
}

/// The values of a file: the texts that are masked by position, and those of the files that its generators read.
fn of_file(parsed: &Parsed, tree: &Tree) -> SecretValues {
    let mut found = SecretValues::default();
    let file = &parsed.file;
    let ranges = merged(nodes::in_parsed(parsed, 0));
    for document in &parsed.documents {
        collect_at(&document.node, &ranges, &mut found.0);
    }
    for range in ranges {
        let written = file.text().get(range).unwrap_or_default();
        found.add_text(written);
        if written.contains('\\') {
            let text = unescaped(written);
            // A text in quotes is masked as a whole, but its values may also be elsewhere.
            let inner = File::new("", text.trim_matches('"'));
            for range in merged(nodes::secrets(&inner, 1)) {
                found.add_text(inner.text().get(range).unwrap_or_default());
            }
            found.add_text(&text);
        }
    }
    // A message may show a part of the URL.
    for range in credentials(file.text()) {
        found.add_text(file.text().get(range).unwrap_or_default());
    }
    if file.text().contains("secretGenerator") {
        for document in &parsed.documents {
            let mut read = BTreeSet::new();
            for generator in document.node.get("secretGenerator").into_iter().flat_map(Node::items) {
                generator_sources(generator, file, tree, &mut read, &mut found);
            }
        }
    }
    found
}

/// Collects the values that a generator reads. `read` has the paths that were read before.
fn generator_sources(
    generator: &Node,
    file: &File,
    tree: &Tree,
    read: &mut BTreeSet<String>,
    found: &mut SecretValues,
) {
    let literals = generator.get("literals");
    for literal in literals.into_iter().flat_map(Node::items).chain(literals).filter_map(Node::text) {
        found.add_text(literal.split_once('=').map_or(literal, |(_, value)| value));
    }
    let lists = ["envs", "files"].into_iter().filter_map(|field| generator.get(field)).flat_map(Node::items);
    for source in lists.chain(generator.get("env")).filter_map(Node::text) {
        let name = source.split_once('=').map_or(source, |(_, path)| path);
        let path = join(folder_of(file.path()), name);
        if path.as_ref().is_none_or(|path| !tree.has_file(path)) && !name.contains(['.', '/']) {
            // The author may have written a literal.
            found.add_text(name);
        }
        let path = path.filter(|path| read.insert(path.clone()));
        let Some(source) = path.and_then(|path| tree.file(&path).ok()) else { continue };
        let text = source.text();
        let end = (0..=MAX_SOURCE.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        for line in text.get(..end).unwrap_or_default().lines() {
            let value = line.split_once(['=', ':']).map_or("", |(_, value)| value);
            found.add_text(value);
            // A short value is secret together with its key, and a line without a value may be a value.
            if value.trim().len() < MIN_LEN {
                found.add_text(line);
            }
        }
    }
}

/// Collects the values of a Secret as a cluster receives it.
fn collect_object(object: &Node, found: &mut BTreeSet<ArcStr>) {
    let kind = object.get("kind").and_then(Node::text).unwrap_or_default();
    if kind == "SealedSecret" {
        let template = object.at_keys(&["spec", "template"]);
        let values = nodes::FIELDS.iter().filter_map(|field| template?.get(field));
        values.for_each(|node| collect_scalars(node, found));
    }
    if !is_secret(kind) {
        return;
    }
    for entry in object.entries().iter().filter(|entry| is_value_of_secret(entry)) {
        collect_scalars(&entry.node, found);
    }
}

fn collect_scalars(node: &Node, found: &mut BTreeSet<ArcStr>) {
    match &node.value {
        Value::Scalar(text, _) => collect(text, found),
        Value::Seq(items) => items.iter().for_each(|item| collect_scalars(item, found)),
        Value::Map(entries) => entries.iter().for_each(|entry| collect_scalars(&entry.node, found)),
    }
}

/// Collects the lines of a value, and the lines of its decoded text.
fn collect(value: &str, found: &mut BTreeSet<ArcStr>) {
    collect_lines(value, found);
    let encoded: String = value.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')).collect();
    if let Some(decoded) = BASE64.decode(encoded.as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok())
        && !decoded.chars().any(|c| c.is_control() && !c.is_whitespace())
    {
        collect_lines(&decoded, found);
    }
}

/// Returns whether a line consists of variables and templates, except for a text that is too short for a mask.
fn is_placeholder(line: &str) -> bool {
    let (mut rest, mut written) = (line, 0);
    while let Some((at, end)) =
        [("${", "}"), ("<<", ">>")].iter().filter_map(|(start, end)| Some((rest.find(start)?, end))).min()
    {
        let Some((_, after)) = rest.get(at..).and_then(|from| from.split_once(end)) else { break };
        (written, rest) = (written + at, after);
    }
    written + rest.len() < MIN_LEN
}

/// Returns whether a line is a key without a value, or with a value that cannot be a secret, such as `interval: 5m` or
/// `namespace: shop`.
///
/// A Secret often contains a file of chart values or a manifest, and these lines also occur in other files.
fn is_setting(line: &str) -> bool {
    let Some((key, value)) = line.split_once(": ").or_else(|| Some((line.strip_suffix(':')?, ""))) else {
        return false;
    };
    let key = key.trim_start_matches("- ");
    let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte));
    let value = value.trim();
    let is_identity = match key {
        "name" | "namespace" => is_name(value),
        "kind" => is_kind(value),
        "apiVersion" => value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'-')),
        _ => false,
    };
    is_key && (value.len() <= MAX_SETTING || matches!(value, "true" | "false" | "null") || is_identity)
}

fn collect_lines(value: &str, found: &mut BTreeSet<ArcStr>) {
    let quotes = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',');
    for line in value.lines().map(|line| line.trim_matches(quotes)) {
        if is_placeholder(line) || is_encrypted_value(line) || PUBLIC.contains(&line) || is_setting(line) {
            continue;
        }
        let mut rest = line;
        while rest.len() >= MIN_LEN {
            let end = (1..=PART.min(rest.len())).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
            let (part, more) = rest.split_at(end);
            if part.bytes().any(|byte| byte != b'*' && byte != b'-' && byte != b'.') {
                found.insert(part.into());
            }
            rest = more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(files: &[(&str, &str)], text: &str) -> String {
        let tree: Tree = files.iter().map(|(path, text)| File::new(*path, *text)).collect();
        let redactor = SecretValues::of(&tree, None).redactor();
        redactor.map_or(text.to_owned(), |redactor| redactor.redact(text).into_owned())
    }

    #[test]
    fn a_value_is_masked_in_each_notation() {
        let secret = ("a.yaml", "kind: Secret\nstringData:\n  a: 'hunter \"2\" end'\n");
        assert_eq!(masked(&[secret], "hunter \"2\" end"), "**************");
        assert_eq!(masked(&[secret], r#"{"a": "hunter \"2\" end"}"#), r#"{"a": "****************"}"#);
        assert_eq!(masked(&[secret], "aHVudGVyICIyIiBlbmQ="), "********************");
        assert_eq!(masked(&[secret], "hunter"), "hunter");
    }

    #[test]
    fn a_value_in_a_quoted_text_is_masked_without_its_escapes() {
        let values = ("a.yaml", "kind: ConfigMap\ndata:\n  values.yaml: \"password: CANARYq7Zr9xYkLm\\n\"\n");
        let json = ("a.yaml", r#"{kind: ConfigMap, data: {v: "{\"password\": \"CANARYq7Zr9xYkLm\"}"}}"#);
        for file in [values, json] {
            assert_eq!(masked(&[file], "is `CANARYq7Zr9xYkLm`"), "is `****************`");
        }
    }

    #[test]
    fn a_value_in_another_notation_is_masked() {
        for value in [r#""\x43ANARYq7Zr9xYkLm""#, r#""\u0043ANARYq7Zr9xYkLm""#, "*c"] {
            let anchor = "x: &c CANARYq7Zr9xYkLm";
            let text = format!("kind: HelmRelease\n{anchor}\nspec:\n  values: {{password: {value}}}\n");
            let text = if value == "*c" { text } else { text.replace(anchor, "x: y") };
            assert_eq!(masked(&[("a.yaml", &text)], "is `CANARYq7Zr9xYkLm`"), "is `****************`", "{value}");
        }
    }

    #[test]
    fn many_values_exceed_the_limit() {
        let long = "x".repeat(200);
        let values: Vec<String> = (0..12_000).map(|at| format!("  a{at}: {at}{long}\n")).collect();
        let values = values.concat();
        let values_of = |text: &str| SecretValues::of(&[File::new("a.yaml", text)].into_iter().collect(), None);
        assert!(values_of(&format!("kind: Secret\nstringData:\n{values}")).exceeds_limit());
        assert!(!values_of("kind: Secret\nstringData: {a: hunter2}\n").exceeds_limit());
    }

    #[test]
    fn the_rest_of_a_value_beside_a_cut_is_masked() {
        let secret = ("a.yaml", "kind: Secret\nstringData: {a: Hunter2-Hunter3}\n");
        assert_eq!(masked(&[secret], "{q: Hunter..."), "{q: ******...");
        assert_eq!(masked(&[secret], "...2-Hunter3}"), "...*********}");
        assert_eq!(masked(&[secret], "a Hunt... and ...nter3"), "a Hunt... and ...nter3");
    }

    #[test]
    fn a_mask_keeps_the_syntax_of_json() {
        let text = "kind: Secret\nstringData:\n  a: |\n    \"version\": 1,\n    hunter2\n";
        let tree: Tree = [File::new("a.yaml", text)].into_iter().collect();
        let redactor = SecretValues::of(&tree, None).redactor().expect("the file has values");
        let line = r#"  "version": 1, "text": "a \"b\" hunter2","#;
        assert_eq!(redactor.redact_json(line), r#"  "version": 1, "text": "a \"b\" *******","#);
    }

    #[test]
    fn encoded_data_is_masked_as_text() {
        assert_eq!(masked(&[("a.yaml", "kind: Secret\ndata: {a: aHVudGVyMg==}\n")], "is hunter2"), "is *******");
    }

    #[test]
    fn the_sources_of_a_generator_are_masked() {
        let files = [
            ("kustomization.yaml", "secretGenerator:\n- {name: a, envs: [a.env], literals: [hunter3]}\n"),
            ("a.env", "A=hunter1\nhunter2\nPIN=1234\n"),
        ];
        assert_eq!(masked(&files, "hunter1 hunter2 hunter3 PIN=1234"), "******* ******* ******* ********");
    }

    #[test]
    fn the_password_of_a_url_is_masked() {
        let file = ("kustomization.yaml", "resources: ['https://bob:hunter2-and-more@git.example.com/a.git//b']\n");
        assert_eq!(masked(&[file], "loads https://bob:hunter2-and-more@git"), "loads https://bob:****************@git");
    }

    #[test]
    fn a_placeholder_is_not_masked() {
        let masked =
            |value: &str| masked(&[("a.yaml", &format!("kind: Secret\nstringData: {{a: '{value}'}}\n"))], value);
        for placeholder in ["${PASSWORD}", "<< inputs.password >>", "<< a >>-${B}"] {
            assert_eq!(masked(placeholder), placeholder);
        }
        for secret in ["Hunter<<2", "Hunter${2", "${USER}:Hunter2"] {
            assert!(!masked(secret).contains("unter"), "{secret}");
        }
    }

    #[test]
    fn a_word_of_the_output_is_not_masked() {
        let secret = ("a.yaml", "kind: Secret\nstringData: {a: missing, b: client-secret, c: Resource1}\n");
        let text = r#"{"rule": "missing-resource", "message": "`client-secret`, *********"}"#;
        assert_eq!(masked(&[secret], &text.replace("*********", "Resource1")), text);
    }

    #[test]
    fn a_setting_in_a_file_of_values_is_not_masked() {
        let values = "apiVersion:\n    interval: 5m\n    - enabled: false\n    pin: 1234\n    pass: hunter2";
        let secret = format!("kind: Secret\nstringData:\n  values.yaml: |\n    {values}\n");
        let expected = "apiVersion:\n    interval: 5m\n    - enabled: false\n    *********\n    *************";
        assert_eq!(masked(&[("a.yaml", &secret)], values), expected);
        let files = [("kustomization.yaml", "secretGenerator:\n- {name: a, files: [v.yaml]}\n"), ("v.yaml", values)];
        assert_eq!(masked(&files, values).replace("pass: *", "*******"), expected);
    }

    #[test]
    fn the_identity_of_a_manifest_is_not_masked() {
        let manifest = "apiVersion: apps/v1\n    kind: Deployment\n    metadata:\n      name: web-server\n      \
                        namespace: shop-production\n    spec:\n      pass: hunter2\n      user: name-of-a-user";
        let secret = format!("kind: Secret\nstringData:\n  a.yaml: |\n    {manifest}\n");
        let shown = masked(&[("a.yaml", &secret)], manifest);
        assert!(shown.contains("namespace: shop-production\n"), "{shown}");
        assert!(shown.contains("name: web-server\n"), "{shown}");
        assert!(!shown.contains("hunter2") && !shown.contains("name-of-a-user"), "{shown}");
    }

    #[test]
    fn a_reference_of_public_names_is_not_masked() {
        let values = ("v.yaml", "image: {}\nrepository: jenkins/jenkins\nuser: shop/hunter2-and-more\n");
        let files = [
            ("kustomization.yaml", "secretGenerator:\n- {name: a, files: [v.yaml]}\n"),
            values,
            ("b.yaml", "kind: Pod\nmetadata: {name: jenkins, namespace: shop}\n"),
        ];
        assert_eq!(masked(&files, "Pod jenkins/jenkins-post"), "Pod jenkins/jenkins-post");
        assert_eq!(masked(&files, "is shop/hunter2-and-more"), "is *********************");
    }

    #[test]
    fn a_part_of_a_path_is_not_masked() {
        let files = [("a.yaml", "kind: Secret\nstringData: {user: postgres}\n"), ("apps/postgresql.yaml", "")];
        assert_eq!(masked(&files, "apps/postgresql.yaml"), "apps/postgresql.yaml");
    }

    #[test]
    fn the_kind_of_an_object_that_a_generator_reads_is_not_masked() {
        let files = [
            ("kustomization.yaml", "secretGenerator:\n- {name: a, files: [b.yaml]}\n"),
            ("b.yaml", "kind: Secret\nstringData: {a: Hunter2And}\nother: MoreHunter\n"),
        ];
        let expected = "add the Secret, ********** and **********";
        assert_eq!(masked(&files, "add the Secret, Hunter2And and MoreHunter"), expected);
    }

    #[test]
    fn a_name_is_not_masked() {
        let files = [
            ("a.yaml", "kind: Secret\nstringData: {user: postgres, b: clusters}\n"),
            ("clusters/b.yaml", "kind: Pod\nmetadata: {name: postgres}\n"),
        ];
        assert_eq!(masked(&files, "Pod `postgres` of clusters/b.yaml"), "Pod `postgres` of clusters/b.yaml");
    }
}
