//! Hostile documents cost little time and little stack.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use fleetwright::text::File;
use fleetwright::yaml::{Parsed, Reader, parse, print, to_json};

/// Runs everything that recurses over nodes, on a stack smaller than any thread's by default.
fn survives(text: String) -> Parsed {
    let start = Instant::now();
    let run = move || {
        let parsed = parse(&File::new("a.yaml", text));
        for document in &parsed.documents {
            let node = &document.node;
            assert!(node.size() < 1_000_000);
            assert!(node.clone() == *node);
            let printed = parse(&File::new("b.yaml", print(std::slice::from_ref(node))));
            drop(printed);
            assert!(to_json(node, Reader::Kubernetes) == to_json(node, Reader::Kubernetes));
        }
        parsed
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(run).expect("a thread can be had");
    let parsed = thread.join().expect("nothing panicked");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    parsed
}

#[test]
fn deep_nesting_is_a_finding() {
    let n = 100_000;
    let deep = [
        "[".repeat(n),
        "{a: ".repeat(n),
        "- ".repeat(n),
        "? ".repeat(n),
        format!("{}x{}", "[".repeat(n), "]".repeat(n)),
    ];
    for text in deep {
        let parsed = survives(text);
        assert_eq!(parsed.findings.last().unwrap().message, "collections nest more than 128 levels deep");
    }
    let mut steps = String::new();
    for depth in 0..1000 {
        let _ = writeln!(steps, "{:depth$}a:", "");
    }
    assert_eq!(survives(steps).findings[0].message, "collections nest more than 128 levels deep");
}

#[test]
fn an_alias_bomb_is_a_finding() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for at in 1..30 {
        let _ = writeln!(text, "a{at}: &a{at} [{}]", vec![format!("*a{}", at - 1); 10].join(", "));
    }
    let parsed = survives(text);
    assert_eq!(parsed.findings[0].message, "the aliases of this file expand to more than 100000 nodes");
    assert_eq!(parsed.findings.len(), 1, "one fault is one finding");
}

#[test]
fn aliases_cannot_nest_deeper_than_brackets() {
    let mut text = format!("a0: &a0 {}{}\n", "[".repeat(100), "]".repeat(100));
    for at in 1..500 {
        let _ = writeln!(text, "a{at}: &a{at} {}*a{} {}", "[".repeat(100), at - 1, "]".repeat(100));
    }
    assert_eq!(survives(text).findings[0].message, "this alias nests collections more than 128 levels deep");
}

#[test]
fn long_mappings_and_many_errors_take_linear_time() {
    let mut mapping = String::new();
    for at in 0..50_000 {
        let _ = writeln!(mapping, "key-{at}: {at}");
    }
    survives(mapping);
    assert_eq!(survives("a: 1\n".repeat(9_000)).findings.len(), 8_999);
    // The rest of a file with more faults is not read.
    assert_eq!(survives("a: 1\n".repeat(20_000)).findings.len(), 10_002);
    assert_eq!(survives("---\na: @\n".repeat(5_000)).findings.len(), 5_000);
    survives("a: \"x\n---\n".repeat(5_000));
    survives("a: |\n\n\n\n".repeat(5_000));
    survives(format!("a: {}\n", " ".repeat(500_000)));
    survives(format!("- {}\n", "x\n  ".repeat(100_000)));
}
