//! SOPS decryption without keys: decrypted values exist but are unknown.

use crate::base::finding::Finding;
use crate::base::go_regexp::Regexp;
use crate::kube::{Object, is_encrypted_value, unknown_text};
use crate::kustomize::decrypt_object;
use crate::yaml::{Entry, Node, Origin, Style, Value, decode_base64};

/// The id of the rule for objects that Flux does not decrypt, or fails to decrypt.
pub const SOPS_MISCONFIGURED: &str = "sops-misconfigured";

/// The annotation that disables decryption of an object.
const SWITCH: &str = "kustomize.toolkit.fluxcd.io/decrypt";

/// The suffix of keys whose values SOPS does not encrypt, unless a file specifies another scope.
const PLAIN_SUFFIX: &str = "_unencrypted";

/// Returns whether a Kustomization enables decryption.
pub(super) fn is_enabled(kustomization: &Object) -> bool {
    kustomization.text_at(&["spec", "decryption", "provider"]) == Some("sops")
}

/// The objects of a build after decryption without the key.
#[derive(Debug, Default)]
pub(super) struct Decrypted {
    pub(super) objects: Vec<Object>,
    /// The objects whose kind, name or namespace is encrypted.
    pub(super) unidentified: Vec<Object>,
    /// The faults that prevent kustomize-controller from decrypting an object.
    pub(super) findings: Vec<Finding>,
}

/// Decrypts the objects of a build without the key: encrypted values become unknown.
pub(super) fn decrypt(objects: Vec<Object>) -> Decrypted {
    let mut decrypted = Decrypted::default();
    for mut object in objects {
        let switched = object.annotation(SWITCH);
        if !switched.is_some_and(|value| value.eq_ignore_ascii_case("disabled"))
            && let Some(node) = decrypt_object(&object.node)
        {
            decrypted.findings.extend(replaced_value(&object).or_else(|| unreadable_keys(&object)));
            object.node = node;
            if has_unknown_identity(&object) {
                decrypted.unidentified.push(object);
                continue;
            }
        }
        decrypted.objects.push(object);
    }
    decrypted
}

fn has_unknown_identity(object: &Object) -> bool {
    let fields: [&[&str]; 4] = [&["apiVersion"], &["kind"], &["metadata", "name"], &["metadata", "namespace"]];
    let is_unknown = |node: &Node| matches!(node.value, Value::Scalar(_, Style::Unknown));
    fields.iter().any(|keys| object.node.at_keys(keys).is_some_and(is_unknown))
}

/// The object with [`unknown_text`] in place of its encrypted values; `None` if it has none. The substitution of Flux must
/// be complete, since it would read that text.
///
/// Without decryption, Flux fails, and the values are as little known.
pub(crate) fn with_unknown_texts(object: &Object, decrypts: bool) -> Option<Object> {
    if !decrypts && object.node.get("sops").is_none() {
        return None;
    }
    let entries = object.node.entries();
    let marked = |entry: &Entry| if &*entry.key == "sops" { None } else { marked(&entry.node) };
    let entries = replaced(entries, marked, Entry::with_node)?;
    let node = Node { value: Value::Map(entries.into()), origin: object.node.origin.clone() };
    Some(Object { node })
}

fn marked(node: &Node) -> Option<Node> {
    let value = match &node.value {
        Value::Scalar(text, _) => {
            let is_written = text.starts_with("ENC[") && is_encrypted_value(text);
            is_written.then(|| Value::Scalar(unknown_text(text).into(), Style::Unknown))?
        }
        Value::Seq(items) => Value::Seq(replaced(items, marked, |_, node| node)?.into()),
        Value::Map(entries) => Value::Map(replaced(entries, |entry| marked(&entry.node), Entry::with_node)?.into()),
    };
    Some(Node { value, origin: node.origin.clone() })
}

/// The items of a list with changes; `None` if no item changes.
fn replaced<T: Clone>(list: &[T], change: impl Fn(&T) -> Option<Node>, with: impl Fn(&T, Node) -> T) -> Option<Vec<T>> {
    let mut new: Option<Vec<T>> = None;
    for (at, item) in list.iter().enumerate() {
        let Some(node) = change(item) else { continue };
        new.get_or_insert_with(|| list.to_vec())[at] = with(item, node);
    }
    new
}

/// The finding of a plain value that kustomize set in a field that SOPS encrypted. SOPS refuses to decrypt the value,
/// and the Kustomization fails.
///
/// Source: `Decryptor.DecryptResource` of kustomize-controller, which runs after the build, and `Cipher.Decrypt` of
/// SOPS.
fn replaced_value(object: &Object) -> Option<Finding> {
    let sops = object.node.entry("sops")?;
    let place = sops.key_span();
    let file = place.file().path();
    let is_set = |node: &Node| matches!(node.origin, Origin::Via(_)) || node.span().file().path() != file;
    let (path, value) = EncryptedScope::of(&sops.node)?.first_plain(&object.node, &is_set)?;
    let message = format!(
        "the build sets `{path}`, which SOPS encrypted in `{file}`: kustomize-controller fails to decrypt the object, \
         and applies nothing"
    );
    let is_data = ["data.", "stringData."].iter().any(|start| path.starts_with(start));
    let help = if is_data {
        "set the value in the encrypted file: Flux decrypts after the build, and SOPS refuses a plain value"
    } else {
        "encrypt only `data` and `stringData`: set `encrypted_regex: ^(data|stringData)$` in `.sops.yaml`, and encrypt \
         the file again"
    };
    let finding = Finding::error(SOPS_MISCONFIGURED, value.span().clone(), message).help(help);
    Some(finding.related(place, "SOPS encrypted this file"))
}

/// The finding of an object whose data key is only in age blocks that are not age files. No identity decrypts it, whatever the
/// Secret of the key contains.
///
/// A block that is not base64 is probably the placeholder of a template.
fn unreadable_keys(object: &Object) -> Option<Finding> {
    let sops = object.node.get("sops")?;
    let is_other_key = |entry: &&Entry| {
        let holds_keys = entry.node.items().iter().any(|item| !item.entries().is_empty());
        &*entry.key != "age" && holds_keys
    };
    if sops.entries().iter().any(|entry| is_other_key(&entry)) {
        return None;
    }
    let blocks: Option<Vec<&Node>> = sops.get("age")?.items().iter().map(|key| key.get("enc")).collect();
    let blocks = blocks.filter(|blocks| blocks.iter().all(|block| block.text().is_some_and(is_other_than_age)))?;
    let message = format!(
        "no identity can decrypt {}: the field `enc` does not contain an age file, so kustomize-controller applies nothing",
        object.reference()
    );
    let finding = Finding::error(SOPS_MISCONFIGURED, blocks.first()?.span().clone(), message);
    let finding = finding.help("encrypt the file again with `sops encrypt`: the text of the key is not from SOPS");
    Some(finding.about(object.reference()).caused_by(
        "age blocks",
        "no identity can decrypt ",
        " objects, since their fields `enc` do not contain age files",
    ))
}

/// Returns whether an armored text contains data other than an age file.
fn is_other_than_age(block: &str) -> bool {
    let body = block.trim().strip_prefix("-----BEGIN AGE ENCRYPTED FILE-----");
    let body = body.and_then(|rest| rest.strip_suffix("-----END AGE ENCRYPTED FILE-----"));
    let data = body.and_then(decode_base64).filter(|data| !data.is_empty());
    data.is_some_and(|data| !data.starts_with(b"age-encryption.org/v1\n"))
}

/// The fields that SOPS encrypted in a file.
enum EncryptedScope<'a> {
    /// All fields except those below a key with the suffix.
    Without(&'a str),
    /// The fields below a key with the suffix.
    With(&'a str),
    /// All fields except those below a key that matches the pattern.
    NotMatching(Regexp),
    /// The fields below a key that matches the pattern.
    Matching(Regexp),
}

impl<'a> EncryptedScope<'a> {
    /// The scope in the SOPS metadata of a file; `None` if the scope depends on comments or has an invalid pattern.
    fn of(sops: &'a Node) -> Option<Self> {
        let field = |key: &str| sops.get(key).and_then(Node::text).filter(|text| !text.is_empty());
        if ["encrypted_comment_regex", "unencrypted_comment_regex"].iter().any(|key| field(key).is_some()) {
            return None;
        }
        if let Some(pattern) = field("encrypted_regex") {
            return Regexp::compile(pattern).ok().map(Self::Matching);
        }
        if let Some(pattern) = field("unencrypted_regex") {
            return Regexp::compile(pattern).ok().map(Self::NotMatching);
        }
        let suffix = field("encrypted_suffix").map(Self::With);
        Some(suffix.unwrap_or_else(|| Self::Without(field("unencrypted_suffix").unwrap_or(PLAIN_SUFFIX))))
    }

    /// Returns whether SOPS encrypts the values below `key`; `None` if the keys above `key` determine that.
    fn decides(&self, key: &str) -> Option<bool> {
        match self {
            Self::Without(suffix) => key.ends_with(suffix).then_some(false),
            Self::With(suffix) => key.ends_with(suffix).then_some(true),
            Self::NotMatching(pattern) => pattern.is_match(key).then_some(false),
            Self::Matching(pattern) => pattern.is_match(key).then_some(true),
        }
    }

    /// The first plain value that the build set in the scope, with its path.
    fn first_plain<'n>(&self, object: &'n Node, is_set: &impl Fn(&Node) -> bool) -> Option<(String, &'n Node)> {
        let is_encrypted = matches!(self, Self::Without(_) | Self::NotMatching(_));
        let mut fields = object.entries().iter().filter(|entry| &*entry.key != "sops");
        fields.find_map(|entry| {
            let (path, value) = self.first_plain_below(entry, is_encrypted, is_set)?;
            Some((path.join("."), value))
        })
    }

    fn first_plain_below<'n>(
        &self,
        entry: &'n Entry,
        is_encrypted: bool,
        is_set: &impl Fn(&Node) -> bool,
    ) -> Option<(Vec<&'n str>, &'n Node)> {
        let is_encrypted = self.decides(&entry.key).unwrap_or(is_encrypted);
        let mut open = vec![&entry.node];
        while let Some(node) = open.pop() {
            match &node.value {
                Value::Scalar(text, _) => {
                    let is_plain = !node.is_null() && !text.is_empty() && !is_encrypted_value(text);
                    if is_encrypted && is_plain && is_set(node) {
                        return Some((vec![&entry.key], node));
                    }
                }
                Value::Seq(items) => open.extend(items.iter()),
                Value::Map(entries) => {
                    let below = |below| self.first_plain_below(below, is_encrypted, is_set);
                    if let Some((mut path, value)) = entries.iter().find_map(below) {
                        path.insert(0, &entry.key);
                        return Some((path, value));
                    }
                }
            }
        }
        None
    }
}
