//! Replays the corpus of each fuzz target.

mod targets;

use std::path::Path;

fn replay(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        eprintln!("{}", path.display());
        target(&std::fs::read(&path).unwrap());
        count += 1;
    }
    assert!(count > 0, "{} is empty", folder.display());
}

#[test]
fn the_corpus_of_parse_breaks_nothing() {
    replay("parse", targets::parse);
}

#[test]
fn the_corpus_of_print_breaks_nothing() {
    replay("print", targets::print);
}
