//! Fuzzes the target that the variable `TARGET` names.
#![no_main]

#[path = "../targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let name = std::env::var("TARGET").expect("TARGET is the name of a directory in fuzz/corpus");
    targets::run(&name, data);
});
