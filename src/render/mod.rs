//! Renders a fleet with a layout, to the directories that Flux reads.
//!
//! A layout has the structure of its output. Every file in it is a template, and `[cluster]`, `[tenant]` and other
//! placeholders in a path repeat the template. This module does not depend on the names in a layout.

mod change;
mod output_path;
mod lock;
mod place;
mod rule_ids;
mod manifest;
mod splice;
mod comment;
mod rendered_file;
mod types;
mod record;
mod on_cluster;
mod reading;
mod value;
mod template;
mod sharing;
mod jobs;
mod conflict;
mod removed;
mod plan;

use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::Finding;
use crate::fleet::{Fleet, Layout};
use crate::text::{File, Tree};

pub use change::Change;
pub use lock::{Digest, INVALID_LOCK, LOCK, Lock};
pub use plan::{Plan, plan};
pub use removed::Removed;
pub use rendered_file::HEADER;
pub use rule_ids::{DUPLICATE_OBJECT, DUPLICATE_PATH, INVALID_TEMPLATE, LAYOUT_REFUSES, PATH_OUTSIDE_REPOSITORY};
pub use template::Probe;

/// The output of rendering a fleet.
#[derive(Debug)]
pub struct Rendered {
    /// The files.
    pub tree: Tree,
    /// The files that another program also writes. Files with equal objects count as equal.
    pub shared: BTreeSet<String>,
    /// The files that only another program writes.
    pub external: globset::GlobSet,
    /// The findings, sorted. The tree is incomplete if any finding is an error.
    pub findings: Vec<Finding>,
}

/// Reports conflicts in the output of an incomplete fleet that has the findings `known`.
///
/// Other findings are not reported, since they may be consequences of the known findings.
pub fn conflicts(draft: &Fleet, layout: &Layout, known: &[Finding]) -> Vec<Finding> {
    let places: BTreeSet<(&str, u32, u32)> = known.iter().map(|finding| finding.at.span.order()).collect();
    let mut findings = render(draft, layout).findings;
    findings.retain(|finding| {
        [DUPLICATE_PATH, DUPLICATE_OBJECT].contains(&finding.rule) && !places.contains(&finding.at.span.order())
    });
    findings
}

/// Renders a fleet with a layout, only to report the lines that its templates reach.
pub fn search(fleet: &Fleet, layout: &Layout, probe: Probe) {
    let mut findings = Vec::new();
    let manifest = manifest::Manifest::read(layout, &mut findings);
    jobs::render(fleet, layout, &manifest, Some(probe), &mut findings);
}

/// Renders a fleet with a layout.
pub fn render(fleet: &Fleet, layout: &Layout) -> Rendered {
    let mut findings = Vec::new();
    let manifest = manifest::Manifest::read(layout, &mut findings);
    let all = jobs::render(fleet, layout, &manifest, None, &mut findings);
    conflict::paths(&all, fleet, &mut findings);
    conflict::objects(&all, fleet, &mut findings);
    crate::base::group_findings::sort(&mut findings);
    // If two files have the same path, the later file replaces the earlier file; the conflict has a finding.
    let written: BTreeMap<&str, &jobs::Job> =
        all.iter().filter(|job| job.made.is_written()).map(|job| (job.path.as_str(), job)).collect();
    let shared = written.keys().filter(|path| manifest.shared.is_match(path)).map(|path| (*path).to_owned()).collect();
    let kept = written.iter().filter(|(path, _)| !manifest.external.is_match(path));
    let tree = kept.map(|(path, job)| File::new(*path, job.made.text.clone())).collect();
    Rendered { tree, shared, external: manifest.external, findings }
}
