//! Rebuilds the binary if a built-in layout or `policies/` gains or loses a file.

fn main() {
    println!("cargo::rerun-if-changed=templates");
    println!("cargo::rerun-if-changed=policies");
}
