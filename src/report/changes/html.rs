//! Changes as one HTML page without external resources.

use std::fmt::Write as _;
use std::io::{self, Write};

use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, HtmlEscape};

use super::document::{Document, followers};

const PAGE: &str = include_str!("page.html");

pub(super) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("prose", |text: String| Value::from_safe_string(prose(&text)));
    let causes: Vec<_> =
        document.causes().into_iter().map(|(change, following)| (change, followers(&following))).collect();
    let context = minijinja::context! { causes => Serde(causes), document => Serde(document), summary => document.summary_line() };
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
