//! Rendering of every template for every scope. Templates that list their directory render last.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arcstr::ArcStr;
use rayon::prelude::*;

use super::manifest::Manifest;
use super::output_path::refusal;
use super::place::{Pattern, Scope, is_partial};
use super::rendered_file::{Fault, RenderedFile, copy, make};
use super::rule_ids::{INVALID_TEMPLATE, PATH_OUTSIDE_REPOSITORY};
use super::sharing::{self, Names, Request};
use super::splice;
use super::template::{Probe, Templates, line};
use super::value::Values;
use crate::base::finding::Finding;
use crate::fleet::{EXAMPLE, Fleet, Layout, MANIFEST};
use crate::text::{File, Index, Span, folder_of, normalize};

/// The maximum number of rendered files. A fleet of a thousand clusters and fifty tenants has a tenth of this number.
const MAX_FILES: usize = 500_000;

/// The maximum length of all rendered files in bytes.
const MAX_BYTES: usize = 4 << 30;

/// The name of the file that is rendered last in its directory, since it lists the other files.
const KUSTOMIZATION: &str = "kustomization.yaml";

/// The rendering of a template for one scope.
#[derive(Debug)]
pub(super) struct Job {
    /// The output path.
    pub path: String,
    /// The scope.
    pub scope: Scope,
    /// The rendered file.
    pub made: Arc<RenderedFile>,
    template: ArcStr,
}

/// Renders a layout; the jobs are sorted by path.
pub(super) fn render(
    fleet: &Fleet,
    layout: &Layout,
    manifest: &Manifest,
    probe: Option<Probe>,
    findings: &mut Vec<Finding>,
) -> Vec<Job> {
    let values = Values::new(fleet, layout);
    let mut templates = Templates::compile(layout, &manifest.verbatim, values.fleet.clone(), findings);
    templates.probe = probe;
    for (index, folder) in manifest.folders().iter().enumerate() {
        if let Err(error) = templates.add(&folder_template(index), &folder.output) {
            findings.push(templates.finding(&error, MANIFEST, Some(&folder.span)));
        }
    }
    let mut renderer = Renderer { fleet, values, templates, manifest };
    let before = findings.len();
    let jobs = renderer.jobs(layout, findings);
    renderer.templates.rendered_files = jobs.len();
    let (mut last, mut jobs): (Vec<Job>, Vec<Job>) =
        jobs.into_iter().partition(|job| job.path.rsplit('/').next() == Some(KUSTOMIZATION));
    renderer.run(&mut jobs, &BTreeMap::new(), findings);
    // Innermost directories first: a directory with rendered files is a sibling of the files next to it.
    last.sort_by_key(|job| std::cmp::Reverse(job.path.matches('/').count()));
    let mut siblings = Siblings::default();
    jobs.iter().filter(|job| job.made.is_written()).for_each(|job| siblings.add(&job.path));
    let depths: Vec<usize> = last.iter().map(|job| job.path.matches('/').count()).collect();
    let mut done = 0;
    for run in depths.chunk_by(|a, b| a == b) {
        let wave = last.get_mut(done..done + run.len()).unwrap_or_default();
        renderer.run(wave, &siblings.0, findings);
        wave.iter().filter(|job| job.made.is_written()).for_each(|job| siblings.add(&job.path));
        done += run.len();
    }
    // The steps of templates that render in parallel are not in order, so that any file may be the first to fail.
    if renderer.templates.are_exhausted() {
        findings.truncate(before);
        findings.push(renderer.templates.exhaustion(layout.manifest.span().clone()));
    }
    jobs.append(&mut last);
    if jobs.iter().map(|job| job.made.text.len()).sum::<usize>() > MAX_BYTES {
        let message = format!("the layout renders more than {} GiB", MAX_BYTES >> 30);
        findings.push(Finding::error(INVALID_TEMPLATE, layout.manifest.span().clone(), message));
    }
    jobs.sort_by(|a, b| (&a.path, a.scope, &a.template).cmp(&(&b.path, b.scope, &b.template)));
    jobs
}

/// Returns the template name for the output path of a directory. No file can have this name.
fn folder_template(index: usize) -> String {
    format!("{MANIFEST}/folders/{index}")
}

/// The names of the files and directories in each directory.
#[derive(Debug, Default)]
struct Siblings(BTreeMap<String, BTreeSet<String>>);

impl Siblings {
    fn add(&mut self, path: &str) {
        let mut path = path;
        loop {
            let folder = folder_of(path);
            let name = path.rsplit('/').next().unwrap_or_default();
            if name != KUSTOMIZATION && !self.0.entry(folder.to_owned()).or_default().insert(name.to_owned()) {
                return;
            }
            if folder.is_empty() {
                return;
            }
            path = folder;
        }
    }
}

/// The inputs of rendering a template.
struct Renderer<'a> {
    fleet: &'a Fleet,
    values: Values,
    templates: Templates,
    manifest: &'a Manifest,
}

impl Renderer<'_> {
    /// Returns a job for every template and scope.
    fn jobs(&self, layout: &Layout, findings: &mut Vec<Finding>) -> Vec<Job> {
        let mut jobs = Vec::new();
        for (path, _) in layout.files.entries() {
            if path == MANIFEST
                || path == EXAMPLE
                || is_partial(path)
                || !(self.is_verbatim(path) || self.templates.has(path))
            {
                continue;
            }
            let Some(file) = self.templates.file(path) else { continue };
            let room = MAX_FILES.saturating_sub(jobs.len());
            let scopes = Pattern::new(path).and_then(|pattern| Ok((pattern.scopes(self.fleet, room)?, pattern)));
            let (scopes, pattern) = match scopes {
                Ok(found) => found,
                Err(message) => {
                    findings.push(Finding::error(INVALID_TEMPLATE, file.first_line(), message));
                    continue;
                }
            };
            let Some(scopes) = scopes else {
                let message = format!("the layout renders more than {MAX_FILES} files");
                let finding = Finding::error(INVALID_TEMPLATE, file.first_line(), message);
                findings.push(finding.help("split the fleet, or write one file for several tenants"));
                return jobs;
            };
            let template: ArcStr = path.into();
            let folders = self.folders(&template, &scopes);
            let found: Vec<Result<Job, Box<Finding>>> = scopes
                .into_par_iter()
                .zip(folders)
                .map(|(scope, folder)| self.job(&template, &pattern, scope, folder, &file))
                .collect();
            for job in found {
                match job {
                    Ok(job) => jobs.push(job),
                    Err(finding) => findings.push(*finding),
                }
            }
        }
        jobs
    }

    /// Returns the output path of the directory of a template in each scope; `None` if the layout does not set it.
    fn folders(&self, template: &str, scopes: &[Scope]) -> Vec<Option<Result<ArcStr, Box<Finding>>>> {
        let Some(index) = self.manifest.folder_of(template) else { return scopes.iter().map(|_| None).collect() };
        let template = folder_template(index);
        let request = |scope: &Scope| Request { template: &template, scope: *scope, siblings: None };
        let requests: Vec<Request<'_>> = scopes.iter().map(request).collect();
        let outputs = sharing::render(&self.templates, &self.values, &requests);
        let outputs = outputs.into_iter().zip(scopes).map(|(output, scope)| {
            let asked = scope.span(self.fleet);
            Some(output.map_err(|error| Box::new(self.folder_finding(index, &error, asked))))
        });
        outputs.collect()
    }

    fn is_verbatim(&self, template: &str) -> bool {
        self.manifest.verbatim.is_match(template)
    }

    fn job(
        &self,
        template: &ArcStr,
        pattern: &Pattern,
        scope: Scope,
        output: Option<Result<ArcStr, Box<Finding>>>,
        file: &File,
    ) -> Result<Job, Box<Finding>> {
        let asked = scope.span(self.fleet);
        let written = match output.transpose()? {
            None => pattern.path(scope, self.fleet),
            Some(output) => {
                let folder = self.manifest.folder_of(template).and_then(|index| self.manifest.folders().get(index));
                let inside = template.strip_prefix(folder.map_or("", |folder| &folder.path)).unwrap_or(template);
                // The whole path was a valid pattern, so its end is also a valid pattern.
                let inside = Pattern::new(inside).map_or_else(|_| inside.to_owned(), |p| p.path(scope, self.fleet));
                format!("{}{inside}", splice::plain(&output))
            }
        };
        let path = match normalize(&written) {
            Some(path) if !written.starts_with('/') => refusal(&path).map_or(Ok(path), Err),
            _ => Err("it leads out of the repository".to_owned()),
        };
        let path = path.map_err(|why| {
            let message = format!("`{written}` is not a valid output path: {why}");
            let finding = Finding::error(PATH_OUTSIDE_REPOSITORY, asked.clone(), message);
            Box::new(finding.related(file.first_line(), "rendered by this template"))
        })?;
        Ok(Job { path, scope, template: template.clone(), made: Arc::default() })
    }

    fn folder_finding(&self, index: usize, error: &minijinja::Error, asked: &Span) -> Finding {
        let mut finding = self.templates.finding(error, &folder_template(index), Some(asked));
        if let Some(folder) = self.manifest.folders().get(index) {
            finding.at = folder.span.clone().into();
        }
        finding
    }

    /// Renders jobs, and parses each distinct text once.
    fn run(&self, jobs: &mut [Job], siblings: &BTreeMap<String, BTreeSet<String>>, findings: &mut Vec<Finding>) {
        let texts = self.texts(jobs, siblings);
        // Clusters of one environment render similar files; each distinct text is parsed and printed once.
        let mut known: Index<(&ArcStr, &str), usize> = Index::default();
        let mut shared: Index<(*const u8, *const u8), usize> = Index::default();
        let mut distinct: Vec<(usize, &str)> = Vec::new();
        let mut which: Vec<Option<usize>> = Vec::with_capacity(jobs.len());
        for (at, (job, text)) in jobs.iter().zip(&texts).enumerate() {
            let Ok(text) = text else {
                which.push(None);
                continue;
            };
            let index = *shared.entry_or((job.template.as_ptr(), text.as_ptr()), || {
                *known.entry_or((&job.template, text), || {
                    distinct.push((at, text));
                    distinct.len() - 1
                })
            });
            which.push(Some(index));
        }
        let made: Vec<(usize, Arc<RenderedFile>)> = distinct
            .par_iter()
            .filter_map(|(at, text)| {
                let job = jobs.get(*at)?;
                let make = if self.is_verbatim(&job.template) { copy } else { make };
                Some((*at, Arc::new(make(&job.path, text))))
            })
            .collect();
        for (at, made) in &made {
            let Some(job) = jobs.get(*at) else { continue };
            findings.extend(made.faults.iter().map(|fault| self.fault(job, fault)));
        }
        for (job, index) in jobs.iter_mut().zip(which) {
            if let Some((_, made)) = index.and_then(|index| made.get(index)) {
                job.made = made.clone();
            }
        }
        findings.extend(texts.into_iter().filter_map(Result::err).map(|finding| *finding));
    }

    /// Returns the text of each job.
    fn texts(&self, jobs: &[Job], siblings: &BTreeMap<String, BTreeSet<String>>) -> Vec<Result<ArcStr, Box<Finding>>> {
        let mut known: Index<Vec<String>, usize> = Index::default();
        let lists: Vec<Option<(usize, Vec<String>)>> = jobs
            .iter()
            .map(|job| {
                let is_last = job.path.rsplit('/').next() == Some(KUSTOMIZATION);
                let names = siblings.get(folder_of(&job.path)).map(|names| names.iter().cloned().collect::<Vec<_>>());
                let names = is_last.then(|| names.unwrap_or_default())?;
                let next = known.len();
                Some((*known.entry_or(names.clone(), || next), names))
            })
            .collect();
        let (mut copies, mut requests) = (Vec::new(), Vec::new());
        for (job, names) in jobs.iter().zip(&lists) {
            if self.is_verbatim(&job.template) {
                let file = self.templates.file(&job.template);
                copies.push(Some(file.map(|file| file.shared_text().clone()).unwrap_or_default()));
                continue;
            }
            copies.push(None);
            let siblings = names.as_ref().map(|(id, names)| Names { id: *id, names });
            requests.push(Request { template: &job.template, scope: job.scope, siblings });
        }
        let mut rendered = sharing::render(&self.templates, &self.values, &requests).into_iter();
        let text = |(job, copy): (&Job, Option<ArcStr>)| match copy {
            Some(text) => Ok(text),
            None => rendered.next().unwrap_or_else(|| Ok("".into())).map_err(|error| {
                Box::new(self.templates.finding(&error, &job.template, Some(job.scope.span(self.fleet))))
            }),
        };
        jobs.iter().zip(copies).map(text).collect()
    }

    fn fault(&self, job: &Job, fault: &Fault) -> Finding {
        let asked = job.scope.span(self.fleet).clone();
        let Some(file) = self.templates.file(&job.template) else {
            return Finding::error(INVALID_TEMPLATE, asked, fault.message.clone());
        };
        let place = line(&file, nearest_line(&file, &fault.line));
        Finding::error(INVALID_TEMPLATE, place, fault.message.clone()).related(asked, "rendered for this item")
    }
}

/// Returns the line of a template that probably rendered a line: the first line with equal text outside of `{{ … }}`.
fn nearest_line(file: &File, rendered: &str) -> usize {
    let rendered = splice::skeleton(rendered);
    let found = file.text().lines().position(|line| !line.trim().is_empty() && skeleton(line) == rendered);
    found.or_else(|| file.text().lines().position(|line| skeleton(line).contains(&rendered))).map_or(1, |at| at + 1)
}

/// Returns a line of a template without its expressions.
fn skeleton(line: &str) -> String {
    let mut result = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("{{") {
        result.push_str(before);
        rest = after.split_once("}}").map_or("", |(_, behind)| behind);
    }
    result.push_str(rest);
    result.trim().to_owned()
}
