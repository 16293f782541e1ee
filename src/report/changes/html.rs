//! Changes as one HTML page without external resources.

use std::fmt::Write as _;
use std::io::{self, Write};

use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, HtmlEscape};

use super::document::{Document, danger_of};

/// The maximum number of changes and fields on a page. A larger page is slow in the browser of a phone.
const MAX_ROWS: usize = 20_000;

const PAGE: &str = include_str!("page.html");

pub(super) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("prose", |text: String| Value::from_safe_string(prose(&text)));
    let [mut dangerous, mut others] = document.causes();
    let total = dangerous.len() + others.len();
    let mut room = MAX_ROWS;
    for causes in [&mut dangerous, &mut others] {
        causes.retain(|cause| {
            let rows = 1 + cause.change.fields.len();
            let fits = rows <= room;
            room = if fits { room - rows } else { 0 };
            fits
        });
    }
    let omitted = total - dangerous.len() - others.len();
    let rights: Vec<_> = document.rights.iter().map(|change| (change, danger_of(change))).collect();
    let context = minijinja::context! {
        dangerous => Serde(dangerous), others => Serde(others), rights => Serde(rights), document => Serde(document),
        gaps => document.gaps(), summary => document.summary_line(), omitted,
    };
    let page = environment.render_str(PAGE, context).map_err(io::Error::other)?;
    out.write_all(page.as_bytes())
}

/// Formats a message as HTML, with its code in backticks as elements.
fn prose(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    let parts: Vec<&str> = text.split('`').collect();
    for (at, part) in parts.iter().enumerate() {
        let escaped = HtmlEscape(part);
        // Formatting into a string cannot fail.
        let _ = match at % 2 {
            0 => write!(html, "{escaped}"),
            // The last backtick has no end.
            _ if at + 1 == parts.len() => write!(html, "`{escaped}"),
            _ => write!(html, "<code>{escaped}</code>"),
        };
    }
    html
}

#[cfg(test)]
mod tests {
    use super::prose;

    #[test]
    fn code_in_backticks_is_an_element_and_markup_is_text() {
        assert_eq!(prose("a `b<c` & d"), "a <code>b&lt;c</code> &amp; d");
        assert_eq!(prose("one ` <tick>"), "one ` &lt;tick&gt;");
    }
}
