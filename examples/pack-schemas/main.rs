//! Packs the schemas that `schemas/apis/record` downloads.
//!
//! The argument is a directory with `kubernetes/<release>/*.json`, the `OpenAPI` documents of Kubernetes, and
//! `flux/<release>/*.yaml`, the CRDs of Flux.

mod kubernetes;
mod definitions;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fleetwright::api::catalog::pack::{Kind, Pack, Packer};

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let input = PathBuf::from(std::env::args_os().nth(1).ok_or("pass the directory of the downloads")?);
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/apis");

    let mut packer = Packer::default();
    for release in releases(&input.join("kubernetes"))? {
        packer.release(&name(&release));
        kubernetes::add(&release, &mut packer)?;
    }
    write(&own.join("kubernetes.pack"), packer)?;

    let mut packer = Packer::default();
    for release in releases(&input.join("flux"))? {
        packer.release(&name(&release));
        definitions::add(&release, &mut packer)?;
    }
    write(&own.join("flux.pack"), packer)?;

    let mut packer = Packer::default();
    packer.release("");
    definitions::add(&own.join("flux-operator"), &mut packer)?;
    write(&own.join("flux-operator.pack"), packer)?;
    Ok(fs::write(own.join("kinds.txt"), kinds(&own)?)?)
}

/// The group, kind, resource and scope of each kind, one line each.
fn kinds(own: &Path) -> Result<String, Error> {
    let mut lines = BTreeSet::new();
    for name in ["kubernetes", "flux", "flux-operator"] {
        let pack = Pack::open(&fs::read(own.join(format!("{name}.pack")))?);
        for Kind { group, kind, plural, scope, .. } in &pack.kinds {
            lines.insert(format!("{group} {kind} {plural} {scope:?}\n"));
        }
    }
    Ok(lines.into_iter().collect())
}

fn write(path: &Path, packer: Packer) -> Result<(), Error> {
    Ok(fs::write(path, packer.finish())?)
}

/// The directories of releases in ascending order.
fn releases(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, Error>>()?;
    found.sort_by_key(|path| name(path).split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>());
    Ok(found)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The files of a directory in the order of their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, Error>>()?;
    found.sort();
    Ok(found)
}
