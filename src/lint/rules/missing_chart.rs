use std::collections::BTreeMap;

use arcstr::ArcStr;

use crate::base::finding::{Finding, Severity};
use crate::base::similar_names::did_you_mean;
use crate::flux::helm::ChartFiles;
use crate::flux::{Applied, ApplyMode, may_exist_later};
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;

declare! {
    /// The chart of a HelmRelease does not exist in its source.
    ///
    /// ## Why
    ///
    /// `spec.chart.spec.chart` is a path if the source is a GitRepository or a Bucket. Without a chart at this path,
    /// source-controller does not create the artifact of the HelmChart, so helm-controller neither installs nor upgrades the
    /// release. The usual cause is a moved directory.
    ///
    /// The rule checks the sources of which the repository or a local copy has the files. It does not check suspended
    /// releases. The severity is warning for a Bucket, which another program fills, and for a path in a submodule or in a
    /// directory that a `.gitignore` excludes.
    ///
    /// ## How to fix it
    ///
    /// Correct the path. It is relative to the root of the source, and leads to a directory with a file `Chart.yaml`, or to
    /// an archive `.tgz`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   chart:
    ///     spec:
    ///       chart: ./charts/web
    ///       sourceRef:
    ///         kind: GitRepository
    ///         name: flux-system
    /// # charts/kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// # charts/web/Chart.yaml
    /// apiVersion: v2
    /// name: web
    /// version: 1.0.0
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   chart:
    ///     spec:
    ///       chart: ./clusters/example/charts/web
    ///       sourceRef:
    ///         kind: GitRepository
    ///         name: flux-system
    /// # charts/kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// # charts/web/Chart.yaml
    /// apiVersion: v2
    /// name: web
    /// version: 1.0.0
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: HelmChart](https://fluxcd.io/flux/components/source/helmcharts/#chart)
    "missing-chart", Error, "the chart of a HelmRelease does not exist in its source", Check::Fleet(check),
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    let mut findings: BTreeMap<(String, usize), Finding> = BTreeMap::new();
    for view in fleet.views {
        let is_judged = |applied: &Applied<'_>| {
            applied.apply_mode() != ApplyMode::Ignored && applied.object.text_at(&["spec", "suspend"]) != Some("true")
        };
        for applied in view.of_kind(groups::HELM, "HelmRelease").filter(is_judged) {
            let Some((files, path)) = missing_chart(fleet, view, &applied) else { continue };
            let place = applied.by.place(files.place.span());
            let key = (place.file().path().to_owned(), place.range().start);
            let finding = findings.entry(key).or_insert_with(|| {
                let mut finding = finding(fleet, &applied, &files, &path);
                finding.at.span = place;
                finding
            });
            if view.is_whole() {
                let cluster: ArcStr = view.receiver.to_string().into();
                if !finding.clusters.contains(&cluster) {
                    finding.clusters.push(cluster);
                }
            }
        }
    }
    found.extend(findings.into_values());
}

/// The files of the source of a release without its chart, and the path of the missing file.
fn missing_chart(fleet: &Fleet<'_>, view: &View<'_>, applied: &Applied<'_>) -> Option<(ChartFiles, String)> {
    let find = |kind: &str, namespace: &str, name: &str| {
        view.find(groups::SOURCE, kind, namespace, name).map(|applied| applied.object.clone())
    };
    let files = view.receiver.cluster.chart(applied, fleet.repo.sources.as_ref()?, &find).ok()?;
    let is_known = files.place.text().is_some_and(|path| !path.contains(['$', '{']));
    let path = files.missing_file().filter(|_| is_known)?;
    Some((files, path))
}

fn finding(fleet: &Fleet<'_>, applied: &Applied<'_>, files: &ChartFiles, path: &str) -> Finding {
    let chart = files.place.text().unwrap_or_default();
    let source = |key: &str| applied.object.text_at(&["spec", "chart", "spec", "sourceRef", key]).unwrap_or_default();
    let message = format!("no chart `{chart}` in {} `{}`", source("kind"), source("name"));
    let summary = format!(" HelmReleases have a wrong chart: {message}");
    let result =
        "source-controller finds no chart until the path exists, so Flux neither installs nor upgrades the release";
    let folder = path.strip_suffix("/Chart.yaml").unwrap_or(path);
    let name = folder.rsplit('/').next().unwrap_or(folder);
    let mut same = files.directories().filter(|directory| directory.rsplit('/').next() == Some(name));
    let meant = match (same.next(), same.next()) {
        (Some(only), None) => Some(only),
        (Some(_), Some(_)) => None,
        (None, _) => did_you_mean(folder, files.directories()),
    };
    let help = match meant {
        Some(meant) => format!("set `chart: ./{meant}`, if this chart is meant: {result}"),
        None => format!("correct the path, which starts at the root of the source: {result}"),
    };
    let mut finding = Finding::error(RULE.id, files.place.span().clone(), message).help(help);
    let tree = fleet.repo.sources.as_ref().map(|sources| sources.repository_files().tree());
    if source("kind") != "GitRepository" || tree.is_some_and(|tree| may_exist_later(tree, path)) {
        finding.severity = Severity::Warning;
    }
    finding.about(applied.object.reference()).caused_by(path, "", summary)
}
