//! Paths with slashes, by their text alone.

use super::function::{Function, boolean, paid, text};
use crate::flux::resourceset::template::functions::function::Parameter::Text;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("base", &[Text], None, |a, budget| paid(base(text(a, 0)), budget)),
    Function::new("osBase", &[Text], None, |a, budget| paid(base(text(a, 0)), budget)),
    Function::new("dir", &[Text], None, |a, budget| paid(dir(text(a, 0)), budget)),
    Function::new("osDir", &[Text], None, |a, budget| paid(dir(text(a, 0)), budget)),
    Function::new("clean", &[Text], None, |a, budget| paid(clean(text(a, 0)), budget)),
    Function::new("osClean", &[Text], None, |a, budget| paid(clean(text(a, 0)), budget)),
    Function::new("ext", &[Text], None, |a, budget| paid(ext(text(a, 0)), budget)),
    Function::new("osExt", &[Text], None, |a, budget| paid(ext(text(a, 0)), budget)),
    Function::new("isAbs", &[Text], None, |a, _| boolean(text(a, 0).starts_with('/'))),
    Function::new("osIsAbs", &[Text], None, |a, _| boolean(text(a, 0).starts_with('/'))),
];

fn base(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" if path.is_empty() => ".",
        "" => "/",
        path => path.rsplit('/').next().unwrap_or(path),
    }
}

fn dir(path: &str) -> String {
    clean(path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or_default())
}

fn ext(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rfind('.').and_then(|at| name.get(at..)).unwrap_or_default()
}

fn clean(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            ".." if absolute => {}
            _ => kept.push(segment),
        }
    }
    match (absolute, kept.is_empty()) {
        (true, _) => format!("/{}", kept.join("/")),
        (false, true) => ".".into(),
        (false, false) => kept.join("/"),
    }
}
