//! What building costs: one large kustomization, many small ones, and clusters that share their components.
//!
//! `cargo test --bench engine -- write deployments 1000 DIR` writes the input instead, for measuring whole processes
//! (`benches/kustomize`), and `write kinds 50000 DIR` writes the input of `benches/schemas`.
//! `REPOSITORY=DIR cargo bench --bench engine -- repository` compares linting a folder with parsing its files; with
//! `RAYON_NUM_THREADS=1` it compares what the processor does.

use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use fleetwright::disk;
use fleetwright::kustomize::{Builder, Files};
use fleetwright::lint::{self, Options};
use fleetwright::text::Tree;

mod kinds;
mod synthetic;

/// That of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, what, count, folder, ..] = arguments.as_slice()
        && command == "write"
    {
        let count = count.parse().expect("`write` takes what, how many, and a folder");
        return write(&input(what, count), Path::new(folder));
    }
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    bench(&mut criterion);
    criterion.final_summary();
}

fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("kustomize");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for count in [500, 1000, 2000, 4000] {
        let tree = synthetic::deployments(count);
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("deployments", count), |bencher| {
            bencher.iter(|| build(&tree, &[String::new()]));
        });
    }
    let tree = synthetic::pairs(200);
    let overlays: Vec<String> = (0..200).map(|pair| format!("overlay-{pair:03}")).collect();
    group.throughput(Throughput::Elements(200));
    group.bench_function(BenchmarkId::new("pairs", 200), |bencher| bencher.iter(|| build(&tree, &overlays)));
    group.finish();

    let mut group = criterion.benchmark_group("lint");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for (shape, make) in [("clusters", synthetic::clusters as fn(usize) -> Tree), ("copies", synthetic::copies)] {
        for count in [1, 40, 100, 1000] {
            let tree = make(count);
            group.throughput(Throughput::Elements(count as u64));
            group.bench_function(BenchmarkId::new(shape, count), |bencher| {
                bencher.iter(|| lint::run(&tree, &Options::default()));
            });
        }
    }
    group.finish();

    let Some(folder) = std::env::var_os("REPOSITORY") else { return };
    let tree = disk::read(Path::new(&folder)).expect("the folder can be read");
    let mut group = criterion.benchmark_group("repository");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.bench_function("parse", |bencher| bencher.iter(|| Files::read(&tree, |_| true)));
    group.bench_function("lint", |bencher| bencher.iter(|| lint::run(&tree, &Options::default())));
    group.finish();
}

/// Parses a tree and builds folders of it.
fn build(tree: &Tree, folders: &[String]) -> usize {
    let builder = Builder::new(Files::read(tree, |_| true));
    let builds = folders.iter().map(|folder| builder.build(folder));
    let objects = builds.map(|build| {
        assert!(build.findings.is_empty() && build.not_done.is_empty(), "{:?} {:?}", build.findings, build.not_done);
        build.objects.len()
    });
    objects.sum()
}

fn input(what: &str, count: usize) -> Tree {
    match what {
        "deployments" => synthetic::deployments(count),
        "pairs" => synthetic::pairs(count),
        "clusters" => synthetic::clusters(count),
        "copies" => synthetic::copies(count),
        "chain" => synthetic::chain(count),
        "kinds" => kinds::kinds(count),
        _ => panic!("there are `deployments`, `pairs`, `clusters`, `copies`, `chain` and `kinds`, and no `{what}`"),
    }
}

fn write(tree: &Tree, folder: &Path) {
    for file in tree.files() {
        let path: PathBuf = folder.join(file.path());
        std::fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("the folder can be made");
        std::fs::write(path, file.text()).expect("the file can be written");
    }
}
