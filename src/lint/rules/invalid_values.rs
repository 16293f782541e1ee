use std::collections::BTreeMap;
use std::sync::Arc;

use arcstr::ArcStr;

use crate::base::finding::{Finding, Label, Severity};
use crate::flux::helm::{Chart, ChartFiles, Mismatch, NoChart, ParsedValues, Values, ValuesFault, coalesce, validates};
use crate::flux::{Applied, ApplyMode};
use crate::kube::groups;
use crate::lint::facts::distinct::memory_address;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::schema::{NoJudgement, PartialChecker, PartialMismatch};
use crate::text::{File, Index};
use crate::yaml::{Name, Node, Value};

declare! {
    /// The values of a HelmRelease do not match the schema of its chart.
    ///
    /// ## Why
    ///
    /// Helm reads the text of a key of `valuesFrom` as a YAML mapping. If the text of a ConfigMap is something else,
    /// helm-controller neither installs nor upgrades the release, even if the reference is optional.
    ///
    /// Helm validates values with the file `values.schema.json` of a chart and of its subcharts. If they do not match,
    /// helm-controller neither installs nor upgrades the release. The schema applies to all values together: the default
    /// values of the chart, the ConfigMaps of `valuesFrom`, and `values`. A subchart also gets the values below
    /// `global`.
    ///
    /// The rule checks a release if the repository contains the chart, or if `sources` in `.fleetwright.yaml` or
    /// `--source` sets a local copy. The address of a chart in a Helm repository is the URL of the repository with the
    /// name of the chart, such as `https://charts.example.com/web`. Values that only the cluster knows, such as those of
    /// Secrets, match any schema. The rule ignores references of a schema to other documents. It does not check a release
    /// that disables the validation with `disableSchemaValidation` in both `install` and `upgrade`. A schema that is too
    /// large or too complex to be checked is reported.
    ///
    /// ## How to fix it
    ///
    /// Correct the value.
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
    ///       chart: ./clusters/example/charts/web
    ///       sourceRef:
    ///         kind: GitRepository
    ///         name: flux-system
    ///   values:
    ///     replicas: "2"
    /// # charts/kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// # charts/web/Chart.yaml
    /// apiVersion: v2
    /// name: web
    /// version: 1.0.0
    /// # charts/web/values.schema.json
    /// {"properties": {"replicas": {"type": "integer"}}}
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
    ///   values:
    ///     replicas: 2
    /// # charts/kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// # charts/web/Chart.yaml
    /// apiVersion: v2
    /// name: web
    /// version: 1.0.0
    /// # charts/web/values.schema.json
    /// {"properties": {"replicas": {"type": "integer"}}}
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. `disableSchemaValidation` exists from Flux 2.4 on.
    ///
    /// ## Source
    ///
    /// [Helm: schema files](https://helm.sh/docs/topics/charts/#schema-files)
    "invalid-values", Error, "the values of a HelmRelease do not match the schema of its chart", Check::Fleet(check),
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    let mut charts = Charts {
        read: Index::default(),
        checkers: Index::default(),
        known: Index::default(),
        judged: Index::default(),
        parsed: ParsedValues::default(),
        budget: MAX_COST,
    };
    let mut findings: Vec<Finding> = Vec::new();
    let mut reported: BTreeMap<(Place, String), usize> = BTreeMap::new();
    for view in fleet.views {
        let name: ArcStr = view.receiver.to_string().into();
        let is_judged = |applied: &Applied<'_>| applied.apply_mode() != ApplyMode::Ignored && validates(applied.object);
        for applied in view.of_kind(groups::HELM, "HelmRelease").filter(is_judged) {
            for finding in judge(fleet, view, &applied, &mut charts, found) {
                let span = &finding.at.span;
                let file = span.file();
                let message = finding.message.clone();
                let key = ((file.root().cloned(), file.path().to_owned(), span.range().start), message);
                let position = *reported.entry(key).or_insert_with(|| {
                    findings.push(finding);
                    findings.len() - 1
                });
                if let Some(finding) = findings.get_mut(position).filter(|_| view.is_whole()) {
                    finding.clusters.push(name.clone());
                }
            }
        }
    }
    for finding in &mut findings {
        finding.clusters.dedup();
    }
    found.extend(findings);
}

/// A position: the root of its copy, the path and the offset.
type Place = (Option<ArcStr>, String, usize);

/// The cost of the validations that any repository may need.
const MAX_COST: u64 = 20_000_000;

/// The cost that each release adds to the limit: large fleets have many releases.
const COST_OF_RELEASE: u64 = 20_000;

/// The charts of all clusters, and their compiled schemas.
struct Charts {
    read: Index<String, Option<Arc<Chart>>>,
    /// The schemas by the address of their text.
    checkers: Index<usize, Arc<Result<PartialChecker, NoJudgement>>>,
    /// The mismatches of releases without `valuesFrom`, by the address of the release and the chart.
    known: Index<(usize, String), Arc<[Finding]>>,
    /// The results of the schemas of a chart with its subcharts, by the chart, whether there may be more values, and the values. The nodes keep the
    /// addresses of the values.
    judged: Index<(String, bool, Identity), (Node, Arc<Judged>)>,
    /// The parsed texts of ConfigMaps.
    parsed: ParsedValues,
    /// The remaining cost of all validations.
    budget: u64,
}

/// The results of the schemas of a chart with its subcharts, or the values of a subchart that are not a mapping.
type Judged = Result<Vec<OfSchema>, Mismatch>;

/// The result of a schema for some values.
struct OfSchema {
    schema: File,
    chart: ArcStr,
    /// The names of subcharts whose contents are unknown.
    unknown: Vec<ArcStr>,
    /// The path of the values.
    path: Vec<String>,
    result: Result<Vec<PartialMismatch>, NoJudgement>,
}

/// The identity of values: the keys at the root, each with the address of its list or the position and text of its scalar.
type Identity = Vec<(Name, usize, Option<Name>)>;

fn identity(values: &Node) -> Identity {
    let entries = values.entries().iter().map(|entry| {
        let (address, text) = match &entry.node.value {
            Value::Map(entries) => (entries.address(), None),
            Value::Seq(items) => (items.address(), None),
            Value::Scalar(text, style) => {
                let span = entry.node.span();
                let place = format!("{style:?} {} {text}", span.file().path());
                (span.range().start, Some(place.into()))
            }
        };
        (entry.key.clone(), address, text)
    });
    entries.collect()
}

impl Charts {
    fn read(&mut self, files: &ChartFiles) -> Option<Arc<Chart>> {
        self.read.entry_or(files.id.clone(), || files.read().map(Arc::new)).clone()
    }

    fn checker(&mut self, schema: &File) -> Arc<Result<PartialChecker, NoJudgement>> {
        let address = schema.text().as_ptr().addr();
        self.checkers.entry_or(address, || Arc::new(PartialChecker::new(schema.text(), RULE.id))).clone()
    }
}

/// The findings for texts that a release reads as values and that Helm cannot read.
fn unreadable(view: &View<'_>, applied: &Applied<'_>, charts: &mut Charts) -> Vec<Finding> {
    let faults = view.receiver.cluster.unreadable_values(applied, &mut charts.parsed);
    let finding = |ValuesFault { at, message }| {
        let release = applied.object.reference();
        let help = "write the values as a YAML mapping, or set `targetPath`: otherwise Flux neither installs nor upgrades the release";
        Finding::error(RULE.id, applied.by.place(&at), format!("{release} cannot read its values: {message}"))
            .help(help)
            .about(release)
    };
    faults.into_iter().map(finding).collect()
}

fn judge(
    fleet: &Fleet<'_>,
    view: &View<'_>,
    applied: &Applied<'_>,
    charts: &mut Charts,
    found: &mut Findings,
) -> Vec<Finding> {
    let cluster = view.receiver.cluster;
    let object = applied.object;
    let unreadable = unreadable(view, applied, charts);
    if !unreadable.is_empty() {
        return unreadable;
    }
    let Some(sources) = &fleet.repo.sources else { return Vec::new() };
    let find = |kind: &str, namespace: &str, name: &str| {
        view.find(groups::SOURCE, kind, namespace, name).map(|applied| applied.object.clone())
    };
    let files = match cluster.chart(applied, sources, &find) {
        Ok(files) => files,
        Err(NoChart::NoCopy) => {
            found.unchecked("values of HelmReleases, since the repository has no copy of the chart");
            return Vec::new();
        }
        Err(NoChart::Unknown) => {
            found.unchecked("values of HelmReleases, since their charts are unknown");
            return Vec::new();
        }
    };
    let Some(chart) = charts.read(&files) else {
        // `missing-chart` reports a missing chart.
        if files.missing_file().is_none() {
            let why = if files.is_packed() { "packed" } else { "not valid" };
            found.unchecked(format!("values of HelmReleases, since their charts are {why}"));
        }
        return Vec::new();
    };
    let reads_others = object.node.at_keys(&["spec", "valuesFrom"]).is_some_and(|list| !list.items().is_empty());
    let key = (memory_address(object), files.id.clone());
    let known = charts.known.get(&key).filter(|_| !reads_others).cloned();
    let all = known.unwrap_or_else(|| {
        charts.budget = charts.budget.saturating_add(COST_OF_RELEASE);
        let values = cluster.values_with(applied, &mut charts.parsed);
        if let Some(at) = values.as_ref().and_then(|values| values.limit.as_ref()) {
            let release = object.reference();
            let message = format!("the target paths of {release} visit too many values, so they are not checked");
            return Arc::from([Finding::error(RULE.id, at.clone(), message).help("set the values in a ConfigMap")]);
        }
        let Some(values) = values.filter(|values| values.faults.is_empty()) else {
            return Arc::default();
        };
        let release = Release { applied, files: &files, values: &values };
        let all: Arc<[Finding]> = release.judge(&chart, charts, found).into();
        if !reads_others {
            charts.known.insert(key, all.clone());
        }
        all
    });
    let mut all = all.to_vec();
    for finding in &mut all {
        finding.at.span = applied.by.place(&finding.at.span);
        if applied.by.is_suspended() {
            finding.severity = Severity::Warning;
        }
    }
    all
}

/// A HelmRelease with its merged values.
struct Release<'a> {
    applied: &'a Applied<'a>,
    files: &'a ChartFiles,
    values: &'a Values,
}

impl Release<'_> {
    fn judge(&self, chart: &Chart, charts: &mut Charts, found: &mut Findings) -> Vec<Finding> {
        let key = (self.files.id.clone(), self.values.open, identity(&self.values.node));
        let known = charts.judged.get(&key).map(|(_, judged)| judged.clone());
        let judged = known.unwrap_or_else(|| {
            let judged = coalesce(chart, &self.values.node).map(|(chart, values)| {
                let mut results = Vec::new();
                self.judge_chart(&chart, &values, &mut Vec::new(), charts, &mut results);
                results
            });
            let judged = Arc::new(judged);
            charts.judged.insert(key, (self.values.node.clone(), judged.clone()));
            judged
        });
        match &*judged {
            Ok(results) => results.iter().flat_map(|result| self.findings(result, found)).collect(),
            Err(mismatch) => {
                let message = format!(
                    "{} has a value for subchart `{}` of chart `{}` that is not a mapping",
                    self.applied.object.reference(),
                    mismatch.subchart,
                    chart.name
                );
                let finding = Finding::error(RULE.id, mismatch.node.span().clone(), message);
                vec![finding.help(RESULT).about(self.applied.object.reference())]
            }
        }
    }

    /// Validates the values of a chart and its subcharts. `path` is the path of the values.
    fn judge_chart(
        &self,
        chart: &Chart,
        values: &Node,
        path: &mut Vec<String>,
        charts: &mut Charts,
        results: &mut Vec<OfSchema>,
    ) {
        if let Some(schema) = &chart.schema {
            let is_open = self.values.open || chart.imports;
            let checker = charts.checker(schema);
            let compiled = (*checker).as_ref().map_err(|why| *why);
            results.push(OfSchema {
                schema: schema.clone(),
                chart: chart.name.clone(),
                unknown: chart.unknown.clone(),
                path: path.clone(),
                result: compiled.and_then(|checker| checker.check(values, is_open, &mut charts.budget)),
            });
        }
        for subchart in &chart.subcharts {
            let Some(own) = values.get(&subchart.chart.name).filter(|own| own.is_map()) else { continue };
            path.push(subchart.chart.name.to_string());
            self.judge_chart(&subchart.chart, own, path, charts, results);
            path.pop();
        }
    }

    /// The findings of the result of a schema.
    fn findings(&self, of: &OfSchema, found: &mut Findings) -> Vec<Finding> {
        let name = &of.chart;
        match &of.result {
            Ok(mismatches) => {
                let known = mismatches.iter().filter(|mismatch| !is_of_unknown(&of.unknown, mismatch));
                known.filter_map(|mismatch| self.finding(of, mismatch)).collect()
            }
            Err(NoJudgement::Unsupported(why)) => {
                found.unchecked(format!("values of chart `{name}`, since its schema {why}"));
                Vec::new()
            }
            // A schema that turns the check off must not do so silently.
            Err(NoJudgement::Limit(why)) => {
                let message = format!("the schema of chart `{name}` {why}, so the linter does not check its values");
                let finding = Finding::error(RULE.id, of.schema.first_line(), message);
                let help = "simplify the schema, or except the finding";
                vec![finding.help(help).about(self.applied.object.reference())]
            }
        }
    }

    /// The finding of a mismatch; `None` if unknown values may replace the value.
    fn finding(&self, of: &OfSchema, mismatch: &PartialMismatch) -> Option<Finding> {
        let release = self.applied.object;
        let whole: Vec<&str> = of.path.iter().chain(&mismatch.path).map(String::as_str).collect();
        let inline = release.node.at_keys(&["spec", "values"]);
        if self.values.open && inline.is_none_or(|inline| at_path(inline, &whole).is_none()) {
            return None;
        }
        let is_global = mismatch.path.first().is_some_and(|first| first == "global");
        let shared: Vec<&str> = mismatch.path.iter().map(String::as_str).collect();
        let own = at_path(&self.values.node, &whole)
            .or_else(|| at_path(&self.values.node, &shared).filter(|_| is_global))
            .filter(|_| !whole.is_empty());
        let message = format!(
            "{} has values that do not match the schema of chart `{}`: {}",
            release.reference(),
            of.chart,
            mismatch.finding.message.replace("the document", "`values`")
        );
        let help = match &mismatch.finding.help {
            Some(help) if help.ends_with('?') => format!("{help} {RESULT}"),
            Some(help) => format!("{help}; {RESULT}"),
            None => RESULT.to_owned(),
        };
        let found_at = mismatch.finding.at.span.clone();
        // Helm also validates the default values of the chart.
        let finding = match own {
            Some(_) if !mismatch.is_missing => Finding::error(RULE.id, found_at, message),
            Some(own) => Finding::error(RULE.id, own.span().clone(), message),
            None if whole.is_empty() => {
                let entry = release.node.get("spec").and_then(|spec| spec.entry("values"));
                let at = entry.map_or_else(|| self.files.place.span().clone(), crate::yaml::Entry::key_span);
                Finding::error(RULE.id, at, message)
            }
            None => {
                let finding = Finding::error(RULE.id, self.files.place.span().clone(), message);
                finding.related(found_at, "the default value of the chart")
            }
        };
        let mut finding = finding.help(help).about(release.reference());
        finding.related.push(Label::new(of.schema.span(0..0), "the schema is here"));
        Some(finding)
    }
}

/// The consequence of a mismatch.
const RESULT: &str = "helm-controller neither installs nor upgrades the release until its values match the schema";

/// Returns whether a mismatch depends on a subchart with unknown contents.
fn is_of_unknown(unknown: &[ArcStr], mismatch: &PartialMismatch) -> bool {
    unknown.iter().any(|name| {
        mismatch.path.first().is_some_and(|first| **first == **name)
            || mismatch.path.is_empty()
                && mismatch.is_missing
                && mismatch.finding.message.contains(&format!("`{name}`"))
    })
}

fn at_path<'a>(root: &'a Node, path: &[&str]) -> Option<&'a Node> {
    path.iter().try_fold(
        root,
        |node, key| {
            if node.is_seq() { node.items().get(key.parse::<usize>().ok()?) } else { node.get(key) }
        },
    )
}
