//! The outputs of `lint`: a format on standard output, and formats in files.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::error::Error;
use super::streams::{Lines, Streams};
use crate::base::similar_names::did_you_mean;
use crate::disk;
use crate::report::{FORMATS, Format, Report, SummaryLine, markdown_within};

/// The maximum size of the job summary of a step. GitHub drops a longer one.
const MAX_JOB_SUMMARY: usize = 1 << 20;

/// A format and its destination.
#[derive(Debug, Clone)]
pub(super) struct Output {
    /// The format.
    pub format: &'static Format,
    /// The file; `None` for standard output.
    file: Option<PathBuf>,
}

impl Output {
    /// Parses `FORMAT` or `FORMAT=FILE`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (name, file) = text.split_once('=').map_or((text, None), |(name, file)| (name, Some(file)));
        if file == Some("") {
            return Err(format!("a file is missing: write `{name}=FILE`, or `{name}` for standard output"));
        }
        let format = FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            let meant = did_you_mean(name, names.iter().copied());
            let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
            format!("there is no format `{name}`{meant} (formats: {})", names.join(", "))
        })?;
        Ok(Self { format, file: file.map(PathBuf::from) })
    }
}

/// The files of the outputs.
pub(super) fn files(outputs: &[Output]) -> Vec<PathBuf> {
    outputs.iter().filter_map(|output| output.file.clone()).collect()
}

/// Returns an error if two outputs have the same destination.
pub(super) fn check(outputs: &[Output]) -> Result<(), Error> {
    for (at, output) in outputs.iter().enumerate() {
        if outputs.iter().take(at).any(|earlier| earlier.file == output.file) {
            let place =
                output.file.as_ref().map_or("standard output".to_owned(), |file| format!("`{}`", file.display()));
            let message = format!("two formats have the same destination: {place}");
            return Err(Error::with_help(message, "write `--format FORMAT=FILE` for all formats but one"));
        }
    }
    Ok(())
}

/// Writes a report in all formats. The format on standard output comes last, so that a file that cannot be written is an
/// error before any output.
pub(super) fn write(outputs: &[Output], report: &Report, streams: &mut Streams) -> Result<(), Error> {
    for output in outputs {
        let Some(file) = &output.file else { continue };
        let mut bytes = Vec::new();
        (output.format.write)(report, &mut bytes)?;
        if output.format.summary == SummaryLine::Stdout {
            bytes.extend_from_slice(format!("{}\n", report.summary).as_bytes());
        }
        let text = anstream::adapter::strip_bytes(&bytes).into_vec();
        let text = String::from_utf8_lossy(&text);
        streams.write_file(file, lines_of(output), &text)?;
    }
    let Some(output) = outputs.iter().find(|output| output.file.is_none()) else {
        streams.message(&report.summary);
        return Ok(());
    };
    let write = |out: &mut dyn Write| {
        (output.format.write)(report, out)?;
        match output.format.summary {
            SummaryLine::Stdout => writeln!(out, "{}", report.summary),
            SummaryLine::Stderr => Ok(()),
        }
    };
    let is_read = streams.write_as(lines_of(output), write)?;
    if is_read && output.format.summary == SummaryLine::Stderr {
        streams.message(&report.summary);
    }
    if output.format.name == "github" { add_job_summary(report, streams) } else { Ok(()) }
}

/// The treatment of the lines of an output.
fn lines_of(output: &Output) -> Lines {
    match output.format.name {
        "github" => Lines::Commands,
        "json" | "gitlab" | "sarif" => Lines::Json,
        "junit" => Lines::Xml,
        _ => Lines::Text,
    }
}

/// Returns whether the outputs append to the job summary of a step.
pub(super) fn adds_job_summary(outputs: &[Output]) -> bool {
    job_summary().is_some() && outputs.iter().any(|output| output.file.is_none() && output.format.name == "github")
}

/// The file of the job summary, if this is a step of GitHub Actions.
fn job_summary() -> Option<OsString> {
    std::env::var_os("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty())
}

/// Appends the findings to the job summary, if this is a step of GitHub Actions.
fn add_job_summary(report: &Report, streams: &Streams) -> Result<(), Error> {
    let Some(file) = job_summary() else { return Ok(()) };
    let free = MAX_JOB_SUMMARY.saturating_sub(usize::try_from(disk::len(Path::new(&file))).unwrap_or(usize::MAX));
    let text = format!("{}\n", markdown_within(report, free.saturating_sub(1)));
    if text.len() <= free {
        disk::append(Path::new(&file), &streams.masked(Lines::Text, &text))?;
    }
    Ok(())
}
