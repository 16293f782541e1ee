//! Replays the corpus of each fuzz target.

mod targets;

use std::path::Path;

fn replay(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the corpus is a folder") {
        let path = entry.expect("its entries can be read").path();
        target(&std::fs::read(&path).expect("its files can be read"));
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
