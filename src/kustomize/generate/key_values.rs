//! The sources of generators: files, env files and literals, as keys and values with positions.

use std::sync::Arc;

use super::generator_kind::GeneratorKind;
use crate::base::finding::Finding;
use crate::kube::is_encrypted_value;
use crate::kustomize::file::files::Files;
use crate::kustomize::file::locate::Located;
use crate::kustomize::file::sops::{self, Format};
use crate::kustomize::omission::Omission;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Accumulator;
use crate::text::{File, Span};
use crate::yaml::{Name, Node};

/// The maximum length of a line. As in Go's scanner, a longer line ends the file.
const LONGEST_LINE: usize = 65_535;

/// The size of a key and its value in memory, without their texts.
const BYTES_OF_PAIR: usize = 256;

/// A key and its value, with their positions.
pub(crate) struct Pair {
    pub(crate) key: Name,
    pub(crate) key_span: Span,
    pub(crate) value: Content,
    /// The position of the value.
    pub(crate) span: Span,
    /// The position of the reference to the file of the value, if that file is not the file of the key.
    pub(crate) reference_span: Option<Span>,
}

/// A value: text, bytes that are not text, or an unknown value with its placeholder.
#[derive(Clone)]
pub(crate) enum Content {
    Text(Name),
    Bytes(Arc<[u8]>),
    Unknown(Name),
}

/// Reads the sources of an entry in kustomize's order: env files, literals, files.
///
/// Only Secrets are decrypted, and only for `envs` and `files`, not for the deprecated `env`.
pub(crate) fn read(
    files: &Files,
    folder: &str,
    kind: GeneratorKind,
    entry: &Node,
    accumulator: &mut Accumulator,
) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let decrypts = files.decrypts && kind == GeneratorKind::Secret;
    let list = |field: &str| entry.get(field).map_or(&[][..], Node::items);
    let single = entry.get("env").filter(|node| node.text().is_some_and(|text| !text.is_empty()));
    let sources = list("envs").iter().map(|source| (source, decrypts)).chain(single.map(|source| (source, false)));
    for (source, decrypts) in sources {
        let path = source.text().unwrap_or_default();
        let format = Format::from_env_file_name(path);
        match load(files, folder, source, path, accumulator) {
            Some(Loaded::Text(file)) if decrypts && format.encrypts(file.text()) => match format {
                Format::Dotenv => pairs.extend(lines(&file).into_iter().filter_map(decrypt_pair)),
                // The lines of a file in another format are unknown.
                Format::Yaml | Format::Json | Format::Ini => accumulator.skip(Omission::EncryptedEnvFile),
            },
            Some(Loaded::Text(file)) => {
                let lines = lines(&file);
                if accumulator.take_bytes(lines.len() * BYTES_OF_PAIR, source.span()) {
                    pairs.extend(lines);
                }
            }
            Some(Loaded::Bytes(..)) => {
                let message = format!("`{}` is not a text file, so it has no lines", source.text().unwrap_or_default());
                accumulator.fail(Finding::error(FAILED_BUILD, source.span().clone(), message));
            }
            None => {}
        }
    }
    for source in list("literals") {
        if let Some(pair) = literal(source) {
            pairs.push(pair);
        } else {
            let message = format!("`{}` is not a valid literal", source.text().unwrap_or_default());
            let finding = Finding::error(FAILED_BUILD, source.span().clone(), message);
            accumulator.fail(finding.help("write `key=value`"));
        }
    }
    for source in list("files") {
        match key_and_path(source) {
            Ok((key, path)) => {
                let mut pair = file(files, folder, source, key, path, accumulator);
                if decrypts
                    && let Content::Text(text) = &pair.value
                    && Format::from_file_name(source.text().and_then(|text| text.split('=').next()).unwrap_or(key))
                        .encrypts(text)
                {
                    pair.value = Content::Unknown(sops::masked_file(key).into());
                }
                pairs.push(pair);
            }
            Err(finding) => accumulator.fail(*finding),
        }
    }
    pairs
}

/// A line of an encrypted env file after decryption; `None` for SOPS metadata.
fn decrypt_pair(pair: Pair) -> Option<Pair> {
    let value = match &pair.value {
        Content::Text(text) if is_encrypted_value(text) => Content::Unknown(text.clone()),
        value => value.clone(),
    };
    (!sops::is_sops_line(&pair.key)).then_some(Pair { value, ..pair })
}

/// The content of a file.
enum Loaded {
    Text(File),
    /// The bytes of a file; `File` has the path and no text.
    Bytes(File, Arc<[u8]>),
}

/// Reads the file at `path` that `source` references, and reports errors.
fn load(files: &Files, folder: &str, source: &Node, path: &str, accumulator: &mut Accumulator) -> Option<Loaded> {
    let joined = match files.find(folder, path, source.span()) {
        Ok(Located::File(joined)) => joined,
        Ok(Located::NotFetched(finding)) => {
            accumulator.leave_out(Omission::RemoteFile, *finding);
            return None;
        }
        Ok(Located::Folder(_)) => {
            let message = format!("`{path}` is a directory, but a generator reads files");
            accumulator.fail(Finding::error(FAILED_BUILD, source.span().clone(), message).help("list the files in it"));
            return None;
        }
        Err(finding) => {
            accumulator.fail(finding);
            return None;
        }
    };
    match (files.tree().file(&joined), files.tree().bytes(&joined)) {
        (Ok(file), _) => accumulator.take_bytes(2 * file.text().len(), source.span()).then_some(Loaded::Text(file)),
        (Err(_), Ok(bytes)) => {
            accumulator.take_bytes(2 * bytes.len(), source.span()).then(|| Loaded::Bytes(File::new(joined, ""), bytes))
        }
        (Err(_), Err(error)) => {
            let message = format!("`{path}` is not readable: {error}");
            accumulator.fail(Finding::error(FAILED_BUILD, source.span().clone(), message));
            None
        }
    }
}

/// The lines of an env file: `key=value` or `key`, without comments and empty lines.
fn lines(file: &File) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for number in 1u32.. {
        let Some(range) = file.line(number) else { break };
        let written = file.text().get(range.clone()).unwrap_or_default();
        if written.len() > LONGEST_LINE {
            break;
        }
        let first = if number == 1 { written.strip_prefix('\u{FEFF}').unwrap_or(written) } else { written };
        let line = first.trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let start = range.end - line.len();
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        if key.is_empty() {
            continue;
        }
        pairs.push(Pair {
            key: key.into(),
            key_span: file.span(start..start + key.len()),
            value: Content::Text(value.into()),
            span: file.span(range.end - value.len()..range.end),
            reference_span: None,
        });
    }
    pairs
}

fn literal(source: &Node) -> Option<Pair> {
    let (key, value) = source.text()?.split_once('=').filter(|(key, _)| !key.is_empty())?;
    let unquoted = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    let value = unquoted.unwrap_or(value);
    let (key_span, span) = literal_spans(source, key, value);
    Some(Pair { key: key.into(), key_span, value: Content::Text(value.into()), span, reference_span: None })
}

/// The positions of key and value of a literal, if the literal is written on one line.
fn literal_spans(source: &Node, key: &str, value: &str) -> (Span, Span) {
    let whole = source.span();
    let (file, start) = (whole.file(), whole.range().start);
    let begin = source.text().and_then(|text| whole.text().find(text)).map(|begin| start + begin);
    match begin {
        Some(begin) if !value.is_empty() => {
            let text = source.text().unwrap_or_default();
            let offset = text.rfind(value).unwrap_or(text.len());
            let from = begin + offset;
            (file.span(begin..begin + key.len()), file.span(from..from + value.len()))
        }
        Some(begin) => (file.span(begin..begin + key.len()), whole.clone()),
        None => (whole.clone(), whole.clone()),
    }
}

/// The key and the path of an item of `files`: `key=path`, or a path with its file name as the key.
fn key_and_path(source: &Node) -> Result<(&str, &str), Box<Finding>> {
    let text = source.text().unwrap_or_default();
    let error = |message: String, help: &str| {
        Err(Box::new(Finding::error(FAILED_BUILD, source.span().clone(), message).help(help)))
    };
    match text.split_once('=') {
        None => Ok((base_name(text), text)),
        Some((_, path)) if path.contains('=') => error(
            format!("`{text}` has more than one `=`"),
            "remove all but one `=`; neither key nor path can contain `=`",
        ),
        Some(("", _)) => error(format!("`{text}` has no key"), "write `key=path`, or only the path"),
        Some((_, "")) => error(format!("`{text}` has no path"), "write `key=path`"),
        Some(both) => Ok(both),
    }
}

fn file(files: &Files, folder: &str, source: &Node, key: &str, path: &str, accumulator: &mut Accumulator) -> Pair {
    let (key_span, reference_span) = literal_spans(source, key, path);
    let (value, span) = match load(files, folder, source, path, accumulator) {
        Some(Loaded::Text(file)) => (Content::Text(file.text().into()), file.span(0..file.text().len())),
        Some(Loaded::Bytes(file, bytes)) => (Content::Bytes(bytes), file.first_line()),
        // The object has the key as soon as the file exists.
        None => (Content::Unknown("".into()), source.span().clone()),
    };
    Pair { key: key.into(), key_span, value, span, reference_span: Some(reference_span) }
}

/// The last segment of a path.
fn base_name(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" if path.is_empty() => ".",
        "" => "/",
        trimmed => trimmed.rsplit('/').next().unwrap_or(trimmed),
    }
}
