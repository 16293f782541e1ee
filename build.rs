//! Rebuilds the binary if a built-in layout gains or loses a file.

fn main() {
    println!("cargo::rerun-if-changed=templates");
}
