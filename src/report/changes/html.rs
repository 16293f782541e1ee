//! Changes as one HTML page without external resources.

use std::io::{self, Write};

use minijinja::{AutoEscape, Environment};

use super::document::{Document, followers};

const PAGE: &str = include_str!("page.html");

pub(super) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let causes: Vec<_> =
        document.causes().into_iter().map(|(change, following)| (change, followers(&following))).collect();
    let context = minijinja::context! { causes => minijinja::value::Serde(causes), document => minijinja::value::Serde(document), summary => document.summary_line() };
    let page = environment.render_str(PAGE, context).map_err(io::Error::other)?;
    out.write_all(page.as_bytes())
}
