//! The values of secrets, which are masked in all output.
//!
//! A mask by position is not sufficient: a replacement, a template or a generator may copy a secret into a name, a path
//! or a message, and a message may quote a line of a file that is secret only because a generator reads the file.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use arcstr::ArcStr;
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelExtend, ParallelIterator};

use super::copies::copies;
use super::credentials::credentials;
use super::generators::{Generators, names_user};
use super::lines::collect;
use super::nodes::{is_secret, is_value_of_secret};
use super::notation::unescaped;
use super::own_words::{own_words, words};
use super::printed::Printed;
use super::public::{SecretPlaces, is_name, public_values};
use super::quick_check::may_hold_secrets;
use super::redactor::Redactor;
use super::{merged, nodes};
use crate::flux::Repo;
use crate::lint::Part;
use crate::text::{File, Index, Tree};
use crate::yaml::{Entry, Node, Parsed, Value, parse};

/// The maximum total length of all values in bytes. The search for longer values needs too much memory.
const MAX_TOTAL: usize = 2 << 20;

/// The error for secret values that are too long to be masked.
#[derive(Debug)]
pub struct TooManySecrets;

/// The secret values of a repository.
#[derive(Debug, Default)]
pub struct SecretValues {
    values: BTreeSet<ArcStr>,
}

impl SecretValues {
    /// Collects the values of the files and, if the repository was built, of the Secrets that its clusters receive.
    pub fn of(tree: &Tree, repo: Option<&Repo>) -> Self {
        Self::collected(tree, repo, |_| true)
    }

    /// Collects the values that some output may contain.
    pub fn printed(tree: &Tree, repo: Option<&Repo>, printed: &Printed) -> Self {
        Self::collected(tree, repo, |value| printed.may_contain(value))
    }

    fn collected(tree: &Tree, repo: Option<&Repo>, is_wanted: impl Fn(&str) -> bool) -> Self {
        let copies = copies(tree);
        let parsed = |file: &File| match repo.and_then(|repo| repo.parsed(file)) {
            Some(parsed) => parsed.clone(),
            None => Arc::new(parse(file)),
        };
        let of_text = |files: &Vec<&File>| {
            let first = files.first().filter(|first| may_hold(first.text()))?;
            Some(of_copies(&parsed(first), files, tree))
        };
        let of_texts: Vec<Option<OfText>> = copies.par_iter().map(of_text).collect();
        let (mut found, mut places) = (BTreeSet::new(), SecretPlaces::default());
        for (files, of_text) in copies.iter().zip(of_texts) {
            let Some(of_text) = of_text else { continue };
            for file in files {
                places.ranges.insert(file.path().to_owned(), of_text.ranges.clone());
            }
            found.extend(of_text.values);
            places.sources.extend(of_text.sources);
        }
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
        found.retain(|value| is_wanted(value));
        let mut values = Self::without_own_words(found);
        if !values.values.is_empty() && !values.exceeds_limit() {
            let public = public_values(&values.values, tree, &copies, &places);
            values.values.retain(|value| !public.contains(value));
        }
        values
    }

    /// Collects the values of the Secrets in objects.
    pub fn of_objects<'a>(objects: impl Iterator<Item = &'a Node>) -> Self {
        let mut found = BTreeSet::new();
        objects.for_each(|object| collect_object(object, &mut found));
        Self::without_own_words(found)
    }

    /// Adds the values of another tree.
    pub fn extend(&mut self, others: Self) {
        self.values.extend(others.values);
    }

    /// The redactor of the values; `None` without values.
    pub fn redactor(&self) -> Option<Arc<Redactor>> {
        Redactor::new(self.values.iter().map(|value| &**value)).map(Arc::new)
    }

    fn without_own_words(mut found: BTreeSet<ArcStr>) -> Self {
        let names: Vec<ArcStr> = found.iter().filter(|value| is_name(value)).cloned().collect();
        let own = own_words(names.iter().map(AsRef::as_ref));
        found.retain(|value| !(is_name(value) && words(value).all(|word| own.contains(word))));
        Self { values: found }
    }

    /// Returns whether the values are too long to be masked.
    pub fn exceeds_limit(&self) -> bool {
        self.values.iter().map(ArcStr::len).sum::<usize>() > MAX_TOTAL
    }
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

/// The values of a text that files contain: the parts that are masked by position, and the values in the files that its
/// generators read.
#[derive(Default)]
struct OfText {
    /// The secret ranges, sorted.
    ranges: Vec<Range<usize>>,
    /// The files that the generators read.
    sources: BTreeSet<String>,
    values: BTreeSet<ArcStr>,
}

impl OfText {
    fn add_text(&mut self, text: &str) {
        collect(text, &mut self.values);
    }
}

/// Returns whether a text may hold secrets, also in addresses.
fn may_hold(text: &str) -> bool {
    may_hold_secrets(text) || credentials(text).next().is_some()
}

/// The values of the parsed text of some files.
fn of_copies(parsed: &Parsed, files: &[&File], tree: &Tree) -> OfText {
    let file = &parsed.file;
    let mut found = OfText::default();
    let mut ranges = merged(nodes::in_parsed(parsed, 0));
    let users: BTreeSet<(usize, usize)> = user_names(parsed).map(|range| (range.start, range.end)).collect();
    let is_user = |range: &Range<usize>| users.contains(&(range.start, range.end));
    let private: Vec<Range<usize>> = ranges.iter().filter(|range| !is_user(range)).cloned().collect();
    for document in &parsed.documents {
        collect_at(&document.node, &private, &mut found.values);
    }
    for range in private {
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
        found.add_text(file.text().get(range.clone()).unwrap_or_default());
        ranges.push(range);
    }
    found.ranges = merged(ranges);
    if file.text().contains("ecretGenerator") {
        let mut generators = Generators { tree, sources: BTreeSet::new(), values: found.values };
        for file in files {
            for document in &parsed.documents {
                generators.search(&document.node, file, 0);
            }
        }
        (found.sources, found.values) = (generators.sources, generators.values);
    }
    found
}

/// The ranges of the names of users in the Secrets of a file. They are masked at their places, but not elsewhere: the owner
/// of a repository is often the user of its Secret.
fn user_names(parsed: &Parsed) -> impl Iterator<Item = Range<usize>> {
    let documents = parsed.documents.iter().map(|document| &document.node);
    let secrets = documents.filter(|node| node.get("kind").and_then(Node::text).is_some_and(is_secret));
    let fields = secrets.flat_map(|secret| nodes::FIELDS.iter().filter_map(|field| secret.get(field)));
    let users = fields.flat_map(Node::entries).filter(|entry| is_user(entry));
    users.map(|entry| entry.node.span().range())
}

/// Returns whether an entry of a Secret is the name of a user.
fn is_user(entry: &Entry) -> bool {
    entry.node.text().is_some() && names_user(&entry.key)
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
        Value::Map(entries) => {
            entries.iter().filter(|entry| !is_user(entry)).for_each(|entry| collect_scalars(&entry.node, found));
        }
    }
}

#[cfg(test)]
mod tests {
    use data_encoding::BASE64;

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
    fn a_value_with_a_colon_at_its_end_is_masked() {
        assert_eq!(masked(&[("a.yaml", "kind: Secret\nstringData: {a: 'Hunter2:'}\n")], "is Hunter2:"), "is ********");
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
    fn the_sources_of_a_generator_of_its_own_are_masked() {
        let generator = "kind: SecretGenerator\nmetadata: {name: a}\nenvs: [a.env]\n";
        let inline = format!("generators:\n- |\n  {}", generator.replace('\n', "\n  "));
        for kustomization in ["generators: [g.yaml]\n", &inline] {
            let files = [("kustomization.yaml", kustomization), ("g.yaml", generator), ("a.env", "word hunter2\n")];
            assert_eq!(masked(&files, "the key `word hunter2`"), "the key `************`", "{kustomization}");
        }
        let files = [("kustomization.yaml", &*inline), ("a.env", "word hunter2\n")];
        assert_eq!(masked(&files, "the key `word hunter2`"), "the key `************`");
    }

    #[test]
    fn the_values_in_the_text_of_a_secret_are_masked() {
        let login = BASE64.encode(br#"{"auths": {"a.example": {"username": "bob", "password": "hunter2-and-more"}}}"#);
        let secret = format!("kind: Secret\ndata: {{.dockerconfigjson: {login}}}\n");
        assert_eq!(masked(&[("a.yaml", &secret)], "is hunter2-and-more"), "is ****************");
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
        let values = ("v.yaml", "image: {}\nrepository: jenkins/jenkins\nother: shop/hunter2-and-more\n");
        let files = [
            ("kustomization.yaml", "secretGenerator:\n- {name: a, files: [v.yaml]}\n"),
            values,
            ("b.yaml", "kind: Pod\nmetadata: {name: jenkins, namespace: shop}\n"),
        ];
        assert_eq!(masked(&files, "Pod jenkins/jenkins-post"), "Pod jenkins/jenkins-post");
        assert_eq!(masked(&files, "is shop/hunter2-and-more"), "is *********************");
    }

    #[test]
    fn a_path_of_public_names_is_not_masked() {
        let files = [
            ("kustomization.yaml", "secretGenerator:\n- {name: a, files: [v.yaml]}\n"),
            ("v.yaml", "prefix: minio/\nother: hunter/\n"),
            ("b.yaml", "kind: Pod\nmetadata: {name: a, namespace: minio}\n"),
        ];
        assert_eq!(masked(&files, "Secret minio/minio-env, hunter/"), "Secret minio/minio-env, *******");
    }

    #[test]
    fn a_line_that_another_file_contains_outside_of_secrets_is_not_masked() {
        let lines = "- NET_ADMIN\n    path: /healthz\n    - containerPort: 8080\n    pass: hunter2-and-more";
        let secret = format!("kind: Secret\nstringData:\n  a: |\n    {lines}\n");
        let settings = format!("kind: ConfigMap\ndata:\n  a: |\n    {lines}\n");
        let other = "add:\n- NET_ADMIN\nports:\n- containerPort: 8080\nprobe:\n  path: /healthz\n";
        let shown = masked(&[("a.yaml", &secret), ("b.yaml", &settings), ("c.yaml", other)], lines);
        assert_eq!(shown, lines.replace("pass: hunter2-and-more", "**********************"));
        let generated = [
            ("kustomization.yaml", "secretGenerator:\n- {name: a, files: [b.yaml]}\n"),
            ("a.yaml", "kind: Secret\nstringData:\n  a: |\n    word: open-sesame\n"),
            ("b.yaml", "word: open-sesame\n"),
        ];
        assert_eq!(masked(&generated, "word: open-sesame"), "*****************");
    }

    #[test]
    fn a_word_that_stands_for_a_secret_is_not_masked() {
        let secret = ("a.yaml", "kind: Secret\nstringData: {token: PLACEHOLDER, other: replace-hunter2}\n");
        assert_eq!(masked(&[secret], "host a.PLACEHOLDER, replace-hunter2"), "host a.PLACEHOLDER, ***************");
    }

    #[test]
    fn the_key_of_a_secret_is_not_masked() {
        let files = [
            ("a.yaml", "kind: Secret\ndata: {jwtRS256.key: aHVudGVyMg==}\n"),
            ("b.yaml", "kind: Pod\nitems: [{key: jwtRS256.key, path: privatekey}]\n"),
        ];
        assert_eq!(masked(&files, "Secret contains jwtRS256.key, hunter2"), "Secret contains jwtRS256.key, *******");
    }

    #[test]
    fn the_name_of_a_user_is_masked_only_at_its_place() {
        let secret = ("a.yaml", "kind: Secret\ndata: {username: amFuZW1pbGxlcg==, password: aHVudGVyMg==}\n");
        let shown = masked(&[secret], "https://github.com/janemiller/a hunter2");
        assert_eq!(shown, "https://github.com/janemiller/a *******");
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
