//! What loading, rendering and linting cost: for the d1 fleet, and for fleets of 10, 100 and 1,000 clusters.
//!
//! `cargo test --bench fleet -- write clusters=100 tenants=50` prints the fleet.yaml of a synthetic fleet instead, for
//! measuring whole processes (`benches/processes`). `synthetic::Form` lists the settings.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode};
use fleetwright::fleet::{self, Fleet, Layout};
use fleetwright::lint::{self, Options};
use fleetwright::render;
use fleetwright::text::{File, Tree};

mod synthetic;

use synthetic::Form;

/// The name of what is measured and the tree with its fleet.yaml.
struct Input {
    name: String,
    tree: Tree,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, settings @ ..] = arguments.as_slice()
        && command == "write"
    {
        let mut form = Form::default();
        settings.iter().filter(|setting| !setting.starts_with('-')).for_each(|setting| form.set(setting));
        let text = synthetic::fleet(&form);
        return std::io::stdout().write_all(text.as_bytes()).expect("the fleet.yaml can be written");
    }
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    bench(&mut criterion);
    criterion.final_summary();
}

fn bench(criterion: &mut Criterion) {
    let inputs = inputs();
    let fleets: Vec<(Fleet, Layout)> = inputs.iter().map(load).collect();
    let trees: Vec<Tree> = fleets.iter().map(rendered).collect();
    let mut group = criterion.benchmark_group("fleet");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for input in &inputs {
        group.bench_function(BenchmarkId::new("load", &input.name), |bencher| bencher.iter(|| load(input)));
    }
    for (input, (fleet, layout)) in inputs.iter().zip(&fleets) {
        let id = BenchmarkId::new("render", &input.name);
        group.bench_function(id, |bencher| bencher.iter(|| render::render(fleet, layout)));
    }
    for (input, tree) in inputs.iter().zip(&trees) {
        let id = BenchmarkId::new("lint", &input.name);
        group.bench_function(id, |bencher| bencher.iter(|| lint::run(tree, &Options::default())));
    }
    group.finish();
}

fn inputs() -> Vec<Input> {
    let d1 = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/fleets/d1/fleet.yaml");
    let d1 = std::fs::read_to_string(d1).expect("the d1 fleet is part of the repository");
    let synthetic = [10, 100, 1000]
        .map(|clusters| (format!("{clusters} clusters"), synthetic::fleet(&Form { clusters, ..Form::default() })));
    let texts = std::iter::once(("d1".to_owned(), d1)).chain(synthetic);
    let input = |(name, text): (String, String)| Input { name, tree: Tree::from_iter([File::new("fleet.yaml", text)]) };
    texts.map(input).collect()
}

fn load(input: &Input) -> (Fleet, Layout) {
    let loaded = fleet::load(&input.tree, "fleet.yaml");
    assert!(loaded.findings.is_empty(), "{}: {:?}", input.name, loaded.findings);
    (loaded.fleet.expect("it has no finding"), loaded.layout.expect("it has no finding"))
}

fn rendered((fleet, layout): &(Fleet, Layout)) -> Tree {
    let rendered = render::render(fleet, layout);
    assert!(rendered.findings.is_empty(), "{}: {:?}", fleet.name, rendered.findings);
    rendered.tree
}
