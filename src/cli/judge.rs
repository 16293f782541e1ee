//! Judging a tree, for the commands that do.

use super::error::Error;
use super::render::Target;
use super::source::Source;
use super::streams::Streams;
use crate::finding::Finding;
use crate::render::Rendered;
use crate::report::{FORMATS, Judged, Report};

/// Shows findings to a person, beside the results.
pub(super) fn show(findings: Vec<Finding>, folder: &str, streams: &mut Streams) -> Result<(), Error> {
    if findings.is_empty() {
        return Ok(());
    }
    let report = Report::new(findings, Judged::default(), folder);
    let mut text = Vec::new();
    if let Some(format) = FORMATS.first() {
        (format.write)(&report, &mut text)?;
    }
    streams.say(String::from_utf8_lossy(&text).trim_end());
    streams.say("");
    Ok(())
}

/// Lints what was rendered; tells whether there are errors.
pub(super) fn rendered(_: &Source, _: &Rendered, _: &Target, _: &mut Streams) -> Result<bool, Error> {
    Ok(false)
}
