//! Templates of commit messages: the ends of actions and blocks, and the fields outside of blocks.

/// The problem of a template.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Problem {
    Syntax(&'static str),
    /// A field that no version of Flux has.
    UnknownField(String),
    /// A field that older versions of Flux have.
    RemovedField(&'static str),
}

/// The fields of the template's data.
const FIELDS: [&str; 3] = ["AutomationObject", "Changed", "Values"];

/// The first problem of a template.
pub(super) fn problem(template: &str) -> Option<Problem> {
    let (mut rest, mut depth, mut first) = (template, 0_usize, None);
    while let Some((_, after)) = rest.split_once("{{") {
        let Some((action, after)) = split_action(after) else {
            return Some(Problem::Syntax("an action has no `}}`"));
        };
        rest = after;
        let Some(action) = action else { continue };
        let keyword = action.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        if depth == 0 && first.is_none() && keyword != "define" {
            first = fields(&action).find_map(|path| of_field(&path));
        }
        match keyword {
            "if" | "with" | "range" | "define" | "block" => depth += 1,
            "end" => match depth.checked_sub(1) {
                Some(outer) => depth = outer,
                None => return Some(Problem::Syntax("an `end` has no block")),
            },
            _ => {}
        }
    }
    if depth > 0 { Some(Problem::Syntax("a block has no `end`")) } else { first }
}

/// Splits the text after `{{` at the end of the action. The action has no literals; a comment is `None`.
fn split_action(text: &str) -> Option<(Option<String>, &str)> {
    let start = text.strip_prefix('-').filter(|rest| rest.starts_with(char::is_whitespace)).unwrap_or(text);
    if start.trim_start().starts_with("/*") {
        let (_, after) = start.split_once("*/")?;
        let (_, after) = after.split_once("}}")?;
        return Some((None, after));
    }
    let mut action = String::new();
    let mut characters = start.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' | '`' | '\'' => loop {
                match characters.next()?.1 {
                    '\\' if character != '`' => {
                        characters.next()?;
                    }
                    '\n' if character != '`' => return None,
                    other if other == character => break,
                    _ => {}
                }
            },
            '}' if start.get(at..).is_some_and(|rest| rest.starts_with("}}")) => {
                return Some((Some(action.trim().to_owned()), start.get(at + 2..)?));
            }
            other => action.push(other),
        }
    }
    None
}

/// The paths that an action reads from the data of the template, without the first dot.
fn fields(action: &str) -> impl Iterator<Item = String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words = action.split(|c: char| c.is_whitespace() || matches!(c, '(' | '|' | ',' | '='));
    let paths: Vec<String> = words
        .filter_map(|word| word.strip_prefix("$.").or_else(|| word.strip_prefix('.')))
        .map(|path| path.split(|c: char| !is_word(c) && c != '.').next().unwrap_or_default().to_owned())
        .filter(|path| path.starts_with(char::is_alphabetic))
        .collect();
    paths.into_iter()
}

fn of_field(path: &str) -> Option<Problem> {
    let mut parts = path.split('.');
    let name = parts.next().unwrap_or_default();
    match (name, parts.next()) {
        ("Updated", _) => Some(Problem::RemovedField(".Updated")),
        ("Changed", Some("ImageResult")) => Some(Problem::RemovedField(".Changed.ImageResult")),
        _ if FIELDS.contains(&name) => None,
        _ => Some(Problem::UnknownField(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_outside_of_blocks_are_read() {
        for valid in [
            "",
            "plain",
            "{{ .AutomationObject.Name }} {{ range .Changed.Changes -}}{{ .OldValue }}{{ end -}}",
            "{{- range $file, $_ := .Changed.FileChanges }}{{ $file }}{{ end }}",
            "{{/* .Updated */}}{{ \"}} .Updated\" }}{{ (index .Values \"a\").foo }}",
            "{{ with .Values.a }}{{ .b }}{{ else }}{{ .Values.c }}{{ end }}",
        ] {
            assert_eq!(problem(valid), None, "{valid}");
        }
        let removed = Some(Problem::RemovedField(".Updated"));
        assert_eq!(problem("{{ range .Updated.Images }}{{ . }}{{ end }}"), removed);
        assert_eq!(problem("{{ range $i, $_ := $.Updated.Objects }}{{ end }}"), removed);
        assert_eq!(problem("{{ .Changed.ImageResult }}"), Some(Problem::RemovedField(".Changed.ImageResult")));
        assert_eq!(problem("{{ .Update }}"), Some(Problem::UnknownField("Update".to_owned())));
        for invalid in ["{{ . ", "{{ if .Values }}", "{{ end }}", "{{ \"a }}"] {
            assert!(matches!(problem(invalid), Some(Problem::Syntax(_))), "{invalid}");
        }
    }
}
